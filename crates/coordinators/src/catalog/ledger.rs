//! What the catalog's topic remembers, and the snapshot of it that readers hold.

use super::documents::{Document, DocumentsOfSpace};
use super::record::{BrokerScope, Queue, Record, Topic};
use fanlog_model::invariants::CAT_1;
use fanlog_model::settings::Overrides;
use fanlog_model::{GroupId, TopicId, TopicName};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use uuid::Uuid;

/// The catalog at one moment. Readers hold it behind an [`Arc`] and never wait for a writer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CatalogView {
    by_name: BTreeMap<TopicName, Arc<Topic>>,
    by_id: BTreeMap<TopicId, Arc<Topic>>,
    /// Names with `.` and `_` taken for the same: two topics must not meet here.
    metric_keys: BTreeMap<String, TopicName>,
    broker_settings: BTreeMap<BrokerScope, Arc<Overrides>>,
    group_settings: BTreeMap<GroupId, Arc<Overrides>>,
    queues: BTreeMap<GroupId, Arc<Queue>>,
    queues_by_id: BTreeMap<Uuid, GroupId>,
    queues_by_topic: BTreeMap<TopicId, BTreeSet<GroupId>>,
    /// By space and name. A space is behind a pointer of its own, so that a change elsewhere copies none of its entries.
    documents: BTreeMap<String, DocumentsOfSpace>,
    document_count: usize,
    document_bytes: usize,
    partitions: u64,
    next_producer_id: i64,
}

impl CatalogView {
    /// The topic of that name.
    pub fn topic(&self, name: &TopicName) -> Option<&Arc<Topic>> {
        self.by_name.get(name)
    }

    /// The topic of that name, which need not be a legal one.
    pub fn topic_named(&self, name: &str) -> Option<&Arc<Topic>> {
        self.topic(&TopicName::new(name).ok()?)
    }

    /// The topic of that id.
    pub fn topic_by_id(&self, id: TopicId) -> Option<&Arc<Topic>> {
        self.by_id.get(&id)
    }

    /// All topics by name, internal ones too.
    pub fn topics(&self) -> impl Iterator<Item = &Arc<Topic>> {
        self.by_name.values()
    }

    /// How many topics there are.
    pub fn topic_count(&self) -> usize {
        self.by_name.len()
    }

    /// How many partitions all topics have together.
    pub fn partition_count(&self) -> u64 {
        self.partitions
    }

    /// The dynamic settings of a broker, or of all; empty where none were set.
    pub fn broker_settings(&self, scope: BrokerScope) -> Arc<Overrides> {
        self.broker_settings
            .get(&scope)
            .cloned()
            .unwrap_or_default()
    }

    /// The settings given for a group; empty where none were set.
    pub fn group_settings(&self, group: &GroupId) -> Arc<Overrides> {
        self.group_settings.get(group).cloned().unwrap_or_default()
    }

    /// The groups that have settings of their own, by name.
    pub fn groups_with_settings(&self) -> impl ExactSizeIterator<Item = &GroupId> {
        self.group_settings.keys()
    }

    /// The queue of that name.
    pub fn queue(&self, name: &GroupId) -> Option<&Arc<Queue>> {
        self.queues.get(name)
    }

    /// The queue of that id.
    pub fn queue_by_id(&self, id: Uuid) -> Option<&Arc<Queue>> {
        self.queue(self.queues_by_id.get(&id)?)
    }

    /// All queues, by name.
    pub fn queues(&self) -> impl ExactSizeIterator<Item = &Arc<Queue>> {
        self.queues.values()
    }

    /// The queues of a topic, by name.
    pub fn queues_of_topic(&self, topic: TopicId) -> impl ExactSizeIterator<Item = &Arc<Queue>> {
        static NONE: BTreeSet<GroupId> = BTreeSet::new();
        let names = self.queues_by_topic.get(&topic).unwrap_or(&NONE);
        names.iter().map(|name| &self.queues[name])
    }

    /// The document of that name.
    pub fn document(&self, space: &str, name: &str) -> Option<&Arc<Document>> {
        self.documents.get(space)?.get(name)
    }

    /// The documents of a space, as they are kept: the very same map as long as none of them changes. None where there is no document.
    pub fn documents_of(&self, space: &str) -> Option<&DocumentsOfSpace> {
        self.documents.get(space)
    }

