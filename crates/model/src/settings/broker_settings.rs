//! The settings of one broker in force, typed.

use super::layers::{BrokerLayers, effective_broker_value};
use super::{AwsSettings, ConsumerSettings, ShareSettings};

/// The honoured settings of a broker that aren't stand-ins for a topic's.
#[derive(Clone, Debug, PartialEq)]
pub struct BrokerSettings {
    /// `auto.create.topics.enable`.
    pub auto_create_topics: bool,
    /// What SQS and SNS are told.
    pub aws: AwsSettings,
    /// `connections.max.idle.ms`; none for no limit.
    pub connections_max_idle_ms: Option<u64>,
    /// `default.replication.factor`.
    pub default_replication_factor: i32,
    /// `delete.topic.enable`.
    pub delete_topic: bool,
    /// `fetch.max.bytes`.
    pub fetch_max_bytes: u32,
    /// `group.initial.rebalance.delay.ms`.
    pub group_initial_rebalance_delay_ms: u32,
    /// `group.max.session.timeout.ms`.
    pub group_max_session_timeout_ms: u32,
    /// `group.max.size`.
    pub group_max_size: u32,
    /// `group.min.session.timeout.ms`.
    pub group_min_session_timeout_ms: u32,
    /// `log.cleaner.backoff.ms`.
    pub log_cleaner_backoff_ms: u64,
    /// `log.cleaner.dedupe.buffer.size`.
    pub log_cleaner_dedupe_buffer_bytes: u64,
    /// `log.cleaner.enable`.
    pub is_log_cleaner_enabled: bool,
    /// `log.cleaner.io.buffer.load.factor`.
    pub log_cleaner_load_factor: f64,
    /// `log.cleaner.io.buffer.size`.
    pub log_cleaner_io_buffer_bytes: u32,
    /// `log.cleaner.io.max.bytes.per.second`.
    pub log_cleaner_io_bytes_per_second_max: f64,
    /// `log.retention.check.interval.ms`.
    pub log_retention_check_interval_ms: u64,
    /// `max.connections`.
    pub max_connections: u32,
    /// `max.connections.per.ip`.
    pub max_connections_per_ip: u32,
    /// `max.incremental.fetch.session.cache.slots`.
    pub fetch_session_slots: u32,
    /// `max.request.partition.size.limit`.
    pub max_request_partitions: u32,
    /// `num.partitions`.
    pub num_partitions: i32,
    /// `offset.metadata.max.bytes`.
    pub offset_metadata_max_bytes: u32,
    /// `offsets.retention.check.interval.ms`.
    pub offsets_retention_check_interval_ms: u64,
    /// `offsets.retention.minutes`, in milliseconds.
    pub offsets_retention_ms: u64,
    /// `offsets.topic.num.partitions`.
    pub offsets_topic_partitions: i32,
    /// `offsets.topic.segment.bytes`.
    pub offsets_topic_segment_bytes: u32,
    /// `producer.id.expiration.ms`.
    pub producer_id_expiration_ms: u64,
    /// What concerns consumer groups of the new protocol.
    pub consumer: ConsumerSettings,
    /// What share groups are allowed.
    pub share: ShareSettings,
    /// `socket.request.max.bytes`.
    pub socket_request_max_bytes: u32,
    /// `transaction.max.timeout.ms`.
    pub transaction_max_timeout_ms: u32,
    /// `transaction.remove.expired.transaction.cleanup.interval.ms`.
    pub transactional_id_cleanup_interval_ms: u64,
    /// `transaction.state.log.num.partitions`.
    pub transactions_topic_partitions: i32,
    /// `transaction.state.log.segment.bytes`.
    pub transactions_topic_segment_bytes: u32,
    /// `transactional.id.expiration.ms`.
    pub transactional_id_expiration_ms: u64,
    /// `fanlog.transactions.memory.bytes`.
    pub transactions_memory_bytes: u64,
    /// `fanlog.clock.jump.max.ms`.
    pub clock_jump_ms_max: i64,
    /// `fanlog.dedup.memory.bytes`.
    pub dedup_memory_bytes: u64,
    /// `fanlog.groups.memory.bytes`.
    pub groups_memory_bytes: u64,
    /// `fanlog.http.connections.max`.
    pub http_connections_max: u32,
    /// `fanlog.http.hosts`.
    pub http_hosts: Vec<String>,
    /// `fanlog.http.request.memory.bytes`.
    pub http_request_memory_bytes: u64,
    /// `fanlog.partitions.max`.
    pub partitions_max: u32,
    /// `fanlog.queues.memory.bytes`.
    pub queues_memory_bytes: u64,
    /// `fanlog.queues.topic.num.partitions`.
    pub queues_topic_partitions: i32,
    /// `fanlog.replication.factor.clamp`.
    pub is_replication_factor_clamped: bool,
    /// `fanlog.request.memory.bytes`.
    pub request_memory_bytes: u64,
}

