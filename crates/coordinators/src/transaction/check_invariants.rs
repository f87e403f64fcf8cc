//! What must be true after every step.

use super::{Ledger, TransactionState, Waiting};
use fanlog_model::ProducerId;
use fanlog_model::invariants::{OPS_1, TXN_1, TXN_2};
use std::collections::BTreeSet;

/// Holds the ledger and what waits beside it to the promises.
///
/// # Panics
/// With the name of the invariant that is broken.
pub fn check_invariants(ledger: &Ledger, waiting: &Waiting) {
    assert_eq!(ledger.bytes(), ledger.counted_bytes(), "{OPS_1}");
    let mut producers = BTreeSet::new();
    for (id, known) in ledger.all() {
        assert!(
            producers.insert(known.producer_id),
            "{TXN_2}: producer {} has two names, one of them '{id}'",
            known.producer_id
        );
        assert!(known.producer_epoch.get() >= 0, "{TXN_2}: '{id}'");
        assert!(
            !known.state.is_idle() || known.partitions.is_empty(),
            "{TXN_1}: '{id}' is {} and has partitions",
            known.state.name()
        );
        assert!(
            known.next_producer_id == ProducerId::NONE || known.state.is_ending(),
            "{TXN_2}: '{id}' is {} and has a next producer id",
            known.state.name()
        );
        let live = waiting.live.get(id);
        let has_time_out = live.is_some_and(|live| live.times_out_at.is_some());
        assert_eq!(
            has_time_out,
            known.state == TransactionState::Ongoing,
            "{TXN_1}: '{id}' is {}",
            known.state.name()
        );
        assert_eq!(
            live.is_some_and(|live| live.outcome.is_some()),
            known.state.is_ending(),
            "{TXN_1}: '{id}' is {}",
            known.state.name()
        );
        let is_awaited = live.is_some_and(|live| live.ending.is_some());
        assert!(!is_awaited || known.state.is_ending(), "{TXN_1}: '{id}'");
    }
}
