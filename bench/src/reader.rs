//! A consumer that looks at the stamp of every record.

use crate::connection::{Connection, frame, read};
use crate::stamp::Stamp;
use anyhow::{Context, ensure};
use fanlog_protocol::messages::FetchRequest;
use fanlog_protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use fanlog_protocol::records::{BatchView, Decompressor, RecordView};
use fanlog_protocol::wire::RecordBytes;
use std::borrow::Cow;

/// The last version without tagged fields.
const FETCH_VERSION: i16 = 11;

/// What a fetch asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// `fetch.max.bytes`.
    pub(crate) bytes_max: i32,
    /// `max.partition.fetch.bytes`.
    pub(crate) partition_bytes_max: i32,
    /// `fetch.max.wait.ms`.
    pub(crate) wait_ms: i32,
    /// `fetch.min.bytes`.
    pub(crate) bytes_min: i32,
}

/// Reads all partitions of a topic over one connection.
#[derive(Debug)]
pub(crate) struct StampReader {
    connection: Connection,
    topic: String,
    offsets: Vec<i64>,
    /// The partition that is asked for first: with more to read than an answer holds, the first ones get all of it.
    first: usize,
    decompressor: Decompressor,
}

impl StampReader {
    /// From the beginning of a topic that is new.
    ///
    /// # Errors
    /// Nobody listens there.
    pub(crate) fn open(broker: &str, topic: &str, partitions: i32) -> anyhow::Result<Self> {
        Ok(Self {
            connection: Connection::open(broker)?,
            topic: topic.to_owned(),
            offsets: vec![0; partitions.unsigned_abs() as usize],
            first: 0,
            decompressor: Decompressor::default(),
        })
    }

    /// Where each partition goes on.
    pub(crate) fn offsets(&self) -> &[i64] {
        &self.offsets
    }

    /// Asks once, and hands each record's partition and stamp over; how many records came.
    ///
    /// # Errors
    /// A fetch was refused, a record has no stamp, or the connection broke.
    pub(crate) fn fetch(
        &mut self,
        limits: Limits,
        mut on_record: impl FnMut(usize, Stamp),
    ) -> anyhow::Result<u64> {
        self.fetch_records(limits, |partition, _, record| {
            let stamp = record.value.and_then(Stamp::read);
            on_record(partition, stamp.context("a record without a stamp")?);
            Ok(())
        })
    }

    /// The offset behind all that came of a partition.
    pub(crate) fn position(&self, partition: usize) -> i64 {
        self.offsets[partition]
    }

    /// Asks once, and hands each record with its partition and offset over; how many records came.
    ///
    /// # Errors
    /// A fetch was refused, `on_record` fails, or the connection broke.
    pub(crate) fn fetch_records(
        &mut self,
        limits: Limits,
        mut on_record: impl FnMut(usize, i64, &RecordView<'_>) -> anyhow::Result<()>,
    ) -> anyhow::Result<u64> {
        let request = self.request(limits)?;
        self.first = (self.first + 1) % self.offsets.len();
        self.connection.send(&request)?;
        let answer = read::<FetchRequest<'_>>(self.connection.receive()?, FETCH_VERSION)?;
        let error = answer.error_code;
        ensure!(error == 0, "fetch refused: error {error}");
        let mut came = 0;
        for part in answer.responses.iter().flat_map(|topic| &topic.partitions) {
            let (error, index) = (part.error_code, part.partition_index as usize);
            ensure!(error == 0, "partition {index}: error {error}");
            let offset = self.offsets.get_mut(index);
            let offset = offset.context("an answer for a partition that was not asked for")?;
            let Some(records) = part.records.as_ref().and_then(RecordBytes::as_borrowed) else {
                continue;
            };
            // What is cut at the end comes whole with the next answer.
            for batch in BatchView::parse_all(records).map_while(Result::ok) {
                for record in batch.records(&mut self.decompressor)? {
                    let record = record?;
                    let at = batch.offset_of(record.offset_delta).get();
                    if at < *offset {
                        continue;
                    }
                    on_record(index, at, &record)?;
                    came += 1;
                }
                *offset = batch.next_offset().get();
            }
        }
        Ok(came)
    }

    fn request(&self, limits: Limits) -> anyhow::Result<Vec<u8>> {
        let count = self.offsets.len();
        let turns = (0..count).map(|turn| (self.first + turn) % count);
        let partitions = turns.map(|partition| FetchPartition {
            partition: partition as i32,
            fetch_offset: self.offsets[partition],
            partition_max_bytes: limits.partition_bytes_max,
            ..FetchPartition::default()
        });
        let request = FetchRequest {
            replica_id: -1,
            max_wait_ms: limits.wait_ms,
            min_bytes: limits.bytes_min,
            max_bytes: limits.bytes_max,
            topics: vec![FetchTopic {
                topic: Cow::Borrowed(&self.topic),
                partitions: partitions.collect(),
                ..FetchTopic::default()
            }],
            ..FetchRequest::default()
        };
        frame(&request, FETCH_VERSION)
    }
}
