//! Queues in the catalog: made, changed and ended, each answered once it is durable and in force.
//!
//! Why it exists: a queue's name is a group id, and who is first has it. A queue is decided upon in the catalog and a group in its machine,
//! so that each must see the other: a group looks at the queues while it is decided upon, a queue looks for a group before it
//! is logged, and once more when groups see it.
//! Never: what became of a queue's records.

use crate::broker::Broker;
use crate::catalog_runtime::CatalogUnavailable;
use crate::groups::CoordinatorError;
use fanlog_coordinators::catalog::{
    self, AlterQueueError, CreateQueueError, Decision, InternalTopic, NewQueue, NoSuchQueue, Queue,
};
use fanlog_model::settings::Overrides;
use fanlog_model::{GroupId, TopicName};
use std::collections::BTreeMap;
use std::sync::Arc;
use thiserror::Error;

/// The topic that remembers what became of the records of queues.
pub const QUEUES_TOPIC: &str = "__fanlog_queues";
/// It is cut at the oldest snapshot that is needed, a segment at a time: small ones let go of the disk early.
const QUEUES_SEGMENT_BYTES: u32 = 16 * 1024 * 1024;

/// Why a queue is not in the catalog as was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum QueueCatalogError<E: std::error::Error> {
    /// It may not be so.
    #[error(transparent)]
    Refused(E),
    /// Whether a group has the name cannot be said now.
    #[error(transparent)]
    Coordinator(#[from] CoordinatorError),
    /// The catalog cannot be changed.
    #[error(transparent)]
    Unavailable(#[from] CatalogUnavailable),
}

impl Broker {
    /// What a queue would be in the catalog; nothing is changed.
    pub(crate) async fn checked_queue_record(
        self: &Arc<Self>,
        new: NewQueue,
    ) -> Result<Arc<Queue>, QueueCatalogError<CreateQueueError>> {
        self.change_catalog(move |ledger, rules| Decision {
            records: Vec::new(),
            reply: catalog::create_queue(ledger, rules, &new).reply,
        })
        .await?
        .map_err(QueueCatalogError::Refused)
    }

    /// Puts a queue into the catalog, under the id that the caller drew; whether a group has its name is found out here.
    pub(crate) async fn create_queue_record(
        self: &Arc<Self>,
        mut new: NewQueue,
    ) -> Result<Arc<Queue>, QueueCatalogError<CreateQueueError>> {
        new.taken_by = self.groups().kind_of(&new.name)?;
        let name = new.name.clone();
        let created = self
            .change_catalog(move |ledger, rules| catalog::create_queue(ledger, rules, &new))
            .await?
            .map_err(QueueCatalogError::Refused)?;
        // A group that came while the queue was being logged did not see it. From here on every group does.
        let failure = match self.groups().kind_of(&name) {
            Ok(None) => return Ok(created),
            Ok(Some(kind)) => QueueCatalogError::Refused(CreateQueueError::NameIsGroup {
                name: name.clone(),
                kind,
            }),
            Err(error) => error.into(),
        };
        let id = created.id;
        let take_back = self.change_catalog(move |ledger, rules| {
            // Somebody may have made another of the name meanwhile.
            match ledger.view().queue(&name) {
                Some(queue) if queue.id == id => catalog::delete_queue(ledger, rules, &name),
                _ => Decision {
                    records: Vec::new(),
                    reply: Err(NoSuchQueue { name }),
                },
            }
        });
        let _taken_back = take_back.await?;
        Err(failure)
    }

    /// Changes settings of a queue in the catalog.
    pub(crate) async fn alter_queue_record(
        self: &Arc<Self>,
        name: &GroupId,
        changes: BTreeMap<String, Option<String>>,
    ) -> Result<Arc<Queue>, QueueCatalogError<AlterQueueError>> {
        let name = name.clone();
        self.change_catalog(move |ledger, rules| {
            catalog::alter_queue(ledger, rules, &name, &changes)
        })
        .await?
        .map_err(QueueCatalogError::Refused)
    }

    /// Takes a queue out of the catalog.
    pub(crate) async fn delete_queue_record(
        self: &Arc<Self>,
        name: &GroupId,
    ) -> Result<Arc<Queue>, QueueCatalogError<NoSuchQueue>> {
        let name = name.clone();
        self.change_catalog(move |ledger, rules| catalog::delete_queue(ledger, rules, &name))
            .await?
            .map_err(QueueCatalogError::Refused)
    }

    /// Makes sure that `__fanlog_queues` is there. It is cut at the oldest snapshot that is needed, and neither compacted nor deleted
    /// by time.
    pub(crate) async fn make_queues_topic(self: &Arc<Self>) -> Result<(), CatalogUnavailable> {
        let id = self.new_topic_id();
        self.change_catalog(move |ledger, rules| {
            let settings = rules.broker_settings(ledger.view());
            let overrides = Overrides::from([
                ("cleanup.policy".to_owned(), "delete".to_owned()),
                ("compression.type".to_owned(), "producer".to_owned()),
                ("retention.ms".to_owned(), "-1".to_owned()),
                ("segment.bytes".to_owned(), QUEUES_SEGMENT_BYTES.to_string()),
            ]);
            let wanted = InternalTopic {
                id,
                name: TopicName::new(QUEUES_TOPIC).expect("the name is legal"),
                partitions: settings.queues_topic_partitions,
                overrides,
            };
            catalog::ensure_internal_topic(ledger, wanted)
        })
        .await
        .map(|_| ())
    }
}
