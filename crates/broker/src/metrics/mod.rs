//! What operators watch, in Prometheus' words.
//!
//! Why it exists: one registry, so that names and labels are settled in one place and every listener counts alike.
//! Owns: the registry and its families.   Never: how they are served; the HTTP listener does that.
//! In -> out: counts and observations -> the OpenMetrics text.
//! Read next: `topics.rs`, `lag.rs`.

mod broker_gauges;
mod cleaner;
mod lag;
mod listeners;
mod notifications;
mod queues;
mod topics;

pub(crate) use cleaner::CleanerMetrics;
pub use listeners::{ListenerMetrics, RequestMetrics};
pub use notifications::NotificationMetrics;
pub(crate) use topics::TopicMetrics;

use crate::broker::Broker;
use crate::commit_latency::CommitLatency;
use fanlog_model::{GroupId, TopicName, TopicPartition};
use lag::LagCollector;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use std::fmt;
use std::sync::{Arc, OnceLock, Weak};
use topics::TopicFamilies;

/// The label sets of families whose labels are known only at run time.
type Labels<const N: usize> = [(&'static str, String); N];

/// The broker's metrics.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    topics: TopicFamilies,
    listeners: ListenerMetrics,
    notifications: NotificationMetrics,
    cleaner: CleanerMetrics,
    commits: Arc<CommitLatency>,
    lost: Family<Labels<3>, Counter>,
    broker: Arc<OnceLock<Weak<Broker>>>,
}

/// Histograms of one broker, shared by its partitions. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Latencies {
    pub(crate) acknowledgement: Histogram,
    pub(crate) sync: Histogram,
    /// What the cleaner makes way for.
    pub(crate) commits: Arc<CommitLatency>,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("fanlog");
        let latencies = register_latencies(&mut registry);
        let commits = latencies.commits.clone();
        let topics = TopicFamilies::register(&mut registry, latencies);
        let cleaner = CleanerMetrics::register(&mut registry);
        let listeners = ListenerMetrics::register(&mut registry);
        let notifications = NotificationMetrics::register(&mut registry);
        let lost = Family::<Labels<3>, Counter>::default();
        registry.register(
            "group_records_lost_to_retention",
            "Records that retention or DeleteRecords removed before the group had committed them",
            lost.clone(),
        );
        let broker = Arc::new(OnceLock::new());
        registry.register_collector(Box::new(LagCollector::new(broker.clone())));
        registry.register_collector(Box::new(broker_gauges::BrokerGauges::new(broker.clone())));
        registry.register_collector(Box::new(queues::QueueCollector::new(broker.clone())));
        Self {
            registry,
            topics,
            listeners,
            notifications,
            cleaner,
            commits,
            lost,
            broker,
        }
    }

    /// From now on scrapes look at this broker.
    pub(crate) fn observe(&self, broker: Weak<Broker>) {
        // Set once, by the broker that owns this registry.
        let _ = self.broker.set(broker);
    }

    /// The counters of one topic.
    pub(crate) fn topic(&self, topic: &TopicName) -> Arc<TopicMetrics> {
        self.topics.topic(topic)
    }

    /// The topic is gone, and with it its counters.
    pub(crate) fn forget_topic(&self, topic: &TopicName) {
        self.topics.forget(topic);
        // The lost counters of its groups stay: what was lost, was.
    }

    /// Retention took records that a group had not read yet.
    pub(crate) fn count_lost(&self, group: &GroupId, partition: &TopicPartition, records: u64) {
        let labels = [
            ("group", group.to_string()),
            ("topic", partition.topic.to_string()),
            ("partition", partition.partition.to_string()),
        ];
        self.lost.get_or_create(&labels).inc_by(records);
    }

    /// The hooks that listeners count with.
    pub fn listeners(&self) -> &ListenerMetrics {
        &self.listeners
    }

    /// What becomes of messages that are sent to endpoints.
    pub fn notifications(&self) -> &NotificationMetrics {
        &self.notifications
    }

    pub(crate) fn cleaner(&self) -> &CleanerMetrics {
        &self.cleaner
    }

    pub(crate) fn commits(&self) -> &Arc<CommitLatency> {
        &self.commits
    }

    /// All metrics as OpenMetrics text. It looks at logs for the lag: call it where blocking is allowed.
    ///
    /// # Errors
    /// Writing into a string does not fail; the error is the encoder's signature.
    pub fn encode(&self) -> Result<String, fmt::Error> {
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

fn register_latencies(registry: &mut Registry) -> Latencies {
    // From 0.1 ms to 13 s: a fast disk's sync to a stalled one's.
    let histogram = || Histogram::new(exponential_buckets(0.0001, 2.0, 18));
    let latencies = Latencies {
        acknowledgement: histogram(),
        sync: histogram(),
        commits: Arc::default(),
    };
    registry.register(
        "acknowledgement_seconds",
        "From append to durable, for appends whose acknowledgement was waited for",
        latencies.acknowledgement.clone(),
    );
    registry.register(
        "sync_seconds",
        "How long making a partition's log durable took",
        latencies.sync.clone(),
    );
    latencies
}
