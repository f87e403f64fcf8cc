//! Records of a partition one by one, as a reader without a Kafka client wants them.
//!
//! Why it exists: fetches give batches as they lie in the log: compressed, with records before the offset asked for, with markers of
//! transactions and with what was aborted.
//! Never: how records look on a wire.
//! In -> out: an offset, and how much -> records that are committed, and where to go on.
//! Invariants: LOG-2, TXN-1, OPS-1.   Read next: `fetch.rs`.

use crate::aborted::Aborted;
use crate::broker::Broker;
use crate::fetch_budget::FetchMemory;
use crate::fetch_types::{FetchError, FetchPartition, FetchRequestPlan, FetchedRecords, Isolation};
use crate::lookup::TopicRef;
use bytes::Bytes;
use fanlog_model::{Offset, PartitionIndex, TimestampMs};
use fanlog_protocol::records::{BatchError, BatchView, Compression, Decompressor, RecordError};
use std::time::Duration;
use thiserror::Error;
use tokio::time::Instant;

/// More than this is taken apart beside the threads that serve connections.
const INLINE_BYTES_MAX: usize = 64 * 1024;

/// Which records are wanted.
#[derive(Clone, Debug)]
pub struct RecordsWanted {
    /// The topic.
    pub topic: TopicRef,
    /// The partition.
    pub partition: PartitionIndex,
    /// The first offset.
    pub offset: Offset,
    /// At most so many.
    pub records_max: usize,
    /// At most so many bytes of keys, values and headers; one record is given whatever its size.
    pub bytes_max: usize,
    /// How long to wait for the first one.
    pub wait_max: Duration,
    /// Whether records of transactions that are not decided are left out, and those of aborted ones.
    pub isolation: Isolation,
}

/// A record as it lies in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRecord {
    /// Its offset.
    pub offset: Offset,
    /// Its time.
    pub timestamp: TimestampMs,
    /// Its key, if any.
    pub key: Option<Bytes>,
    /// Its value, if any.
    pub value: Option<Bytes>,
    /// Its headers, in order. A name that is not text is shown as near to it as can be.
    pub headers: Vec<(String, Option<Bytes>)>,
}

/// Records of a partition, and where it stands.
#[derive(Debug)]
pub struct ReadRecords {
    /// The records, in order.
    pub records: Vec<StoredRecord>,
    /// Where to go on.
    pub next_offset: Offset,
    /// Nothing at or above this offset is visible.
    pub high_watermark: Offset,
    /// The first offset still kept.
    pub log_start_offset: Offset,
    /// The bytes count against the broker's budget until this is dropped: keep it until they are sent.
    pub memory: FetchMemory,
}

/// What was found in some batches.
struct Taken {
    records: Vec<StoredRecord>,
    next: Offset,
}

/// Why stored bytes make no records.
#[derive(Debug, Error)]
enum Unreadable {
    #[error(transparent)]
    Batch(#[from] BatchError),
    #[error(transparent)]
    Record(#[from] RecordError),
}

impl Broker {
    /// Reads records, waiting for the first one as long as is asked.
    ///
    /// # Errors
    /// The partition is not there, can't serve, or has not that offset.
    pub async fn read_records(&self, wanted: RecordsWanted) -> Result<ReadRecords, FetchError> {
        let end = Instant::now() + wanted.wait_max;
        let mut from = wanted.offset;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let result = self.fetch(wanted.plan(from, left)).await;
            let memory = result.memory;
            let mut outcomes = result.partitions.into_iter();
            let fetched = outcomes
                .next()
                .expect("a fetch answers every partition of its plan")?;
            let (high_watermark, log_start_offset) =
                (fetched.high_watermark, fetched.log_start_offset);
            let has_bytes = fetched.bytes() > 0;
            let taken = self.take_apart(fetched, from, &wanted).await?;
            from = taken.next;
            // What was there was markers, or aborted: there may be more behind it.
            if taken.records.is_empty() && has_bytes {
                continue;
            }
            return Ok(ReadRecords {
                records: taken.records,
                next_offset: from,
                high_watermark,
                log_start_offset,
                memory,
            });
        }
    }

    async fn take_apart(
        &self,
        fetched: FetchedRecords,
        from: Offset,
        wanted: &RecordsWanted,
    ) -> Result<Taken, FetchError> {
        let (records_max, bytes_max) = (wanted.records_max, wanted.bytes_max);
        let is_small = fetched.bytes() <= INLINE_BYTES_MAX && !has_compressed(&fetched);
        let take = move || take(&fetched, from, records_max, bytes_max);
        let taken = if is_small {
            take()
        } else {
            let taken = self.opener.blocking.run(take);
            taken
                .await
                .unwrap_or_else(|panicked| std::panic::resume_unwind(panicked.into_panic()))
        };
        taken.map_err(|error| FetchError::Damaged {
            partition: format!("{}-{}", wanted.topic, wanted.partition),
            reason: error.to_string(),
        })
    }
}

impl RecordsWanted {
    fn plan(&self, from: Offset, wait_max: Duration) -> FetchRequestPlan {
        FetchRequestPlan {
            partitions: vec![FetchPartition {
                topic: self.topic.clone(),
                partition: self.partition,
                offset: from,
                bytes_max: self.bytes_max,
                leader_epoch: None,
                last_fetched_epoch: None,
            }],
            bytes_min: 1,
            bytes_max: self.bytes_max,
            wait_max,
            isolation: self.isolation,
            first: 0,
            sent_from_file_min: usize::MAX,
        }
    }
}

fn has_compressed(fetched: &FetchedRecords) -> bool {
    let batches = fetched.records.iter();
    let mut batches = batches.flat_map(|piece| BatchView::parse_all(piece));
    batches.any(|batch| batch.is_ok_and(|batch| batch.compression() != Compression::None))
}

fn take(
    fetched: &FetchedRecords,
    from: Offset,
    records_max: usize,
    bytes_max: usize,
) -> Result<Taken, Unreadable> {
    let mut aborted = Aborted::new(&fetched.aborted_transactions);
    let mut decompressor = Decompressor::default();
    let mut bytes = 0;
    let mut taken = Taken {
        records: Vec::new(),
        next: from,
    };
    for piece in &fetched.records {
        for batch in BatchView::parse_all(piece) {
            let batch = batch?;
            if aborted.takes(&batch) || batch.last_offset() < from {
                taken.next = taken.next.max(batch.next_offset());
                continue;
            }
            for record in batch.records(&mut decompressor)? {
                let record = record?;
                let offset = batch.offset_of(record.offset_delta);
                if offset < from {
                    continue;
                }
                bytes += record.bytes.len();
                let is_enough = taken.records.len() >= records_max
                    || (bytes > bytes_max && !taken.records.is_empty());
                if is_enough {
                    return Ok(taken);
                }
                taken.records.push(StoredRecord {
                    offset,
                    timestamp: batch.timestamp_of(record.timestamp_delta),
                    key: record.key.map(Bytes::copy_from_slice),
                    value: record.value.map(Bytes::copy_from_slice),
                    headers: record.headers().map(header).collect(),
                });
                taken.next = offset.plus(1);
            }
            taken.next = batch.next_offset();
        }
    }
    Ok(taken)
}

fn header((name, value): (&[u8], Option<&[u8]>)) -> (String, Option<Bytes>) {
    let name = String::from_utf8_lossy(name).into_owned();
    (name, value.map(Bytes::copy_from_slice))
}
