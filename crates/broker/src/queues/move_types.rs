//! What is asked of a move of messages to other topics, and how it stands.

use fanlog_model::{GroupId, TopicName};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tokio::sync::Notify;

/// Where messages are moved to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MoveTo {
    /// Each to the queue in which it failed, as the headers of a dead letter say: to the topic that is named here for that queue, or else to
    /// the queue's redrive topic, which it alone reads. Where a queue has an order per key, name its own topic: records of a key in
    /// two topics don't wait for each other.
    Origin(BTreeMap<GroupId, TopicName>),
    /// All to this topic.
    Topic(TopicName),
}

/// Which messages are to be moved, and how fast. All that are there and that nobody holds, delayed ones too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveMessages {
    /// Where to.
    pub to: MoveTo,
    /// How many per second at most.
    pub rate: Option<u32>,
}

/// How a move stands: to be looked at, and cancelled, while it goes on.
#[derive(Debug, Default)]
pub struct MoveTask {
    moved: AtomicU64,
    without_origin: AtomicU64,
    is_cancelled: AtomicBool,
    cancelled: Notify,
}

/// How a move ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveEnd {
    /// All that could be moved is.
    Done,
    /// It was cancelled; what it did not reach stays, and what was on its way arrives.
    Cancelled,
}

impl MoveTask {
    /// How many messages have arrived.
    pub fn moved(&self) -> u64 {
        self.moved.load(Ordering::Relaxed)
    }

    /// How many stay where they are, as nothing says where they failed, or that queue is gone.
    pub fn without_origin(&self) -> u64 {
        self.without_origin.load(Ordering::Relaxed)
    }

    /// Ends the move soon.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Release);
        self.cancelled.notify_waiters();
    }

    /// Whether it was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Acquire)
    }

    pub(super) fn add_moved(&self, records: u64) {
        self.moved.fetch_add(records, Ordering::Relaxed);
    }

    pub(super) fn add_without_origin(&self) {
        self.without_origin.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) async fn until_cancelled(&self) {
        let cancelled = self.cancelled.notified();
        let mut cancelled = std::pin::pin!(cancelled);
        cancelled.as_mut().enable();
        if !self.is_cancelled() {
            cancelled.await;
        }
    }
}
