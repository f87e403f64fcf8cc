//! Batches of the broker's own records, for its internal topics.

use fanlog_model::{BaseSequence, ProducerEpoch, ProducerId, TimestampMs};
use fanlog_protocol::records::{BatchBuilder, BuildError, Compression, NewRecord};

/// A record of an internal topic: its key, and its value or a tombstone.
pub(crate) type KeyValue = (Vec<u8>, Option<Vec<u8>>);

/// The records as one batch: a crash keeps all of them or none.
///
/// # Errors
/// They exceed what one batch can hold. Split, a crash might keep some of them.
pub(crate) fn internal_batch(
    records: &[KeyValue],
    timestamp: TimestampMs,
) -> Result<Vec<u8>, BuildError> {
    build(BatchBuilder::new(Compression::None), records, timestamp)
}

/// As `internal_batch`, of a producer's transaction. Nobody sends it again, so that it needs no sequence.
///
/// # Errors
/// As there.
pub(crate) fn transactional_batch(
    records: &[KeyValue],
    timestamp: TimestampMs,
    producer: ProducerId,
    epoch: ProducerEpoch,
) -> Result<Vec<u8>, BuildError> {
    let builder = BatchBuilder::new(Compression::None)
        .producer(producer, epoch, BaseSequence::NONE)
        .transactional();
    build(builder, records, timestamp)
}

fn build(
    mut builder: BatchBuilder,
    records: &[KeyValue],
    timestamp: TimestampMs,
) -> Result<Vec<u8>, BuildError> {
    for (key, value) in records {
        let record = NewRecord {
            timestamp,
            key: Some(key),
            value: value.as_deref(),
            headers: &[],
        };
        builder.push(&record)?;
    }
    builder.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_beyond_what_the_format_holds_is_refused_by_name() {
        let records = [(Vec::new(), Some(vec![0; 1 << 20]))];
        let built = internal_batch(&records, TimestampMs(0)).unwrap();
        assert!(built.len() > 1 << 20);
        // Never touched, so that it takes no memory.
        let records = [(Vec::new(), Some(vec![0; 1 << 31]))];
        let refused = internal_batch(&records, TimestampMs(0));
        assert!(
            matches!(refused, Err(BuildError::TooLarge { bytes }) if bytes > 1 << 31),
            "{refused:?}"
        );
        let refused = internal_batch(&[], TimestampMs(0));
        assert!(matches!(refused, Err(BuildError::Empty)), "{refused:?}");
    }
}
