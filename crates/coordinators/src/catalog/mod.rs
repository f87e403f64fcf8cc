//! The catalog: topics, their ids, partitions and settings, queues, documents of services above the broker, brokers' settings, and blocks
//! of producer ids.
//!
//! Why it exists: create, delete, alter and expand must answer once durable, and a crash at any step must leave the
//! old or the new state.
//! Owns: the ledger behind `__fanlog_catalog`.   Never: folders and files (the broker makes a new topic's folders after
//! its record is durable, notes that here, makes at the start those that were not noted, and removes those of topics that
//! are gone), clocks,
//! randomness (the broker draws topic ids), protocol error codes.
//! In -> out: a decision function per request: ledger and request -> [`Decision`]; [`apply`]: record -> ledger.
//! The catalog waits for nothing, so it has no waiting part and no deadlines.
//! Invariants: CAT-1, PRD-2.   Read next: `record.rs`, then `create_topics.rs`.

mod alter_configs;
mod alter_target;
mod assignment;
mod bytes_in;
mod create_partitions;
mod create_topics;
mod delete_topics;
mod documents;
mod internal_topic;
mod ledger;
mod made;
mod producer_ids;
mod queues;
mod record;

pub use alter_configs::{
    AlterConfigsError, ChangeKind, ConfigChange, ConfigResource, IncrementalAlteration,
    Replacement, ResourceKind, alter_configs, incremental_alter_configs,
};
pub use assignment::AssignmentError;
pub use create_partitions::{CreatePartitionsError, PartitionGrowth, create_partitions};
pub use create_topics::{CreateTopicError, CreatedTopic, NewTopic, create_topics};
pub use delete_topics::{DeleteTopicError, DeletedTopic, TopicRef, delete_topics};
pub use documents::{
    DOCUMENT_BYTES_MAX, DOCUMENT_NAME_BYTES_MAX, DOCUMENTS_BYTES_MAX, DOCUMENTS_MAX, Document,
    DocumentError, DocumentsOfSpace, PutDocument, delete_document, put_document,
};
pub use internal_topic::{InternalTopic, ensure_internal_topic};
pub use ledger::{CatalogView, Ledger, apply};
pub use made::note_made;
pub use producer_ids::{
    PRODUCER_ID_BLOCK_LENGTH, ProducerIdBlock, ProducerIdsExhausted, allocate_producer_ids,
};
pub use queues::{
    AlterQueueError, Begun, CreateQueueError, NewQueue, NoSuchQueue, QUEUES_MAX,
    QUEUES_PER_TOPIC_MAX, QueueSettingError, alter_queue, create_queue, delete_queue,
};
pub use record::{BrokerScope, CatalogRecordError, Queue, QueueStart, Record, Topic};

use fanlog_model::settings::{
    BrokerLayers, BrokerSettings, ConsumerGroupSettings, Overrides, ShareGroupSettings,
    TopicSettings,
};
use fanlog_model::{BrokerId, GroupId, TopicName};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The topic that the catalog replays from. It is not in the catalog: the broker opens it by this name.
pub const CATALOG_TOPIC: &str = "__fanlog_catalog";

/// The most partitions that one request may add.
pub const PARTITIONS_PER_REQUEST_MAX: u64 = 10_000;

/// The most bytes of records that one request to alter settings may bring about: a small change rewrites a whole topic.
pub const ALTERED_BYTES_MAX: usize = 8 * 1024 * 1024;

/// What a request leads to. The records go into the log in order, in one batch or (where they are many) in several;
/// the reply is let go when all are durable.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision<R> {
    /// To append, then to [`apply`]. Each stands alone: a log cut between two of them is legal.
    pub records: Vec<Record>,
    /// The answer, in the order of the request.
    pub reply: R,
}

/// What the broker was started with, as far as decisions depend on it.
#[derive(Clone, Debug)]
pub struct Rules {
    /// This broker, the only one.
    pub broker_id: BrokerId,
    /// The settings of the start-up file and flags, checked.
    pub statics: Arc<Overrides>,
}

impl Rules {
    /// The broker's settings in force.
    pub fn broker_settings(&self, view: &CatalogView) -> BrokerSettings {
        self.with_layers(view, BrokerSettings::resolve)
    }

    /// A topic's settings in force.
    pub fn topic_settings(&self, view: &CatalogView, overrides: &Overrides) -> TopicSettings {
        self.with_layers(view, |layers| TopicSettings::resolve(overrides, layers))
    }

    /// The settings in force of a share group.
    pub fn share_group_settings(&self, view: &CatalogView, group: &GroupId) -> ShareGroupSettings {
        let overrides = view.group_settings(group);
        self.with_layers(view, |layers| {
            ShareGroupSettings::resolve(&overrides, layers)
        })
    }

    /// The settings in force of consumer groups: of those that have none of their own, and of each that has.
    pub fn consumer_group_settings(
        &self,
        view: &CatalogView,
    ) -> (
        ConsumerGroupSettings,
        BTreeMap<GroupId, ConsumerGroupSettings>,
    ) {
        self.with_layers(view, |layers| {
            let resolve = |overrides: &Overrides| ConsumerGroupSettings::resolve(overrides, layers);
            let own = view.groups_with_settings();
            let own = own.map(|group| (group.clone(), resolve(&view.group_settings(group))));
            (resolve(&Overrides::new()), own.collect())
        })
    }

    /// Calls `ask` with the layers of this broker's settings, as resolving and describing take them.
    pub fn with_layers<R>(
        &self,
        view: &CatalogView,
        ask: impl FnOnce(&BrokerLayers<'_>) -> R,
    ) -> R {
        let dynamic = view.broker_settings(BrokerScope::Broker(self.broker_id));
        let dynamic_default = view.broker_settings(BrokerScope::Default);
        ask(&BrokerLayers {
            dynamic: &dynamic,
            dynamic_default: &dynamic_default,
            statics: &self.statics,
        })
    }
}

/// Whether clients may not create a topic of that name: Kafka's internal topics and ours.
pub fn is_reserved(name: &TopicName) -> bool {
    const KAFKAS: [&str; 4] = [
        "__consumer_offsets",
        "__transaction_state",
        "__share_group_state",
        "__cluster_metadata",
    ];
    KAFKAS.contains(&name.as_str()) || name.as_str().starts_with("__fanlog_")
}

#[cfg(test)]
mod laws;
#[cfg(test)]
mod testing;