impl BrokerSettings {
    /// Resolves what was given for a broker.
    pub fn resolve(layers: &BrokerLayers<'_>) -> Self {
        let text = |name: &str| {
            effective_broker_value(name, layers)
                .expect("every honoured setting has a default; the tables' test says so")
        };
        let number = |name: &str| -> i64 {
            let value = text(name).parse();
            value.expect("a number setting in force is a number: it was checked, or is a default")
        };
        let double = |name: &str| -> f64 {
            let value = text(name).parse();
            value.expect("a number setting in force is a number: it was checked, or is a default")
        };
        let is = |name: &str| text(name) == "true";
        let count = |name: &str| u32::try_from(number(name).max(0)).unwrap_or(u32::MAX);
        let names = |name: &str| {
            let text = text(name);
            let names = text
                .split(',')
                .map(str::trim)
                .filter(|name| !name.is_empty());
            names.map(str::to_owned).collect()
        };
        let small = |name: &str| i32::try_from(number(name)).unwrap_or(i32::MAX);
        let long = |name: &str| u64::try_from(number(name)).unwrap_or(0);
        Self {
            auto_create_topics: is("auto.create.topics.enable"),
            aws: AwsSettings::resolve(layers),
            connections_max_idle_ms: u64::try_from(number("connections.max.idle.ms")).ok(),
            default_replication_factor: small("default.replication.factor"),
            delete_topic: is("delete.topic.enable"),
            fetch_max_bytes: count("fetch.max.bytes"),
            group_initial_rebalance_delay_ms: count("group.initial.rebalance.delay.ms"),
            group_max_session_timeout_ms: count("group.max.session.timeout.ms"),
            group_max_size: count("group.max.size"),
            group_min_session_timeout_ms: count("group.min.session.timeout.ms"),
            log_cleaner_backoff_ms: long("log.cleaner.backoff.ms"),
            log_cleaner_dedupe_buffer_bytes: long("log.cleaner.dedupe.buffer.size"),
            is_log_cleaner_enabled: is("log.cleaner.enable"),
            log_cleaner_load_factor: double("log.cleaner.io.buffer.load.factor"),
            log_cleaner_io_buffer_bytes: count("log.cleaner.io.buffer.size"),
            log_cleaner_io_bytes_per_second_max: double("log.cleaner.io.max.bytes.per.second"),
            log_retention_check_interval_ms: long("log.retention.check.interval.ms"),
            max_connections: count("max.connections"),
            max_connections_per_ip: count("max.connections.per.ip"),
            fetch_session_slots: count("max.incremental.fetch.session.cache.slots"),
            max_request_partitions: count("max.request.partition.size.limit"),
            num_partitions: small("num.partitions"),
            offset_metadata_max_bytes: count("offset.metadata.max.bytes"),
            offsets_retention_check_interval_ms: long("offsets.retention.check.interval.ms"),
            offsets_retention_ms: long("offsets.retention.minutes").saturating_mul(60_000),
            offsets_topic_partitions: small("offsets.topic.num.partitions"),
            offsets_topic_segment_bytes: count("offsets.topic.segment.bytes"),
            producer_id_expiration_ms: long("producer.id.expiration.ms"),
            consumer: ConsumerSettings::resolve(layers),
            share: ShareSettings::resolve(layers),
            socket_request_max_bytes: count("socket.request.max.bytes"),
            transaction_max_timeout_ms: count("transaction.max.timeout.ms"),
            transactional_id_cleanup_interval_ms: long(
                "transaction.remove.expired.transaction.cleanup.interval.ms",
            ),
            transactions_topic_partitions: small("transaction.state.log.num.partitions"),
            transactions_topic_segment_bytes: count("transaction.state.log.segment.bytes"),
            transactional_id_expiration_ms: long("transactional.id.expiration.ms"),
            transactions_memory_bytes: long("fanlog.transactions.memory.bytes"),
            clock_jump_ms_max: number("fanlog.clock.jump.max.ms"),
            dedup_memory_bytes: long("fanlog.dedup.memory.bytes"),
            groups_memory_bytes: long("fanlog.groups.memory.bytes"),
            http_connections_max: count("fanlog.http.connections.max"),
            http_hosts: names("fanlog.http.hosts"),
            http_request_memory_bytes: long("fanlog.http.request.memory.bytes"),
            partitions_max: count("fanlog.partitions.max"),
            queues_memory_bytes: long("fanlog.queues.memory.bytes"),
            queues_topic_partitions: small("fanlog.queues.topic.num.partitions"),
            is_replication_factor_clamped: is("fanlog.replication.factor.clamp"),
            request_memory_bytes: long("fanlog.request.memory.bytes"),
        }
    }
}
