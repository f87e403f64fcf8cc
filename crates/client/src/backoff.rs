//! How long to wait before asking again.

use crate::ClientError;
use std::time::Duration;
use tokio::time::Instant;

/// The first wait; each is twice the one before, up to the longest.
const FIRST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_millis(1_000);

/// A schedule of retries with an end.
#[derive(Debug)]
pub(crate) struct Backoff {
    next: Duration,
    end: Instant,
}

impl Backoff {
    pub(crate) fn new(retry_for: Duration) -> Self {
        Self {
            next: FIRST,
            end: Instant::now() + retry_for,
        }
    }

    /// Waits for the next try, or gives `error` back when the time for retries is over.
    pub(crate) async fn wait_or(&mut self, error: ClientError) -> Result<(), ClientError> {
        if Instant::now() + self.next > self.end {
            return Err(error);
        }
        tracing::debug!(%error, "trying again in {:?}", self.next);
        tokio::time::sleep(self.next).await;
        self.next = (self.next * 2).min(LONGEST);
        Ok(())
    }
}
