//! A decision's records as bytes.

use crate::internal_batch::internal_batch;
use fanlog_coordinators::group::{GroupRecord, record_format};
use fanlog_model::TimestampMs;
use fanlog_protocol::wire::EncodeError;

/// The records of one decision as one batch: a crash keeps all of them or none.
pub(super) fn group_batch(
    records: &[GroupRecord],
    now: TimestampMs,
) -> Result<Vec<u8>, EncodeError> {
    let encode = |record| {
        let encoded = record_format::encode(record)?;
        Ok((encoded.key, encoded.value))
    };
    let encoded = records
        .iter()
        .map(encode)
        .collect::<Result<Vec<_>, EncodeError>>()?;
    Ok(internal_batch(&encoded, now))
}
