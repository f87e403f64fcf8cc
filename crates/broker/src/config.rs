//! What a broker is started with.

use fanlog_model::BrokerId;
use fanlog_model::settings::Overrides;

/// How a broker runs; everything that may change while it runs lies in the catalog instead.
#[derive(Clone, Debug)]
pub struct BrokerConfig {
    /// This broker's number; it must be the data directory's.
    pub node_id: BrokerId,
    /// The cluster's id for a new data directory; drawn at random where none is given.
    pub cluster_id: Option<String>,
    /// The data directory as operators know it, for DescribeLogDirs and messages.
    pub data_dir: String,
    /// Settings from the start-up file and flags, checked, under Kafka's names.
    pub statics: Overrides,
    /// How many threads make logs durable; 0 leaves it to calls of `Broker::sync_all`, for simulation.
    pub sync_threads: usize,
    /// How many bytes all fetches together may hold.
    pub fetch_memory_bytes: usize,
    /// Whether the broker runs its own timers (retention, groups); simulation calls the steps itself.
    pub has_timers: bool,
}

impl BrokerConfig {
    /// A broker with Kafka's defaults.
    pub fn new(node_id: BrokerId, data_dir: impl Into<String>) -> Self {
        Self {
            node_id,
            cluster_id: None,
            data_dir: data_dir.into(),
            statics: Overrides::new(),
            sync_threads: 4,
            fetch_memory_bytes: 256 * 1024 * 1024,
            has_timers: true,
        }
    }
}
