//! What was sent, and what of it was acknowledged or seen: LOG-1 to LOG-4, PRD-1, PRD-2.

use super::{Verdict, Violation, broken, holds};
use fanlog_model::TopicId;
use fanlog_model::invariants::{LOG_1, LOG_2, LOG_3, LOG_4, PRD_1, PRD_2};
use fanlog_protocol::records::BatchView;
use std::collections::BTreeMap;

/// One partition of one life of a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) topic: TopicId,
    pub(crate) partition: i32,
}

/// A batch that somebody sent, by the order of sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BatchId(usize);

#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) place: Place,
    /// As it was sent, and as it is sent again.
    pub(crate) bytes: Vec<u8>,
    pub(crate) records: i64,
    pub(crate) sequence: i32,
    timestamp: i64,
    /// Some attempt to send it was not refused for certain.
    may_be_there: bool,
    /// Where it was acknowledged, or seen.
    pub(crate) offset: Option<i64>,
}

#[derive(Debug, Default)]
struct PartitionRecords {
    /// What was acknowledged under `acks=all`, or seen, by offset.
    bound: BTreeMap<i64, BatchId>,
    /// What an append was told, by leader epoch and offset; it may vanish, and its offset then comes back in another epoch.
    receipts: BTreeMap<(i32, i64), BatchId>,
    high_watermark: i64,
    log_start: i64,
    /// Deletions up to here were answered.
    deleted: i64,
    /// Deletions up to here were asked for.
    deletable: i64,
}

/// What retention may take of a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Retention {
    Nothing,
    OlderThanMs(i64),
    BeyondBytes(u64),
}

/// All that was sent, and all that the broker is bound by.
#[derive(Debug, Default)]
pub(crate) struct Records {
    batches: Vec<Batch>,
    by_bytes: BTreeMap<Vec<u8>, BatchId>,
    partitions: BTreeMap<Place, PartitionRecords>,
}

impl Records {
    /// A batch is about to be sent for the first time.
    pub(crate) fn sending(
        &mut self,
        place: Place,
        bytes: Vec<u8>,
        sequence: i32,
        timestamp: i64,
    ) -> BatchId {
        let id = BatchId(self.batches.len());
        let records = BatchView::parse(&bytes).map_or(0, |batch| batch.record_count().into());
        let before = self.by_bytes.insert(unplaced(&bytes), id);
        assert_eq!(
            before, None,
            "the simulator never sends the same bytes twice as new"
        );
        self.batches.push(Batch {
            place,
            bytes,
            records,
            sequence,
            timestamp,
            may_be_there: false,
            offset: None,
        });
        id
    }

    pub(crate) fn batch(&self, id: BatchId) -> &Batch {
        &self.batches[id.0]
    }

    /// An attempt ended in such a way that the batch may or may not be in the log.
    pub(crate) fn may_be_there(&mut self, id: BatchId) {
        self.batches[id.0].may_be_there = true;
    }

    /// An append answered with an offset; nothing is durable yet.
    pub(crate) fn appended(
        &mut self,
        id: BatchId,
        epoch: i32,
        offset: i64,
        is_duplicate: bool,
    ) -> Verdict {
        self.may_be_there(id);
        let Batch {
            place,
            offset: bound,
            records,
            ..
        } = self.batches[id.0];
        if let Some(bound) = bound {
            holds(is_duplicate && bound == offset, PRD_1, || {
                format!(
                    "batch {id:?} stands at offset {bound} of {place:?}, and sent again it got offset {offset}, duplicate: {is_duplicate}"
                )
            })?;
        }
        let partition = self.partitions.entry(place).or_default();
        if is_duplicate {
            let known = partition
                .receipts
                .iter()
                .rev()
                .find(|(_, known)| **known == id);
            return holds(
                known.is_none_or(|((_, at), _)| *at == offset),
                PRD_1,
                || {
                    format!(
                        "a retry of {id:?} in {place:?} answers offset {offset}; the first time it was {known:?}"
                    )
                },
            );
        }
        let (overlapping, promise) = match partition.bound.range(offset..offset + records).next() {
            Some((_, bound)) => (Some(*bound), LOG_3),
            None => (partition.receipts.insert((epoch, offset), id), LOG_3),
        };
        let same = overlapping.is_none_or(|other| other == id);
        holds(same, promise, || {
            format!(
                "offset {offset} of {place:?} was given to {overlapping:?} and in epoch {epoch} to {id:?}"
            )
        })
    }

