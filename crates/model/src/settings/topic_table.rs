//! Topic settings. Their synonyms are the broker settings that stand in where the topic has no value.

use super::declaration::{Effect, Setting, SettingType, Update, Valid, settings};
use Effect::{Honoured, Refused, WithoutEffect};
use Valid::{
    Any, AnyOf, AtLeast, Between, Durability, Fraction, MinusOneOr, OneOf, ThrottledReplicas,
};

const ALWAYS_SYNCED: Effect = WithoutEffect("durability decides when records are synced");
const NO_TIER: Effect = WithoutEffect("there is no remote tier, so all data is local");
const OWN_LEVEL: Effect =
    WithoutEffect("where the broker compresses it uses the codec's own level");
const ONE_COPY: Effect = WithoutEffect("only replicas use it, and there is one copy");
const REMOTE: Effect = Refused("there is no remote tier");

pub(super) const TABLE: &[Setting] = settings! {
    "cleanup.policy", List, Some("delete"), AnyOf(&["compact", "delete"]), PerTopic, Honoured, ["log.cleanup.policy"], "delete drops segments past retention; compact requires keys and keeps the last record of each.";
    "compression.gzip.level", Int, Some("-1"), MinusOneOr(1, 9), PerTopic, OWN_LEVEL, ["compression.gzip.level"], "Level where compression.type is gzip.";
    "compression.lz4.level", Int, Some("9"), Between(1, 17), PerTopic, OWN_LEVEL, ["compression.lz4.level"], "Level where compression.type is lz4.";
    "compression.type", String, Some("producer"), OneOf(&["uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"]), PerTopic, Honoured, ["compression.type"], "How batches are stored; producer keeps them as they came.";
    "compression.zstd.level", Int, Some("3"), Between(-131_072, 22), PerTopic, OWN_LEVEL, ["compression.zstd.level"], "Level where compression.type is zstd.";
    "dedup.window.ms", Long, Some("0"), AtLeast(0), PerTopic, Honoured, [], "Ours: for so many milliseconds a second record of the same message-id header is not appended, whatever its partition and producer; 0: never.";
    "delete.retention.ms", Long, Some("86400000"), AtLeast(0), PerTopic, Honoured, ["log.cleaner.delete.retention.ms"], "How long a compacted topic keeps tombstones, in milliseconds, from the first compaction on.";
    "durability", String, Some("sync"), Durability, PerTopic, Honoured, [], "Ours: sync acknowledges and shows records once durable, interval:<ms> and os once appended.";
    "errors.deadletterqueue.group.enable", Boolean, Some("false"), Any, PerTopic, Refused("share groups have no dead-letter topics yet"), [], "Whether share groups may send dead letters to this topic.";
    "file.delete.delay.ms", Long, Some("60000"), AtLeast(0), PerTopic, WithoutEffect("files go as soon as nothing reads them"), ["log.segment.delete.delay.ms"], "How long a dropped segment's files are kept, in milliseconds.";
    "flush.messages", Long, Some("9223372036854775807"), AtLeast(1), PerTopic, ALWAYS_SYNCED, ["log.flush.interval.messages"], "Sync after so many records.";
    "flush.ms", Long, Some("9223372036854775807"), AtLeast(0), PerTopic, ALWAYS_SYNCED, ["log.flush.interval.ms", "log.flush.scheduler.interval.ms"], "Sync after so many milliseconds.";
    "follower.replication.throttled.replicas", List, Some(""), ThrottledReplicas, PerTopic, ONE_COPY, [], "Followers whose replication is slowed down.";
    "index.interval.bytes", Int, Some("4096"), AtLeast(0), PerTopic, Honoured, ["log.index.interval.bytes"], "An index entry is written after at least so many bytes of log.";
    "leader.replication.throttled.replicas", List, Some(""), ThrottledReplicas, PerTopic, ONE_COPY, [], "Leaders whose replication is slowed down.";
    "local.retention.bytes", Long, Some("-2"), AtLeast(-2), PerTopic, NO_TIER, ["log.local.retention.bytes"], "Bytes kept locally once copied to a remote tier; -2 follows retention.bytes.";
    "local.retention.ms", Long, Some("-2"), AtLeast(-2), PerTopic, NO_TIER, ["log.local.retention.ms"], "Milliseconds kept locally once copied to a remote tier; -2 follows retention.ms.";
    "max.compaction.lag.ms", Long, Some("9223372036854775807"), AtLeast(1), PerTopic, Honoured, ["log.cleaner.max.compaction.lag.ms"], "A record is compacted after at most so many milliseconds.";
    "max.decompressed.message.bytes", Int, Some("2147483639"), Between(1, 2_147_483_639), PerTopic, Refused("the limit is fixed at 256 MiB"), ["max.decompressed.message.bytes"], "The most bytes that a batch may decompress to.";
    "max.message.bytes", Int, Some("1048588"), AtLeast(0), PerTopic, Honoured, ["message.max.bytes"], "The largest record batch taken, in bytes as stored.";
    "message.timestamp.after.max.ms", Long, Some("3600000"), AtLeast(0), PerTopic, Honoured, ["log.message.timestamp.after.max.ms"], "How far a record's create time may lie ahead of the broker's clock, in milliseconds.";
    "message.timestamp.before.max.ms", Long, Some("9223372036854775807"), AtLeast(0), PerTopic, Honoured, ["log.message.timestamp.before.max.ms"], "How far a record's create time may lie behind the broker's clock, in milliseconds.";
    "message.timestamp.type", String, Some("CreateTime"), OneOf(&["CreateTime", "LogAppendTime"]), PerTopic, Honoured, ["log.message.timestamp.type"], "Whether records carry the producer's time or the broker's.";
    "min.cleanable.dirty.ratio", Double, Some("0.5"), Fraction(0.0, 1.0), PerTopic, Honoured, ["log.cleaner.min.cleanable.ratio"], "The share of uncompacted bytes from which compaction is worth while.";
    "min.compaction.lag.ms", Long, Some("0"), AtLeast(0), PerTopic, Honoured, ["log.cleaner.min.compaction.lag.ms"], "A record stays uncompacted for at least so many milliseconds.";
    "min.insync.replicas", Int, Some("1"), AtLeast(1), PerTopic, ONE_COPY, ["min.insync.replicas"], "How many copies acks=all waits for at least.";
    "preallocate", Boolean, Some("false"), Any, PerTopic, WithoutEffect("segments grow as they are written"), ["log.preallocate"], "Whether a new segment takes its full size on disk at once.";
    "remote.copy.lag.bytes", Long, Some("-1"), AtLeast(-1), PerTopic, REMOTE, ["log.remote.copy.lag.bytes"], "Bytes by which copying to a remote tier may lag.";
    "remote.copy.lag.ms", Long, Some("0"), AtLeast(-1), PerTopic, REMOTE, ["log.remote.copy.lag.ms"], "Milliseconds by which copying to a remote tier may lag.";
    "remote.log.copy.disable", Boolean, Some("false"), Any, PerTopic, REMOTE, [], "Whether copying to a remote tier is halted.";
    "remote.log.delete.on.disable", Boolean, Some("false"), Any, PerTopic, REMOTE, [], "Whether the remote copy goes when the tier is switched off.";
    "remote.storage.enable", Boolean, Some("false"), Any, PerTopic, REMOTE, [], "Whether closed segments are copied to a remote tier.";
    "retention.bytes", Long, Some("-1"), Any, PerTopic, Honoured, ["log.retention.bytes"], "The oldest segments of a partition go once it is larger; negative for no limit.";
    "retention.hold.bytes", Long, Some("10737418240"), AtLeast(-1), PerTopic, Honoured, [], "Ours: retention takes nothing that a queue has yet to see, unless so many bytes of a partition are held back; -1 for no limit.";
    "retention.ms", Long, Some("604800000"), AtLeast(-1), PerTopic, Honoured, ["log.retention.ms", "log.retention.minutes", "log.retention.hours"], "A segment goes once its newest record is older; -1 for no limit.";
    "segment.bytes", Int, Some("1073741824"), AtLeast(1_048_576), PerTopic, Honoured, ["log.segment.bytes"], "A new segment begins before the current one grows beyond this.";
    "segment.index.bytes", Int, Some("10485760"), AtLeast(4), PerTopic, Honoured, ["log.index.size.max.bytes"], "A new segment begins when an index reaches this size.";
    "segment.jitter.ms", Long, Some("0"), AtLeast(0), PerTopic, Refused("segments roll without jitter"), ["log.roll.jitter.ms", "log.roll.jitter.hours"], "Random milliseconds taken off segment.ms.";
    "segment.ms", Long, Some("604800000"), AtLeast(1), PerTopic, Honoured, ["log.roll.ms", "log.roll.hours"], "A new segment begins when the current one's first record is older.";
    "unclean.leader.election.enable", Boolean, Some("false"), Any, PerTopic, ONE_COPY, ["unclean.leader.election.enable"], "Whether a copy that lags may become the leader.";
};
