//! Transactional ids that nobody has used for `transactional.id.expiration.ms` go, a few at a time: everybody else waits meanwhile, and
//! what goes at once is one batch.

use super::decide::Deciding;
use super::waiting::Purpose;
use super::{Transaction, TransactionRecord, TransactionalId};
use std::time::Duration;

/// How many names are looked at in one step, and how many may go, and how long these may be together.
const SEEN_AT_ONCE: usize = 10_000;
const EXPIRED_AT_ONCE: usize = 1_000;
const EXPIRED_BYTES_AT_ONCE: usize = 64 * 1024;

impl Deciding<'_> {
    /// When names are next looked at, and from which on: from the first, if none is named.
    pub(super) fn set_expiry_check(&mut self, after: Duration, from: Option<TransactionalId>) {
        let at = self.now.monotonic + after;
        let purpose = Purpose::ExpireIds { from };
        self.waiting.deadlines.insert((at, purpose));
    }

    pub(super) fn expire_ids(&mut self, from: Option<TransactionalId>) {
        self.waiting
            .deadlines
            .retain(|(_, purpose)| !matches!(purpose, Purpose::ExpireIds { .. }));
        let span = i64::try_from(self.settings.id_expiration.as_millis()).unwrap_or(i64::MAX);
        let oldest = self.now.wall.get().saturating_sub(span);
        let is_expired =
            |known: &Transaction| known.state.is_idle() && known.updated_at.get() <= oldest;
        let mut bytes = 0;
        for (seen, (id, known)) in self.ledger.all_from(from.as_ref()).enumerate() {
            let is_enough = seen == SEEN_AT_ONCE
                || self.decision.records.len() == EXPIRED_AT_ONCE
                || bytes > EXPIRED_BYTES_AT_ONCE - id.as_str().len();
            if is_enough {
                return self.set_expiry_check(Duration::ZERO, Some(id.clone()));
            }
            if is_expired(known) {
                bytes += id.as_str().len();
                self.waiting.change(id, |live| live.last_epoch = None);
                let id = id.clone();
                self.decision
                    .records
                    .push(TransactionRecord::Expired { id });
            }
        }
        self.set_expiry_check(self.settings.id_expiration_check_interval, None);
    }
}
