//! What order per key promises, checked while it runs: offsets ascend, one consumer at a time, each message done with once.
//!
//! In -> out: what consumers received, and what they are about to say of it -> how often a promise was broken.
//! A consumer tells before it sends: from then on another one may have the key.

use super::api::Message;
use super::fill::records_in;
use anyhow::ensure;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Keys share locks: so many.
const STRIPES: u64 = 256;

/// All keys and messages of a topic.
#[derive(Debug)]
pub(super) struct OrderCheck {
    stripes: Vec<Mutex<Vec<Key>>>,
    done: Vec<Vec<AtomicBool>>,
    pub(super) broken: Broken,
}

/// How often each promise was broken.
#[derive(Debug, Default)]
pub(super) struct Broken {
    /// A message came before, or again behind, one with a higher offset of its key.
    pub(super) out_of_order: AtomicU64,
    /// A consumer had a key of which another one still held something.
    pub(super) shared_keys: AtomicU64,
    /// A message was done with twice, or came again when it was done with.
    pub(super) twice: AtomicU64,
    /// What a consumer said of a message that it held did not count.
    pub(super) refused: AtomicU64,
}

#[derive(Clone, Copy, Debug)]
struct Key {
    holder: usize,
    held: u32,
    last_received: i64,
    last_done: i64,
    failed: u32,
}

const NEW: Key = Key {
    holder: 0,
    held: 0,
    last_received: -1,
    last_done: -1,
    failed: 0,
};

fn add(count: &AtomicU64) {
    count.fetch_add(1, Ordering::Relaxed);
}

impl OrderCheck {
    pub(super) fn new(keys: u64, records: u64, partitions: usize) -> Self {
        let stripe = || Mutex::new(vec![NEW; keys.div_ceil(STRIPES) as usize + 1]);
        let partition = |number| {
            let count = records_in(number, partitions, records);
            (0..count).map(|_| AtomicBool::new(false)).collect()
        };
        Self {
            stripes: (0..STRIPES).map(|_| stripe()).collect(),
            done: (0..partitions).map(partition).collect(),
            broken: Broken::default(),
        }
    }

    fn with<R>(&self, key: u64, look: impl FnOnce(&mut Key) -> R) -> R {
        let mut stripe = self.stripes[(key % STRIPES) as usize].lock();
        look(&mut stripe[(key / STRIPES) as usize])
    }

    /// Whether the topic is said to have such a message.
    ///
    /// # Errors
    /// It is not.
    pub(super) fn is_known(&self, message: &Message) -> anyhow::Result<()> {
        let Message {
            partition, offset, ..
        } = message;
        let records = self.done.get(*partition).map_or(0, Vec::len);
        let is_known = usize::try_from(*offset).is_ok_and(|offset| offset < records);
        ensure!(
            is_known,
            "a message at {partition}/{offset}: the topic has more than was said"
        );
        Ok(())
    }

    fn is_done(&self, message: &Message) -> &AtomicBool {
        &self.done[message.partition][message.offset as usize]
    }

    /// A consumer has received a message of a key.
    pub(super) fn received(&self, consumer: usize, key: u64, message: &Message) {
        if self.is_done(message).load(Ordering::Relaxed) {
            add(&self.broken.twice);
        }
        self.with(key, |state| {
            if state.held > 0 && state.holder != consumer {
                add(&self.broken.shared_keys);
            }
            let is_behind = state.held > 0 && message.offset <= state.last_received;
            if is_behind || message.offset <= state.last_done {
                add(&self.broken.out_of_order);
            }
            state.holder = consumer;
            state.held += 1;
            state.last_received = message.offset;
        });
    }

    /// It is about to acknowledge it.
    pub(super) fn acknowledging(&self, key: u64, message: &Message) {
        self.with(key, |state| {
            if message.offset <= state.last_done {
                add(&self.broken.out_of_order);
            }
            state.last_done = message.offset;
            state.held = state.held.saturating_sub(1);
        });
    }

    /// It is about to say that it failed, or it does nothing of it, since an earlier one failed.
    pub(super) fn giving_back(&self, key: u64) {
        self.with(key, |state| state.held = state.held.saturating_sub(1));
    }

    /// Whether a key that fails so often fails now; that counts.
    pub(super) fn fails(&self, key: u64, times: u32) -> bool {
        self.with(key, |state| {
            let fails = state.failed < times;
            state.failed += u32::from(fails);
            fails
        })
    }

    /// What the broker said of an acknowledgement; whether the message is done with now.
    pub(super) fn acknowledged(&self, message: &Message, counts: bool) -> bool {
        if !counts {
            add(&self.broken.refused);
            return false;
        }
        let was_done = self.is_done(message).swap(true, Ordering::Relaxed);
        if was_done {
            add(&self.broken.twice);
        }
        !was_done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(offset: i64) -> Message {
        Message {
            partition: 0,
            offset,
            key: Some(7),
            value: String::new(),
            receipt: String::new(),
        }
    }

    fn found(check: &OrderCheck) -> [u64; 4] {
        let Broken {
            out_of_order,
            shared_keys,
            twice,
            refused,
        } = &check.broken;
        [out_of_order, shared_keys, twice, refused].map(|count| count.load(Ordering::Relaxed))
    }

    #[test]
    fn what_is_in_order_breaks_nothing() {
        let check = OrderCheck::new(10, 10, 1);
        check.received(1, 7, &message(2));
        assert!(check.fails(7, 1) && !check.fails(7, 1));
        check.giving_back(7);
        check.received(2, 7, &message(2));
        check.received(2, 7, &message(5));
        for offset in [2, 5] {
            check.acknowledging(7, &message(offset));
            assert!(check.acknowledged(&message(offset), true));
        }
        check.received(1, 7, &message(8));
        assert_eq!(found(&check), [0, 0, 0, 0]);
    }

    #[test]
    fn each_broken_promise_counts() {
        let check = OrderCheck::new(10, 10, 1);
        check.received(1, 7, &message(5));
        check.received(2, 7, &message(6));
        assert_eq!(found(&check), [0, 1, 0, 0]);
        check.acknowledging(7, &message(6));
        check.acknowledging(7, &message(5));
        assert_eq!(found(&check), [1, 1, 0, 0]);
        assert!(check.acknowledged(&message(5), true));
        assert!(!check.acknowledged(&message(5), true));
        assert!(!check.acknowledged(&message(6), false));
        assert_eq!(found(&check), [1, 1, 1, 1]);
        check.received(1, 7, &message(5));
        assert_eq!(found(&check), [2, 1, 2, 1]);
    }
}
