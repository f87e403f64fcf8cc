//! Topics and settings: what administrators ask, decided by the catalog.
//!
//! Every change answers once it is durable and in force. A caller that goes away does not stop it.

use crate::broker::Broker;
use crate::catalog_runtime::CatalogUnavailable;
use crate::groups::OFFSETS_TOPIC;
use crate::lookup::LookupError;
use crate::shares::SHARE_STATE_TOPIC;
use crate::topics_view::Topic;
use crate::transactions::TRANSACTIONS_TOPIC;
use fanlog_coordinators::catalog::{
    self, AlterConfigsError, CreatePartitionsError, CreateTopicError, CreatedTopic,
    DeleteTopicError, DeletedTopic, IncrementalAlteration, InternalTopic, NewTopic,
    PartitionGrowth, Replacement,
};
use fanlog_model::settings::{
    BrokerLayers, Described, Overrides, describe_broker, describe_broker_default, describe_group,
    describe_topic,
};
use fanlog_model::{GroupId, TopicId, TopicName};
use std::sync::Arc;
use thiserror::Error;

/// Why a topic was not created for a client that only named it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AutoCreateError {
    /// The setting is off.
    #[error("topic '{0}' does not exist, and auto.create.topics.enable is false")]
    Disabled(TopicName),
    /// It cannot be created.
    #[error(transparent)]
    Refused(#[from] CreateTopicError),
    /// The catalog cannot be changed.
    #[error(transparent)]
    Unavailable(#[from] CatalogUnavailable),
}

impl Broker {
    /// Creates topics; each stands or falls alone. Their ids are drawn here.
    ///
    /// # Errors
    /// The catalog cannot be changed at all.
    pub async fn create_topics(
        self: &Arc<Self>,
        mut topics: Vec<NewTopic>,
        validate_only: bool,
    ) -> Result<Vec<Result<CreatedTopic, CreateTopicError>>, CatalogUnavailable> {
        for topic in &mut topics {
            topic.id = self.new_topic_id();
        }
        self.change_catalog(move |ledger, rules| {
            catalog::create_topics(ledger, rules, &topics, validate_only)
        })
        .await
    }

    /// Creates a topic that a client named, with the broker's defaults, if the settings allow it.
    ///
    /// # Errors
    /// It may not or cannot be created.
    pub async fn auto_create_topic(
        self: &Arc<Self>,
        name: &TopicName,
    ) -> Result<Arc<Topic>, AutoCreateError> {
        if let Some(topic) = self.topics().by_name(name) {
            return Ok(topic.clone());
        }
        if name.as_str() == OFFSETS_TOPIC {
            self.make_offsets_topic().await?;
        } else if name.as_str() == TRANSACTIONS_TOPIC {
            self.make_transactions_topic().await?;
        } else {
            if !self.settings().auto_create_topics {
                return Err(AutoCreateError::Disabled(name.clone()));
            }
            let new = NewTopic {
                id: TopicId::ZERO,
                name: name.to_string(),
                partitions: -1,
                replication_factor: -1,
                assignments: Vec::new(),
                overrides: Vec::new(),
            };
            let created = self.create_topics(vec![new], false).await?;
            match created.into_iter().next() {
                // Another client was faster.
                None | Some(Ok(_) | Err(CreateTopicError::AlreadyExists { .. })) => {}
                Some(Err(error)) => return Err(error.into()),
            }
        }
        // It may have been deleted in the meantime.
        let topics = self.topics();
        let topic = topics.by_name(name).cloned();
        topic.ok_or_else(|| AutoCreateError::Disabled(name.clone()))
    }

    /// Deletes topics; each stands or falls alone. Those who wait for one are answered at once.
    ///
    /// # Errors
    /// The catalog cannot be changed at all.
    pub async fn delete_topics(
        self: &Arc<Self>,
        topics: Vec<catalog::TopicRef>,
    ) -> Result<Vec<Result<DeletedTopic, DeleteTopicError>>, CatalogUnavailable> {
        self.change_catalog(move |ledger, rules| catalog::delete_topics(ledger, rules, &topics))
            .await
    }

    /// Adds partitions; each topic stands or falls alone.
    ///
    /// # Errors
    /// The catalog cannot be changed at all.
    pub async fn create_partitions(
        self: &Arc<Self>,
        topics: Vec<PartitionGrowth>,
        validate_only: bool,
    ) -> Result<Vec<Result<catalog::Topic, CreatePartitionsError>>, CatalogUnavailable> {
        self.change_catalog(move |ledger, rules| {
            catalog::create_partitions(ledger, rules, &topics, validate_only)
        })
        .await
    }

    /// Replaces all settings of each resource.
    ///
    /// # Errors
    /// The catalog cannot be changed at all.
    pub async fn alter_configs(
        self: &Arc<Self>,
        resources: Vec<Replacement>,
        validate_only: bool,
    ) -> Result<Vec<Result<(), AlterConfigsError>>, CatalogUnavailable> {
        self.change_catalog(move |ledger, rules| {
            catalog::alter_configs(ledger, rules, &resources, validate_only)
        })
        .await
    }

    /// Changes some settings of each resource.
    ///
    /// # Errors
    /// The catalog cannot be changed at all.
    pub async fn incremental_alter_configs(
        self: &Arc<Self>,
        resources: Vec<IncrementalAlteration>,
        validate_only: bool,
    ) -> Result<Vec<Result<(), AlterConfigsError>>, CatalogUnavailable> {
        self.change_catalog(move |ledger, rules| {
            catalog::incremental_alter_configs(ledger, rules, &resources, validate_only)
        })
        .await
    }

    /// Every setting of a topic, or those wanted.
    ///
    /// # Errors
    /// There is no such topic.
    pub fn describe_topic_configs(
        &self,
        topic: &TopicName,
        wanted: Option<&[&str]>,
    ) -> Result<Vec<Described>, LookupError> {
        let catalog = self.catalog_view();
        let found = catalog
            .topic(topic)
            .ok_or_else(|| LookupError::UnknownTopic(topic.clone()))?;
        let describe = |layers: &BrokerLayers<'_>| describe_topic(&found.overrides, layers, wanted);
        Ok(self.catalog.rules().with_layers(&catalog, describe))
    }

    /// Every setting of a topic that has these of its own, whether it exists or not.
    pub fn describe_topic_overrides(&self, overrides: &Overrides) -> Vec<Described> {
        let describe = |layers: &BrokerLayers<'_>| describe_topic(overrides, layers, None);
        self.catalog
            .rules()
            .with_layers(&self.catalog_view(), describe)
    }

    /// Every setting of a group, which need not exist, or those wanted.
    pub fn describe_group_configs(
        &self,
        group: &GroupId,
        wanted: Option<&[&str]>,
    ) -> Vec<Described> {
        let catalog = self.catalog_view();
        let overrides = catalog.group_settings(group);
        let describe = |layers: &BrokerLayers<'_>| describe_group(&overrides, layers, wanted);
        self.catalog.rules().with_layers(&catalog, describe)
    }

    /// Every setting of this broker, or those wanted.
    pub fn describe_broker_configs(&self, wanted: Option<&[&str]>) -> Vec<Described> {
        let describe = |layers: &BrokerLayers<'_>| describe_broker(layers, wanted);
        self.catalog
            .rules()
            .with_layers(&self.catalog_view(), describe)
    }

    /// The settings given for all brokers while running, or those wanted of them.
    pub fn describe_broker_default_configs(&self, wanted: Option<&[&str]>) -> Vec<Described> {
        let describe = |layers: &BrokerLayers<'_>| describe_broker_default(layers, wanted);
        self.catalog
            .rules()
            .with_layers(&self.catalog_view(), describe)
    }

    /// Makes sure that `__consumer_offsets` is there and that its machines are started.
    pub(crate) async fn make_offsets_topic(self: &Arc<Self>) -> Result<(), CatalogUnavailable> {
        let id = self.new_topic_id();
        self.change_catalog(move |ledger, rules| {
            let settings = rules.broker_settings(ledger.view());
            let overrides = Overrides::from([
                ("cleanup.policy".to_owned(), "compact".to_owned()),
                ("compression.type".to_owned(), "producer".to_owned()),
                (
                    "segment.bytes".to_owned(),
                    settings.offsets_topic_segment_bytes.to_string(),
                ),
            ]);
            let wanted = InternalTopic {
                id,
                name: TopicName::new(OFFSETS_TOPIC).expect("the name is legal"),
                partitions: settings.offsets_topic_partitions,
                overrides,
            };
            catalog::ensure_internal_topic(ledger, wanted)
        })
        .await
        .map(|_| ())
    }

    /// Makes sure that `__share_group_state` is there and that its machines are started. It is cut at the oldest snapshot
    /// that is needed (`shares/prune.rs`), and neither compacted nor deleted by time.
    pub(crate) async fn make_share_state_topic(self: &Arc<Self>) -> Result<(), CatalogUnavailable> {
        let id = self.new_topic_id();
        self.change_catalog(move |ledger, rules| {
            let settings = rules.broker_settings(ledger.view()).share;
            let overrides = Overrides::from([
                ("cleanup.policy".to_owned(), "delete".to_owned()),
                ("compression.type".to_owned(), "producer".to_owned()),
                ("retention.ms".to_owned(), "-1".to_owned()),
                (
                    "segment.bytes".to_owned(),
                    settings.state_topic_segment_bytes.to_string(),
                ),
            ]);
            let wanted = InternalTopic {
                id,
                name: TopicName::new(SHARE_STATE_TOPIC).expect("the name is legal"),
                partitions: settings.state_topic_partitions,
                overrides,
            };
            catalog::ensure_internal_topic(ledger, wanted)
        })
        .await
        .map(|_| ())
    }

    /// Makes sure that `__transaction_state` is there and that its machines are started.
    pub(crate) async fn make_transactions_topic(
        self: &Arc<Self>,
    ) -> Result<(), CatalogUnavailable> {
        let id = self.new_topic_id();
        self.change_catalog(move |ledger, rules| {
            let settings = rules.broker_settings(ledger.view());
            let overrides = Overrides::from([
                ("cleanup.policy".to_owned(), "compact".to_owned()),
                ("compression.type".to_owned(), "uncompressed".to_owned()),
                (
                    "segment.bytes".to_owned(),
                    settings.transactions_topic_segment_bytes.to_string(),
                ),
            ]);
            let wanted = InternalTopic {
                id,
                name: TopicName::new(TRANSACTIONS_TOPIC).expect("the name is legal"),
                partitions: settings.transactions_topic_partitions,
                overrides,
            };
            catalog::ensure_internal_topic(ledger, wanted)
        })
        .await
        .map(|_| ())
    }

    pub(crate) fn new_topic_id(&self) -> TopicId {
        loop {
            let id = TopicId(self.environment().entropy.uuid());
            // Zero means "no id", and the smallest numbers are the cluster's own.
            if id.0.as_u128() > u128::from(u16::MAX) {
                return id;
            }
        }
    }
}
