//! Receives that are asked again: a FIFO queue answers an attempt id that it knows with the messages that it gave.
//!
//! Why it exists: an answer that got lost would lock its groups until the locks run out.
//! Owns: for five minutes, which messages were given to which attempt; in memory, so that a restart forgets it and the locks run out.
//! In -> out: an attempt id -> the messages, if all of them are still held under the receipts that it got.

use super::receive::Taken;
use super::{Queue, Sqs};
use fanlog_aws_protocol::AwsError;
use fanlog_aws_protocol::sqs::ReceiveMessage;
use fanlog_broker::{Message, SettleOutcome};
use parking_lot::Mutex;
use std::collections::{HashMap, VecDeque};
use std::time::Duration;
use tokio::time::Instant;

/// For how long an attempt is known.
const KNOWN: Duration = Duration::from_secs(300);
/// How many attempts are known at most.
const ATTEMPTS_MAX: usize = 10_000;
/// How many bytes their messages have at most.
const BYTES_MAX: usize = 64 * 1024 * 1024;
/// What a message and a header take beside their bytes.
const MESSAGE_BYTES: usize = 512;
const HEADER_BYTES: usize = 64;

/// A queue's life and an attempt.
type Key = (String, u64, String);

/// What attempts were given.
#[derive(Debug, Default)]
pub(super) struct Attempts(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    given: HashMap<Key, (Instant, Vec<Message>)>,
    /// In the order in which they came.
    order: VecDeque<(Instant, Key)>,
    bytes: usize,
}

impl Attempts {
    pub(super) fn note(&self, queue: &Queue, id: &str, messages: &[Message]) {
        if messages.is_empty() {
            return;
        }
        let (now, key) = (Instant::now(), key(queue, id));
        let mut known = self.0.lock();
        known.forget(&key);
        known.bytes += bytes_of(messages);
        known.order.push_back((now, key.clone()));
        known.given.insert(key, (now, messages.to_vec()));
        known.forget_old(now);
    }

    fn of(&self, queue: &Queue, id: &str) -> Option<Vec<Message>> {
        let mut known = self.0.lock();
        known.forget_old(Instant::now());
        let (_, messages) = known.given.get(&key(queue, id))?;
        Some(messages.clone())
    }

    fn forget(&self, queue: &Queue, id: &str) {
        self.0.lock().forget(&key(queue, id));
    }
}

impl Known {
    fn forget(&mut self, key: &Key) {
        if let Some((_, messages)) = self.given.remove(key) {
            self.bytes -= bytes_of(&messages);
        }
    }

    fn forget_old(&mut self, now: Instant) {
        while let Some((at, key)) = self.order.front().cloned() {
            let is_full = self.order.len() > ATTEMPTS_MAX || self.bytes > BYTES_MAX;
            if !is_full && now.saturating_duration_since(at) < KNOWN {
                return;
            }
            self.order.pop_front();
            // The id may have been given again since.
            if self.given.get(&key).is_some_and(|(given, _)| *given == at) {
                self.forget(&key);
            }
        }
    }
}

fn key(queue: &Queue, id: &str) -> Key {
    (queue.name().to_owned(), queue.value.life(), id.to_owned())
}

fn bytes_of(messages: &[Message]) -> usize {
    let length = |bytes: &Option<bytes::Bytes>| bytes.as_ref().map_or(0, bytes::Bytes::len);
    let bytes = |message: &Message| {
        let headers = message.headers.iter();
        let headers = headers.map(|(name, value)| HEADER_BYTES + name.len() + length(value));
        MESSAGE_BYTES + length(&message.key) + length(&message.value) + headers.sum::<usize>()
    };
    messages.iter().map(bytes).sum()
}

impl Sqs {
    /// The messages that this attempt was given before, held anew; none if it was not, or if something became of one of them.
    pub(super) async fn received_before(
        &self,
        queue: &Queue,
        asked: &ReceiveMessage,
        id: &str,
    ) -> Result<Option<Taken>, AwsError> {
        let Some(mut messages) = self.attempts.of(queue, id) else {
            return Ok(None);
        };
        let queues = self.shared.broker.queues();
        for message in &messages {
            let held = queues.held(&message.queue, &message.receipt).await;
            if !held.unwrap_or(false) {
                self.attempts.forget(queue, id);
                return Ok(None);
            }
        }
        let visibility = self.visibility(&queue.value, asked);
        for message in &mut messages {
            let extend = (message.receipt.clone(), SettleOutcome::Extend(visibility));
            let extended = queues.settle(&message.queue, vec![extend]).await;
            if !extended.is_ok_and(|each| each.iter().all(Result::is_ok)) {
                self.attempts.forget(queue, id);
                return Ok(None);
            }
        }
        Ok(Some(Taken {
            messages,
            memory: None,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::{MESSAGE_BYTES, bytes_of};
    use bytes::Bytes;
    use fanlog_broker::{Message, MessageId};
    use fanlog_model::{Offset, PartitionIndex, TimestampMs, TopicName};

    #[test]
    fn attributes_count_as_the_value_does() {
        let message = Message {
            id: MessageId {
                topic: TopicName::new("t").expect("a legal name"),
                partition: PartitionIndex(0),
                offset: Offset(0),
            },
            queue: "q".into(),
            receipt: "r".into(),
            timestamp: TimestampMs(0),
            key: Some(Bytes::from_static(b"key")),
            value: Some(Bytes::from_static(b"value")),
            headers: vec![("name".to_owned(), Some(vec![0; 1_000_000].into()))],
            attempt: 1,
            first_received: None,
            lock_until: TimestampMs(0),
        };
        let bytes = bytes_of(&[message.clone(), message]);
        assert!(bytes > 2 * (MESSAGE_BYTES + 1_000_012), "{bytes}");
    }
}
