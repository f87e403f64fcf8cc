//! Makes the open topics what the catalog says: opens, creates, extends, reconfigures and deletes.
//!
//! Why it exists: starting, and following a change while running, are the same comparison; so a crash between a
//! change of the catalog and its effects is put right by the next start.
//! In -> out: the catalog's durable view -> the topics' view.
//! Read next: `opener.rs`, `garbage.rs`.

use crate::broker::Broker;
use crate::folders::{mark_deleted, remove_deleted, topic_id_in};
use crate::log_config::log_config;
use crate::opener::{Opener, Opening};
use crate::partition::{Partition, Place};
use crate::topics_view::{Topic, TopicsView};
use fanlog_coordinators::catalog::{self, BrokerScope, CatalogView};
use fanlog_model::settings::{BrokerSettings, Overrides, TopicSettings};
use fanlog_model::{PartitionIndex, TopicId};
use fanlog_storage::LogConfig;
use parking_lot::Mutex;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// What the last comparison with the catalog left.
#[derive(Debug, Default)]
pub(crate) struct Reconciled {
    /// The dynamic settings that open logs know: this broker's, and those for all.
    layers: Option<[Arc<Overrides>; 2]>,
    /// Topics that were deleted; a folder of theirs may still be there.
    deleted: HashSet<TopicId>,
    /// The broker is stopping: nothing is opened any more.
    is_stopped: bool,
}

/// A topic that differs from what is open, before its new partitions are opened.
struct Change<'a> {
    wanted: &'a Arc<catalog::Topic>,
    settings: TopicSettings,
    kept: Vec<Arc<Partition>>,
}

impl Reconciled {
    pub(crate) fn new(deleted: HashSet<TopicId>) -> Self {
        Self {
            deleted,
            ..Self::default()
        }
    }
}

impl Broker {
    /// Follows the catalog as it is now. Blocks: it creates and removes folders.
    pub(crate) fn reconcile(&self) {
        let mut state = self.reconciled.lock();
        if state.is_stopped {
            return;
        }
        // Read under the lock: an older view would take what a newer one has created for deleted.
        let catalog = self.catalog_view();
        let before = self.topics();
        let gone = gone_topics(&before, &catalog);
        let mut after = TopicsView::clone(&before);
        for topic in &gone {
            after.remove(topic.id);
        }
        // A deleted topic is out of sight before its logs close, and its name is free only after that.
        self.set_topics(after.clone());
        for topic in &gone {
            self.delete_logs(topic);
            state.deleted.insert(topic.id);
        }
        let broker = self.settings_in(&catalog);
        let (changes, openings) = self.plan(&before, &catalog, &broker, &mut state);
        let mut opened = open_in_parallel(&self.opener, openings, &state.deleted);
        for change in changes {
            let new = opened.remove(&change.wanted.id).unwrap_or_default();
            after.put(Arc::new(change.into_topic(new)));
        }
        self.set_topics(after);
        self.follow(broker, &gone);
    }

    /// From now on nothing is opened: every log that is open now is in the view.
    pub(crate) fn stop_reconciling(&self) {
        self.reconciled.lock().is_stopped = true;
    }