    /// The documents of a space, by name.
    pub fn documents(&self, space: &str) -> impl Iterator<Item = &Arc<Document>> {
        let of_space = self.documents.get(space).into_iter();
        of_space.flat_map(|documents| documents.values())
    }

    /// How many documents there are.
    pub fn document_count(&self) -> usize {
        self.document_count
    }

    /// How many bytes all documents take, with their names.
    pub fn document_bytes(&self) -> usize {
        self.document_bytes
    }

    /// The first producer id that was never handed out.
    pub fn next_producer_id(&self) -> i64 {
        self.next_producer_id
    }

    /// The living topic whose name equals `name` but for `.` and `_`.
    pub fn topic_colliding_with(&self, name: &TopicName) -> Option<&TopicName> {
        self.metric_keys.get(&name.metric_key())
    }

    fn insert_topic(&mut self, topic: &Topic) {
        self.forget_topic(topic.id);
        // A later life of the name ends the earlier one, should the tombstone between have been compacted away.
        if let Some(earlier) = self.by_name.get(&topic.name).map(|t| t.id) {
            self.remove_topic(earlier);
        }
        let topic = Arc::new(topic.clone());
        self.partitions += u64::from(topic.partitions.unsigned_abs());
        self.metric_keys
            .insert(topic.name.metric_key(), topic.name.clone());
        self.by_name.insert(topic.name.clone(), topic.clone());
        self.by_id.insert(topic.id, topic);
    }

    /// The topic is gone, and its queues with it.
    fn remove_topic(&mut self, id: TopicId) {
        for name in self.queues_by_topic.remove(&id).unwrap_or_default() {
            if let Some(queue) = self.queues.remove(&name) {
                self.queues_by_id.remove(&queue.id);
            }
        }
        self.forget_topic(id);
    }

    fn insert_queue(&mut self, queue: &Queue) {
        self.remove_queue(queue.id);
        // A later life of the name ends the earlier one, should the tombstone between have been compacted away.
        if let Some(earlier) = self.queues.get(&queue.name).map(|queue| queue.id) {
            self.remove_queue(earlier);
        }
        let (name, queue) = (queue.name.clone(), Arc::new(queue.clone()));
        self.queues_by_id.insert(queue.id, name.clone());
        let of_topic = self.queues_by_topic.entry(queue.topic).or_default();
        of_topic.insert(name.clone());
        self.queues.insert(name, queue);
    }

    fn remove_queue(&mut self, id: Uuid) {
        let name = self.queues_by_id.remove(&id);
        let Some(queue) = name.and_then(|name| self.queues.remove(&name)) else {
            return;
        };
        if let Some(of_topic) = self.queues_by_topic.get_mut(&queue.topic) {
            of_topic.remove(&queue.name);
            if of_topic.is_empty() {
                self.queues_by_topic.remove(&queue.topic);
            }
        }
    }

    fn insert_document(&mut self, document: &Document) {
        self.remove_document(&document.space, &document.name);
        self.document_count += 1;
        self.document_bytes += document.size();
        let of_space = self.documents.entry(document.space.clone()).or_default();
        Arc::make_mut(of_space).insert(document.name.clone(), Arc::new(document.clone()));
    }

    fn remove_document(&mut self, space: &str, name: &str) {
        let Some(of_space) = self.documents.get_mut(space) else {
            return;
        };
        if !of_space.contains_key(name) {
            return;
        }
        let of_space = Arc::make_mut(of_space);
        if let Some(document) = of_space.remove(name) {
            self.document_count -= 1;
            self.document_bytes -= document.size();
        }
        if of_space.is_empty() {
            self.documents.remove(space);
        }
    }

    fn forget_topic(&mut self, id: TopicId) {
        let Some(topic) = self.by_id.remove(&id) else {
            return;
        };
        self.partitions -= u64::from(topic.partitions.unsigned_abs());
        self.metric_keys.remove(&topic.name.metric_key());
        self.by_name.remove(&topic.name);
    }
}

