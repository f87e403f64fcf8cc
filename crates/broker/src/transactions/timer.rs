//! The timer of one transaction machine: sleeps until its next deadline.

use super::shard::Shard;
use std::sync::Arc;

/// Runs until it is aborted.
pub(super) async fn run_timer(shard: Arc<Shard>) {
    loop {
        let rearmed = shard.rearmed.notified();
        match shard.rearmed_deadline() {
            None => rearmed.await,
            Some(deadline) => {
                let wait = deadline.saturating_sub(shard.shared.clock.monotonic());
                // Either the deadline passed or an earlier one came up: `tick_once` tells them apart.
                let _ = tokio::time::timeout(wait, rearmed).await;
                while shard.tick_once() {
                    // Others have their turn: very many names may expire.
                    tokio::task::yield_now().await;
                }
            }
        }
    }
}
