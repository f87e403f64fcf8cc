//! What must hold of a share-partition at any time.

use super::{Ledger, Waiting};
use fanlog_model::invariants::{QUE_1, QUE_2};

/// Panics if a promise is broken. Run after every step in tests and simulation.
///
/// # Panics
/// With the invariant's name.
pub fn check_invariants(ledger: &Ledger, waiting: &Waiting) {
    let start = ledger.start;
    let mut before = None;
    for (first, hold) in waiting.held.iter() {
        assert!(before < Some(first), "{QUE_1}: two holds of {first}");
        assert!(
            start.is_some_and(|start| start <= first),
            "{QUE_2}: the start passed {first}, which is held"
        );
        let mut at = first;
        while at <= hold.last {
            let (is, last) = ledger.runs.at(at);
            assert!(
                !is.state.is_terminal(),
                "{QUE_1}: {at} is held and done with"
            );
            if last >= hold.last {
                break;
            }
            at = last.plus(1);
        }
        before = Some(hold.last);
    }
    if let Some((first, _, is)) = ledger.runs.iter().next() {
        assert!(
            start.is_some_and(|start| start <= first),
            "a state below the start"
        );
        assert!(
            Some(first) != start || !is.state.is_terminal(),
            "the start stands at a record that is done with"
        );
    }
}
