//! What is appended to and fetched from each topic.

use super::{Labels, Latencies};
use fanlog_model::TopicName;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;
use std::sync::Arc;
use std::time::Duration;

type Counters = Family<Labels<1>, Counter>;

/// The counters of all topics.
#[derive(Debug)]
pub(crate) struct TopicFamilies {
    appended_bytes: Counters,
    appended_records: Counters,
    fetched_bytes: Counters,
    fetched_records: Counters,
    latencies: Latencies,
}

/// The counters of one topic; a partition counts without looking them up.
#[derive(Debug)]
pub(crate) struct TopicMetrics {
    appended_bytes: Counter,
    appended_records: Counter,
    fetched_bytes: Counter,
    fetched_records: Counter,
    latencies: Latencies,
}

impl TopicFamilies {
    pub(super) fn register(registry: &mut Registry, latencies: Latencies) -> Self {
        let mut family = |name: &str, help: &str| {
            let counters = Counters::default();
            registry.register(name, help, counters.clone());
            counters
        };
        Self {
            appended_bytes: family("topic_appended_bytes", "Bytes of batches appended"),
            appended_records: family("topic_appended_records", "Records appended"),
            fetched_bytes: family("topic_fetched_bytes", "Bytes of batches read for fetches"),
            fetched_records: family(
                "topic_fetched_records",
                "Records read for fetches, counted by the offsets of the batches",
            ),
            latencies,
        }
    }

    pub(super) fn topic(&self, topic: &TopicName) -> Arc<TopicMetrics> {
        let labels = [("topic", topic.to_string())];
        Arc::new(TopicMetrics {
            appended_bytes: self.appended_bytes.get_or_create_owned(&labels),
            appended_records: self.appended_records.get_or_create_owned(&labels),
            fetched_bytes: self.fetched_bytes.get_or_create_owned(&labels),
            fetched_records: self.fetched_records.get_or_create_owned(&labels),
            latencies: self.latencies.clone(),
        })
    }

    pub(super) fn forget(&self, topic: &TopicName) {
        let labels = [("topic", topic.to_string())];
        for family in [
            &self.appended_bytes,
            &self.appended_records,
            &self.fetched_bytes,
            &self.fetched_records,
        ] {
            family.remove(&labels);
        }
    }
}

impl TopicMetrics {
    pub(crate) fn count_append(&self, bytes: usize, records: u64) {
        self.appended_bytes.inc_by(bytes as u64);
        self.appended_records.inc_by(records);
    }

    pub(crate) fn count_fetch(&self, bytes: usize, records: u64) {
        self.fetched_bytes.inc_by(bytes as u64);
        self.fetched_records.inc_by(records);
    }

    pub(crate) fn observe_ack(&self, now: Duration, waited: Duration) {
        self.latencies.acknowledgement.observe(waited.as_secs_f64());
        self.latencies.commits.note(now, waited);
    }

    pub(crate) fn observe_sync(&self, took: Duration) {
        self.latencies.sync.observe(took.as_secs_f64());
    }
}
