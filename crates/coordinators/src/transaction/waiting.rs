//! What only this process remembers: who waits for a transaction to end, when transactions time out, which epoch came before.
//!
//! Owns: deadlines and parked callers.   Never: anything that a client was promised; that is in the ledger.
//! In -> out: ledger after loading -> deadlines of transactions under way, and markers still to be written.

use super::decide::{Deciding, MarkersToWrite};
use super::{Ledger, OutcomeId, TransactionSettings, TransactionState, TransactionalId};
use crate::{CallId, Now};
use fanlog_model::ProducerEpoch;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// What is lost with the process, without breaking a promise.
#[derive(Clone, Debug, Default)]
pub struct Waiting {
    pub(super) deadlines: BTreeSet<(Duration, Purpose)>,
    pub(super) live: BTreeMap<TransactionalId, Live>,
    load: u64,
    outcomes: u64,
}

/// Why a deadline stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Purpose {
    /// The transaction under way is too old.
    TimeOut(TransactionalId),
    /// Whoever ended it has waited long enough for the markers.
    Answer(TransactionalId),
    /// Names nobody uses any more go, of this one and those after it.
    ExpireIds {
        /// `None`: of all.
        from: Option<TransactionalId>,
    },
}

/// One name, as far as it is more than its ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Live {
    pub(super) times_out_at: Option<Duration>,
    /// Who ended the transaction and waits for its markers, and until when.
    pub(super) ending: Option<(CallId, Duration)>,
    /// The outcome whose markers are being written.
    pub(super) outcome: Option<OutcomeId>,
    /// The epoch before the present one, where the producer that has it may ask again for what it was given.
    pub(super) last_epoch: Option<ProducerEpoch>,
}

impl Waiting {
    /// The state after the log was replayed, for the `load`-th time; and the outcomes whose markers may not have been written.
    pub fn after_loading(
        settings: &TransactionSettings,
        ledger: &Ledger,
        load: u64,
        now: Now,
    ) -> (Self, Vec<MarkersToWrite>) {
        let mut waiting = Self {
            load,
            ..Self::default()
        };
        let mut deciding = Deciding::new(settings, ledger, &mut waiting, now);
        deciding.set_expiry_check(settings.id_expiration_check_interval, None);
        for (id, transaction) in ledger.all() {
            if transaction.state == TransactionState::Ongoing {
                deciding.set_time_out(id, transaction);
            } else if transaction.state.is_ending() {
                deciding.write_markers(id, transaction);
            }
        }
        let markers = std::mem::take(&mut deciding.decision.markers);
        (waiting, markers)
    }

    /// The outcome of a name whose markers are being written now.
    pub fn outcome_of(&self, id: &TransactionalId) -> Option<OutcomeId> {
        self.live.get(id)?.outcome
    }

    pub(super) fn new_outcome(&mut self) -> OutcomeId {
        self.outcomes += 1;
        OutcomeId::new(self.load, self.outcomes)
    }

    /// How much memory it takes, about.
    pub fn bytes(&self) -> usize {
        self.live.len() * 256
    }

    pub(super) fn change(&mut self, id: &TransactionalId, change: impl FnOnce(&mut Live)) {
        let live = self.live.entry(id.clone()).or_default();
        let before = live.clone();
        change(live);
        let after = live.clone();
        if after == Live::default() {
            self.live.remove(id);
        }
        let deadlines = |live: &Live| {
            let time_out = live
                .times_out_at
                .map(|at| (at, Purpose::TimeOut(id.clone())));
            let answer = live.ending.map(|(_, at)| (at, Purpose::Answer(id.clone())));
            [time_out, answer]
        };
        for deadline in deadlines(&before).into_iter().flatten() {
            self.deadlines.remove(&deadline);
        }
        self.deadlines
            .extend(deadlines(&after).into_iter().flatten());
    }
}

/// When to hand in the next [`Input::Tick`](super::Input::Tick), on the monotonic clock.
pub fn next_deadline(waiting: &Waiting) -> Option<Duration> {
    waiting.deadlines.first().map(|(at, _)| *at)
}
