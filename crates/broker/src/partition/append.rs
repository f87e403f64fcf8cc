//! Appending: checked without the lock, ordered and written under it, handed to the journal.
//!
//! Why it exists: it is the road of every record; the rest of a partition waits on it or reads behind it.
//! In -> out: batches -> a receipt. On return they are ordered and in the page cache, not yet durable nor visible.
//! Invariants: LOG-1, LOG-2, PRD-1, PRD-3.   Read next: `sync.rs`.

use super::Partition;
use crate::append_types::{AppendError, AppendReceipt, Appender};
use crate::dedup::Claim;
use fanlog_model::{Offset, ProducerId};
use fanlog_storage::{AppendOrigin, Appended, CheckedBatches, Durability, Log};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

impl Partition {
    /// Appends a client's batches: on return they are ordered and in the page cache, not yet durable nor visible.
    /// Offsets are written into `batches` in place.
    ///
    /// # Errors
    /// The topic is internal, the batches are refused, or the partition cannot serve.
    pub fn append(self: &Arc<Self>, batches: &mut [u8]) -> Result<AppendReceipt, AppendError> {
        self.check_clients_topic()?;
        self.append_as(batches, Appender::Client, None)
    }

    /// As `append`, of a transaction whose coordinator has said that the partition belongs to it, when it was asked at `allowed_at`.
    ///
    /// # Errors
    /// As there; the transaction has ended meanwhile.
    pub fn append_allowed(
        self: &Arc<Self>,
        batches: &mut [u8],
        allowed_at: Offset,
    ) -> Result<AppendReceipt, AppendError> {
        self.check_clients_topic()?;
        self.append_as(batches, Appender::Client, Some(allowed_at))
    }

    /// Clients write to their own topics only.
    pub(crate) fn check_clients_topic(&self) -> Result<(), AppendError> {
        match self.shared.is_internal {
            true => Err(AppendError::Internal {
                topic: self.topic().clone(),
            }),
            false => Ok(()),
        }
    }

    /// As `append`, for the broker's own records in internal topics.
    pub(crate) fn append_as(
        self: &Arc<Self>,
        batches: &mut [u8],
        appender: Appender,
        allowed_at: Option<Offset>,
    ) -> Result<AppendReceipt, AppendError> {
        let appended_at = self.monotonic();
        let origin = match appender {
            Appender::Client => AppendOrigin::Client,
            Appender::Mover => AppendOrigin::Mover,
            Appender::Coordinator => AppendOrigin::Coordinator,
            Appender::LaterMarker => AppendOrigin::LaterMarker,
        };
        let (checked, durability) = self.check_batches(batches, origin)?;
        let checked = checked.allowed_at(allowed_at);
        self.append_prepared(checked, appender, durability, appended_at, None)
    }

