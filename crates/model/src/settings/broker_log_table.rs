//! Broker settings of logs; most stand in for a topic setting.

use super::declaration::{Effect, Setting, SettingType, Update, Valid, settings};
use Effect::{Honoured, Refused, WithoutEffect};
use Valid::{Any, AnyOf, AtLeast, Between, Fraction, MinusOneOr, OneOf, UnlimitedOrPositive};

const ALWAYS_SYNCED: Effect =
    WithoutEffect("every batch is synced before it is acknowledged under acks=all");
const FIXED_LIMIT: Effect = Refused("the limit is fixed at 256 MiB");
const GO_AT_ONCE: Effect = WithoutEffect("files go as soon as nothing reads them");
const GROWS: Effect = WithoutEffect("segments grow as they are written");
const ONE_CLEANER: Effect = WithoutEffect("one thread compacts, one log after the other");
const NO_JITTER: Effect = Refused("segments roll without jitter");
const NO_TIER: Effect = WithoutEffect("there is no remote tier, so all data is local");
const ONE_COPY: Effect = WithoutEffect("only replicas use it, and there is one copy");
const ONE_FOLDER: Effect = Refused("there is one data folder");
const OWN_CHECKPOINTS: Effect = Refused("checkpoints are written when they are due");
const OWN_LEVEL: Effect =
    WithoutEffect("where the broker compresses it uses the codec's own level");
const REMOTE: Effect = Refused("there is no remote tier");

