//! Blocks of producer ids. A block is logged before the first id of it is given out, so no id is given out twice.

use super::record::Record;
use super::{Decision, Ledger};
use fanlog_model::ProducerId;
use thiserror::Error;

/// How many ids a block has: a crash loses at most so many.
pub const PRODUCER_ID_BLOCK_LENGTH: i64 = 1_000;

/// Ids that nobody else has: `first`, and so on, `length` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProducerIdBlock {
    /// The first.
    pub first: ProducerId,
    /// How many.
    pub length: i64,
}

/// All ids have been given out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("all producer ids have been handed out; this cluster can take no new idempotent producers")]
pub struct ProducerIdsExhausted;

/// Decides on the next block.
pub fn allocate_producer_ids(
    ledger: &Ledger,
) -> Decision<Result<ProducerIdBlock, ProducerIdsExhausted>> {
    let first = ledger.view().next_producer_id();
    match first.checked_add(PRODUCER_ID_BLOCK_LENGTH) {
        Some(next) => Decision {
            records: vec![Record::ProducerIds { next }],
            reply: Ok(ProducerIdBlock {
                first: ProducerId(first),
                length: PRODUCER_ID_BLOCK_LENGTH,
            }),
        },
        None => Decision {
            records: Vec::new(),
            reply: Err(ProducerIdsExhausted),
        },
    }
}
