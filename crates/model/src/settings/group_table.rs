//! Settings of one group.

use super::declaration::{Effect, Setting, SettingType, Update, Valid, settings};
use Effect::{Honoured, Refused};
use Valid::{Any, AtLeast, OffsetReset, OneOf};

const NO_STREAMS_GROUPS: Effect = Refused("streams groups aren't served");
const NO_DEAD_LETTERS: Effect = Refused("share groups have no dead-letter topics here yet");
const ONE_ASSIGNOR: Effect =
    Refused("share groups have one assignor, which is run whenever something changed");

#[rustfmt::skip]
pub(super) const TABLE: &[Setting] = settings! {
    "consumer.assignment.interval.ms", Int, Some("1000"), AtLeast(0), PerGroup, Honoured, ["group.consumer.assignment.interval.ms"], "Least time between two assignments of the group.";
    "consumer.heartbeat.interval.ms", Int, Some("5000"), AtLeast(1), PerGroup, Honoured, ["group.consumer.heartbeat.interval.ms"], "How often members of the group report.";
    "consumer.session.timeout.ms", Int, Some("45000"), AtLeast(1), PerGroup, Honoured, ["group.consumer.session.timeout.ms"], "A member not heard of for so long is removed.";
    "errors.deadletterqueue.copy.record.enable", Boolean, Some("false"), Any, PerGroup, NO_DEAD_LETTERS, [], "Whether dead letters have the record's key and value.";
    "errors.deadletterqueue.topic.name", String, Some(""), Any, PerGroup, NO_DEAD_LETTERS, [], "Where records that are given up go.";
    "share.assignment.interval.ms", Int, Some("1000"), AtLeast(0), PerGroup, ONE_ASSIGNOR, ["group.share.assignment.interval.ms"], "Least time between two assignments of the share group.";
    "share.auto.offset.reset", String, Some("latest"), OffsetReset, PerGroup, Honoured, [], "Where the share group begins to read a partition: latest, earliest, or by_duration: and how far back.";
    "share.delivery.count.limit", Int, Some("5"), AtLeast(2), PerGroup, Honoured, ["group.share.delivery.count.limit"], "A record is given up after so many deliveries.";
    "share.heartbeat.interval.ms", Int, Some("5000"), AtLeast(1), PerGroup, Honoured, ["group.share.heartbeat.interval.ms"], "How often members of the share group report.";
    "share.isolation.level", String, Some("read_uncommitted"), OneOf(&["read_committed", "read_uncommitted"]), PerGroup, Honoured, [], "Whether records of transactions are delivered before they are committed.";
    "share.partition.max.record.locks", Int, Some("2000"), AtLeast(100), PerGroup, Honoured, ["group.share.partition.max.record.locks"], "Records of one partition that the share group may hold at once.";
    "share.record.lock.duration.ms", Int, Some("30000"), AtLeast(1_000), PerGroup, Honoured, ["group.share.record.lock.duration.ms"], "How long a delivered record is held for its consumer.";
    "share.renew.acknowledge.enable", Boolean, Some("true"), Any, PerGroup, Honoured, [], "Whether consumers may prolong the lock of a record.";
    "share.session.timeout.ms", Int, Some("45000"), AtLeast(1), PerGroup, Honoured, ["group.share.session.timeout.ms"], "A member not heard of for so long is removed.";
    "streams.assignment.interval.ms", Int, Some("1000"), AtLeast(0), PerGroup, NO_STREAMS_GROUPS, ["group.streams.assignment.interval.ms"], "Least time between two assignments of the streams group.";
    "streams.assignor.name", String, Some("sticky"), Any, PerGroup, NO_STREAMS_GROUPS, ["group.streams.assignors"], "Assignment strategy of the streams group.";
    "streams.heartbeat.interval.ms", Int, Some("5000"), AtLeast(1), PerGroup, NO_STREAMS_GROUPS, ["group.streams.heartbeat.interval.ms"], "How often members of the streams group report.";
    "streams.initial.rebalance.delay.ms", Int, Some("3000"), AtLeast(0), PerGroup, NO_STREAMS_GROUPS, ["group.streams.initial.rebalance.delay.ms"], "How long a new streams group waits for members.";
    "streams.num.standby.replicas", Int, Some("0"), AtLeast(0), PerGroup, NO_STREAMS_GROUPS, ["group.streams.num.standby.replicas"], "Standby tasks of the streams group.";
    "streams.rack.aware.assignment.tags", List, Some(""), Any, PerGroup, NO_STREAMS_GROUPS, ["group.streams.rack.aware.assignment.tags"], "Client tags over which standby tasks are spread.";
    "streams.session.timeout.ms", Int, Some("45000"), AtLeast(1), PerGroup, NO_STREAMS_GROUPS, ["group.streams.session.timeout.ms"], "A member not heard of for so long is removed.";
};
