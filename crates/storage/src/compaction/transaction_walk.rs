//! Which transactions the batches of a walk belong to: an aborted one's records go, and a marker goes once nothing of its transaction is left.
//!
//! Why it exists: a record that was aborted must not hide an older one of its key, and a marker that goes too early would leave readers
//! in the belief that its producer's next records were aborted.
//! In -> out: the log's aborted transactions, batches in order -> whether each was aborted, whether a marker may go.
//! Invariants: TXN-1. Kafka's rule: a marker stays as long as a batch of its transaction was met in the same walk.

use crate::formats::transaction_index::AbortedTransaction;
use fanlog_model::{Offset, ProducerId};
use fanlog_protocol::records::{BatchView, EndMarker};
use std::collections::{HashMap, HashSet};

/// A walk over batches in the order of their offsets.
#[derive(Debug)]
pub(super) struct TransactionWalk<'a> {
    /// By where they began.
    aborted: &'a [AbortedTransaction],
    /// Those that have begun, and whether a batch of theirs was met.
    begun: HashMap<ProducerId, (AbortedTransaction, bool)>,
    /// Producers with batches of transactions that were not aborted.
    committed: HashSet<ProducerId>,
}

/// What becomes of a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MarkerFate {
    /// Something of its transaction is there; where that was aborted, its entry stays in the index.
    Stays(Option<AbortedTransaction>),
    /// It ends nothing any more.
    MayGo,
}

impl<'a> TransactionWalk<'a> {
    pub(super) fn new(aborted: &'a [AbortedTransaction]) -> Self {
        Self {
            aborted,
            begun: HashMap::new(),
            committed: HashSet::new(),
        }
    }

    /// Whether the records of a batch that is no control batch were aborted.
    pub(super) fn is_aborted(&mut self, batch: &BatchView<'_>) -> bool {
        if !batch.is_transactional() {
            return false;
        }
        self.begin_up_to(batch.last_offset());
        let producer = batch.producer_id();
        match self.begun.get_mut(&producer) {
            Some((_, is_met)) => {
                *is_met = true;
                true
            }
            None => {
                self.committed.insert(producer);
                false
            }
        }
    }

    /// A marker is met.
    pub(super) fn end(&mut self, batch: &BatchView<'_>, marker: EndMarker) -> MarkerFate {
        self.begin_up_to(batch.last_offset());
        let producer = batch.producer_id();
        if marker.is_commit {
            return match self.committed.remove(&producer) {
                true => MarkerFate::Stays(None),
                false => MarkerFate::MayGo,
            };
        }
        match self.begun.remove(&producer) {
            Some((entry, true)) => MarkerFate::Stays(Some(entry)),
            Some((_, false)) | None => MarkerFate::MayGo,
        }
    }

    fn begin_up_to(&mut self, offset: Offset) {
        while let Some((next, rest)) = self.aborted.split_first()
            && next.first_offset <= offset
        {
            // A walk may begin behind the marker.
            if next.last_offset >= offset {
                self.begun.insert(next.producer_id, (*next, false));
            }
            self.aborted = rest;
        }
    }
}