    /// Hands changed settings to open logs, and says what must be opened.
    fn plan<'a>(
        &self,
        before: &TopicsView,
        catalog: &'a CatalogView,
        broker: &BrokerSettings,
        state: &mut Reconciled,
    ) -> (Vec<Change<'a>>, Vec<Opening>) {
        let layers = self.dynamic_layers(catalog);
        let same_layers = state.layers.as_ref() == Some(&layers);
        state.layers = Some(layers);
        let mut changes = Vec::new();
        let mut openings = Vec::new();
        for wanted in catalog.topics() {
            let open = before.by_id(wanted.id);
            if same_layers && open.is_some_and(|open| is_as_wanted(open, wanted)) {
                continue;
            }
            let settings = self
                .catalog
                .rules()
                .topic_settings(catalog, &wanted.overrides);
            let config = log_config(&settings, broker);
            let kept = open.map_or_else(Vec::new, |open| openable_no_more(open));
            for partition in &kept {
                partition.update_config(&config);
            }
            openings.extend(self.missing(wanted, &kept, &config));
            changes.push(Change {
                wanted,
                settings,
                kept,
            });
        }
        (changes, openings)
    }

    fn missing(
        &self,
        wanted: &catalog::Topic,
        kept: &[Arc<Partition>],
        config: &LogConfig,
    ) -> Vec<Opening> {
        let kept: HashSet<_> = kept.iter().map(|partition| partition.index()).collect();
        let metrics = self.metrics().topic(&wanted.name);
        (0..wanted.partitions)
            .map(PartitionIndex)
            .filter(|index| !kept.contains(index))
            .map(|index| Opening {
                place: Place::new(wanted.name.clone(), wanted.id, index),
                config: config.clone(),
                metrics: metrics.clone(),
                is_internal: wanted.is_internal,
                is_made: index.0 < wanted.made,
            })
            .collect()
    }

    fn dynamic_layers(&self, catalog: &CatalogView) -> [Arc<Overrides>; 2] {
        [
            catalog.broker_settings(BrokerScope::Broker(self.node_id())),
            catalog.broker_settings(BrokerScope::Default),
        ]
    }

    fn delete_logs(&self, topic: &Topic) {
        let disk = &*self.environment().disk;
        for partition in &topic.partitions {
            partition.delete();
            let found = topic_id_in(disk, partition.folder());
            if found.is_ok_and(|found| found.is_some_and(|found| found != topic.id)) {
                tracing::warn!(partition = %partition.folder(), "the folder of another topic stays where the deleted one's would be");
                continue;
            }
            let removed = mark_deleted(disk, partition.folder(), topic.id)
                .and_then(|marked| remove_deleted(disk, &marked));
            if let Err(error) = removed {
                tracing::warn!(partition = %partition.folder(), %error, "the folder of a deleted topic stays until the next start");
            }
        }
        self.metrics().forget_topic(&topic.name);
    }
}

fn gone_topics(open: &TopicsView, catalog: &CatalogView) -> Vec<Arc<Topic>> {
    open.iter()
        .filter(|topic| catalog.topic_by_id(topic.id).is_none())
        .cloned()
        .collect()
}

/// The partitions that stay as they are: all but those whose opening is to be tried again.
fn openable_no_more(open: &Topic) -> Vec<Arc<Partition>> {
    let all = open.partitions.iter();
    all.filter(|partition| !partition.may_be_opened())
        .cloned()
        .collect()
}

fn is_as_wanted(open: &Topic, wanted: &catalog::Topic) -> bool {
    open.partitions.len() == wanted.partitions as usize
        && open.overrides == wanted.overrides
        && !open
            .partitions
            .iter()
            .any(|partition| partition.may_be_opened())
}

impl Change<'_> {
    fn into_topic(self, new: Vec<Arc<Partition>>) -> Topic {
        let mut partitions = self.kept;
        partitions.extend(new);
        partitions.sort_by_key(|partition| partition.index());
        Topic {
            name: self.wanted.name.clone(),
            id: self.wanted.id,
            partitions,
            is_internal: self.wanted.is_internal,
            overrides: self.wanted.overrides.clone(),
            settings: self.settings,
        }
    }
}

/// Opens partitions; those of each topic in any order.
fn open_in_parallel(
    opener: &Opener,
    openings: Vec<Opening>,
    deleted: &HashSet<TopicId>,
) -> HashMap<TopicId, Vec<Arc<Partition>>> {
    let threads = opener.threads.min(openings.len());
    let progress = Progress::new(opener, openings.len());
    let left = Mutex::new(openings);
    let opened = Mutex::new(HashMap::<TopicId, Vec<Arc<Partition>>>::new());
    let work = || {
        loop {
            let Some(opening) = left.lock().pop() else {
                return;
            };
            let partition = opener.open(opening, deleted);
            progress.note_one();
            let mut opened = opened.lock();
            opened
                .entry(partition.topic_id())
                .or_default()
                .push(partition);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    opened.into_inner()
}

/// Tells how far the opening of logs has come, where it takes long.
struct Progress<'a> {
    opener: &'a Opener,
    all: usize,
    done: AtomicUsize,
    told: Mutex<Duration>,
}

/// How often progress is told.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

impl<'a> Progress<'a> {
    fn new(opener: &'a Opener, all: usize) -> Self {
        Self {
            opener,
            all,
            done: AtomicUsize::new(0),
            told: Mutex::new(opener.environment.clock.monotonic()),
        }
    }

    fn note_one(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        let now = self.opener.environment.clock.monotonic();
        let mut told = self.told.lock();
        if now.saturating_sub(*told) >= PROGRESS_INTERVAL {
            *told = now;
            tracing::info!("{done} of {} logs are open", self.all);
        }
    }
}
