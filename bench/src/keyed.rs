//! Records with keys, one writer's, and what compaction must leave of them.
//!
//! The record at an offset has that number, and its key follows from its number. So nobody has to remember what was written.

use crate::connection::Connection;
use crate::figures::{record, times};
use crate::load::{Load, acknowledged, value};
use crate::pace::{Pace, Stop, Turn};
use crate::reader::{Limits, StampReader};
use crate::stamp::{self, Stamp};
use anyhow::{Context, ensure};
use fanlog_model::TimestampMs;
use fanlog_protocol::records::{BatchBuilder, Compression, NewRecord};
use hdrhistogram::Histogram;
use std::collections::VecDeque;
use std::time::{Duration, Instant, SystemTime};

/// Requests under way while a topic is filled.
const IN_FLIGHT: usize = 8;
const KEY_BYTES: usize = 8;
/// As librdkafka asks.
const LIMITS: Limits = Limits {
    bytes_max: 50 * 1024 * 1024,
    partition_bytes_max: 8 * 1024 * 1024,
    wait_ms: 500,
    bytes_min: 1,
};

/// The key of a record; all keys are as likely.
pub(crate) fn key_of(number: u64, keys: u64) -> u64 {
    // SplitMix64.
    let mut z = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (z ^ (z >> 31)) % keys
}

/// Writes a topic's only partition, which is empty at first.
pub(crate) struct KeyedWriter {
    connection: Connection,
    load: Load,
    /// Where in the batch each record's key and value begin.
    key_places: Vec<usize>,
    values: Vec<usize>,
    keys: u64,
    written: u64,
}

impl KeyedWriter {
    pub(crate) fn open(
        broker: &str,
        topic: &str,
        keys: u64,
        record_bytes: usize,
        batch_records: u64,
    ) -> anyhow::Result<Self> {
        let batch = batch(record_bytes, batch_records)?;
        let values = stamp::places(&batch)?;
        let key_of = |value: &usize| value - length_bytes(&batch, *value) - KEY_BYTES;
        Ok(Self {
            connection: Connection::open(broker)?,
            load: Load::of(topic, &batch, values.len(), -1)?,
            key_places: values.iter().map(key_of).collect(),
            values,
            keys,
            written: 0,
        })
    }

    /// Goes on behind records that another has written.
    pub(crate) fn behind(self, written: u64) -> Self {
        Self { written, ..self }
    }

    /// How many records there are; the log must end there.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Writes `records` more, or a few beyond, as fast as they are acknowledged.
    pub(crate) fn fill(&mut self, records: u64) -> anyhow::Result<()> {
        let end = self.written + records;
        let mut under_way = VecDeque::new();
        loop {
            if self.written < end && under_way.len() < IN_FLIGHT {
                under_way.push_back(self.written);
                self.send()?;
                continue;
            }
            let Some(first) = under_way.pop_front() else {
                return Ok(());
            };
            self.check_acknowledged(first)?;
        }
    }

    /// Writes at a rate, one batch after the other, until it is stopped; how long each took from when it was due.
    pub(crate) fn trickle(
        &mut self,
        per_second: f64,
        stop: &Stop,
    ) -> anyhow::Result<Histogram<u64>> {
        let mut times = times();
        let batches_per_second = per_second / self.values.len() as f64;
        let mut pace = Pace::new(Instant::now(), Duration::MAX / 4, batches_per_second, 0, 1);
        while let Turn::Send { from, .. } = pace.turn() {
            if stop.is_given() {
                break;
            }
            let first = self.written;
            self.send()?;
            self.check_acknowledged(first)?;
            record(&mut times, from.elapsed());
        }
        Ok(times)
    }

    fn send(&mut self) -> anyhow::Result<()> {
        let (first, keys) = (self.written, self.keys);
        let batch = self.load.batch_mut();
        for (number, at) in (first..).zip(&self.key_places) {
            let key = key_of(number, keys);
            batch[*at..at + KEY_BYTES].copy_from_slice(&key.to_be_bytes());
        }
        stamp::stamp(batch, &self.values, first, 0);
        self.written += self.values.len() as u64;
        self.connection.send(self.load.addressed(0, first as i32))
    }