    /// The broker promised that the batch stays.
    pub(crate) fn acknowledged(&mut self, id: BatchId, offset: i64) -> Verdict {
        self.bind(id, offset)
    }

    fn bind(&mut self, id: BatchId, offset: i64) -> Verdict {
        let batch = &mut self.batches[id.0];
        let (place, records) = (batch.place, batch.records);
        if let Some(bound) = batch.offset {
            return holds(bound == offset, PRD_1, || {
                format!("batch {id:?} stands at offset {bound} of {place:?} and at {offset}")
            });
        }
        batch.offset = Some(offset);
        let partition = self.partitions.entry(place).or_default();
        let taken = partition.bound.range(offset..offset + records).next();
        let taken = taken.map(|(at, other)| (*at, *other));
        holds(taken.is_none(), LOG_3, || {
            format!("offsets {offset}.. of {place:?} belong to {taken:?} and to {id:?}")
        })?;
        partition.bound.insert(offset, id);
        Ok(())
    }

    /// A consumer was shown a batch.
    pub(crate) fn seen(&mut self, place: Place, batch: &BatchView<'_>, bytes: &[u8]) -> Verdict {
        let offset = batch.base_offset().0;
        let Some(id) = self.by_bytes.get(&unplaced(bytes)).copied() else {
            let what = format!("what {place:?} shows at offset {offset} was sent by nobody");
            return Err(broken(LOG_4, what));
        };
        let sent = &self.batches[id.0];
        holds(sent.place == place, LOG_4, || {
            format!(
                "{place:?} shows at offset {offset} what was sent to {:?}",
                sent.place
            )
        })?;
        holds(sent.may_be_there, LOG_4, || {
            format!("{place:?} shows at offset {offset} batch {id:?}, which was refused")
        })?;
        let bound = self
            .partitions
            .get(&place)
            .and_then(|p| p.bound.get(&offset));
        holds(bound.is_none_or(|bound| *bound == id), LOG_3, || {
            format!("offset {offset} of {place:?} was {bound:?} and is {id:?}")
        })?;
        let epoch = batch.partition_leader_epoch().0;
        let receipts = self.partitions.get(&place).map(|p| &p.receipts);
        let told = receipts.and_then(|receipts| receipts.get(&(epoch, offset)));
        holds(told.is_none_or(|told| *told == id), LOG_3, || {
            format!(
                "offset {offset} of {place:?} in epoch {epoch} was given to {told:?} and shows {id:?}"
            )
        })?;
        self.bind(id, offset)
    }

    /// Where a partition stands, as a client was told.
    pub(crate) fn standing(
        &mut self,
        place: Place,
        high_watermark: i64,
        log_start: Option<i64>,
        retention: Retention,
        now: i64,
    ) -> Verdict {
        let partition = self.partitions.entry(place).or_default();
        let before = partition.high_watermark;
        holds(high_watermark >= before, LOG_2, || {
            format!("the high watermark of {place:?} was {before} and is {high_watermark}")
        })?;
        partition.high_watermark = high_watermark;
        let Some(log_start) = log_start else {
            return Ok(());
        };
        let (deleted, before) = (partition.deleted, partition.log_start);
        holds(log_start >= deleted, LOG_3, || {
            format!("{place:?} starts at {log_start}; what lies below {deleted} was deleted")
        })?;
        holds(log_start >= before, LOG_3, || {
            format!("{place:?} started at {before} and starts at {log_start}")
        })?;
        if log_start > before {
            self.check_may_go(place, log_start, retention, now)?;
        }
        self.partitions.entry(place).or_default().log_start = log_start;
        Ok(())
    }

