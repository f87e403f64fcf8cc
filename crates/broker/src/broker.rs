//! The broker: everything that listeners call.
//!
//! Why it exists: one object that joins logs, coordinators and the environment, so that a listener needs no other.
//! Owns: the open topics, the catalog, the groups, the sync threads.   Never: sockets, protocol error codes.
//! In -> out: see the methods; those that change something answer once it is durable.
//! Read next: `start.rs`, then `partition/mod.rs`.

use crate::catalog_runtime::CatalogRuntime;
use crate::cleaner::Cleaner;
use crate::committer::CommitterThread;
use crate::config::BrokerConfig;
use crate::dedup::Dedup;
use crate::fetch::{Fetch, FetchResult};
use crate::fetch_budget::FetchBudget;
use crate::fetch_types::FetchRequestPlan;
use crate::group_status::Positions;
use crate::groups::{ConsumerPacesOfGroups, Groups, group_settings};
use crate::identity::Identity;
use crate::last_seen_time::LastSeenTime;
use crate::lookup::{LookupError, TopicRef};
use crate::metrics::Metrics;
use crate::opener::Opener;
use crate::partition::Partition;
use crate::producer_ids::ProducerIds;
use crate::publish::Turns;
use crate::queues::Queues;
use crate::reconcile::Reconciled;
use crate::shares::Shares;
use crate::steady_clock::SteadyClock;
use crate::sync_threads::SyncThreads;
use crate::topics_view::{Topic, TopicsView};
use crate::transactions::{Transactions, transaction_settings};
use fanlog_coordinators::catalog::CatalogView;
use fanlog_environment::Environment;
use fanlog_model::settings::BrokerSettings;
use fanlog_model::{BrokerId, LeaderEpoch, Offset, PartitionIndex};
use parking_lot::{Mutex, RwLock};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::task::AbortHandle;

/// A running broker.
#[derive(Debug)]
pub struct Broker {
    pub(crate) identity: Identity,
    pub(crate) config: BrokerConfig,
    pub(crate) opener: Opener,
    pub(crate) topics: RwLock<Arc<TopicsView>>,
    pub(crate) settings: RwLock<Arc<BrokerSettings>>,
    pub(crate) catalog: CatalogRuntime,
    pub(crate) groups: Arc<Groups>,
    pub(crate) group_positions: Mutex<Positions>,
    pub(crate) shares: Arc<Shares>,
    pub(crate) queues: Arc<Queues>,
    pub(crate) dedup: Dedup,
    pub(crate) transactions: Transactions,
    pub(crate) producer_ids: ProducerIds,
    pub(crate) turns: Turns,
    pub(crate) budget: FetchBudget,
    pub(crate) committer: CommitterThread,
    pub(crate) sync_threads: SyncThreads,
    pub(crate) reconciled: Mutex<Reconciled>,
    pub(crate) steady_clock: SteadyClock,
    pub(crate) last_seen_time: LastSeenTime,
    pub(crate) cleaner: Cleaner,
    pub(crate) tasks: Mutex<Vec<AbortHandle>>,
    pub(crate) is_serving: AtomicBool,
}

impl Broker {
    /// The cluster's id, drawn when the data directory was new.
    pub fn cluster_id(&self) -> &str {
        &self.identity.cluster_id
    }

    /// This broker's number.
    pub fn node_id(&self) -> BrokerId {
        self.identity.node_id
    }

    /// The epoch of this start: every partition's leader epoch.
    pub fn leader_epoch(&self) -> LeaderEpoch {
        self.opener.leader_epoch
    }

    /// What the broker was started with.
    pub fn config(&self) -> &BrokerConfig {
        &self.config
    }

    /// The broker's settings in force.
    pub fn settings(&self) -> Arc<BrokerSettings> {
        self.settings.read().clone()
    }

    /// Clock, entropy and disk.
    pub fn environment(&self) -> &Environment {
        &self.opener.environment
    }

    /// The metrics registry.
    pub fn metrics(&self) -> &Metrics {
        &self.opener.metrics
    }

