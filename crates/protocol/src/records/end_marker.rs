//! The control batch that ends a producer's transaction in a partition: one marker, and nothing else.
//!
//! ```text
//! key    version: i16 | kind: i16      0 abort, 1 commit
//! value  version: i16 | coordinator epoch: i32
//! ```
//! One marker for each batch: several in one make clients stumble.

use super::batch::{BatchView, HEADER_BYTES};
use super::builder::{BatchBuilder, NewRecord};
use super::compression::Compression;
use super::record::RecordIter;
use fanlog_model::{BaseSequence, ProducerEpoch, ProducerId, TimestampMs};

const VERSION: i16 = 0;
const ABORT: i16 = 0;
const COMMIT: i16 = 1;

/// How a transaction ended, as its marker says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndMarker {
    /// Whether its records count.
    pub is_commit: bool,
    /// The epoch of the coordinator that wrote the marker: one that led earlier is refused.
    pub coordinator_epoch: i32,
}

impl EndMarker {
    /// The control batch.
    pub fn batch(
        &self,
        producer: ProducerId,
        epoch: ProducerEpoch,
        timestamp: TimestampMs,
    ) -> Vec<u8> {
        let kind = if self.is_commit { COMMIT } else { ABORT };
        let key = [VERSION.to_be_bytes(), kind.to_be_bytes()].concat();
        let mut value = VERSION.to_be_bytes().to_vec();
        value.extend_from_slice(&self.coordinator_epoch.to_be_bytes());
        let mut builder = BatchBuilder::new(Compression::None)
            .producer(producer, epoch, BaseSequence::NONE)
            .transactional()
            .control();
        let record = NewRecord {
            timestamp,
            key: Some(&key),
            value: Some(&value),
            headers: &[],
        };
        builder
            .push(&record)
            .and_then(|()| builder.build())
            .expect("ten bytes fit in a batch")
    }

    /// The marker in a control batch; nothing where the batch is none of a transaction, or holds another kind of control record.
    pub fn of_batch(batch: &BatchView<'_>) -> Option<Self> {
        if !batch.is_control() || batch.record_count() != 1 {
            return None;
        }
        let records = batch.bytes().get(HEADER_BYTES..)?;
        let record = RecordIter::new(records, 1).next()?.ok()?;
        let key: &[u8; 4] = record.key?.try_into().ok()?;
        let is_commit = match i16::from_be_bytes([key[2], key[3]]) {
            ABORT => false,
            COMMIT => true,
            _ => return None,
        };
        let value: &[u8; 6] = record.value?.first_chunk()?;
        Some(Self {
            is_commit,
            coordinator_epoch: i32::from_be_bytes([value[2], value[3], value[4], value[5]]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_is_read_back() {
        for is_commit in [false, true] {
            let marker = EndMarker {
                is_commit,
                coordinator_epoch: 7,
            };
            let bytes = marker.batch(ProducerId(3), ProducerEpoch(2), TimestampMs(5));
            let batch = BatchView::parse(&bytes).unwrap();
            assert!(batch.check_crc().is_ok());
            assert!(batch.is_control() && batch.is_transactional());
            assert_eq!(batch.producer_epoch(), ProducerEpoch(2));
            assert_eq!(batch.base_sequence(), BaseSequence::NONE);
            assert_eq!(EndMarker::of_batch(&batch), Some(marker));
        }
    }

    #[test]
    fn the_bytes_of_a_marker_are_kafkas() {
        // Written by Kafka 4.4 behind a transaction that was committed; the leader epoch and the offset are 0 here.
        let marker = EndMarker {
            is_commit: true,
            coordinator_epoch: 0,
        };
        let bytes = marker.batch(ProducerId(0), ProducerEpoch(0), TimestampMs(0));
        let record = [0x20, 0, 0, 0, 8, 0, 0, 0, 1, 12, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(bytes[HEADER_BYTES..], record);
        assert_eq!(bytes[21..23], [0, 0x30]);
    }

    #[test]
    fn a_batch_of_another_kind_is_no_marker() {
        let mut builder = BatchBuilder::new(Compression::None).control();
        let record = NewRecord {
            key: Some(&[0, 0, 0, 2]),
            value: Some(&[0; 6]),
            ..NewRecord::default()
        };
        builder.push(&record).unwrap();
        let bytes = builder.build().unwrap();
        let batch = BatchView::parse(&bytes).unwrap();
        assert_eq!(EndMarker::of_batch(&batch), None);
    }
}
