//! How many large answers are in memory at once.
//!
//! Why it exists: one short request for all topics, configurations or offsets may be answered with megabytes, and a client that
//! does not read its answer leaves them in memory. A request of that kind waits for a slot before it is carried out, so that pressure
//! goes back through the socket; a small answer gives its slot back at once, a large one when it is sent.
//! Invariants: OPS-1.

use fanlog_protocol::ApiKey;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many large answers there may be.
const SLOTS: usize = 64;
/// An answer of no more than this is small.
pub(crate) const SMALL_ANSWER_BYTES_MAX: usize = 64 * 1024;

/// The slots of a listener. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct AnswerSlots(Arc<Slots>);

#[derive(Debug)]
struct Slots {
    free: Arc<Semaphore>,
    waiting: AtomicUsize,
}

/// A slot; free again when dropped.
#[derive(Debug)]
pub(crate) struct AnswerSlot {
    slots: AnswerSlots,
    _permit: OwnedSemaphorePermit,
}

/// Counts one who waits, however the wait ends.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Default for AnswerSlots {
    fn default() -> Self {
        Self(Arc::new(Slots {
            free: Arc::new(Semaphore::new(SLOTS)),
            waiting: AtomicUsize::new(0),
        }))
    }
}

impl AnswerSlots {
    /// Waits for a slot, if an answer of this API may be much larger than what was asked, and nothing but the answer is waited for.
    pub(crate) async fn slot_for(&self, api: ApiKey) -> Option<AnswerSlot> {
        match api {
            ApiKey::Metadata
            | ApiKey::OffsetFetch
            | ApiKey::DescribeGroups
            | ApiKey::ShareGroupDescribe
            | ApiKey::DescribeShareGroupOffsets
            | ApiKey::ListGroups
            | ApiKey::ConsumerGroupDescribe
            | ApiKey::DescribeConfigs
            | ApiKey::DescribeLogDirs
            | ApiKey::DescribeProducers
            | ApiKey::DescribeTransactions
            | ApiKey::ListTransactions
            | ApiKey::ListConfigResources
            | ApiKey::DescribeTopicPartitions => Some(self.slot().await),
            _ => None,
        }
    }

    /// Waits for a slot before an answer is encoded that was long waited for: a slot before that would be held for as long. What the
    /// answer is made of is there once, in the group.
    pub(crate) async fn slot_behind(&self, api: ApiKey) -> Option<AnswerSlot> {
        match api {
            ApiKey::JoinGroup | ApiKey::SyncGroup => Some(self.slot().await),
            _ => None,
        }
    }

    async fn slot(&self) -> AnswerSlot {
        self.0.waiting.fetch_add(1, Ordering::Relaxed);
        let _waiting = Waiting(&self.0.waiting);
        let permit = Arc::clone(&self.0.free).acquire_owned().await;
        AnswerSlot {
            slots: self.clone(),
            _permit: permit.expect("the slots' semaphore is never closed"),
        }
    }
}

impl AnswerSlot {
    /// Whether others wait for a slot.
    pub(crate) fn is_wanted(&self) -> bool {
        self.slots.0.waiting.load(Ordering::Relaxed) > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    #[test]
    fn large_answers_wait_for_each_other_and_other_apis_for_nobody() {
        let slots = AnswerSlots::default();
        let mut poll = Context::from_waker(Waker::noop());
        let mut held: Vec<_> = (0..SLOTS)
            .map(
                |_| match pin!(slots.slot_for(ApiKey::Metadata)).poll(&mut poll) {
                    Poll::Ready(Some(slot)) => slot,
                    _ => panic!("a slot is free"),
                },
            )
            .collect();
        assert!(!held[0].is_wanted());
        let mut next = pin!(slots.slot_for(ApiKey::ListGroups));
        assert!(next.as_mut().poll(&mut poll).is_pending());
        assert!(held[0].is_wanted());
        let other = pin!(slots.slot_for(ApiKey::Heartbeat)).poll(&mut poll);
        assert!(matches!(other, Poll::Ready(None)));
        // The answers of a group wait once they are known.
        let joined = pin!(slots.slot_behind(ApiKey::JoinGroup)).poll(&mut poll);
        assert!(joined.is_pending());
        held.pop();
        assert!(matches!(next.poll(&mut poll), Poll::Ready(Some(_))));
    }
}
