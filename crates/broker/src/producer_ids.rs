//! Producer ids: drawn from blocks that the catalog has logged as handed out.
//!
//! Why it exists: an id given twice would mix up two producers' sequences. A block is durable before its first id is
//! given; what a crash leaves of it is never given at all (PRD-2).

use crate::broker::Broker;
use crate::catalog_runtime::CatalogUnavailable;
use fanlog_coordinators::catalog::{ProducerIdsExhausted, allocate_producer_ids};
use fanlog_model::ProducerId;
use std::ops::Range;
use std::sync::Arc;
use thiserror::Error;

/// Why there is no producer id.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InitProducerIdError {
    /// All ids have been given.
    #[error(transparent)]
    Exhausted(#[from] ProducerIdsExhausted),
    /// A new block could not be logged.
    #[error(transparent)]
    Unavailable(#[from] CatalogUnavailable),
}

/// The rest of the current block.
#[derive(Debug, Default)]
pub(crate) struct ProducerIds {
    left: tokio::sync::Mutex<Range<i64>>,
}

impl Broker {
    /// A producer id that was never given before.
    ///
    /// # Errors
    /// There is none left, or a new block could not be logged.
    pub async fn init_producer_id(self: &Arc<Self>) -> Result<ProducerId, InitProducerIdError> {
        let mut left = self.producer_ids.left.lock().await;
        if left.is_empty() {
            let block = self
                .change_catalog(|ledger, _| allocate_producer_ids(ledger))
                .await??;
            *left = block.first.0..block.first.0 + block.length;
        }
        let id = left.next().expect("a new block is not empty");
        Ok(ProducerId(id))
    }
}