    /// Whether the records below `log_start` were anybody's to take.
    fn check_may_go(
        &self,
        place: Place,
        log_start: i64,
        retention: Retention,
        now: i64,
    ) -> Verdict {
        let partition = &self.partitions[&place];
        let gone = partition
            .bound
            .range(partition.deletable.min(log_start)..log_start);
        for (offset, id) in gone {
            let batch = &self.batches[id.0];
            let is_due = match retention {
                Retention::Nothing => false,
                Retention::OlderThanMs(ms) => batch.timestamp < now - ms,
                Retention::BeyondBytes(bytes) => {
                    let kept = partition.bound.range(log_start..);
                    let kept: usize = kept.map(|(_, id)| self.batches[id.0].bytes.len()).sum();
                    // What is not visible yet counts for the broker and is not known here; see `bound`.
                    kept as u64 + UNSEEN_BYTES >= bytes
                }
            };
            holds(is_due, LOG_1, || {
                format!(
                    "{place:?} starts at {log_start}, and nothing allowed {id:?} at offset {offset} to go"
                )
            })?;
        }
        Ok(())
    }

    pub(crate) fn deleting(&mut self, place: Place, before: i64) {
        let partition = self.partitions.entry(place).or_default();
        partition.deletable = partition.deletable.max(before);
    }

    pub(crate) fn deleted(&mut self, place: Place, before: i64) {
        let partition = self.partitions.entry(place).or_default();
        partition.deleted = partition.deleted.max(before);
    }

    /// The process is gone: of a start that was seen, only what was answered is promised.
    pub(crate) fn process_ended(&mut self) {
        for partition in self.partitions.values_mut() {
            partition.log_start = partition.log_start.min(partition.deleted);
        }
    }

    pub(crate) fn high_watermark(&self, place: Place) -> i64 {
        self.partitions
            .get(&place)
            .map_or(0, |partition| partition.high_watermark)
    }

    /// Compares all that a partition shows, from its start to its high watermark, with what it is bound by.
    pub(crate) fn check_whole(
        &self,
        place: Place,
        shown: &[(i64, BatchId)],
        log_start: i64,
    ) -> Verdict {
        let Some(partition) = self.partitions.get(&place) else {
            return Ok(());
        };
        for (offset, id) in &partition.bound {
            let end = offset + self.batches[id.0].records;
            if end <= log_start {
                continue;
            }
            holds(shown.binary_search(&(*offset, *id)).is_ok(), LOG_1, || {
                format!(
                    "{id:?} was acknowledged or seen at offset {offset} of {place:?} and is gone (the log starts at {log_start})"
                )
            })?;
        }
        self.check_sequences(place, shown)
    }

    fn check_sequences(&self, place: Place, shown: &[(i64, BatchId)]) -> Verdict {
        let mut next: BTreeMap<i64, i32> = BTreeMap::new();
        for (offset, id) in shown {
            let batch = &self.batches[id.0];
            let Ok(view) = BatchView::parse(&batch.bytes) else {
                continue;
            };
            if !view.has_producer_id() {
                continue;
            }
            let producer = view.producer_id().0;
            let records = i32::try_from(batch.records).unwrap_or(i32::MAX);
            if let Some(expected) = next.insert(producer, batch.sequence + records) {
                holds(batch.sequence == expected, PRD_2, || {
                    format!(
                        "producer {producer} has sequence {} at offset {offset} of {place:?}, where {expected} follows",
                        batch.sequence
                    )
                })?;
            }
        }
        Ok(())
    }

    /// The batch that these bytes are.
    pub(crate) fn identify(&self, bytes: &[u8]) -> Result<BatchId, Violation> {
        let id = self.by_bytes.get(&unplaced(bytes)).copied();
        id.ok_or_else(|| broken(LOG_4, "a batch that was sent by nobody"))
    }
}

/// More than may be appended and not yet visible.
const UNSEEN_BYTES: u64 = 1 << 20;

/// A batch without what the broker writes into it: base offset and leader epoch.
fn unplaced(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for at in (0..8).chain(12..16) {
        if let Some(byte) = bytes.get_mut(at) {
            *byte = 0;
        }
    }
    bytes
}
