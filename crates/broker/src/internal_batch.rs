//! Batches of the broker's own records, for its internal topics.

use fanlog_model::{BaseSequence, ProducerEpoch, ProducerId, TimestampMs};
use fanlog_protocol::records::{BatchBuilder, Compression, NewRecord};

/// A record of an internal topic: its key, and its value or a tombstone.
pub(crate) type KeyValue = (Vec<u8>, Option<Vec<u8>>);

/// The records as one batch: a crash keeps all of them or none.
pub(crate) fn internal_batch(records: &[KeyValue], timestamp: TimestampMs) -> Vec<u8> {
    build(BatchBuilder::new(Compression::None), records, timestamp)
}

/// As `internal_batch`, of a producer's transaction. Nobody sends it again, so that it needs no sequence.
pub(crate) fn transactional_batch(
    records: &[KeyValue],
    timestamp: TimestampMs,
    producer: ProducerId,
    epoch: ProducerEpoch,
) -> Vec<u8> {
    let builder = BatchBuilder::new(Compression::None)
        .producer(producer, epoch, BaseSequence::NONE)
        .transactional();
    build(builder, records, timestamp)
}

fn build(mut builder: BatchBuilder, records: &[KeyValue], timestamp: TimestampMs) -> Vec<u8> {
    assert!(!records.is_empty(), "a batch holds a record at least");
    for (key, value) in records {
        let record = NewRecord {
            timestamp,
            key: Some(key),
            value: value.as_deref(),
            headers: &[],
        };
        builder
            .push(&record)
            .expect("coordinators bound their records far below the format's limit");
    }
    builder
        .build()
        .expect("a batch that is not empty nor compressed can be built")
}
