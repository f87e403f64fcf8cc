//! What a broker is started with.

use fanlog_model::BrokerId;
use fanlog_model::settings::Overrides;
use fanlog_storage::journal::JournalConfig;

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
    /// How many threads sync segments; 0 leaves that, and the commits, to calls of `Broker::sync_all` and `sync_next`, for simulation.
    pub sync_threads: usize,
    /// How large the journal is; none for what the settings say.
    pub journal: Option<JournalConfig>,
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
            journal: None,
            fetch_memory_bytes: 256 * 1024 * 1024,
            has_timers: true,
        }
    }
    /// How large the journal is.
    pub(crate) fn journal_config(&self) -> JournalConfig {
        let default = JournalConfig::default();
        let number = |name: &str| self.statics.get(name)?.parse::<u32>().ok();
        self.journal.unwrap_or_else(|| JournalConfig {
            file_bytes: number("fanlog.journal.file.bytes").map_or(default.file_bytes, u64::from),
            files_max: number("fanlog.journal.files.max")
                .map_or(default.files_max, |count| count as usize),
            past_bytes: default.past_bytes,
        })
    }
}