    /// Whether requests are served: from the end of the start to the beginning of the shutdown.
    pub fn is_serving(&self) -> bool {
        self.is_serving.load(Ordering::Acquire)
    }

    /// The files in which reads have met damage. Their readers are told; the rest of those partitions serves.
    pub fn damaged_files(&self) -> Vec<PathBuf> {
        let topics = self.topics();
        let partitions = topics.iter().flat_map(|topic| &topic.partitions);
        let disk = &*self.environment().disk;
        partitions
            .flat_map(|partition| partition.damaged_files(disk))
            .collect()
    }

    /// All topics at this moment.
    pub fn topics(&self) -> Arc<TopicsView> {
        self.topics.read().clone()
    }

    pub(crate) fn set_topics(&self, topics: TopicsView) {
        *self.topics.write() = Arc::new(topics);
    }

    /// The partition that a request names.
    ///
    /// # Errors
    /// There is none.
    pub fn partition(
        &self,
        topic: &TopicRef,
        partition: PartitionIndex,
    ) -> Result<Arc<Partition>, LookupError> {
        self.topics().partition(topic, partition).cloned()
    }

    /// Reads many partitions, waiting as the plan asks.
    pub async fn fetch(&self, plan: FetchRequestPlan) -> FetchResult {
        let fetch = Fetch::new(
            &self.topics(),
            plan,
            self.budget.clone(),
            self.opener.blocking,
        );
        fetch.run().await
    }

    /// Consumer groups.
    pub fn groups(&self) -> &Arc<Groups> {
        &self.groups
    }

    /// Whether any topic remembers message ids.
    pub fn remembers_ids(&self) -> bool {
        self.dedup.is_used()
    }

    /// Transactions.
    pub fn transactions(&self) -> &Transactions {
        &self.transactions
    }

    /// The catalog as far as it is durable.
    pub fn catalog_view(&self) -> Arc<CatalogView> {
        self.catalog.view()
    }

    /// Where the catalog's log ends, as far as it is durable.
    pub fn catalog_end_offset(&self) -> Offset {
        self.catalog.partition().high_watermark()
    }

    /// Completes when there is room for more appends: records wait for the journal only in bounded numbers.
    pub async fn room(&self) {
        self.opener.committer.room().await;
    }

    /// Makes everything appended so far durable, on this thread; for brokers without threads of their own.
    pub fn sync_all(&self) {
        while self.opener.committer.commit_waiting() || self.opener.queue.sync_urgent() {}
    }

    /// Syncs the segments of the partition that is due next, on this thread, and lets the journal use files again; whether there was one.
    pub fn sync_next(&self) -> bool {
        self.opener.queue.sync_next()
    }

    pub(crate) fn settings_in(&self, catalog: &CatalogView) -> BrokerSettings {
        self.catalog.rules().broker_settings(catalog)
    }

    fn consumer_paces(&self) -> ConsumerPacesOfGroups {
        let catalog = self.catalog.view();
        self.catalog.rules().consumer_group_settings(&catalog)
    }

    /// What hangs on the catalog beside the topics themselves.
    pub(crate) fn follow(&self, settings: BrokerSettings, gone: &[Arc<Topic>]) {
        self.groups
            .follow_settings(group_settings(&settings, self.consumer_paces()));
        self.transactions
            .follow_settings(transaction_settings(&settings));
        self.dedup.set_memory(settings.dedup_memory_bytes);
        self.dedup.follow(&self.topics());
        *self.settings.write() = Arc::new(settings);
        self.groups
            .follow_topics(&self.topics(), !self.is_serving());
        self.shares
            .follow_topics(&self.topics(), !self.is_serving());
        self.transactions
            .follow_topics(&self.topics(), !self.is_serving());
        self.queues.follow(
            &self.catalog_view(),
            &self.topics(),
            gone,
            !self.is_serving(),
        );
        for topic in gone {
            self.shares.forget_topic(topic.id);
            self.groups.forget_topic(&topic.name);
        }
        self.groups.topics_changed();
    }
}
