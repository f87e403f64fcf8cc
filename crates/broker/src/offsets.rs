//! ListOffsets, OffsetForLeaderEpoch and DeleteRecords, for one partition each.

use crate::broker::Broker;
use crate::fetch_types::Isolation;
use crate::lookup::TopicRef;
use crate::offsets_types::{DeleteRecordsError, EpochEnd, ListedOffset, OffsetSpec, OffsetsError};
use crate::partition::Partition;
use fanlog_model::{LeaderEpoch, Offset, PartitionIndex, TimestampMs};
use fanlog_storage::{Log, ReadError, TimeSearch, TimestampOffset};
use std::fmt::Display;
use std::io;
use std::sync::Arc;

impl Broker {
    /// An offset of a partition. For a time it reads from the disk, without the partition's lock: it blocks.
    ///
    /// # Errors
    /// There is no such partition, or it cannot serve, or the leader epochs differ.
    pub fn list_offset(
        &self,
        topic: &TopicRef,
        partition: PartitionIndex,
        spec: OffsetSpec,
        isolation: Isolation,
        leader_epoch: Option<LeaderEpoch>,
    ) -> Result<ListedOffset, OffsetsError> {
        let partition = self.partition(topic, partition)?;
        partition.check_leader_epoch(leader_epoch)?;
        let mut attempts = SEARCHES_MAX;
        loop {
            attempts -= 1;
            let looked = partition.with_log(|log| look_up(log, &partition, spec, isolation))?;
            let found = match looked {
                LookedUp::Known(listed) => return Ok(listed),
                LookedUp::FirstAt(timestamp, search) => search.first_at(timestamp),
                LookedUp::Newest(search) => search.latest(),
            };
            // A topic that was deleted meanwhile, or whose name another has now, gives no answer.
            partition.check_serving()?;
            match found {
                Ok(record) => return Ok(found_at(record)),
                // Retention has taken a segment away before it was read.
                Err(error) if attempts > 0 && is_missing_file(&error) => {}
                Err(error) => return Err(unreadable(&partition, &error)),
            }
        }
    }

    /// Where the records of an epoch end; of the largest one at or below it.
    ///
    /// # Errors
    /// There is no such partition, or it cannot serve, or the leader epochs differ.
    pub fn offset_for_leader_epoch(
        &self,
        topic: &TopicRef,
        partition: PartitionIndex,
        wanted: LeaderEpoch,
        leader_epoch: Option<LeaderEpoch>,
    ) -> Result<EpochEnd, OffsetsError> {
        let partition = self.partition(topic, partition)?;
        partition.check_leader_epoch(leader_epoch)?;
        let end = partition.with_log(|log| partition.epoch_end(log, wanted))?;
        Ok(end)
    }

    /// Deletes the records before an offset (none stands for the high watermark); durable on return.
    /// Gives the log's new start.
    ///
    /// # Errors
    /// There is no such partition, or it cannot serve, or its policy or high watermark forbids it.
    pub async fn delete_records(
        self: &Arc<Self>,
        topic: &TopicRef,
        partition: PartitionIndex,
        before: Option<Offset>,
    ) -> Result<Offset, DeleteRecordsError> {
        let topics = self.topics();
        let settings = &topics.topic(topic)?.settings;
        let partition = topics.partition(topic, partition)?.clone();
        if partition.is_internal() {
            return Err(DeleteRecordsError::Internal {
                topic: partition.topic().to_string(),
            });
        }
        if !settings.cleanup_policy.delete {
            return Err(DeleteRecordsError::PolicyViolation {
                topic: partition.topic().to_string(),
            });
        }
        let broker = self.clone();
        let blocking = self.opener.blocking;
        let delete = blocking.run(move || broker.trim(&partition, before));
        match delete.await {
            Ok(result) => result,
            Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
        }
    }

