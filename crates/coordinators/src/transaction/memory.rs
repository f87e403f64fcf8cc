//! How much memory transactional ids take, about, and whether there is room for more (OPS-1).
//!
//! What is new is admitted up to the limit; a transaction under way may go on up to twice the limit, so that names which somebody else makes
//! do not stop it.

use super::decide::Deciding;
use super::{Transaction, TransactionError, TransactionalId};

const TRANSACTION_BYTES: usize = 768;
const PARTITION_BYTES: usize = 96;

pub(super) fn of(id: &TransactionalId, transaction: &Transaction) -> usize {
    let partitions = transaction.partitions.iter();
    of_id(id)
        + partitions
            .map(|p| of_partition(p.topic.as_str()))
            .sum::<usize>()
}

pub(super) fn of_id(id: &TransactionalId) -> usize {
    TRANSACTION_BYTES + id.as_str().len()
}

pub(super) fn of_partition(topic: &str) -> usize {
    PARTITION_BYTES + topic.len()
}

impl Deciding<'_> {
    /// Whether so many bytes more may be held; `is_new` says that nothing goes on with them.
    pub(super) fn check_memory(
        &mut self,
        bytes: usize,
        is_new: bool,
    ) -> Result<(), TransactionError> {
        let limit = self.settings.memory_bytes_max;
        let max = if is_new {
            limit
        } else {
            limit.saturating_mul(2)
        };
        let held = self.settings.memory_bytes_elsewhere + self.ledger.bytes();
        if held.saturating_add(bytes) <= max {
            return Ok(());
        }
        self.decision.refused_for_memory += 1;
        Err(TransactionError::MemoryFull { max: limit })
    }
}
