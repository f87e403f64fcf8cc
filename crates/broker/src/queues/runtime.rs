//! What the runtime that all machines share asks of the machines of queues.

use super::shard::Shard;
use crate::blocking::Blocking;
use crate::machine_runtime::MachineShard;
use crate::partition::Partition;
use crate::steady_clock::SteadyClock;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

impl MachineShard for Shard {
    fn partition(&self) -> &Arc<Partition> {
        self.partition()
    }

    fn blocking(&self) -> Blocking {
        self.blocking()
    }

    fn clock(&self) -> &SteadyClock {
        self.clock()
    }

    fn load(self: &Arc<Self>) {
        Shard::load(self);
    }

    fn break_down(&self, reason: &str) {
        self.break_down(reason);
    }

    fn rearmed(&self) -> &Notify {
        &self.rearmed
    }

    fn next_deadline(&self) -> Option<Duration> {
        self.next_deadline()
    }

    fn tick_some(self: &Arc<Self>) -> bool {
        Shard::tick_some(self)
    }
}