pub(super) const TABLE: &[Setting] = settings! {
    "compression.gzip.level", Int, Some("-1"), MinusOneOr(1, 9), ClusterWide, OWN_LEVEL, [], "Level where compression.type is gzip; stands in for the topic's.";
    "compression.lz4.level", Int, Some("9"), Between(1, 17), ClusterWide, OWN_LEVEL, [], "Level where compression.type is lz4; stands in for the topic's.";
    "compression.type", String, Some("producer"), OneOf(&["uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"]), ClusterWide, Honoured, [], "How batches are stored; stands in for the topic's.";
    "compression.zstd.level", Int, Some("3"), Between(-131_072, 22), ClusterWide, OWN_LEVEL, [], "Level where compression.type is zstd; stands in for the topic's.";
    "cordoned.log.dirs", List, Some(""), Any, PerBroker, ONE_FOLDER, [], "Folders that take no new partitions.";
    "log.cleaner.backoff.ms", Long, Some("15000"), AtLeast(0), ClusterWide, Honoured, [], "Pause after nothing was found to compact, in milliseconds.";
    "log.cleaner.dedupe.buffer.size", Long, Some("134217728"), Any, ClusterWide, Honoured, [], "Most memory for finding equal keys, 24 bytes each; what does not fit is left to the next compaction.";
    "log.cleaner.delete.retention.ms", Long, Some("86400000"), AtLeast(0), ClusterWide, Honoured, [], "How long tombstones are kept; stands in for the topic's delete.retention.ms.";
    "log.cleaner.enable", Boolean, Some("true"), Any, ReadOnly, Honoured, [], "Whether compaction runs.";
    "log.cleaner.io.buffer.load.factor", Double, Some("0.9"), Any, ClusterWide, Honoured, [], "How full the deduplication buffer may get.";
    "log.cleaner.io.buffer.size", Int, Some("524288"), AtLeast(0), ClusterWide, Honoured, [], "Memory for reading, and as much for writing; a larger batch takes what it needs.";
    "log.cleaner.io.max.bytes.per.second", Double, Some("1.7976931348623157E308"), Any, ClusterWide, Honoured, [], "Bytes per second that compaction reads and writes at most.";
    "log.cleaner.max.compaction.lag.ms", Long, Some("9223372036854775807"), AtLeast(1), ClusterWide, Honoured, [], "Stands in for the topic's max.compaction.lag.ms.";
    "log.cleaner.min.cleanable.ratio", Double, Some("0.5"), Fraction(0.0, 1.0), ClusterWide, Honoured, [], "Stands in for the topic's min.cleanable.dirty.ratio.";
    "log.cleaner.min.compaction.lag.ms", Long, Some("0"), AtLeast(0), ClusterWide, Honoured, [], "Stands in for the topic's min.compaction.lag.ms.";
    "log.cleaner.threads", Int, Some("1"), AtLeast(0), ClusterWide, ONE_CLEANER, [], "Compaction threads.";
    "log.cleanup.policy", List, Some("delete"), AnyOf(&["compact", "delete"]), ClusterWide, Honoured, [], "Stands in for the topic's cleanup.policy.";
    "log.dir", List, Some("/tmp/kafka-logs"), Any, ReadOnly, Honoured, [], "The data folder; log.dirs wins. `--data` gives it.";
    "log.dir.failure.timeout.ms", Long, Some("30000"), AtLeast(1), ReadOnly, ONE_FOLDER, [], "A broker that can't report a failed folder for so long stops.";
    "log.dirs", List, None, Any, ReadOnly, Honoured, [], "The data folder; `--data` gives it.";
    "log.flush.interval.messages", Long, Some("9223372036854775807"), AtLeast(1), ClusterWide, ALWAYS_SYNCED, [], "Stands in for the topic's flush.messages.";
    "log.flush.interval.ms", Long, None, AtLeast(0), ClusterWide, ALWAYS_SYNCED, [], "Stands in for the topic's flush.ms.";
    "log.flush.offset.checkpoint.interval.ms", Int, Some("60000"), AtLeast(0), ReadOnly, OWN_CHECKPOINTS, [], "How often recovery points are written.";
    "log.flush.scheduler.interval.ms", Long, Some("9223372036854775807"), AtLeast(0), ReadOnly, ALWAYS_SYNCED, [], "How often it is looked whether a log must be synced.";
    "log.flush.start.offset.checkpoint.interval.ms", Int, Some("60000"), AtLeast(0), ReadOnly, OWN_CHECKPOINTS, [], "How often log start offsets are written.";
    "log.index.interval.bytes", Int, Some("4096"), AtLeast(0), ClusterWide, Honoured, [], "Stands in for the topic's index.interval.bytes.";
    "log.index.size.max.bytes", Int, Some("10485760"), AtLeast(4), ClusterWide, Honoured, [], "Stands in for the topic's segment.index.bytes.";
    "log.local.retention.bytes", Long, Some("-2"), AtLeast(-2), ClusterWide, NO_TIER, [], "Stands in for the topic's local.retention.bytes.";
    "log.local.retention.ms", Long, Some("-2"), AtLeast(-2), ClusterWide, NO_TIER, [], "Stands in for the topic's local.retention.ms.";
    "log.message.timestamp.after.max.ms", Long, Some("3600000"), AtLeast(0), ClusterWide, Honoured, [], "Stands in for the topic's message.timestamp.after.max.ms.";
    "log.message.timestamp.before.max.ms", Long, Some("9223372036854775807"), AtLeast(0), ClusterWide, Honoured, [], "Stands in for the topic's message.timestamp.before.max.ms.";
    "log.message.timestamp.type", String, Some("CreateTime"), OneOf(&["CreateTime", "LogAppendTime"]), ClusterWide, Honoured, [], "Stands in for the topic's message.timestamp.type.";
    "log.preallocate", Boolean, Some("false"), Any, ClusterWide, GROWS, [], "Stands in for the topic's preallocate.";
    "log.remote.copy.lag.bytes", Long, Some("-1"), AtLeast(-1), ClusterWide, REMOTE, [], "Stands in for the topic's remote.copy.lag.bytes.";
    "log.remote.copy.lag.ms", Long, Some("0"), AtLeast(-1), ClusterWide, REMOTE, [], "Stands in for the topic's remote.copy.lag.ms.";
    "log.retention.bytes", Long, Some("-1"), Any, ClusterWide, Honoured, [], "Stands in for the topic's retention.bytes.";
    "log.retention.check.interval.ms", Long, Some("300000"), AtLeast(1), ReadOnly, Honoured, [], "How often retention is applied.";
    "log.retention.hours", Int, Some("168"), UnlimitedOrPositive, ReadOnly, Honoured, [], "Stands in for the topic's retention.ms, in hours; the finer units win.";
    "log.retention.minutes", Int, None, UnlimitedOrPositive, ReadOnly, Honoured, [], "Stands in for the topic's retention.ms, in minutes; log.retention.ms wins.";
    "log.retention.ms", Long, None, UnlimitedOrPositive, ClusterWide, Honoured, [], "Stands in for the topic's retention.ms.";
    "log.roll.hours", Int, Some("168"), AtLeast(1), ReadOnly, Honoured, [], "Stands in for the topic's segment.ms, in hours; log.roll.ms wins.";
    "log.roll.jitter.hours", Int, Some("0"), AtLeast(0), ReadOnly, NO_JITTER, [], "Stands in for the topic's segment.jitter.ms, in hours.";
    "log.roll.jitter.ms", Long, None, Any, ClusterWide, NO_JITTER, [], "Stands in for the topic's segment.jitter.ms.";
    "log.roll.ms", Long, None, AtLeast(1), ClusterWide, Honoured, [], "Stands in for the topic's segment.ms.";
    "log.segment.bytes", Int, Some("1073741824"), AtLeast(1_048_576), ClusterWide, Honoured, [], "Stands in for the topic's segment.bytes.";
    "log.segment.delete.delay.ms", Long, Some("60000"), AtLeast(0), ClusterWide, GO_AT_ONCE, [], "Stands in for the topic's file.delete.delay.ms.";
    "max.decompressed.message.bytes", Int, Some("2147483639"), Between(1, 2_147_483_639), ClusterWide, FIXED_LIMIT, [], "Stands in for the topic's max.decompressed.message.bytes.";
    "message.max.bytes", Int, Some("1048588"), AtLeast(0), ClusterWide, Honoured, [], "Stands in for the topic's max.message.bytes.";
    "min.insync.replicas", Int, Some("1"), AtLeast(1), ClusterWide, ONE_COPY, [], "Stands in for the topic's min.insync.replicas.";
    "producer.id.expiration.ms", Int, Some("86400000"), AtLeast(1), ClusterWide, Honoured, [], "What is known of an idle producer is forgotten after so long.";
    "unclean.leader.election.enable", Boolean, Some("false"), Any, ClusterWide, ONE_COPY, [], "Stands in for the topic's unclean.leader.election.enable.";
};
