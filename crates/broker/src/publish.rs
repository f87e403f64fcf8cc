//! Messages that come one by one, as over HTTP: put into batches, sent to partitions, and durable before they are answered.
//!
//! Why it exists: a Kafka producer chooses the partition and makes the batch; whoever has no such library has the broker do it, the same
//! way for every listener.
//! Never: how messages look on a wire.
//! In -> out: messages of one topic -> where each lies, once it can't be lost, or why it was not taken.
//! Invariants: LOG-1.   Read next: `partition/mod.rs`.

use crate::append_types::{AppendError, AppendReceipt};
use crate::broker::Broker;
use crate::dedup::MESSAGE_ID_HEADER;
use crate::lookup::{LookupError, PartitionUnavailable, TopicRef};
use crate::partition::Partition;
use crate::queues::{DELIVER_AFTER, DELIVER_AT, DueLimit};
use crate::topics_view::Topic;
use bytes::Bytes;
use fanlog_coordinators::queue::DueTooLate;
use fanlog_model::{Offset, PartitionIndex, TimestampMs, TopicName};
use fanlog_protocol::records::{
    BatchBuilder, BuildError, Compression, NewRecord, partition_for_key,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use thiserror::Error;

/// No batch is made larger than this, nor than the topic allows, unless by a single message.
const BATCH_BYTES_MAX: usize = 1024 * 1024;
/// More than this is put into batches beside the threads that serve connections.
const INLINE_BYTES_MAX: usize = 256 * 1024;

/// A message to be published.
#[derive(Clone, Debug, Default)]
pub struct NewMessage {
    /// Where it is to go; none for where its key belongs, or, without a key, anywhere.
    pub partition: Option<PartitionIndex>,
    /// Its key, if any.
    pub key: Option<Bytes>,
    /// Its value.
    pub value: Option<Bytes>,
    /// Its headers, in order.
    pub headers: Vec<(String, Option<Bytes>)>,
    /// When queues may deliver it, if not at once.
    pub due: Option<Due>,
    /// Its id: a second message of that id is not published, while the topic remembers the first.
    pub message_id: Option<String>,
}

/// When queues may deliver a message at the earliest. Streams see it at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// At this time.
    At(TimestampMs),
    /// So long after it was published.
    After(Duration),
}

/// Where a message lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Published {
    /// The partition.
    pub partition: PartitionIndex,
    /// Its offset there.
    pub offset: Offset,
    /// The time that it bears; of one that was there before, about when it was appended.
    pub timestamp: TimestampMs,
    /// Whether a message with its id was there before: this is where.
    pub is_duplicate: bool,
}

/// Why a message was not published.
#[derive(Clone, Debug, Error)]
pub enum PublishError {
    /// There is no such topic or partition.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// The topic is the broker's own.
    #[error("topic '{topic}' is the broker's own; publish to another")]
    Internal {
        /// The topic.
        topic: TopicName,
    },
    /// A message id was given where none is kept.
    #[error(
        "topic '{topic}' does not remember message ids; set its dedup.window.ms to how long it shall, or leave the id out"
    )]
    NoDedup {
        /// The topic.
        topic: TopicName,
    },
    /// A message without a key, where the last of each key is kept.
    #[error("topic '{topic}' is compacted, and the message has no key; give it one")]
    NoKey {
        /// The topic.
        topic: TopicName,
    },
    /// Retention would take it before it is due.
    #[error(transparent)]
    TooLate(#[from] DueTooLate),
    /// The message does not fit in a batch.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The partition did not take it; others of the same batch fell with it.
    #[error("{0}")]
    Append(Arc<AppendError>),
    /// It was taken, and the partition failed before it was durable: it may or may not be there after a restart.
    #[error("{0}; the message may or may not have been stored")]
    Unsure(PartitionUnavailable),
}

/// Where messages without a key go next.
#[derive(Debug, Default)]
pub(crate) struct Turns(AtomicU32);

impl Turns {
    fn next(&self, count: u32) -> u32 {
        self.0.fetch_add(1, Ordering::Relaxed) % count
    }
}

/// One batch and which messages are in it.
struct Batch {
    partition: Arc<Partition>,
    builder: BatchBuilder,
    members: Vec<usize>,
}

/// How long a message waits for what becomes of another one with its id, at most.
const ID_WAIT: Duration = Duration::from_secs(5);

/// What the first step has made of the messages.
struct FirstStep {
    outcomes: Vec<Option<Outcome>>,
    taken: Vec<Taken>,
    /// Batches that are to be appended by their message ids: that may have to wait.
    waiting: Vec<Batch>,
}

/// Messages that the log has taken.
struct Taken {
    receipt: AppendReceipt,
    members: Vec<usize>,
}

