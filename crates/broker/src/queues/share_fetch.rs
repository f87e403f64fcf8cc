//! ShareFetch on a queue: records for a Kafka share consumer, out of the same machine that HTTP consumers are served by.
//!
//! Why it exists: a share consumer wants whole batches and which of their records it holds. Records are handed out as to everybody; then
//! the batches that they stand in are read. What has no room in the answer goes back, and no attempt is burnt.
//! In -> out: a plan -> one outcome per partition, in the plan's order. Any record ends the wait; the limit of records is strict.
//! Invariants: QUE-1, QUE-3, QUE-4, LOG-2, OPS-1.   Read next: `receive.rs`, `take.rs`.

use super::Queues;
use super::begin::Source;
use super::receive::{RECORDS_MAX, Receiving};
use super::take::{Patience, read_if};
use super::types::{QueueError, Receive};
use crate::fetch_budget::FetchMemory;
use crate::fetch_types::FetchError;
use crate::groups::CoordinatorError;
use crate::lookup::TopicRef;
use crate::shares::{ShareFetchError, ShareFetchPlan, ShareFetched, ShareFetchedRecords};
use bytes::Bytes;
use fanlog_coordinators::share::Acquired;
use fanlog_model::{GroupId, Offset, PartitionIndex, TopicId};
use fanlog_protocol::records::BatchView;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

type Place = (TopicId, PartitionIndex);
type Outcomes = Vec<Result<ShareFetchedRecords, ShareFetchError>>;

/// How much is read at once, at most, and how much more than the records themselves have.
const CHUNK_BYTES: usize = 1024 * 1024;
const MORE_BYTES: usize = 4 * 1024;

/// Records of one partition that were handed out, in the order of their offsets.
struct Granted {
    source: Source,
    records: Vec<GrantedRecord>,
}

struct GrantedRecord {
    offset: Offset,
    attempt: u16,
    /// How many bytes it has, about.
    bytes: usize,
}

/// The batches of an answer in the making.
struct Answering<'a, 'b> {
    receiving: &'a Receiving<'b>,
    memory: FetchMemory,
    bytes: usize,
    /// Nothing more has room.
    is_full: bool,
    /// What is in the answer.
    given: HashSet<(Place, Offset)>,
}

impl Queues {
    /// Hands records to a share consumer, waiting for them as the plan asks.
    ///
    /// # Errors
    /// The broker is stopping.
    pub(crate) async fn share_fetch(
        self: &Arc<Self>,
        plan: &ShareFetchPlan,
    ) -> Result<ShareFetched, CoordinatorError> {
        let broker = self.broker()?;
        let mut outcomes: Outcomes = Vec::new();
        let Ok(live) = self.live(&broker, &plan.group) else {
            outcomes.resize_with(plan.partitions.len(), || Err(no_state(&plan.group)));
            return Ok(fetched(outcomes, FetchMemory::none(), self, plan));
        };
        let mut asked = HashMap::new();
        for (position, (topic, index)) in plan.partitions.iter().enumerate() {
            let topics = broker.topics();
            let found = broker.partition(&TopicRef::Id(*topic), *index);
            let kind = topics.by_id(*topic).map(|topic| live.kind_of(topic));
            outcomes.push(match found {
                Err(error) => Err(error.into()),
                Ok(_) if kind.is_some_and(|kind| kind.is_handed_out()) => {
                    asked.insert((*topic, *index), position);
                    Ok(ShareFetchedRecords::default())
                }
                Ok(_) => Err(no_state(&plan.group)),
            });
        }
        let records_max = usize::try_from(plan.records_max).unwrap_or(0);
        if asked.is_empty() || records_max == 0 {
            return Ok(fetched(outcomes, FetchMemory::none(), self, plan));
        }
        broker.room().await;
        let wanted = Receive {
            consumer: plan.member.clone(),
            records_max: records_max.min(RECORDS_MAX),
            bytes_max: plan.bytes_max,
            wait_max: plan.wait_max,
            lock: None,
        };
        let only = asked.keys().copied().collect();
        let names = vec![plan.group.clone()];
        let mut receiving = Receiving::new(self, broker, names, wanted, Some(only));
        if let Err(error) = receiving.run().await {
            for position in asked.values() {
                outcomes[*position] = Err(of_queue(&plan.group, &error));
            }
            return Ok(fetched(outcomes, FetchMemory::none(), self, plan));
        }
        let memory = answer(&mut receiving, &asked, &mut outcomes).await;
        // What has no place in the answer goes back when this ends.
        drop(receiving);
        Ok(fetched(outcomes, memory, self, plan))
    }
}

/// Reads the batches of what was handed out. What is in the answer is the consumer's from then on.
async fn answer(
    receiving: &mut Receiving<'_>,
    asked: &HashMap<Place, usize>,
    outcomes: &mut Outcomes,
) -> FetchMemory {
    let granted = granted(receiving);
    // Who holds memory must not wait for more.
    receiving.messages.clear();
    receiving.memory = FetchMemory::none();
    let mut answering = Answering {
        receiving,
        memory: FetchMemory::none(),
        bytes: 0,
        is_full: false,
        given: HashSet::new(),
    };
    for granted in &granted {
        let key = &granted.source.key;
        let Some(position) = asked.get(&(key.topic, key.partition)) else {
            continue;
        };
        let mut records = ShareFetchedRecords::default();
        let read = answering.read(granted, &mut records).await;
        outcomes[*position] = match read {
            Err(error) if records.acquired.is_empty() => Err(error.into()),
            Err(error) => {
                tracing::debug!(%error, "a share fetch ends early");
                Ok(records)
            }
            Ok(()) => Ok(records),
        };
    }
    let Answering { memory, given, .. } = answering;
    receiving.held.retain(|hold| {
        let key = &hold.source.key;
        !given.contains(&((key.topic, key.partition), hold.offset))
    });
    memory
}

