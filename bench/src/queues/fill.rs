//! A topic for a queue: records of so many keys, each key in one partition, in batches as a producer under load sends them.

use crate::connection::Connection;
use crate::figures::Figures;
use crate::keyed::key_of;
use crate::load::{Load, acknowledged, value};
use crate::threads;
use anyhow::Context;
use fanlog_model::TimestampMs;
use fanlog_protocol::records::{BatchBuilder, Compression, NewRecord};
use std::collections::VecDeque;
use std::time::{Instant, SystemTime};

/// Requests under way on the connection of each partition.
const IN_FLIGHT: usize = 4;

/// What is written.
#[derive(Clone, Debug)]
pub struct Fill {
    /// host:port of the broker.
    pub broker: String,
    /// The topic, which is there.
    pub topic: String,
    /// Its partitions.
    pub partitions: usize,
    /// Records in all, as many in each partition, or one more.
    pub records: u64,
    /// The bytes of each value.
    pub record_bytes: usize,
    /// How many keys there are; 0 for records without a key.
    pub keys: u64,
    /// Records of a batch.
    pub batch_records: u64,
    /// The header `deliver-after` of each record.
    pub deliver_after: Option<String>,
}

/// The key of the record with that number in a partition.
pub(crate) fn key_in(partition: usize, partitions: usize, number: u64, keys: u64) -> u64 {
    let (partition, partitions) = (partition as u64, partitions as u64);
    let here = keys.div_ceil(partitions).max(1);
    key_of(number * partitions + partition, here) * partitions + partition
}

/// How many of all records stand in a partition.
pub(crate) fn records_in(partition: usize, partitions: usize, records: u64) -> u64 {
    let partitions = partitions as u64;
    records / partitions + u64::from((partition as u64) < records % partitions)
}

impl Fill {
    /// Writes them.
    ///
    /// # Errors
    /// A batch was refused, or a connection broke.
    pub fn run(&self) -> anyhow::Result<Figures> {
        let started = Instant::now();
        let bytes = threads::run(self.partitions, |partition| self.partition(partition))?;
        let mut figures = Figures::default();
        figures.put_moved(self.records, bytes.iter().sum(), started.elapsed());
        Ok(figures)
    }

    fn partition(&self, partition: usize) -> anyhow::Result<u64> {
        let mut connection = Connection::open(&self.broker)?;
        let records = records_in(partition, self.partitions, self.records);
        let (mut written, mut bytes, mut number) = (0, 0, 0);
        let mut under_way = VecDeque::new();
        while written < records || !under_way.is_empty() {
            if written < records && under_way.len() < IN_FLIGHT {
                let count = self.batch_records.max(1).min(records - written);
                let batch = self.batch(partition, written..written + count)?;
                let mut load = Load::of(&self.topic, &batch, count as usize, -1)?;
                bytes += load.batch_bytes();
                number += 1;
                connection.send(load.addressed(i32::try_from(partition)?, number))?;
                under_way.push_back(number);
                written += count;
            } else if let Some(oldest) = under_way.pop_front() {
                acknowledged(connection.receive()?, oldest)?;
            }
        }
        Ok(bytes)
    }

    fn batch(&self, partition: usize, numbers: std::ops::Range<u64>) -> anyhow::Result<Vec<u8>> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
        let timestamp = TimestampMs(i64::try_from(now.as_millis())?);
        let header = self.deliver_after.as_ref();
        let headers: Vec<_> = header
            .map(|after| ("deliver-after", Some(after.as_bytes())))
            .into_iter()
            .collect();
        let mut builder = BatchBuilder::new(Compression::None);
        for number in numbers {
            let key = match self.keys {
                0 => None,
                keys => Some(key_in(partition, self.partitions, number, keys).to_string()),
            };
            let value = value(self.record_bytes, number as usize);
            builder.push(&NewRecord {
                timestamp,
                key: key.as_deref().map(str::as_bytes),
                value: Some(&value),
                headers: &headers,
            })?;
        }
        builder.build().context("a batch")
    }
}

#[cfg(test)]
mod tests {
    use super::{key_in, records_in};

    #[test]
    fn a_key_stands_in_one_partition_and_all_records_are_written() {
        for partition in 0..4 {
            for number in 0..1000 {
                let key = key_in(partition, 4, number, 100);
                assert!(key % 4 == partition as u64 && key < 100);
            }
        }
        let all: u64 = (0..4).map(|partition| records_in(partition, 4, 1002)).sum();
        assert_eq!((all, records_in(0, 4, 1002)), (1002, 251));
    }
}
