//! How a group stands in one partition.

use super::overtaking::{Known, Overtaken};
use crate::broker::Broker;
use crate::fetch_types::Isolation;
use crate::lookup::TopicRef;
use crate::offsets_types::OffsetSpec;
use crate::partition::Partition;
use crate::topics_view::Topic;
use fanlog_model::{GroupId, Offset, TimestampMs, TopicPartition};
use std::sync::Arc;
use std::time::Duration;

/// Over which time records that come in are counted.
const RATE_SPAN: Duration = Duration::from_secs(60);
/// In how many partitions one status looks for times: each look may read from the disk.
const LOOKS_MAX: usize = 1_000;

/// How a group stands in one partition. What is not known is none.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupPartitionStatus {
    /// The partition.
    pub partition: TopicPartition,
    /// The next record that it reads; of a share group, the first that it is not done with.
    pub position: Offset,
    /// The first record kept.
    pub start: Offset,
    /// The end of what is visible.
    pub end: Offset,
    /// How many records it has not read, of those that are kept.
    pub lag: i64,
    /// How many records are gone that it had not read.
    pub lost: i64,
    /// How long the first record that it has not read has been there.
    pub behind: Option<Duration>,
    /// How many records a second came in, over the last minute, by their timestamps.
    pub rate_in: Option<f64>,
    /// How many records a second it read, since it was looked at before.
    pub rate_out: Option<f64>,
    /// When retention reaches what it has not read.
    pub overtaken: Overtaken,
}

/// Where a group stands.
#[derive(Clone, Debug)]
pub(super) struct Position {
    pub(super) partition: TopicPartition,
    pub(super) at: Offset,
    /// How many records it is not done with, where that is not what lies between.
    pub(super) lag: Option<i64>,
}

impl Broker {
    /// Partitions that are gone or do not serve are left out. Blocks.
    pub(super) fn look_at(
        &self,
        group: &GroupId,
        positions: Vec<Position>,
    ) -> Vec<GroupPartitionStatus> {
        let topics = self.topics();
        let mut statuses = Vec::new();
        for (number, position) in positions.into_iter().enumerate() {
            let topic = topics.by_name(&position.partition.topic);
            let log = topic.and_then(|topic| topic.partition(position.partition.partition));
            let Some((topic, log)) = topic.zip(log) else {
                continue;
            };
            let looks = number < LOOKS_MAX;
            statuses.extend(self.look_at_one(group, position, topic, log, looks));
        }
        statuses
    }

    fn look_at_one(
        &self,
        group: &GroupId,
        position: Position,
        topic: &Topic,
        log: &Arc<Partition>,
        looks: bool,
    ) -> Option<GroupPartitionStatus> {
        let clock = &self.environment().clock;
        let (now, wall) = (clock.monotonic(), clock.wall_ms());
        let start = log.with_log(|log| log.log_start_offset()).ok()?;
        let end = log.high_watermark();
        let from = position.at.max(start);
        let between = (end.0 - from.0).max(0);
        let lag = position.lag.map_or(between, |lag| lag.clamp(0, between));
        let since = |at: TimestampMs| {
            let ms = (wall.0 - at.0).max(0).unsigned_abs();
            (at != TimestampMs::NONE).then(|| Duration::from_millis(ms))
        };
        let behind = match lag {
            0 => Some(Duration::ZERO),
            _ if !looks => None,
            _ => log.batch_timestamp(from).ok().flatten().and_then(since),
        };
        let rate_in = match looks {
            true => self.rate_in(log, wall, end),
            false => None,
        };
        let key = (group.clone(), position.partition.clone());
        let rate_out = {
            let mut positions = self.group_positions.lock();
            let rate = positions.rate(now, &key, position.at);
            positions.note(now, key, position.at);
            rate
        };
        let known = Known {
            lag,
            age: behind,
            records: end.0 - start.0,
            bytes: log.size_bytes().ok(),
            rate_in,
            is_deleted: topic.settings.cleanup_policy.delete,
            retention: topic.settings.retention_ms.map(Duration::from_millis),
            retention_bytes: topic.settings.retention_bytes,
        };
        Some(GroupPartitionStatus {
            partition: position.partition,
            position: position.at,
            start,
            end,
            lag,
            lost: (start.0 - position.at.0).max(0),
            behind,
            rate_in,
            rate_out,
            overtaken: known.overtaken(),
        })
    }

    fn rate_in(&self, log: &Arc<Partition>, wall: TimestampMs, end: Offset) -> Option<f64> {
        let span_ms = i64::try_from(RATE_SPAN.as_millis()).unwrap_or(i64::MAX);
        let spec = OffsetSpec::Timestamp(TimestampMs(wall.0.saturating_sub(span_ms)));
        let topic = TopicRef::Id(log.topic_id());
        let isolation = Isolation::ReadUncommitted;
        let listed = self.list_offset(&topic, log.index(), spec, isolation, None);
        let came = listed
            .ok()?
            .offset
            .map_or(0, |since| (end.0 - since.0).max(0));
        Some(came as f64 / RATE_SPAN.as_secs_f64())
    }
}
