//! Broker settings that Kafka doesn't have.

use super::declaration::{Effect, Setting, SettingType, Update, Valid, settings};
use Effect::Honoured;
use Valid::{Any, AtLeast};

pub(super) const TABLE: &[Setting] = settings! {
    "fanlog.clock.jump.max.ms", Long, Some("2678400000"), AtLeast(0), ReadOnly, Honoured, [], "How far the clock may be, at a start, after the time that the broker saw last; what is kept by time goes on from there beyond it.";
    "fanlog.partitions.max", Int, Some("20000"), AtLeast(1), ClusterWide, Honoured, [], "Most partitions of all topics together; each holds some files open.";
    "fanlog.replication.factor.clamp", Boolean, Some("false"), Any, ClusterWide, Honoured, [], "Whether a replication factor above 1 is taken for 1 instead of refused.";
    "fanlog.request.memory.bytes", Long, Some("536870912"), AtLeast(1_048_576), ReadOnly, Honoured, [], "Bytes of requests held at once, all connections together; sockets wait beyond it.";
};
