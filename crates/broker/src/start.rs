//! Starting and stopping.
//!
//! Why it exists: nothing may be served before the data directory is known to be ours, the new leader epoch is
//! durable, and every log is recovered; nothing may be called clean before every log is flushed.
//! In -> out: configuration and environment -> a broker that serves.
//! Read next: `identity.rs`, `start_counter.rs`, `reconcile.rs`.

use crate::blocking::Blocking;
use crate::broker::Broker;
use crate::catalog_runtime::{CATALOG_TOPIC_ID, CatalogRuntime};
use crate::clean_shutdown::{take_marker, write_marker};
use crate::cleaner::Cleaner;
use crate::cold_reads::ColdReads;
use crate::committer::{Committer, CommitterThread};
use crate::config::BrokerConfig;
use crate::dedup::Dedup;
use crate::fetch_budget::FetchBudget;
use crate::folders::{Folder, PARTITION_METADATA, folder_names};
use crate::garbage::collect_garbage;
use crate::groups::{Groups, group_settings};
use crate::identity::{Identity, IdentityError, open_identity};
use crate::last_seen_time::LastSeenTime;
use crate::metrics::Metrics;
use crate::opener::{Opener, Opening};
use crate::partition::{Partition, Place};
use crate::producer_ids::ProducerIds;
use crate::publish::Turns;
use crate::queues::Queues;
use crate::reconcile::Reconciled;
use crate::shares::Shares;
use crate::start_counter::{StartCounterError, raise_start_counter};
use crate::steady_clock::SteadyClock;
use crate::sync_threads::{SyncQueue, SyncThreads};
use crate::topics_view::TopicsView;
use crate::transactions::{Transactions, transaction_settings};
use fanlog_coordinators::catalog::{CATALOG_TOPIC, Rules};
use fanlog_environment::{Disk, Environment};
use fanlog_model::{PartitionIndex, TopicId, TopicName};
use fanlog_storage::LogConfig;
use fanlog_storage::journal::Journal;
use parking_lot::{Mutex, RwLock};
use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use thiserror::Error;

/// How many logs are opened or closed at once: each waits for the disk several times, and file systems sync many files at once in
/// the time that one takes.
const OPENING_THREADS: usize = 32;

/// Small enough that what was changed again and again goes, large enough that few segments are kept.
const CATALOG_SEGMENT_BYTES: u32 = 16 * 1024 * 1024;