impl CatalogView {
    fn check_queues(&self) {
        assert_eq!(
            self.queues.len(),
            self.queues_by_id.len(),
            "{CAT_1}: one id per queue"
        );
        for (name, queue) in &self.queues {
            assert_eq!(*name, queue.name, "{CAT_1}: a queue stands under its name");
            let by_id = self.queues_by_id.get(&queue.id);
            assert_eq!(by_id, Some(name), "{CAT_1}: a queue stands under its id");
            let of_topic = self.queues_by_topic.get(&queue.topic);
            assert!(
                of_topic.is_some_and(|names| names.contains(name)),
                "{CAT_1}: queue {name} stands under its topic"
            );
        }
        let of_topics: usize = self.queues_by_topic.values().map(BTreeSet::len).sum();
        assert_eq!(
            of_topics,
            self.queues.len(),
            "{CAT_1}: queues stand under one topic"
        );
    }
}

impl CatalogView {
    fn check_documents(&self) {
        let (mut count, mut bytes) = (0, 0);
        for (space, documents) in &self.documents {
            assert!(
                !documents.is_empty(),
                "{CAT_1}: space {space} has documents"
            );
            for (name, document) in &**documents {
                assert_eq!(
                    (space, name),
                    (&document.space, &document.name),
                    "{CAT_1}: a document stands under its name"
                );
                count += 1;
                bytes += document.size();
            }
        }
        assert_eq!(
            (count, bytes),
            (self.document_count, self.document_bytes),
            "{CAT_1}: documents are counted"
        );
    }
}

/// The replayed state: [`apply`] is the only thing that changes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    view: Arc<CatalogView>,
}

impl Ledger {
    /// A catalog without topics.
    pub fn new() -> Self {
        Self::default()
    }

    /// A snapshot, cheap to clone and never changed.
    pub fn view(&self) -> &Arc<CatalogView> {
        &self.view
    }

    /// Holds in every state; run after every step in tests and simulation.
    ///
    /// # Panics
    /// When the indexes disagree (CAT-1).
    pub fn check_invariants(&self) {
        let view = &*self.view;
        assert_eq!(
            view.by_name.len(),
            view.by_id.len(),
            "{CAT_1}: one id per name"
        );
        let mut partitions = 0;
        for (name, topic) in &view.by_name {
            assert_eq!(*name, topic.name, "{CAT_1}: a topic stands under its name");
            let by_id = view.by_id.get(&topic.id);
            assert_eq!(by_id, Some(topic), "{CAT_1}: a topic stands under its id");
            assert!(topic.partitions > 0, "{CAT_1}: {name} has partitions");
            assert!(
                (0..=topic.partitions).contains(&topic.made),
                "{CAT_1}: {name} has no more folders than partitions"
            );
            partitions += u64::from(topic.partitions.unsigned_abs());
        }
        assert_eq!(
            partitions, view.partitions,
            "{CAT_1}: partitions are counted"
        );
        assert!(
            view.next_producer_id >= 0,
            "{CAT_1}: producer ids are not negative"
        );
        view.check_queues();
        view.check_documents();
    }
}

/// Applies one record. Total: every decodable record has a meaning in every state.
pub fn apply(ledger: &mut Ledger, record: &Record) {
    let view = Arc::make_mut(&mut ledger.view);
    match record {
        Record::Topic(topic) => view.insert_topic(topic),
        Record::TopicDeleted(id) => view.remove_topic(*id),
        Record::BrokerSettings(scope, overrides) if overrides.is_empty() => {
            view.broker_settings.remove(scope);
        }
        Record::BrokerSettings(scope, overrides) => {
            view.broker_settings
                .insert(*scope, Arc::new(overrides.clone()));
        }
        Record::GroupSettings(group, overrides) if overrides.is_empty() => {
            view.group_settings.remove(group);
        }
        Record::GroupSettings(group, overrides) => {
            view.group_settings
                .insert(group.clone(), Arc::new(overrides.clone()));
        }
        Record::Queue(queue) => view.insert_queue(queue),
        Record::QueueDeleted(id) => view.remove_queue(*id),
        Record::Document(document) => view.insert_document(document),
        Record::DocumentDeleted { space, name } => view.remove_document(space, name),
        // Ids are never handed out twice (PRD-2), so the counter only rises.
        Record::ProducerIds { next } => {
            view.next_producer_id = view.next_producer_id.max(*next);
        }
    }
}