type Outcome = Result<Published, PublishError>;

impl Broker {
    /// Publishes messages to a topic; each stands or falls alone, but for the order of those that go to one partition. Those taken are
    /// durable when this answers.
    ///
    /// # Errors
    /// There is no such topic, or it is the broker's own.
    pub async fn publish(
        self: &Arc<Self>,
        topic: &TopicName,
        messages: Vec<NewMessage>,
    ) -> Result<Vec<Outcome>, PublishError> {
        let reference = TopicRef::Name(topic.clone());
        let topic = self.topics().topic(&reference)?.clone();
        if topic.is_internal {
            return Err(PublishError::Internal {
                topic: topic.name.clone(),
            });
        }
        self.room().await;
        let now = self.environment().clock.wall_ms();
        let limit = self.due_limit(&topic);
        let count = messages.len();
        let bytes: usize = messages.iter().map(NewMessage::bytes).sum();
        let broker = self.clone();
        let append = move || broker.append_all(&topic, &messages, now, limit);
        let first_step = if bytes <= INLINE_BYTES_MAX {
            append()
        } else {
            let appended = self.opener.blocking.run(append);
            appended
                .await
                .unwrap_or_else(|panicked| std::panic::resume_unwind(panicked.into_panic()))
        };
        let FirstStep {
            mut outcomes,
            mut taken,
            waiting,
        } = first_step;
        for batch in waiting {
            let appended = append_by_ids(&batch).await;
            note(batch, appended, &mut outcomes, &mut taken);
        }
        for Taken { receipt, members } in taken {
            let timestamp = receipt.log_append_time().unwrap_or(now);
            let places = (0..).zip(&members);
            let places: Vec<_> = places.map(|(n, _)| receipt.place_of(n)).collect();
            let durable = receipt.durable().await;
            for (place, member) in places.into_iter().zip(members) {
                outcomes[member] = Some(match &durable {
                    Ok(()) => Ok(Published {
                        partition: place.partition,
                        offset: place.offset,
                        timestamp: place.first_appended.unwrap_or(timestamp),
                        is_duplicate: place.first_appended.is_some(),
                    }),
                    Err(error) => Err(PublishError::Unsure(error.clone())),
                });
            }
        }
        let outcomes: Vec<_> = outcomes.into_iter().flatten().collect();
        assert_eq!(outcomes.len(), count, "every message has one outcome");
        Ok(outcomes)
    }

    fn append_all(
        &self,
        topic: &Arc<Topic>,
        messages: &[NewMessage],
        now: TimestampMs,
        limit: Option<DueLimit>,
    ) -> FirstStep {
        let mut outcomes = vec![None; messages.len()];
        let (mut taken, mut waiting) = (Vec::new(), Vec::new());
        let mut append = |batch: Batch, outcomes: &mut Vec<Option<Outcome>>| {
            if batch.partition.remembers_ids() {
                waiting.push(batch);
                return;
            }
            let appended = append(&batch);
            note(batch, appended, outcomes, &mut taken);
        };
        let partitions = u32::try_from(topic.partitions.len()).unwrap_or(u32::MAX);
        let mut anywhere = self.turns.next(partitions);
        let batch_bytes = BATCH_BYTES_MAX.min(topic.settings.max_message_bytes as usize);
        let mut open: Vec<Option<Batch>> = Vec::new();
        open.resize_with(topic.partitions.len(), || None);
        for (number, message) in messages.iter().enumerate() {
            let checked = message.check(topic, now, limit);
            let place = checked.and_then(|()| message.place(topic, partitions, anywhere));
            let place = match place {
                Ok(place) => place,
                Err(error) => {
                    outcomes[number] = Some(Err(error));
                    continue;
                }
            };
            let own = message.own_headers();
            let headers = message.header_slices(&own);
            let record = message.record(&headers, now);
            let is_full = |batch: &mut Batch| {
                batch.builder.uncompressed_bytes() + record.bytes_max() > batch_bytes
            };
            if let Some(full) = open[place].take_if(is_full) {
                append(full, &mut outcomes);
                if message.goes_anywhere() {
                    anywhere = self.turns.next(partitions);
                }
            }
            let batch = open[place].get_or_insert_with(|| Batch {
                partition: topic.partitions[place].clone(),
                builder: BatchBuilder::new(Compression::None),
                members: Vec::new(),
            });
            match batch.builder.push(&record) {
                Ok(()) => batch.members.push(number),
                Err(error) => outcomes[number] = Some(Err(error.into())),
            }
        }
        for batch in open.into_iter().flatten() {
            append(batch, &mut outcomes);
        }
        FirstStep {
            outcomes,
            taken,
            waiting,
        }
    }
}

