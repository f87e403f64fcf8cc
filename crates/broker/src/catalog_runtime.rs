//! The runtime of the catalog machine: topics, their settings, and producer ids.
//!
//! Why it exists: a change is decided, logged, made durable, and only then seen and followed; a crash at any step
//! leaves the old state or the new one.
//! Owns: the machine's ledger and the log in `__fanlog_catalog-0`, which is no topic and which clients cannot see.
//! In -> out: input -> records in one batch -> durable -> the view -> open topics -> the answer.
//! Invariants: an answer follows durability.   Read next: `reconcile.rs`.

use crate::append_types::{AppendReceipt, Appender};
use crate::broker::Broker;
use crate::internal_batch::internal_batch;
use crate::partition::Partition;
use crate::replay::{ReplayError, replay};
use fanlog_coordinators::catalog::{self, CatalogView, Decision, Ledger, Record, Rules};
use fanlog_model::TopicId;
use parking_lot::RwLock;
use std::collections::HashSet;
use std::sync::Arc;
use thiserror::Error;
use uuid::Uuid;

/// The catalog is in no catalog; its id is fixed, as that of Kafka's own metadata topic is.
pub(crate) const CATALOG_TOPIC_ID: TopicId = TopicId(Uuid::from_u128(1));

/// How many topics are noted in one batch: each record has the topic's settings in it.
const NOTED_AT_ONCE: usize = 100;

/// Why the catalog does not answer. Fate: an operator looks at the disk.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the catalog cannot be changed: {reason}")]
pub struct CatalogUnavailable {
    /// What happened.
    pub reason: Arc<str>,
}

/// The catalog's machine and log.
#[derive(Debug)]
pub(crate) struct CatalogRuntime {
    partition: Arc<Partition>,
    rules: Rules,
    /// Held from a decision until it is durable and followed.
    ledger: tokio::sync::Mutex<Ledger>,
    /// What is durable.
    view: RwLock<Arc<CatalogView>>,
}

impl CatalogRuntime {
    /// Replays the catalog; the topics that it has deleted come with it.
    pub(crate) fn load(
        partition: Arc<Partition>,
        rules: Rules,
    ) -> Result<(Self, HashSet<TopicId>), ReplayError> {
        let mut ledger = Ledger::new();
        let mut deleted = HashSet::new();
        replay(&partition, |key, value| {
            let key = key.ok_or("a record without a key")?;
            let record = Record::decode(key, value).map_err(|error| error.to_string())?;
            if let Record::TopicDeleted(id) = record {
                deleted.insert(id);
            }
            catalog::apply(&mut ledger, &record);
            Ok(())
        })?;
        let view = RwLock::new(ledger.view().clone());
        let runtime = Self {
            partition,
            rules,
            ledger: tokio::sync::Mutex::new(ledger),
            view,
        };
        Ok((runtime, deleted))
    }

    /// The catalog as far as it is durable.
    pub(crate) fn view(&self) -> Arc<CatalogView> {
        self.view.read().clone()
    }

    pub(crate) fn rules(&self) -> &Rules {
        &self.rules
    }

    pub(crate) fn partition(&self) -> &Arc<Partition> {
        &self.partition
    }
}

impl Broker {
    /// Decides on a change and answers when it is durable and in force. It goes on if the caller goes away.
    pub(crate) async fn change_catalog<R: Send + 'static>(
        self: &Arc<Self>,
        decide: impl FnOnce(&Ledger, &Rules) -> Decision<R> + Send + 'static,
    ) -> Result<R, CatalogUnavailable> {
        let broker = self.clone();
        let change = tokio::spawn(async move { broker.run_change(decide).await });
        change
            .await
            .unwrap_or_else(|error| Err(unavailable(&error)))
    }

    async fn run_change<R>(
        self: Arc<Self>,
        decide: impl FnOnce(&Ledger, &Rules) -> Decision<R> + Send,
    ) -> Result<R, CatalogUnavailable> {
        let runtime = &self.catalog;
        let mut ledger = runtime.ledger.lock().await;
        // A ledger ahead of a log that failed decides nothing more.
        runtime
            .partition
            .check_serving()
            .map_err(|error| unavailable(&error))?;
        let Decision { records, reply } = decide(&ledger, &runtime.rules);
        if records.is_empty() {
            return Ok(reply);
        }
        self.room().await;
        let receipt = self.log_change(&records)?;
        // Readers don't see this ledger: if it does not become durable they stay with what is.
        for record in &records {
            catalog::apply(&mut ledger, record);
        }
        receipt
            .durable()
            .await
            .map_err(|error| unavailable(&error))?;
        *runtime.view.write() = ledger.view().clone();
        if records.iter().all(is_of_document) {
            // No topic hangs on it.
            return Ok(reply);
        }
        let broker = self.clone();
        self.opener
            .blocking
            .run(move || broker.reconcile())
            .await
            .map_err(|error| unavailable(&error))?;
        self.note_made_in(&mut ledger);
        Ok(reply)
    }

    /// Notes in the catalog which partitions have their folders now.
    pub(crate) fn note_made(&self) {
        // A change that is under way does this at its end.
        if let Ok(mut ledger) = self.catalog.ledger.try_lock() {
            self.note_made_in(&mut ledger);
        }
    }

    /// Nobody waits for the record: until it is durable a missing folder is made anew, as after a crash in creating it.
    fn note_made_in(&self, ledger: &mut Ledger) {
        let topics = self.topics();
        let is_unnoted = |topic: &&Arc<catalog::Topic>| topic.made < topic.partitions;
        let made: Vec<_> = ledger
            .view()
            .topics()
            .filter(is_unnoted)
            .filter_map(|topic| {
                let open = topics.by_id(topic.id)?;
                let made = open.partitions.iter().skip(topic.made as usize);
                let count = made.take_while(|p| p.check_serving().is_ok()).count();
                Some((topic.id, topic.made + i32::try_from(count).ok()?))
            })
            .collect();
        let Decision { records, .. } = catalog::note_made(ledger, &made);
        for records in records.chunks(NOTED_AT_ONCE) {
            if let Err(error) = self.log_change(records) {
                tracing::warn!(%error, "that partitions have their folders is noted later");
                return;
            }
            for record in records {
                catalog::apply(ledger, record);
            }
        }
    }

    fn log_change(&self, records: &[Record]) -> Result<AppendReceipt, CatalogUnavailable> {
        let encoded: Vec<_> = records
            .iter()
            .map(|record| (record.encode_key(), record.encode_value()))
            .collect();
        let mut batch = internal_batch(&encoded, self.environment().clock.wall_ms())
            .map_err(|error| unavailable(&error))?;
        self.catalog
            .partition
            .append_as(&mut batch, Appender::Coordinator, None)
            .map_err(|error| unavailable(&error))
    }
}

fn is_of_document(record: &Record) -> bool {
    matches!(record, Record::Document(_) | Record::DocumentDeleted { .. })
}

fn unavailable(error: &dyn std::fmt::Display) -> CatalogUnavailable {
    CatalogUnavailable {
        reason: error.to_string().into(),
    }
}