/// Why a broker does not start. Nothing in the data directory was harmed.
#[derive(Debug, Error)]
pub enum StartError {
    /// The data directory is not ours to use.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// The count of starts cannot be raised.
    #[error(transparent)]
    StartCounter(#[from] StartCounterError),
    /// The catalog cannot be read: without it no topic is known.
    #[error("the catalog cannot be loaded: {reason}")]
    Catalog {
        /// What happened.
        reason: String,
    },
    /// The disk or the operating system refused.
    #[error("the broker cannot start: {0}")]
    Io(#[from] io::Error),
}

impl Broker {
    /// Starts a broker over a data directory. Blocks until its logs are recovered; groups are loaded in the
    /// background and say so until they are.
    ///
    /// # Errors
    /// The data directory is not ours, or its catalog cannot be read.
    ///
    /// # Panics
    /// Outside a tokio runtime: timers and replies run there.
    pub fn start(config: BrokerConfig, environment: Environment) -> Result<Arc<Self>, StartError> {
        let identity = open_identity(&environment, config.node_id, config.cluster_id.as_deref())?;
        let opener = new_opener(environment, &config)?;
        let sync_threads = SyncThreads::start(opener.queue.clone(), config.sync_threads)?;
        let has_threads = config.sync_threads > 0;
        let committer = CommitterThread::start(opener.committer.clone(), has_threads)?;
        let rules = Rules {
            broker_id: config.node_id,
            statics: Arc::new(config.statics.clone()),
        };
        let (catalog, deleted) = load_catalog(&opener, rules)?;
        let broker = assemble(
            identity,
            config,
            opener,
            (committer, sync_threads),
            catalog,
            deleted.clone(),
        );
        broker.reconcile();
        broker.settle_journal()?;
        broker.note_made();
        collect_garbage(
            &*broker.environment().disk,
            &broker.catalog_view(),
            &deleted,
        )?;
        broker.note_time();
        broker.log_start();
        broker.is_serving.store(true, Ordering::Release);
        broker.queues.resume_redrives();
        if broker.config.has_timers {
            broker.start_maintenance();
            broker.start_cleaner();
        }
        Ok(broker)
    }

    /// Every log that there is was opened, or is kept in the journal: the rest of what earlier runs left there is not needed any more.
    fn settle_journal(&self) -> io::Result<()> {
        let topics = self.topics();
        let partitions = topics.iter().flat_map(|topic| &topic.partitions);
        let mut known: HashSet<_> = partitions.map(|partition| partition.log_id()).collect();
        known.insert(self.catalog.partition().log_id());
        let journal = &self.opener.committer.journal;
        journal.settle(|log| known.contains(log));
        if journal.recycle()? || self.opener.is_clean {
            return Ok(());
        }
        // How far recovery made the logs durable is proven by nothing else. A full disk does not keep the broker from serving.
        if let Err(error) = journal.checkpoint() {
            tracing::warn!(%error, "the journal's checkpoint is not written: after a power cut before the next one, damage to the last records may be taken for a torn tail");
        }
        Ok(())
    }

    /// What an operator wants to know of a start when reading the log later.
    fn log_start(&self) {
        let topics = self.topics();
        let partitions = topics.iter().flat_map(|topic| &topic.partitions);
        let (mut all, mut offline) = (0, 0);
        for partition in partitions {
            all += 1;
            offline += usize::from(partition.check_serving().is_err());
        }
        tracing::info!(
            cluster = self.cluster_id(),
            leader_epoch = %self.leader_epoch(),
            topics = topics.len(),
            partitions = all,
            offline,
            "the broker serves"
        );
    }

    /// Stops: flushes and closes every log, then marks the directory clean. Requests under way are answered
    /// first where they only wait for durability; later ones find their partitions offline.
    pub async fn shutdown(self: &Arc<Self>) {
        let broker = self.clone();
        let stop = self.opener.blocking.run(move || broker.stop());
        if let Err(error) = stop.await {
            tracing::error!(%error, "the shutdown did not finish; the next start verifies the logs");
        }
    }

    fn stop(&self) {
        if !self.is_serving.swap(false, Ordering::AcqRel) {
            return;
        }
        self.stop_tasks();
        self.cleaner.stop();
        // A topic that is being created is either open and closed below, or made by the next start.
        self.stop_reconciling();
        self.committer.stop();
        self.opener.committer.commit_waiting();
        self.sync_threads.stop();
        let topics = self.topics();
        self.dedup.note_times(&topics);
        let partitions: Vec<_> = topics.iter().flat_map(|topic| &topic.partitions).collect();
        let are_clean = close_all(&partitions, self.opener.threads);
        // The catalog last: a change that is under way may still need it.
        let is_catalog_clean = close(self.catalog.partition());
        self.note_time();
        if !(are_clean && is_catalog_clean) {
            tracing::warn!("not every log was closed; the next start verifies them");
            return;
        }
        if let Err(error) = self.opener.committer.journal.close() {
            tracing::warn!(%error, "the journal is not closed; the next start verifies the logs");
            return;
        }
        match write_marker(&*self.environment().disk) {
            Ok(()) => tracing::info!("stopped cleanly"),
            Err(error) => tracing::warn!(%error, "the next start verifies the logs"),
        }
    }

    fn stop_tasks(&self) {
        for task in self.tasks.lock().drain(..) {
            task.abort();
        }
        self.groups.stop_timers();
        self.shares.stop_timers();
        self.queues.stop_timers();
        self.transactions.stop_timers();
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        self.stop_tasks();
    }
}

/// Closes logs; whether nothing of any needs to be verified at the next start.
fn close_all(partitions: &[&Arc<Partition>], threads: usize) -> bool {
    let next = AtomicUsize::new(0);
    let are_clean = AtomicBool::new(true);
    let work = || {
        while let Some(partition) = partitions.get(next.fetch_add(1, Ordering::Relaxed)) {
            if !close(partition) {
                are_clean.store(false, Ordering::Relaxed);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(partitions.len()) {
            scope.spawn(work);
        }
        work();
    });
    are_clean.into_inner()
}

/// Flushes and closes a log; whether nothing of it needs to be verified at the next start.
fn close(partition: &Arc<Partition>) -> bool {
    partition.sync_last();
    let Some(log) = partition.take_log() else {
        return false;
    };
    match log.close() {
        Ok(()) => true,
        Err(error) => {
            tracing::error!(partition = %partition.folder(), %error, "closing failed");
            false
        }
    }
}

fn new_opener(environment: Environment, config: &BrokerConfig) -> Result<Opener, StartError> {
    let disk = &*environment.disk;
    let is_new = folder_names(disk)?.is_empty();
    // The marker goes before anything is written; the count rises before anything is served.
    let is_clean = take_marker(disk)?;
    if !is_clean && !is_new {
        tracing::warn!(
            "the last run did not stop cleanly: the end of every log is checked and made durable"
        );
    }
    let leader_epoch = raise_start_counter(disk, is_new)?;
    let blocking = match config.sync_threads {
        0 => Blocking::Inline,
        _ => Blocking::OnThreads,
    };
    let (journal, recovered) = Journal::open(
        &environment,
        config.journal_config(),
        leader_epoch,
        is_clean,
    )?;
    let (journal, clock) = (Arc::new(journal), &environment.clock);
    let queue = Arc::new(SyncQueue::new(journal.clone(), clock.clone()));
    let committer = Committer::new(journal, queue.clone(), clock.clone());
    let metrics = Arc::new(Metrics::new());
    let cold_reads = ColdReads::new(environment.clock.clone(), metrics.commits().clone());
    Ok(Opener {
        queue,
        committer: Arc::new(committer),
        cold_reads: Arc::new(cold_reads),
        recovered,
        metrics,
        leader_epoch,
        threads: match blocking {
            Blocking::Inline => 1,
            Blocking::OnThreads => OPENING_THREADS,
        },
        blocking,
        is_clean,
        environment,
    })
}

/// Partitions without a catalog are a directory that lost something. An empty catalog would hide them, and give producer
/// ids anew that their logs know (PRD-2).
fn check_catalog_is_there(disk: &dyn Disk) -> Result<(), StartError> {
    let names = folder_names(disk)?;
    let catalog = format!("{CATALOG_TOPIC}-0");
    if disk.exists(&Path::new(&catalog).join(PARTITION_METADATA))? {
        return Ok(());
    }
    let is_partition =
        |name: &&String| **name != catalog && matches!(Folder::of(name), Folder::Partition(..));
    match names.iter().find(is_partition) {
        Some(partition) => Err(StartError::Catalog {
            reason: format!(
                "its folder {catalog} is missing or has no {PARTITION_METADATA}, and there is {partition}; restore the folder from a backup, or give an empty directory"
            ),
        }),
        None => Ok(()),
    }
}

fn load_catalog(
    opener: &Opener,
    rules: Rules,
) -> Result<(CatalogRuntime, HashSet<TopicId>), StartError> {
    check_catalog_is_there(&*opener.environment.disk)?;
    let topic = TopicName::new(CATALOG_TOPIC).expect("the name is legal");
    let metrics = opener.metrics.topic(&topic);
    let place = Place::new(topic, CATALOG_TOPIC_ID, PartitionIndex(0));
    // The last change of everything counts. Tombstones stay: they say whose folders may be removed.
    let config = LogConfig {
        is_compacted: true,
        is_deleted_by_retention: false,
        delete_retention_ms: i64::MAX,
        segment_bytes: CATALOG_SEGMENT_BYTES,
        max_message_bytes: u32::MAX,
        ..LogConfig::default()
    };
    let opening = Opening {
        place,
        config,
        metrics,
        is_internal: true,
        // Checked above.
        is_made: false,
    };
    let partition = opener.open(opening, &HashSet::new());
    CatalogRuntime::load(partition, rules).map_err(|error| StartError::Catalog {
        reason: error.to_string(),
    })
}

fn assemble(
    identity: Identity,
    config: BrokerConfig,
    opener: Opener,
    (committer, sync_threads): (CommitterThread, SyncThreads),
    catalog: CatalogRuntime,
    deleted: HashSet<TopicId>,
) -> Arc<Broker> {
    let settings = catalog.rules().broker_settings(&catalog.view());
    let last_seen_time = LastSeenTime::open(&*opener.environment.disk);
    let steady_clock = SteadyClock::new(
        opener.environment.clock.clone(),
        last_seen_time.get(),
        settings.clock_jump_ms_max,
    );
    let groups = Arc::new(Groups::new(
        steady_clock.clone(),
        opener.environment.entropy.clone(),
        group_settings(
            &settings,
            catalog.rules().consumer_group_settings(&catalog.view()),
        ),
        config.has_timers,
        opener.blocking,
    ));
    let shares = Arc::new(Shares::new(
        steady_clock.clone(),
        config.has_timers,
        opener.blocking,
    ));
    let queues = Arc::new(Queues::new(
        steady_clock.clone(),
        config.has_timers,
        opener.blocking,
    ));
    let transactions = Transactions::new(
        steady_clock.clone(),
        transaction_settings(&settings),
        config.has_timers,
        opener.blocking,
    );
    let (environment, blocking) = (opener.environment.clone(), opener.blocking);
    let dedup = Dedup::new(environment, steady_clock.clone(), blocking);
    let broker = Arc::new(Broker {
        identity,
        budget: FetchBudget::new(config.fetch_memory_bytes),
        config,
        opener,
        topics: RwLock::new(Arc::new(TopicsView::default())),
        settings: RwLock::new(Arc::new(settings)),
        catalog,
        groups,
        group_positions: Mutex::default(),
        shares,
        queues,
        dedup,
        transactions,
        producer_ids: ProducerIds::default(),
        turns: Turns::default(),
        committer,
        sync_threads,
        steady_clock,
        last_seen_time,
        reconciled: Mutex::new(Reconciled::new(deleted)),
        cleaner: Cleaner::default(),
        tasks: Mutex::new(Vec::new()),
        is_serving: AtomicBool::new(false),
    });
    broker.groups.belong_to(Arc::downgrade(&broker));
    broker.shares.belong_to(Arc::downgrade(&broker));
    broker.queues.belong_to(Arc::downgrade(&broker));
    broker.transactions.belong_to(Arc::downgrade(&broker));
    broker.metrics().observe(Arc::downgrade(&broker));
    broker
}
