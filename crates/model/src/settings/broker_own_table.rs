//! Broker settings that Kafka doesn't have.

use super::declaration::{Effect, Setting, SettingType, Update, Valid, settings};
use Effect::Honoured;
use Valid::{Any, AtLeast, Between};

pub(super) const TABLE: &[Setting] = settings! {
    "fanlog.clock.jump.max.ms", Long, Some("2678400000"), AtLeast(0), ReadOnly, Honoured, [], "How far the clock may be, at a start, after the time that the broker saw last; what is kept by time goes on from there beyond it.";
    "fanlog.dedup.memory.bytes", Long, Some("268435456"), AtLeast(1_048_576), ClusterWide, Honoured, [], "Bytes of memory that message ids (dedup.window.ms) may take, 94 or less for each; beyond it records with new ids are refused, retriably.";
    "fanlog.groups.memory.bytes", Long, Some("536870912"), AtLeast(1_048_576), ClusterWide, Honoured, [], "Bytes of memory that groups and committed offsets may take, about; new ones are refused beyond it, and growth of those there are beyond twice as much.";
    "fanlog.http.connections.max", Int, Some("4096"), AtLeast(1), ReadOnly, Honoured, [], "Most HTTP connections at once; each receive that waits has one. Beyond them only metrics and health are answered, everything else with 503.";
    "fanlog.http.hosts", List, Some(""), Any, ReadOnly, Honoured, [], "Host names under which /v1 may be asked, beside addresses, localhost and the advertised one; * for any. Pages of other sites may point names here.";
    "fanlog.http.request.memory.bytes", Long, Some("134217728"), AtLeast(16_777_216), ReadOnly, Honoured, [], "Bytes of HTTP requests held at once, all connections together; the rest of a request is read when there is room.";
    "fanlog.journal.file.bytes", Int, Some("67108864"), Between(1_048_576, 1_073_741_824), ReadOnly, Honoured, [], "Size of one file of the journal; a batch above a quarter of it is synced in its segment instead.";
    "fanlog.journal.files.max", Int, Some("16"), Between(2, 1_024), ReadOnly, Honoured, [], "Most files of the journal; appends wait for segments to be synced where all are in use.";
    "fanlog.partitions.max", Int, Some("20000"), AtLeast(1), ClusterWide, Honoured, [], "Most partitions of all topics together; each holds some files open.";
    "fanlog.queues.memory.bytes", Long, Some("268435456"), AtLeast(1_048_576), ClusterWide, Honoured, [], "Bytes of memory that queues may take, about; beyond it they hand out only what they have looked at already.";
    "fanlog.queues.topic.num.partitions", Int, Some("16"), Between(1, 1_000), ReadOnly, Honoured, [], "Partitions of __fanlog_queues, the log of what became of queues' records.";
    "fanlog.replication.factor.clamp", Boolean, Some("false"), Any, ClusterWide, Honoured, [], "Whether a replication factor above 1 is taken for 1 instead of refused.";
    "fanlog.request.memory.bytes", Long, Some("536870912"), AtLeast(1_048_576), ReadOnly, Honoured, [], "Bytes of requests held at once, all connections together; sockets wait beyond it.";
    "fanlog.transactions.memory.bytes", Long, Some("268435456"), AtLeast(1_048_576), ClusterWide, Honoured, [], "Bytes of memory that transactional ids may take, about; new ones are refused beyond it, and transactions under way grow to twice as much.";
};