fn append(batch: &Batch) -> Result<AppendReceipt, PublishError> {
    let mut bytes = batch.builder.build()?;
    let appended = batch.partition.append(&mut bytes);
    appended.map_err(|error| PublishError::Append(Arc::new(error)))
}

/// As `append`, of a topic that remembers message ids.
async fn append_by_ids(batch: &Batch) -> Result<AppendReceipt, PublishError> {
    let of_append = |error| PublishError::Append(Arc::new(error));
    let mut bytes = batch.builder.build()?;
    let identified = batch.partition.identify(&mut bytes, None);
    let claimed = identified.map_err(of_append)?.claim(ID_WAIT).await;
    claimed
        .map_err(|error| of_append(error.into()))?
        .append()
        .map_err(of_append)
}

fn note(
    batch: Batch,
    appended: Result<AppendReceipt, PublishError>,
    outcomes: &mut [Option<Outcome>],
    taken: &mut Vec<Taken>,
) {
    match appended {
        Ok(receipt) => taken.push(Taken {
            receipt,
            members: batch.members,
        }),
        Err(error) => {
            for member in batch.members {
                outcomes[member] = Some(Err(error.clone()));
            }
        }
    }
}

impl NewMessage {
    fn bytes(&self) -> usize {
        let length = |bytes: &Option<Bytes>| bytes.as_ref().map_or(0, Bytes::len);
        let header = |(name, value): &(String, Option<Bytes>)| name.len() + length(value);
        length(&self.key) + length(&self.value) + self.headers.iter().map(header).sum::<usize>()
    }

    fn goes_anywhere(&self) -> bool {
        self.partition.is_none() && self.key.is_none()
    }

    /// The position of its partition.
    fn place(&self, topic: &Topic, count: u32, anywhere: u32) -> Result<usize, PublishError> {
        let place = match (self.partition, &self.key) {
            (Some(index), _) => {
                let found = usize::try_from(index.0).ok();
                let found = found.filter(|place| *place < topic.partitions.len());
                return found.ok_or_else(|| {
                    let topic = topic.name.clone();
                    let partition = index;
                    LookupError::UnknownPartition { topic, partition }.into()
                });
            }
            (None, Some(key)) => partition_for_key(key, count),
            (None, None) => anywhere,
        };
        Ok(place as usize)
    }

    /// A promise that is not kept is not made: where the topic remembers no ids, an id is refused, and so is a due time that the message
    /// would not live to see.
    fn check(
        &self,
        topic: &Topic,
        now: TimestampMs,
        limit: Option<DueLimit>,
    ) -> Result<(), PublishError> {
        if self.message_id.is_some() && topic.settings.dedup_window_ms == 0 {
            let topic = topic.name.clone();
            return Err(PublishError::NoDedup { topic });
        }
        if self.key.is_none() && topic.settings.cleanup_policy.compact {
            let topic = topic.name.clone();
            return Err(PublishError::NoKey { topic });
        }
        let due = match self.due {
            None => return Ok(()),
            Some(Due::At(due)) => due,
            Some(Due::After(after)) => {
                let ms = i64::try_from(after.as_millis()).unwrap_or(i64::MAX);
                TimestampMs(now.0.saturating_add(ms))
            }
        };
        limit.map_or(Ok(()), |limit| Ok(limit.check_due(due, now)?))
    }

    /// The headers that say what its other fields do: plain ones, in their simplest form, as any producer can write them.
    fn own_headers(&self) -> Vec<(&'static str, String)> {
        let due = self.due.map(|due| match due {
            Due::At(at) => (DELIVER_AT, at.0.to_string()),
            Due::After(after) => (DELIVER_AFTER, after.as_millis().to_string()),
        });
        let id = self.message_id.clone();
        due.into_iter()
            .chain(id.map(|id| (MESSAGE_ID_HEADER, id)))
            .collect()
    }

    fn header_slices<'a>(
        &'a self,
        own: &'a [(&'static str, String)],
    ) -> Vec<(&'a str, Option<&'a [u8]>)> {
        let given = self.headers.iter();
        let given = given.map(|(name, value)| (name.as_str(), value.as_deref()));
        let own = own
            .iter()
            .map(|(name, value)| (*name, Some(value.as_bytes())));
        given.chain(own).collect()
    }

    fn record<'a>(
        &'a self,
        headers: &'a [(&'a str, Option<&'a [u8]>)],
        timestamp: TimestampMs,
    ) -> NewRecord<'a> {
        NewRecord {
            timestamp,
            key: self.key.as_deref(),
            value: self.value.as_deref(),
            headers,
        }
    }
}
