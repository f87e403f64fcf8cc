//! A Produce request that is encoded once and sent many times.
//!
//! The base offset lies outside a batch's checksum, so that the same bytes are a new batch each time. What varies between requests,
//! the partition's number, is written in place.

use crate::connection::{CORRELATION_AT, frame, read};
use anyhow::{bail, ensure};
use fanlog_model::TimestampMs;
use fanlog_protocol::messages::ProduceRequest;
use fanlog_protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use fanlog_protocol::records::{BatchBuilder, Compression, NewRecord};
use fanlog_protocol::wire::RecordBytes;
use std::borrow::Cow;
use std::time::SystemTime;

/// The last version without tagged fields that is compared on equal terms: topics by name.
const PRODUCE_VERSION: i16 = 7;
/// How long the broker may take for an acknowledgement.
const TIMEOUT_MS: i32 = 30_000;

/// What a batch looks like.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The bytes of each record's value.
    pub record_bytes: usize,
    /// The bytes of records in a batch before compression; one record at least.
    pub batch_bytes: usize,
    /// The codec.
    pub compression: Compression,
}

impl Shape {
    /// How many records a batch has.
    pub fn records(&self) -> usize {
        (self.batch_bytes / self.record_bytes.max(1)).max(1)
    }
}

/// The request.
#[derive(Clone, Debug)]
pub struct Load {
    frame: Vec<u8>,
    partition_at: usize,
    batch_bytes: usize,
    records: usize,
}

impl Load {
    /// Encodes a batch for `topic`.
    ///
    /// # Errors
    /// The batch would be too large for the format.
    pub fn new(topic: &str, shape: Shape, acks: i16) -> anyhow::Result<Self> {
        Self::of(topic, &batch(shape)?, shape.records(), acks)
    }

    /// Takes a batch of so many records as it is.
    ///
    /// # Errors
    /// The request would be too large.
    pub(crate) fn of(topic: &str, batch: &[u8], records: usize, acks: i16) -> anyhow::Result<Self> {
        let batch_bytes = batch.len();
        let request = ProduceRequest {
            transactional_id: None,
            acks,
            timeout_ms: TIMEOUT_MS,
            topic_data: vec![TopicProduceData {
                name: Cow::Borrowed(topic),
                partition_data: vec![PartitionProduceData {
                    index: 0,
                    records: Some(RecordBytes::Borrowed(batch)),
                }],
                ..TopicProduceData::default()
            }],
        };
        let frame = frame(&request, PRODUCE_VERSION)?;
        // The request ends in the partition's number, the length of the batches, and the batches.
        let partition_at = frame.len() - batch_bytes - 8;
        Ok(Self {
            frame,
            partition_at,
            batch_bytes,
            records,
        })
    }

    /// The frame, for a partition and with a correlation id.
    pub fn addressed(&mut self, partition: i32, correlation: i32) -> &[u8] {
        let at = self.partition_at;
        self.frame[at..at + 4].copy_from_slice(&partition.to_be_bytes());
        self.frame[CORRELATION_AT..CORRELATION_AT + 4].copy_from_slice(&correlation.to_be_bytes());
        &self.frame
    }

    /// The batch alone, to be changed in place.
    pub(crate) fn batch_mut(&mut self) -> &mut [u8] {
        let at = self.frame.len() - self.batch_bytes;
        &mut self.frame[at..]
    }

    /// The bytes of the batch.
    pub fn batch_bytes(&self) -> u64 {
        self.batch_bytes as u64
    }

    /// The records of the batch.
    pub fn records(&self) -> u64 {
        self.records as u64
    }
}

/// Bytes that compress about as well as JSON does; none of them depends on chance.
pub(crate) fn value(bytes: usize, number: usize) -> Vec<u8> {
    let mut state = number as u32 | 1;
    let mut value = Vec::with_capacity(bytes + 32);
    while value.len() < bytes {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        value.extend(format!("\"field{}\":{},", state >> 29, state >> 4).bytes());
    }
    value.truncate(bytes);
    value
}

fn batch(shape: Shape) -> anyhow::Result<Vec<u8>> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
    let mut builder = BatchBuilder::new(shape.compression);
    for number in 0..shape.records() {
        let value = value(shape.record_bytes, number);
        builder.push(&NewRecord {
            timestamp: TimestampMs(i64::try_from(now.as_millis())?),
            key: None,
            value: Some(&value),
            headers: &[],
        })?;
    }
    Ok(builder.build()?)
}

/// The offset in an acknowledgement.
///
/// # Errors
/// The batch was refused.
pub fn acknowledged(answer: &[u8], correlation: i32) -> anyhow::Result<i64> {
    ensure!(
        answer.starts_with(&correlation.to_be_bytes()),
        "an acknowledgement came out of order"
    );
    let answer = read::<ProduceRequest<'_>>(answer, PRODUCE_VERSION)?;
    let mut parts = answer.responses.iter().flat_map(|t| &t.partition_responses);
    let Some(part) = parts.next() else {
        bail!("an acknowledgement names no partition");
    };
    let (partition, error) = (part.index, part.error_code);
    ensure!(
        error == 0,
        "partition {partition} refused a batch: error {error}"
    );
    Ok(part.base_offset)
}
