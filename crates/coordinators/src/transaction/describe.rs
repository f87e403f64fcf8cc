//! DescribeTransactions and ListTransactions.

use super::decide::Deciding;
use super::{
    Answer, DescribedTransaction, List, ListedTransaction, ListedTransactions, Transaction,
    TransactionError, TransactionState, TransactionalId,
};
use crate::CallId;

impl Deciding<'_> {
    pub(super) fn describe(&mut self, call: CallId, id: TransactionalId) {
        let described = match self.ledger.get(&id) {
            Some(known) => Ok(DescribedTransaction {
                transaction: known.clone(),
                id,
            }),
            None => Err(TransactionError::NotFound { id }),
        };
        self.reply(call, Answer::Describe(described));
    }

    pub(super) fn list(&mut self, list: List) {
        let is_state = |name: &String| TransactionState::ALL.iter().any(|s| s.name() == name);
        let (states, unknown_states): (Vec<_>, Vec<_>) =
            list.states.iter().cloned().partition(is_state);
        let has_filter = !list.states.is_empty();
        let is_wanted = |known: &Transaction| {
            let is_old = list.longer_than.is_none_or(|span| {
                let passed = self.now.wall.get().saturating_sub(known.started_at.get());
                u128::try_from(passed).is_ok_and(|passed| passed > span.as_millis())
            });
            (!has_filter || states.iter().any(|name| name == known.state.name()))
                && (list.producers.is_empty() || list.producers.contains(&known.producer_id))
                && is_old
        };
        let found = self.ledger.all().filter(|(_, known)| is_wanted(known));
        let transactions = found
            .map(|(id, known)| ListedTransaction {
                id: id.clone(),
                producer_id: known.producer_id,
                state: known.state,
            })
            .collect();
        let listed = ListedTransactions {
            transactions,
            unknown_states,
        };
        self.reply(list.call, Answer::List(listed));
    }
}
