//! Dead letters: listed and shown.

use super::Queues;
use super::dead_headers::{
    DEAD_ATTEMPTS, DEAD_OFFSET, DEAD_PARTITION, DEAD_QUEUE, DEAD_REASON, DEAD_TIMESTAMP,
    DEAD_TOPIC, redrives, text,
};
use super::dead_types::{DeadLetter, DeadLetterShown, DeadLetters};
use super::live::SourceKind;
use super::take::{OneRecord, read_one};
use super::types::{Headers, MessageId, QueueError};
use super::walk::is_left;
use bytes::Bytes;
use fanlog_model::{GroupId, Offset, PartitionIndex, TimestampMs, TopicName};
use std::str::FromStr;
use std::sync::Arc;

/// The most dead letters of one list.
const LISTED_MAX: usize = 1_000;
/// The most bytes of keys and reasons in one list, unless one dead letter has more.
const LISTED_BYTES_MAX: usize = 1024 * 1024;

impl Queues {
    /// Some dead letters of a queue, from behind `after` on, in the order of partition and offset.
    ///
    /// # Errors
    /// There is no such queue, or its dead letters cannot be read.
    pub async fn dead_list(
        self: &Arc<Self>,
        queue: &GroupId,
        after: Option<MessageId>,
        max: usize,
    ) -> Result<DeadLetters, QueueError> {
        let broker = self.broker()?;
        let live = self.live(&broker, queue)?;
        let mut list = DeadLetters::default();
        let Some(topic) = self.dead_topic(&broker, &live) else {
            return Ok(list);
        };
        let max = max.clamp(1, LISTED_MAX);
        let mut bytes_left = LISTED_BYTES_MAX;
        let first = after
            .as_ref()
            .map_or(0, |after| after.partition.0.max(0) as usize);
        for partition in topic.partitions.iter().skip(first) {
            let source = self.source(&live, SourceKind::Dead, partition).await?;
            let begin = after
                .as_ref()
                .filter(|after| after.partition == partition.index());
            let mut from = begin
                .map(|after| after.offset.plus(1))
                .or(Some(Offset::ZERO));
            while let Some(at) = from {
                let walked = self.walk(&broker, &live, &source, at).await?;
                for (offset, record) in walked.letters {
                    let bytes = listed_bytes(&record);
                    let is_full = bytes > bytes_left && !list.letters.is_empty();
                    if list.letters.len() == max || is_full {
                        list.next = list.letters.last().map(|letter| letter.id.clone());
                        return Ok(list);
                    }
                    let id = MessageId {
                        topic: topic.name.clone(),
                        partition: partition.index(),
                        offset,
                    };
                    list.letters.push(letter(id, &record));
                    bytes_left = bytes_left.saturating_sub(bytes);
                }
                from = walked.next;
            }
        }
        Ok(list)
    }

    /// One dead letter with all that it holds.
    ///
    /// # Errors
    /// There is no such queue or no such dead letter.
    pub async fn dead_show(
        self: &Arc<Self>,
        queue: &GroupId,
        id: MessageId,
    ) -> Result<DeadLetterShown, QueueError> {
        let broker = self.broker()?;
        let live = self.live(&broker, queue)?;
        let none = || QueueError::NoSuchMessage {
            id: id.clone(),
            reason: "the queue has no such dead letter".into(),
        };
        let topic = self.dead_topic(&broker, &live);
        let topic = topic
            .filter(|topic| topic.name == id.topic)
            .ok_or_else(none)?;
        let partition = topic.partition(id.partition).ok_or_else(none)?;
        let source = self.source(&live, SourceKind::Dead, partition).await?;
        let incarnation = live.queue.id;
        let is_there = source.shard.look(&source.key, |ledger, _, _| {
            let is_its_own = ledger.is_initialized() && ledger.head().incarnation == incarnation;
            is_its_own && id.offset >= ledger.start() && is_left(ledger.state(id.offset).0)
        })?;
        if !is_there {
            return Err(none());
        }
        let record = read_one(&broker, &live, SourceKind::Dead, partition, id.offset).await?;
        let record = record
            .filter(|record| text(&record.headers, DEAD_QUEUE) == Some(queue.as_str()))
            .ok_or_else(none)?;
        Ok(DeadLetterShown {
            letter: letter(id, &record),
            value: record.value,
            headers: record.headers,
        })
    }
}

fn listed_bytes(record: &OneRecord) -> usize {
    let reason = text(&record.headers, DEAD_REASON);
    record.key.as_ref().map_or(0, Bytes::len) + reason.map_or(0, str::len)
}

fn letter(id: MessageId, record: &OneRecord) -> DeadLetter {
    let headers = &record.headers;
    DeadLetter {
        id,
        origin: origin(headers),
        origin_timestamp: number(headers, DEAD_TIMESTAMP).map(TimestampMs),
        timestamp: record.timestamp,
        attempts: number(headers, DEAD_ATTEMPTS),
        reason: text(headers, DEAD_REASON).map(str::to_owned),
        redrives: redrives(headers),
        key: record.key.clone(),
    }
}

fn origin(headers: &Headers) -> Option<MessageId> {
    Some(MessageId {
        topic: TopicName::new(text(headers, DEAD_TOPIC)?).ok()?,
        partition: PartitionIndex(number(headers, DEAD_PARTITION)?),
        offset: Offset(number(headers, DEAD_OFFSET)?),
    })
}

fn number<N: FromStr>(headers: &Headers, name: &str) -> Option<N> {
    text(headers, name)?.parse().ok()
}
