//! Batches of the broker's own records, for its internal topics.

use fanlog_model::TimestampMs;
use fanlog_protocol::records::{BatchBuilder, Compression, NewRecord};

/// A record of an internal topic: its key, and its value or a tombstone.
pub(crate) type KeyValue = (Vec<u8>, Option<Vec<u8>>);

/// The records as one batch: a crash keeps all of them or none.
pub(crate) fn internal_batch(records: &[KeyValue], timestamp: TimestampMs) -> Vec<u8> {
    assert!(!records.is_empty(), "a batch holds a record at least");
    let mut builder = BatchBuilder::new(Compression::None);
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
