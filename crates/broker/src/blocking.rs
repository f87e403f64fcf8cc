//! Work that blocks: off the async threads, or, in a simulation, where it stands.
//!
//! Why it exists: a simulation does one thing after the other, so that the same seed gives the same bytes; a thread of the
//! runtime's pool would run beside it.

use tokio::task::{JoinError, JoinHandle};

/// Where blocking work runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blocking {
    /// On the runtime's threads for blocking work.
    OnThreads,
    /// On the calling thread.
    Inline,
}

impl Blocking {
    /// Does the work and waits for it. Off the thread it goes on if the caller goes away.
    ///
    /// # Errors
    /// The work panicked.
    pub(crate) async fn run<R: Send + 'static>(
        self,
        work: impl FnOnce() -> R + Send + 'static,
    ) -> Result<R, JoinError> {
        self.spawn(work).await
    }

    /// Has the work done without waiting for it.
    pub(crate) fn spawn<R: Send + 'static>(
        self,
        work: impl FnOnce() -> R + Send + 'static,
    ) -> JoinHandle<R> {
        match self {
            Self::OnThreads => tokio::task::spawn_blocking(work),
            Self::Inline => tokio::spawn(async move { work() }),
        }
    }
}
