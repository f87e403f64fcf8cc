//! Broker settings of sockets, requests, topics and metrics.

use super::declaration::{Effect, Setting, SettingType, Update, Valid, settings};
use Effect::{Honoured, Refused, WithoutEffect};
use Valid::{Any, AtLeast, Between};

const CLEARED_AT_ONCE: Effect = Refused("finished waits are cleared at once");
const NO_JAVA: Effect = Refused("no Java class can be loaded");
const NO_QUORUM: Effect = Refused("there is one broker and no controller quorum");
const NO_QUOTAS: Effect = Refused("there are no quotas yet");
const ONE_LISTENER: Effect = Refused("there is one plain listener");
const OWN_BUDGET: Effect = Refused("fanlog.request.memory.bytes bounds the requests held");
const OWN_BACKLOG: Effect =
    WithoutEffect("1,024 connections may wait, or as many as the system allows");
const OWN_BUFFERS: Effect = Refused("the system sizes socket buffers");
const NEAR_BUFFERS: Effect =
    Refused("200 KiB to programs on the same machine; the system sizes the others");
const OWN_METRICS: Effect = Refused("metrics are served over HTTP");
const OWN_THREADS: Effect = Refused("threads are sized by the machine");

pub(super) const TABLE: &[Setting] = settings! {
    "advertised.listeners", List, None, Any, ReadOnly, Honoured, [], "Addresses that clients are told to connect to; `--advertise` gives it.";
    "alter.config.policy.class.name", Class, None, Any, ReadOnly, NO_JAVA, [], "Class that may veto changes of settings.";
    "auto.create.topics.enable", Boolean, Some("true"), Any, ReadOnly, Honoured, [], "Whether asking for an unknown topic creates it, where the client allows it.";
    "background.threads", Int, Some("10"), AtLeast(1), ClusterWide, OWN_THREADS, [], "Threads for background work.";
    "client.quota.callback.class", Class, None, Any, ReadOnly, NO_JAVA, [], "Class that computes client quotas.";
    "config.providers", List, Some(""), Any, ClusterWide, NO_JAVA, [], "Classes that fetch values of settings from elsewhere.";
    "connections.max.idle.ms", Long, Some("600000"), Any, ReadOnly, Honoured, [], "A connection without requests for so long is closed; negative for never.";
    "create.topic.policy.class.name", Class, None, Any, ReadOnly, NO_JAVA, [], "Class that may veto the creation of topics.";
    "default.replication.factor", Int, Some("1"), AtLeast(1), ReadOnly, Honoured, [], "Copies of a topic that is created without saying; above 1 needs fanlog.replication.factor.clamp.";
    "delete.records.purgatory.purge.interval.requests", Int, Some("1"), Any, ReadOnly, CLEARED_AT_ONCE, [], "Finished DeleteRecords requests are cleared away after so many.";
    "delete.topic.enable", Boolean, Some("true"), Any, ReadOnly, Honoured, [], "Whether topics may be deleted.";
    "early.start.listeners", List, None, Any, ReadOnly, ONE_LISTENER, [], "Listeners that open before the broker is ready.";
    "fetch.max.bytes", Int, Some("57671680"), AtLeast(1_024), ReadOnly, Honoured, [], "Most bytes of records in one Fetch response, the first batch aside.";
    "fetch.purgatory.purge.interval.requests", Int, Some("1000"), Any, ReadOnly, CLEARED_AT_ONCE, [], "Finished Fetch requests are cleared away after so many.";
    "kafka.metrics.polling.interval.secs", Int, Some("10"), AtLeast(1), ReadOnly, OWN_METRICS, [], "How often metrics reporters are polled.";
    "kafka.metrics.reporters", List, Some(""), Any, ReadOnly, OWN_METRICS, [], "Classes that report metrics of the older kind.";
    "listener.security.protocol.map", String, Some("SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT"), Any, PerBroker, ONE_LISTENER, [], "Which security each listener speaks.";
    "listeners", List, Some("PLAINTEXT://:9092"), Any, ReadOnly, Honoured, [], "Addresses that the broker listens on; `--kafka` gives it.";
    "max.connection.creation.rate", Int, Some("2147483647"), AtLeast(0), ClusterWide, NO_QUOTAS, [], "New connections per second.";
    "max.connections", Int, Some("2147483647"), AtLeast(0), ClusterWide, Honoured, [], "Most connections open at once.";
    "max.connections.per.ip", Int, Some("2147483647"), AtLeast(0), ClusterWide, Honoured, [], "Most connections open at once from one address.";
    "max.connections.per.ip.overrides", String, Some(""), Any, ClusterWide, NO_QUOTAS, [], "Connection limits of single addresses, as address:limit.";
    "max.incremental.fetch.session.cache.slots", Int, Some("1000"), AtLeast(0), ReadOnly, Honoured, [], "Most incremental fetch sessions kept.";
    "max.request.partition.size.limit", Int, Some("2000"), AtLeast(1), ReadOnly, Honoured, [], "Most partitions listed in one DescribeTopicPartitions response.";
    "metric.reporters", List, Some("org.apache.kafka.common.metrics.JmxReporter"), Any, ClusterWide, OWN_METRICS, [], "Classes that report metrics; `--http` serves ours at /metrics.";
    "metrics.num.samples", Int, Some("2"), AtLeast(1), ReadOnly, OWN_METRICS, [], "Samples kept for a metric.";
    "metrics.recording.level", String, Some("INFO"), Any, ReadOnly, OWN_METRICS, [], "How much is measured.";
    "metrics.sample.window.ms", Long, Some("30000"), AtLeast(1), ReadOnly, OWN_METRICS, [], "Length of a metric's sample.";
    "num.io.threads", Int, Some("8"), AtLeast(1), ClusterWide, OWN_THREADS, [], "Threads that serve requests.";
    "num.network.threads", Int, Some("3"), AtLeast(1), ClusterWide, OWN_THREADS, [], "Threads that serve sockets, per listener.";
    "num.partitions", Int, Some("1"), Between(1, 10_000), ReadOnly, Honoured, [], "Partitions of a topic that is created without saying.";
    "num.recovery.threads.per.data.dir", Int, Some("2"), AtLeast(1), ClusterWide, OWN_THREADS, [], "Threads that recover logs at the start.";
    "producer.purgatory.purge.interval.requests", Int, Some("1000"), Any, ReadOnly, CLEARED_AT_ONCE, [], "Finished Produce requests are cleared away after so many.";
    "queued.max.request.bytes", Long, Some("-1"), Any, ReadOnly, OWN_BUDGET, [], "Bytes of requests waiting; -1 for no limit.";
    "queued.max.requests", Int, Some("500"), AtLeast(1), ReadOnly, OWN_BUDGET, [], "Requests waiting before sockets are read no further.";
    "quota.window.num", Int, Some("11"), AtLeast(1), ReadOnly, NO_QUOTAS, [], "Samples kept for client quotas.";
    "quota.window.size.seconds", Int, Some("1"), AtLeast(1), ReadOnly, NO_QUOTAS, [], "Length of each such sample.";
    "request.timeout.ms", Int, Some("30000"), Any, ReadOnly, NO_QUORUM, [], "How long this broker waits for answers of others.";
    "socket.connection.setup.timeout.max.ms", Long, Some("30000"), Any, ReadOnly, NO_QUORUM, [], "Longest time for this broker to connect to another.";
    "socket.connection.setup.timeout.ms", Long, Some("10000"), Any, ReadOnly, NO_QUORUM, [], "First time-out for this broker to connect to another.";
    "socket.listen.backlog.size", Int, Some("50"), AtLeast(1), ReadOnly, OWN_BACKLOG, [], "Connections that may wait to be accepted.";
    "socket.receive.buffer.bytes", Int, Some("102400"), Any, ReadOnly, OWN_BUFFERS, [], "Receive buffer of client sockets.";
    "socket.request.max.bytes", Int, Some("104857600"), AtLeast(1), ReadOnly, Honoured, [], "Largest request taken, in bytes.";
    "socket.send.buffer.bytes", Int, Some("102400"), Any, ReadOnly, NEAR_BUFFERS, [], "Send buffer of client sockets.";
    "telemetry.max.bytes", Int, Some("1048576"), AtLeast(1), ReadOnly, OWN_METRICS, [], "Largest push of client metrics taken.";
};
