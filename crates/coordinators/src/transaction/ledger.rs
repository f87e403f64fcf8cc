//! What `__transaction_state` remembers of the transactional ids of one partition.
//!
//! Owns: one entry for each name.   Never: parked callers, deadlines.
//! In -> out: record -> changed ledger.
//! Invariants: TXN-1, TXN-2: replaying the log gives exactly what the live machine knows.

use super::{Transaction, TransactionRecord, TransactionalId, memory};
use std::collections::BTreeMap;
use std::ops::Bound;

/// The transactional ids that the log knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    transactions: BTreeMap<TransactionalId, Transaction>,
    bytes: usize,
}

impl Ledger {
    /// One transactional id.
    pub fn get(&self, id: &TransactionalId) -> Option<&Transaction> {
        self.transactions.get(id)
    }

    /// All of them, by name.
    pub fn all(&self) -> impl Iterator<Item = (&TransactionalId, &Transaction)> {
        self.transactions.iter()
    }

    /// Those of a name and the names after it; without one, all.
    pub(super) fn all_from(
        &self,
        from: Option<&TransactionalId>,
    ) -> impl Iterator<Item = (&TransactionalId, &Transaction)> {
        let from = from.map_or(Bound::Unbounded, Bound::Included);
        self.transactions.range((from, Bound::Unbounded))
    }

    /// How much memory it takes, about.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn counted_bytes(&self) -> usize {
        self.all().map(|(id, known)| memory::of(id, known)).sum()
    }
}

/// Applies one record. Total: any record in any order gives a legal ledger, because a compacted log may begin anywhere.
pub fn apply(ledger: &mut Ledger, record: &TransactionRecord) {
    let (id, before) = match record {
        TransactionRecord::Transaction { id, transaction } => {
            ledger.bytes += memory::of(id, transaction);
            let before = ledger.transactions.insert(id.clone(), transaction.clone());
            (id, before)
        }
        TransactionRecord::Expired { id } => (id, ledger.transactions.remove(id)),
    };
    if let Some(before) = before {
        ledger.bytes -= memory::of(id, &before);
    }
}
