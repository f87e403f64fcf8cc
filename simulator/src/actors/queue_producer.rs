//! Records for queues: some have a key, some come later, some are what a filter wants.

use crate::promises::queues::{FILTERED_KIND, Home, Mark, Sent};
use crate::promises::records::{BatchId, Place};
use crate::world::World;
use fanlog_broker::{DELIVER_AFTER, DELIVER_AT};
use fanlog_model::{BaseSequence, ProducerEpoch, ProducerId, TimestampMs};
use fanlog_protocol::records::{BatchBuilder, Compression, NewRecord};
use std::collections::BTreeMap;

const KEYS: &[u8] = b"abcd";

impl World {
    /// A batch that nobody sent before.
    pub(super) fn new_queue_batch(
        &mut self,
        place: Place,
        sequence: Option<(i64, i32)>,
    ) -> BatchId {
        let token = self.token();
        let compression = self
            .chance
            .weighted(&[(8, Compression::None), (1, Compression::Lz4)]);
        let mut builder = BatchBuilder::new(compression);
        if let Some((id, sequence)) = sequence {
            builder = builder.producer(ProducerId(id), ProducerEpoch(0), BaseSequence(sequence));
        }
        let timestamp = self.wall_ms();
        let count = 1 + self.chance.below(4);
        for number in 0..count {
            let (sent, delay) = self.new_sent(timestamp);
            self.queues.books.sending((token, number), sent);
            let padding = match self.chance.below(12) {
                0 => 700,
                _ => self.chance.below(30),
            };
            let mut value = format!("{token}/{number} ").into_bytes();
            value.extend((0..padding).map(|at| (at % 251) as u8));
            let mut headers: Vec<(&str, Option<&[u8]>)> = Vec::new();
            if let Some((name, text)) = &delay {
                headers.push((name, Some(text.as_bytes())));
            }
            let kind = match sent.is_of_kind {
                true => FILTERED_KIND,
                false => "other",
            };
            headers.push(("kind", Some(kind.as_bytes())));
            let key = sent.key.map(|key| [key]);
            let record = NewRecord {
                timestamp: TimestampMs(timestamp),
                key: key.as_ref().map(<[u8; 1]>::as_slice),
                value: Some(&value),
                headers: &headers,
            };
            builder
                .push(&record)
                .expect("a small record fits in a batch");
        }
        let bytes = builder.build().expect("a batch with a record can be built");
        let sequence = sequence.map_or(-1, |(_, sequence)| sequence);
        let batch = self.records.sending(place, bytes, sequence, timestamp);
        self.queues.batches.insert(batch, (token, count));
        batch
    }

    fn new_sent(&mut self, timestamp: i64) -> (Sent, Option<(&'static str, String)>) {
        let ms = self.chance.pick(&[300, 1_000, 4_000]);
        let due = timestamp + ms;
        let delay = match self.chance.below(20) {
            0 | 1 => Some((DELIVER_AFTER, ms.to_string())),
            2 => Some((DELIVER_AT, due.to_string())),
            _ => None,
        };
        let sent = Sent {
            key: self.chance.percent(80).then(|| self.chance.pick(KEYS)),
            due: delay.is_some().then_some(due),
            is_of_kind: self.chance.percent(70),
        };
        (sent, delay)
    }

    /// The name of a partition's topic, and its number.
    pub(super) fn home(&self, place: Place) -> Option<Home> {
        let topic = self.topic_name(place.topic)?;
        Some((topic.as_str().into(), place.partition))
    }

    /// An append was told an offset.
    pub(super) fn queue_appended(&mut self, batch: BatchId, offset: i64) {
        let place = self.records.batch(batch).place;
        if let Some((token, count)) = self.queues.batches.get(&batch).copied()
            && let Some(home) = self.home(place)
        {
            self.queues.books.appended(&home, offset, token, count);
        }
    }

    /// A partition was read from its start to its end.
    pub(super) fn queue_read(&mut self, place: Place, batches: &[(i64, BatchId)]) {
        let Some(home) = self.home(place).filter(|_| self.queues.is_on) else {
            return;
        };
        let mut records: BTreeMap<i64, Mark> = BTreeMap::new();
        for (offset, batch) in batches {
            if let Some((token, count)) = self.queues.batches.get(batch) {
                let marks = (0..*count).map(|number| (*token, number));
                records.extend((*offset..).zip(marks));
            }
        }
        self.queues.books.has_read(&home, records);
    }
}

/// The record that a value belongs to.
pub(super) fn mark_of(value: &[u8]) -> Option<Mark> {
    let head = value.split(|byte| *byte == b' ').next()?;
    let (token, number) = std::str::from_utf8(head).ok()?.split_once('/')?;
    Some((token.parse().ok()?, number.parse().ok()?))
}
