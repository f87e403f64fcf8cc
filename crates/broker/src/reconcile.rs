//! Makes the open topics what the catalog says: opens, creates, extends, reconfigures and deletes.
//!
//! Why it exists: starting, and following a change while running, are the same comparison; so a crash between a
//! change of the catalog and its effects is put right by the next start.
//! In -> out: the catalog's durable view -> the topics' view.
//! Read next: `opener.rs`, `garbage.rs`.

use crate::broker::Broker;
use crate::folders::{mark_deleted, remove_deleted};
use crate::log_config::log_config;
use crate::opener::{Opener, Opening};
use crate::partition::{Partition, Place};
use crate::topics_view::{Topic, TopicsView};
use fanlog_coordinators::catalog::{self, CatalogView};
use fanlog_model::settings::{BrokerSettings, TopicSettings};
use fanlog_model::{PartitionIndex, TopicId};
use parking_lot::Mutex;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// How many threads open logs: recovery reads their tails, and disks read in parallel.
const OPENING_THREADS: usize = 2;

/// A topic that differs from what is open, before its new partitions are opened.
struct Change<'a> {
    wanted: &'a Arc<catalog::Topic>,
    settings: TopicSettings,
    kept: Vec<Arc<Partition>>,
}

impl Broker {
    /// Follows the catalog. Blocks: it creates and removes folders.
    pub(crate) fn reconcile(&self, catalog: &CatalogView, deleted: &HashSet<TopicId>) {
        let _one_at_a_time = self.reconciling.lock();
        let before = self.topics();
        let broker = self.settings_in(catalog);
        let gone = gone_topics(&before, catalog);
        let mut after = TopicsView::clone(&before);
        for topic in &gone {
            after.remove(topic.id);
        }
        // A deleted topic is out of sight before its logs close, and its name is free only after that.
        self.set_topics(after.clone());
        for topic in &gone {
            self.delete_logs(topic);
        }
        let mut earlier = deleted.clone();
        earlier.extend(gone.iter().map(|topic| topic.id));
        let (changes, openings) = self.plan(&before, catalog, &broker);
        let mut opened = open_in_parallel(&self.opener, openings, &earlier);
        for change in changes {
            let new = opened.remove(&change.wanted.id).unwrap_or_default();
            after.put(Arc::new(change.into_topic(new)));
        }
        self.set_topics(after);
        self.follow(broker, &gone);
    }

    /// Hands changed settings to open logs, and says what must be opened.
    fn plan<'a>(
        &self,
        before: &TopicsView,
        catalog: &'a CatalogView,
        broker: &BrokerSettings,
    ) -> (Vec<Change<'a>>, Vec<Opening>) {
        let mut changes = Vec::new();
        let mut openings = Vec::new();
        let rules = self.catalog.rules();
        for wanted in catalog.topics() {
            let settings = rules.topic_settings(catalog, &wanted.overrides);
            let config = log_config(&settings, broker);
            let open = before.by_id(wanted.id);
            let kept: Vec<_> = open.map_or_else(Vec::new, |open| {
                let all = open.partitions.iter();
                all.filter(|partition| !partition.may_be_opened())
                    .cloned()
                    .collect()
            });
            for partition in &kept {
                partition.update_config(&config);
            }
            if open.is_some_and(|open| is_as_wanted(open, &kept, wanted, &settings)) {
                continue;
            }
            let metrics = self.metrics().topic(&wanted.name);
            let missing = (0..wanted.partitions)
                .map(PartitionIndex)
                .filter(|index| kept.iter().all(|kept| kept.index() != *index));
            openings.extend(missing.map(|index| Opening {
                place: Place::new(wanted.name.clone(), wanted.id, index),
                config: config.clone(),
                metrics: metrics.clone(),
                is_internal: wanted.is_internal,
            }));
            changes.push(Change {
                wanted,
                settings,
                kept,
            });
        }
        (changes, openings)
    }

    fn delete_logs(&self, topic: &Topic) {
        let disk = &*self.environment().disk;
        for partition in &topic.partitions {
            partition.delete();
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

fn is_as_wanted(
    open: &Topic,
    kept: &[Arc<Partition>],
    wanted: &catalog::Topic,
    settings: &TopicSettings,
) -> bool {
    kept.len() == wanted.partitions as usize
        && open.overrides == wanted.overrides
        && open.settings == *settings
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
    let threads = OPENING_THREADS.min(openings.len());
    let left = Mutex::new(openings);
    let opened = Mutex::new(HashMap::<TopicId, Vec<Arc<Partition>>>::new());
    let work = || {
        loop {
            let Some(opening) = left.lock().pop() else {
                return;
            };
            let partition = opener.open(opening, deleted);
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
