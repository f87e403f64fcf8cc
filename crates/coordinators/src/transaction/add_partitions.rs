//! AddPartitionsToTxn and AddOffsetsToTxn: a partition becomes part of the transaction before anything of it is written there, so that
//! whoever ends the transaction knows where its markers go (TXN-1).
//!
//! Producers of the second generation don't ask: the partition that they write to does. Asking whether a partition is part of it keeps
//! a late batch from beginning a transaction that nobody ends (KIP-890).

use super::decide::Deciding;
use super::{AddPartitions, Answer, Transaction, TransactionError, TransactionState, memory};
use fanlog_model::TopicPartition;

impl Deciding<'_> {
    pub(super) fn add_partitions(&mut self, add: AddPartitions) {
        let call = add.call;
        let result = match add.verify_only {
            true => self.verify(add),
            false => self.add(add),
        };
        self.reply(call, Answer::AddPartitions(result));
    }

    fn verify(&self, add: AddPartitions) -> Result<Vec<TopicPartition>, TransactionError> {
        let known = self.checked(&add.id, add.producer)?;
        let is_part = |partition: &TopicPartition| {
            known.state == TransactionState::Ongoing && known.partitions.contains(partition)
        };
        let missing = add.partitions.into_iter().filter(|p| !is_part(p));
        Ok(missing.collect())
    }

    fn add(&mut self, add: AddPartitions) -> Result<Vec<TopicPartition>, TransactionError> {
        let known = self.checked(&add.id, add.producer)?;
        let is_known = |p: &TopicPartition| known.partitions.contains(p);
        if known.state == TransactionState::Ongoing && add.partitions.iter().all(is_known) {
            return Ok(Vec::new());
        }
        let new = add.partitions.iter().filter(|p| !is_known(p));
        let bytes = new.map(|p| memory::of_partition(p.topic.as_str())).sum();
        self.check_memory(bytes, false)?;
        let mut partitions = known.partitions.clone();
        partitions.extend(add.partitions);
        let started_at = match known.state {
            TransactionState::Ongoing => known.started_at,
            _ => self.now.wall,
        };
        let next = Transaction {
            state: TransactionState::Ongoing,
            partitions,
            started_at,
            client_version: add.version.number(),
            ..known.clone()
        };
        self.record(&add.id, next);
        Ok(Vec::new())
    }
}
