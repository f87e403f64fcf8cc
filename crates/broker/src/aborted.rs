//! Which batches a reader of committed records does not see.
//!
//! Why it exists: a fetch tells which transactions were aborted, and not which of its batches belong to them.
//! In -> out: batches, in the order of their offsets -> whether each has something for the reader.

use crate::fetch_types::AbortedTransaction;
use fanlog_model::ProducerId;
use fanlog_protocol::records::BatchView;
use std::collections::HashSet;

/// The transactions that were aborted, while batches are passed in order.
pub(crate) struct Aborted<'a> {
    ahead: &'a [AbortedTransaction],
    open: HashSet<ProducerId>,
}

impl<'a> Aborted<'a> {
    pub(crate) fn new(aborted: &'a [AbortedTransaction]) -> Self {
        Self {
            ahead: aborted,
            open: HashSet::new(),
        }
    }

    /// Whether a batch has nothing for a consumer that sees what is committed.
    pub(crate) fn takes(&mut self, batch: &BatchView<'_>) -> bool {
        while let Some((next, rest)) = self.ahead.split_first()
            && next.first_offset <= batch.last_offset()
        {
            self.open.insert(next.producer_id);
            self.ahead = rest;
        }
        if batch.is_control() {
            // A marker ends its producer's transaction.
            self.open.remove(&batch.producer_id());
            return true;
        }
        batch.is_transactional() && self.open.contains(&batch.producer_id())
    }
}