    fn check_acknowledged(&mut self, first: u64) -> anyhow::Result<()> {
        let offset = acknowledged(self.connection.receive()?, first as i32)?;
        let is_there = u64::try_from(offset) == Ok(first);
        ensure!(is_there, "record {first} was given offset {offset}");
        Ok(())
    }
}

/// How many bytes the length between a key of zeros and a value takes: the bits beyond the first seven of each byte say that another follows.
fn length_bytes(batch: &[u8], value: usize) -> usize {
    let goes_on = |count: &usize| batch[value - 1 - count] & 0x80 != 0;
    1 + (1..).take_while(goes_on).count()
}

fn batch(record_bytes: usize, records: u64) -> anyhow::Result<Vec<u8>> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
    let mut builder = BatchBuilder::new(Compression::None);
    for number in 0..records {
        let value = value(record_bytes, usize::try_from(number)?);
        builder.push(&NewRecord {
            timestamp: TimestampMs(i64::try_from(now.as_millis())?),
            key: Some(&[0; KEY_BYTES]),
            value: Some(&value),
            headers: &[],
        })?;
    }
    Ok(builder.build()?)
}

/// What is left of a log that is compacted up to an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Left {
    pub(crate) records: u64,
    pub(crate) keys: u64,
}

/// Reads the whole log and compares it, record by record, with what a model says: below `clean_to` of each key the newest record there,
/// behind it all of them.
///
/// # Errors
/// A record is there that should have gone, or is missing, or is another than was written.
pub(crate) fn check_left(
    broker: &str,
    topic: &str,
    keys: u64,
    written: u64,
    clean_to: u64,
) -> anyhow::Result<Left> {
    let mut newest = vec![None; usize::try_from(keys)?];
    for number in 0..clean_to.min(written) {
        newest[key_of(number, keys) as usize] = Some(number);
    }
    let stays =
        |number: u64| number >= clean_to || newest[key_of(number, keys) as usize] == Some(number);
    let mut expected = (0..written).filter(|number| stays(*number));
    let mut seen = vec![false; newest.len()];
    let mut reader = StampReader::open(broker, topic, 1)?;
    let mut left = Left {
        records: 0,
        keys: 0,
    };
    while reader.position(0) < i64::try_from(written)? {
        let came = reader.fetch_records(LIMITS, |_, offset, record| {
            let number = expected.next();
            ensure!(
                number.is_some_and(|number| i64::try_from(number) == Ok(offset)),
                "a record is at offset {offset}, and the next that should be left is {number:?}"
            );
            let number = offset as u64;
            let stamp = record.value.and_then(Stamp::read);
            let found = stamp.context("a record without a stamp")?.number;
            ensure!(found == number, "record {found} is at offset {offset}");
            let key = key_of(number, keys);
            let is_its = record.key == Some(&key.to_be_bytes()[..]);
            ensure!(is_its, "record {number} has another key");
            seen[key as usize] = true;
            Ok(())
        })?;
        left.records += came;
    }
    let missing = expected.next();
    ensure!(missing.is_none(), "record {missing:?} is missing");
    left.keys = seen.iter().filter(|seen| **seen).count() as u64;
    Ok(left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fanlog_protocol::records::BatchView;

    #[test]
    fn keys_lie_before_the_lengths_of_their_values() {
        for bytes in [16, 63, 64, 100, 9_000] {
            let batch = batch(bytes, 3).unwrap();
            let base = batch.as_ptr() as usize;
            let mut decompressor = fanlog_protocol::records::Decompressor::default();
            let places = stamp::places(&batch).unwrap();
            let view = BatchView::parse(&batch).unwrap();
            for (record, value) in view.records(&mut decompressor).unwrap().zip(places) {
                let key = record.unwrap().key.unwrap().as_ptr() as usize - base;
                let at = value - length_bytes(&batch, value) - KEY_BYTES;
                assert_eq!(at, key, "values of {bytes} bytes");
            }
        }
    }
}