/// What was handed out, by partition.
fn granted(receiving: &Receiving<'_>) -> Vec<Granted> {
    let mut all: Vec<Granted> = Vec::new();
    for (hold, message) in receiving.held.iter().zip(&receiving.messages) {
        let (source, offset) = (&hold.source, hold.offset);
        let bytes = |bytes: &Option<Bytes>| bytes.as_ref().map_or(0, Bytes::len);
        let record = GrantedRecord {
            offset,
            attempt: message.attempt,
            bytes: bytes(&message.key) + bytes(&message.value),
        };
        match all.iter_mut().rev().find(|of| of.source.key == source.key) {
            Some(granted) => granted.records.push(record),
            None => all.push(Granted {
                source: source.clone(),
                records: vec![record],
            }),
        }
    }
    for granted in &mut all {
        granted.records.sort_by_key(|record| record.offset);
    }
    all
}

impl Answering<'_, '_> {
    /// Reads the batches of one partition, as far as they have room.
    async fn read(
        &mut self,
        granted: &Granted,
        into: &mut ShareFetchedRecords,
    ) -> Result<(), FetchError> {
        let mut left = &granted.records[..];
        while let Some(next) = left.first()
            && !self.is_full
        {
            let bytes_max = bytes_in_a_row(left).min(CHUNK_BYTES);
            let (broker, partition) = (&self.receiving.broker, &granted.source.partition);
            let patience = match self.memory.is_none() {
                true => Patience::Until(self.receiving.patience),
                false => Patience::None,
            };
            let read = read_if(broker, partition, next.offset, bytes_max, patience);
            let Some((read, memory)) = read.await? else {
                self.is_full = true;
                return Ok(());
            };
            let before = left.len();
            let had = into.records.len();
            for piece in &read.records {
                self.take(granted, piece, &mut left, into)?;
            }
            if into.records.len() > had {
                let kept = std::mem::replace(&mut self.memory, FetchMemory::none());
                self.memory = kept.and(memory);
            }
            if left.len() == before && !self.is_full {
                // Compaction was here: the record is not there any more, and goes back.
                left = &left[1..];
            }
        }
        Ok(())
    }

    /// Takes the batches with records that were handed out.
    fn take(
        &mut self,
        granted: &Granted,
        piece: &Bytes,
        left: &mut &[GrantedRecord],
        into: &mut ShareFetchedRecords,
    ) -> Result<(), FetchError> {
        let mut at = 0;
        while at < piece.len() && !self.is_full {
            let batch = BatchView::parse(&piece[at..]).map_err(|error| FetchError::Damaged {
                partition: granted.source.partition.folder().to_string(),
                reason: error.to_string(),
            })?;
            let bytes = piece.slice(at..at + batch.total_len());
            at += batch.total_len();
            let (first, last) = (batch.base_offset(), batch.last_offset());
            let behind = |of: Offset| left.partition_point(|record| record.offset < of);
            let within = behind(first)..behind(last.plus(1));
            if within.is_empty() {
                continue;
            }
            let is_first = self.given.is_empty();
            if !is_first && self.bytes + bytes.len() > self.receiving.wanted.bytes_max {
                self.is_full = true;
                return Ok(());
            }
            self.bytes += bytes.len();
            into.records.push(bytes);
            let key = &granted.source.key;
            for record in &left[within.clone()] {
                self.given
                    .insert(((key.topic, key.partition), record.offset));
                add(&mut into.acquired, record);
            }
            *left = &left[within.end..];
        }
        Ok(())
    }
}

/// How many bytes those have, about, that follow each other from the first on.
fn bytes_in_a_row(records: &[GrantedRecord]) -> usize {
    let mut next = records.first().map(|record| record.offset);
    let row = records.iter().take_while(|record| {
        let follows = next == Some(record.offset);
        next = Some(record.offset.plus(1));
        follows
    });
    row.map(|record| record.bytes).sum::<usize>() + MORE_BYTES
}

/// Adds a record behind the others, or to the last range.
fn add(acquired: &mut Vec<Acquired>, record: &GrantedRecord) {
    let delivery_count = i16::try_from(record.attempt).unwrap_or(i16::MAX);
    match acquired.last_mut() {
        Some(range)
            if range.last.plus(1) == record.offset && range.delivery_count == delivery_count =>
        {
            range.last = record.offset;
        }
        _ => acquired.push(Acquired {
            first: record.offset,
            last: record.offset,
            delivery_count,
        }),
    }
}

fn fetched(
    partitions: Outcomes,
    memory: FetchMemory,
    queues: &Queues,
    plan: &ShareFetchPlan,
) -> ShareFetched {
    ShareFetched {
        partitions,
        memory,
        lock: queues.share_lock(&plan.group).unwrap_or_default(),
    }
}

fn no_state(group: &GroupId) -> ShareFetchError {
    ShareFetchError::NoState {
        group: group.clone(),
    }
}

fn of_queue(group: &GroupId, error: &QueueError) -> ShareFetchError {
    match error {
        QueueError::Unavailable(error) => error.clone().into(),
        QueueError::Read { topic, reason } => ShareFetchError::Fetch(FetchError::Read {
            partition: topic.to_string(),
            reason: reason.to_string(),
        }),
        _ => no_state(group),
    }
}
