//! Transactional ids that nobody has used for `transactional.id.expiration.ms` go.

use super::decide::Deciding;
use super::waiting::Purpose;
use super::{Transaction, TransactionRecord};

impl Deciding<'_> {
    pub(super) fn set_expiry_check(&mut self) {
        let at = self.now.monotonic + self.settings.id_expiration_check_interval;
        self.waiting.deadlines.insert((at, Purpose::ExpireIds));
    }

    pub(super) fn expire_ids(&mut self) {
        self.waiting
            .deadlines
            .retain(|(_, purpose)| *purpose != Purpose::ExpireIds);
        self.set_expiry_check();
        let span = i64::try_from(self.settings.id_expiration.as_millis()).unwrap_or(i64::MAX);
        let oldest = self.now.wall.get().saturating_sub(span);
        let is_expired =
            |known: &Transaction| known.state.is_idle() && known.updated_at.get() <= oldest;
        for (id, known) in self.ledger.all() {
            if is_expired(known) {
                self.waiting.change(id, |live| live.last_epoch = None);
                let id = id.clone();
                self.decision
                    .records
                    .push(TransactionRecord::Expired { id });
            }
        }
    }
}