    /// Checks batches before the lock is taken: a small one may stand for very many bytes, and others wait for the lock.
    pub(crate) fn check_batches<'a>(
        &self,
        batches: &'a mut [u8],
        origin: AppendOrigin,
    ) -> Result<(CheckedBatches<'a>, Durability), AppendError> {
        let now = self.now();
        let config = self.with_log(|log| log.config().clone())?;
        let checked = CheckedBatches::check(&config, batches, origin, now);
        Ok((checked.map_err(AppendError::Refused)?, config.durability))
    }

    /// Appends what was checked; the message ids that were claimed for it are known then, as of the producer's transaction, if any.
    pub(crate) fn append_prepared(
        self: &Arc<Self>,
        mut checked: CheckedBatches<'_>,
        appender: Appender,
        durability: Durability,
        appended_at: Duration,
        claim: Option<(Claim, Option<ProducerId>)>,
    ) -> Result<AppendReceipt, AppendError> {
        // Where the batch ends a transaction, the ids that were written in it are decided.
        let end = match appender {
            Appender::Client | Appender::Mover => None,
            Appender::Coordinator | Appender::LaterMarker => {
                self.message_ids().zip(checked.end_marker())
            }
        };
        let appended = self.change(|log| {
            let appended = self.append_to(log, checked, durability)?;
            if let Some((claim, producer)) = claim.filter(|_| !appended.is_duplicate) {
                claim.settle(self.index(), appended.first_offset, producer);
            }
            if let Some((ids, (producer, marker))) = end {
                ids.end(self.index(), producer, marker.is_commit);
            }
            Ok(appended)
        })?;
        self.tell_of_disk(&appended);
        let appended = appended.map_err(AppendError::Refused)?;
        if !appended.is_duplicate {
            self.after_append(&appended, durability);
            let records = appended.record_count.max(0).unsigned_abs();
            self.shared.metrics.count_append(appended.bytes, records);
        }
        Ok(AppendReceipt::new(self.clone(), appended, appended_at))
    }

    /// Under the lock: appends, and hands the batches to the journal where the topic waits for it.
    fn append_to(
        self: &Arc<Self>,
        log: &mut Log,
        checked: CheckedBatches<'_>,
        durability: Durability,
    ) -> Result<Appended, fanlog_storage::AppendError> {
        if durability != Durability::Sync {
            let appended = log.append_checked(checked, self.leader_epoch())?;
            log.note_durable(log.log_end_offset())?;
            return Ok(appended);
        }
        log.append_and(checked, self.leader_epoch(), |appended, bytes| {
            self.hand_on(appended.first_offset..appended.last_offset.plus(1), bytes);
        })
    }

    /// Behind what goes past the journal everything does, until a note of the journal's covers it: the watermark never passes a hole.
    fn hand_on(self: &Arc<Self>, offsets: Range<Offset>, bytes: &[u8]) {
        let committer = &self.shared.committer;
        let before = self.handed_on.load(Ordering::Relaxed);
        let is_behind_another = self.past_end.load(Ordering::Relaxed) > before;
        if committer.goes_past(bytes.len(), is_behind_another) {
            self.past_end.store(offsets.end.0, Ordering::Relaxed);
            return;
        }
        self.handed_on.store(offsets.end.0, Ordering::Relaxed);
        let config = committer.journal.config();
        let follows = config.follows(Offset(before), offsets.start);
        committer.push(self, self.leader_epoch(), offsets, bytes, follows);
    }

    /// Without the lock. What does not wait for the disk is visible now; what the system may write when it likes is synced only where
    /// it has become much, or a segment was sealed.
    fn after_append(self: &Arc<Self>, appended: &Appended, durability: Durability) {
        match durability {
            Durability::Sync => {
                self.count_dirty(appended.bytes, durability);
                let handed_on = self.handed_on.load(Ordering::Relaxed);
                if self.past_end.load(Ordering::Relaxed) > handed_on {
                    self.hurry();
                }
            }
            Durability::Interval(_) => {
                self.count_dirty(appended.bytes, durability);
                self.publish(appended.last_offset.plus(1));
            }
            Durability::Os => {
                self.publish(appended.last_offset.plus(1));
                let is_sealed = || self.with_log(|log| log.unsynced_segments() > 0) == Ok(true);
                if self.has_become_much(appended.bytes) || is_sealed() {
                    self.mark_dirty(durability);
                }
            }
        }
    }

    /// A disk that takes nothing, as when it is full, is worth one line when it begins and one when it ends.
    fn tell_of_disk(&self, appended: &Result<Appended, fanlog_storage::AppendError>) {
        match appended {
            Ok(_) if self.is_disk_refusing.load(Ordering::Relaxed) => {
                self.is_disk_refusing.store(false, Ordering::Relaxed);
                tracing::info!(partition = %self.folder(), "the disk takes records again");
            }
            Err(error @ fanlog_storage::AppendError::Io { .. })
                if !self.is_disk_refusing.swap(true, Ordering::Relaxed) =>
            {
                tracing::warn!(
                    partition = %self.folder(), %error,
                    "the disk takes no records; producers are told to try again"
                );
            }
            _ => {}
        }
    }
}
