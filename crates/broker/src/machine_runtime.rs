//! What the runtimes of all coordinators' machines do alike: replay their log off the async threads, and sleep until something is due.
//!
//! Why it exists: groups, share groups and transactions each have machines over an internal topic, one for each of its partitions; how
//! one is started anew and woken is the same for all.
//! Owns: nothing.   Never: what a machine decides, or how its log is read.
//! In -> out: a shard -> it is loaded, or broken; its deadlines take effect.

use crate::blocking::Blocking;
use crate::partition::Partition;
use crate::steady_clock::SteadyClock;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

/// One partition of an internal topic, and the machine or machines over it.
pub(crate) trait MachineShard: Send + Sync + 'static {
    /// The partition that holds the log.
    fn partition(&self) -> &Arc<Partition>;
    /// Where blocking work runs.
    fn blocking(&self) -> Blocking;
    /// What tells the time of deadlines.
    fn clock(&self) -> &SteadyClock;
    /// Replays the log and serves from then on. Blocks.
    fn load(self: &Arc<Self>);
    /// The log failed for good.
    fn break_down(&self, reason: &str);
    /// Told when the next deadline came closer, or the phase changed.
    fn rearmed(&self) -> &Notify;
    /// When the timer should act next; none while there is nothing to wait for.
    fn next_deadline(&self) -> Option<Duration>;
    /// Lets deadlines that have passed take effect, as many as may at once; whether more may be due.
    fn tick_some(self: &Arc<Self>) -> bool;
}

/// Loads on a thread that may block.
pub(crate) fn load_in_background<S: MachineShard>(shard: Arc<S>) {
    tokio::spawn(async move {
        // After a refused write the log may have an end that is not durable yet: what is loaded must be.
        let end = shard.partition().with_log(|log| log.log_end_offset());
        let durable = match end {
            Ok(end) => shard.partition().durable(end).await,
            Err(error) => Err(error),
        };
        if let Err(error) = durable {
            return shard.break_down(&error.to_string());
        }
        let loading = shard.blocking().run({
            let shard = shard.clone();
            move || shard.load()
        });
        if loading.await.is_err() {
            tracing::error!(partition = %shard.partition().folder(), "loading a coordinator stopped at an internal error");
        }
    });
}

/// Sleeps until the next deadline, again and again; runs until it is aborted.
pub(crate) async fn run_timer<S: MachineShard>(shard: Arc<S>) {
    loop {
        let rearmed = shard.rearmed().notified();
        match shard.next_deadline() {
            None => rearmed.await,
            Some(deadline) => {
                let wait = deadline.saturating_sub(shard.clock().monotonic());
                // Either the deadline passed or an earlier one came up: `tick_some` tells them apart.
                let _ = tokio::time::timeout(wait, rearmed).await;
                while shard.tick_some() {
                    // Others have their turn: very many may be due.
                    tokio::task::yield_now().await;
                }
            }
        }
    }
}