    fn trim(
        &self,
        partition: &Arc<Partition>,
        before: Option<Offset>,
    ) -> Result<Offset, DeleteRecordsError> {
        let disk = |error: &dyn Display| DeleteRecordsError::Disk {
            partition: partition.folder().to_string(),
            reason: error.to_string(),
        };
        let trimmed = partition.change(|log| {
            let high_watermark = log.durable_offset();
            let wanted = before.unwrap_or(high_watermark);
            if wanted < Offset::ZERO || wanted > high_watermark {
                return Err(DeleteRecordsError::OffsetOutOfRange {
                    requested: wanted,
                    high_watermark,
                });
            }
            let start = log.log_start_offset();
            let after = log.start_deletion(wanted).map_err(|error| disk(&error))?;
            Ok((start, after))
        })?;
        let (before, after) = trimmed?;
        self.count_lost(partition, before, after);
        partition.watchers().wake_all();
        // Durable only now.
        partition.finish_removals().map_err(|error| disk(&error))?;
        Ok(after)
    }
}

impl Partition {
    /// Where the records of an epoch end; of the largest one at or below it.
    pub(crate) fn epoch_end(&self, log: &Log, wanted: LeaderEpoch) -> EpochEnd {
        let high_watermark = log.durable_offset();
        // The epoch of this start has no entry before its first append, and yet the client was told of it: its
        // records, none so far, end at the high watermark (P57).
        if wanted == self.leader_epoch() {
            return EpochEnd {
                leader_epoch: Some(wanted),
                end_offset: Some(high_watermark),
            };
        }
        let known = (wanted < self.leader_epoch()).then(|| log.offset_for_leader_epoch(wanted));
        match known.flatten() {
            Some((epoch, end)) => EpochEnd {
                leader_epoch: Some(epoch),
                // What is not durable is not a client's to know.
                end_offset: Some(end.min(high_watermark)),
            },
            None => EpochEnd {
                leader_epoch: None,
                end_offset: None,
            },
        }
    }
}

/// How often a search begins anew because retention was faster.
const SEARCHES_MAX: usize = 5;

/// What the lock was needed for.
enum LookedUp {
    /// The answer.
    Known(ListedOffset),
    /// What must be searched for the first record at or after a time.
    FirstAt(TimestampMs, TimeSearch),
    /// What must be searched for the newest record.
    Newest(TimeSearch),
}

fn is_missing_file(error: &ReadError) -> bool {
    matches!(error, ReadError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
}

fn look_up(log: &Log, partition: &Partition, spec: OffsetSpec, isolation: Isolation) -> LookedUp {
    let below = match isolation {
        Isolation::ReadUncommitted => log.durable_offset(),
        Isolation::ReadCommitted => log.last_stable_offset().min(log.durable_offset()),
    };
    let at = |offset: Offset, epoch: Option<LeaderEpoch>| ListedOffset {
        offset: Some(offset),
        timestamp: None,
        leader_epoch: epoch,
    };
    LookedUp::Known(match spec {
        OffsetSpec::Earliest | OffsetSpec::EarliestLocal => {
            let start = log.log_start_offset();
            at(start, Some(log.leader_epoch_at(start)))
        }
        OffsetSpec::Latest => at(below, Some(partition.leader_epoch())),
        OffsetSpec::LatestTiered | OffsetSpec::EarliestPendingUpload => NOTHING,
        OffsetSpec::MaxTimestamp => return LookedUp::Newest(log.time_search(below)),
        OffsetSpec::Timestamp(timestamp) => {
            return LookedUp::FirstAt(timestamp, log.time_search(below));
        }
    })
}

const NOTHING: ListedOffset = ListedOffset {
    offset: None,
    timestamp: None,
    leader_epoch: None,
};

fn found_at(record: Option<TimestampOffset>) -> ListedOffset {
    record.map_or(NOTHING, |record| ListedOffset {
        offset: Some(record.offset),
        timestamp: Some(record.timestamp),
        leader_epoch: Some(record.leader_epoch),
    })
}

fn unreadable(partition: &Partition, error: &ReadError) -> OffsetsError {
    OffsetsError::Read {
        partition: partition.folder().to_string(),
        reason: error.to_string(),
    }
}
