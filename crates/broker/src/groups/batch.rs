//! A decision's records as bytes.

use crate::internal_batch::{internal_batch, transactional_batch};
use crate::machines::LogError;
use fanlog_coordinators::group::{GroupRecord, TransactionalWrite, record_format};
use fanlog_model::TimestampMs;
use fanlog_protocol::records::EndMarker;
use fanlog_protocol::wire::EncodeError;

/// One decision as one batch: a crash keeps all of it or nothing.
pub(super) fn group_batch(
    records: &[GroupRecord],
    transaction: Option<TransactionalWrite>,
    now: TimestampMs,
) -> Result<Vec<u8>, LogError> {
    if let Some(TransactionalWrite::End(end)) = transaction {
        let marker = EndMarker {
            is_commit: end.is_commit,
            coordinator_epoch: end.coordinator_epoch,
        };
        return Ok(marker.batch(end.producer.id, end.producer.epoch, now));
    }
    let encode = |record| {
        let encoded = record_format::encode(record)?;
        Ok((encoded.key, encoded.value))
    };
    let encoded = records
        .iter()
        .map(encode)
        .collect::<Result<Vec<_>, EncodeError>>()?;
    let batch = match transaction {
        Some(TransactionalWrite::Offsets(producer)) => {
            transactional_batch(&encoded, now, producer.id, producer.epoch)
        }
        _ => internal_batch(&encoded, now),
    };
    Ok(batch?)
}
