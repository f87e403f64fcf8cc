//! Queues are made, changed and ended.
//!
//! The order of making one: the topic of its dead letters; then where it begins in each partition, durably; then the catalog, which makes it
//! a queue. A crash before the last leaves states that nobody knows, and the next start forgets them; so that no queue is ever
//! without its beginning, whatever is produced meanwhile (QUE-2).

use super::Queues;
use super::begin::{first_offset, not_available};
use super::live::{Live, SourceKind};
use super::types::{NewQueue, QueueDescription, QueueError, Start};
use crate::admin_queues::QueueCatalogError;
use crate::broker::Broker;
use crate::topics_view::Topic;
use fanlog_coordinators::catalog::{
    self, AlterQueueError, CreateQueueError, CreateTopicError, NewTopic, NoSuchQueue, Queue,
    QueueSettingError, QueueStart,
};
use fanlog_coordinators::queue::{Retention, check_due};
use fanlog_model::settings::{QueueSettings, SettingError, effective_queue_value, queue_settings};
use fanlog_model::{GroupId, TimestampMs, TopicId, TopicName};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How much longer than a record its dead letter may be: the headers that say what became of it.
const DEAD_HEADERS_BYTES: u32 = 64 * 1024;

impl Queues {
    /// Makes a queue; the answer comes when it is durable.
    ///
    /// # Errors
    /// The name is taken, there is no such topic, or a setting is wrong.
    pub async fn create(self: &Arc<Self>, new: NewQueue) -> Result<QueueDescription, QueueError> {
        // It goes on if the caller goes away.
        let queues = self.clone();
        let created = tokio::spawn(async move { queues.create_now(new).await });
        match created.await {
            Ok(created) => created,
            Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
        }
    }

    async fn create_now(self: &Arc<Self>, new: NewQueue) -> Result<QueueDescription, QueueError> {
        let broker = self.broker()?;
        // One at a time: states are written under a name before the name is taken.
        let _changing = self.changing.lock().await;
        let topics = broker.topics();
        let topic = topics.by_name(&new.topic);
        let topic = topic.ok_or_else(|| QueueError::NoSuchTopic {
            topic: new.topic.clone(),
        })?;
        let record = catalog::NewQueue {
            id: broker.new_topic_id().0,
            name: new.name.clone(),
            topic: new.topic.to_string(),
            start: start_of(new.start),
            overrides: new.settings.into_iter().collect(),
            taken_by: broker.groups().kind_of(&new.name)?,
            begun: Some(catalog::Begun {
                topic: topic.id,
                partitions: topic.partitions.len() as i32,
            }),
        };
        // What is refused is refused before anything is made.
        let checked = broker.checked_queue_record(record.clone()).await;
        let checked = checked.map_err(|error| not_created(&new.topic, error))?;
        check_delay(topic, &QueueSettings::resolve(&checked.overrides))?;
        let id = record.id;
        self.beginning.lock().insert(id);
        let begun = self.begin_all(&broker, &checked, topic).await;
        let created = match &begun {
            Ok(()) => Some(broker.create_queue_record(record).await),
            Err(_) => None,
        };
        if matches!(created, Some(Err(QueueCatalogError::Unavailable(_)))) {
            // Whether the catalog has it the next start finds out: until then its beginnings are not forgotten.
            tracing::warn!(queue = %new.name, "whether the queue was made is not known before a restart");
        } else {
            self.beginning.lock().remove(&id);
        }
        if !matches!(created, Some(Ok(_))) {
            for shard in self.shards().iter() {
                self.forget_gone_of(shard);
            }
        }
        begun?;
        if let Some(created) = created {
            created.map_err(|error| not_created(&new.topic, error))?;
        }
        self.describe(&new.name)
    }

    /// Makes the topic of its dead letters, and begins to read everywhere; durably.
    async fn begin_all(
        self: &Arc<Self>,
        broker: &Arc<Broker>,
        checked: &Arc<Queue>,
        topic: &Arc<Topic>,
    ) -> Result<(), QueueError> {
        let draft = Live::new(checked.clone(), Arc::default());
        self.make_target(broker, &draft, SourceKind::Main).await?;
        let mut begun = Vec::new();
        for partition in &topic.partitions {
            let start = first_offset(broker, checked, partition, checked.start).await?;
            let source = self.source(&draft, SourceKind::Main, partition).await?;
            let policy = self.policy(broker, &draft, SourceKind::Main, partition.index());
            let decided = self.begin_at(broker, checked.id, &source, &policy, start);
            begun.push((source.shard.clone(), decided.await?));
        }
        for (shard, decided) in begun {
            shard.durable(decided).await?;
        }
        Ok(())
    }

    /// Changes settings of a queue; `None` takes one back to its default. To pause is to set `paused`.
    ///
    /// # Errors
    /// There is no such queue, or a setting is wrong.
    pub async fn alter(
        self: &Arc<Self>,
        queue: &GroupId,
        changes: BTreeMap<String, Option<String>>,
    ) -> Result<QueueDescription, QueueError> {
        let broker = self.broker()?;
        let _changing = self.changing.lock().await;
        let live = self.live(&broker, queue)?;
        if let Some(topic) = broker.topics().by_id(live.queue.topic) {
            let mut overrides = live.queue.overrides.clone();
            for (name, value) in &changes {
                match value {
                    Some(value) => overrides.insert(name.clone(), value.clone()),
                    None => overrides.remove(name),
                };
            }
            check_delay(topic, &QueueSettings::resolve(&overrides))?;
        }
        let altered = broker.alter_queue_record(queue, changes).await;
        altered.map_err(|error| match error {
            QueueCatalogError::Refused(AlterQueueError::Unknown(error)) => unknown(error),
            QueueCatalogError::Refused(AlterQueueError::Setting(error)) => bad_setting(&error),
            QueueCatalogError::Coordinator(error) => error.into(),
            QueueCatalogError::Unavailable(error) => not_available(&error),
        })?;
        let live = self.live(&broker, queue)?;
        self.make_target(&broker, &live, SourceKind::Main).await?;
        self.describe(queue)
    }

    /// Ends a queue, and forgets what it knows of its topic's records. The topic stays, and so do its dead letters.
    ///
    /// # Errors
    /// There is no such queue.
    pub async fn delete(self: &Arc<Self>, queue: &GroupId) -> Result<(), QueueError> {
        let broker = self.broker()?;
        let _changing = self.changing.lock().await;
        let deleted = broker.delete_queue_record(queue).await;
        deleted.map_err(|error| match error {
            QueueCatalogError::Refused(error) => unknown(error),
            QueueCatalogError::Coordinator(error) => error.into(),
            QueueCatalogError::Unavailable(error) => not_available(&error),
        })?;
        Ok(())
    }

    /// All queues, in the order of their names.
    pub fn list(&self) -> Vec<QueueDescription> {
        let Ok(broker) = self.broker() else {
            return Vec::new();
        };
        let catalog = broker.catalog_view();
        let names = catalog.queues().map(|queue| &queue.name);
        // One that goes meanwhile is not listed.
        names.filter_map(|name| self.describe(name).ok()).collect()
    }

    /// What a queue is.
    ///
    /// # Errors
    /// There is no such queue.
    pub fn describe(&self, queue: &GroupId) -> Result<QueueDescription, QueueError> {
        let broker = self.broker()?;
        let live = self.live(&broker, queue)?;
        let topics = broker.topics();
        let gone = || QueueError::NoSuchQueue {
            name: queue.clone(),
        };
        let topic = topics.by_id(live.queue.topic).ok_or_else(gone)?;
        let in_force = |name: &&'static str| {
            let value = effective_queue_value(name, &live.queue.overrides);
            ((*name).to_owned(), value.to_owned())
        };
        Ok(QueueDescription {
            name: queue.clone(),
            topic: topic.name.clone(),
            topic_id: topic.id,
            partitions: topic.partitions.len() as i32,
            settings: queue_settings().keys().map(in_force).collect(),
            dead_letter: live.dead.clone(),
            is_paused: live.settings.is_paused,
        })
    }

    /// Sees to it that the topic is there to which a source's records are moved; none where they go nowhere. It is like the queue's
    /// own, but that time takes nothing from it.
    pub(super) async fn make_target(
        &self,
        broker: &Arc<Broker>,
        live: &Live,
        kind: SourceKind,
    ) -> Result<Option<Arc<Topic>>, QueueError> {
        let Some(name) = live.target_of(kind) else {
            return Ok(None);
        };
        let topics = broker.topics();
        if let Some(topic) = topics.by_name(name) {
            return Ok(Some(topic.clone()));
        }
        let failed = |reason: String| QueueError::TopicNotMade {
            topic: name.clone(),
            reason: reason.into(),
        };
        let main = topics.by_id(live.queue.topic);
        let main = main.ok_or_else(|| failed("the queue's own topic is gone".to_owned()))?;
        let bytes_max = main
            .settings
            .max_message_bytes
            .saturating_add(DEAD_HEADERS_BYTES);
        let bytes_max = bytes_max.min(i32::MAX as u32);
        let wanted = NewTopic {
            id: TopicId::ZERO,
            name: name.to_string(),
            partitions: main.partitions.len() as i32,
            replication_factor: 1,
            assignments: Vec::new(),
            overrides: vec![
                ("cleanup.policy".to_owned(), Some("delete".to_owned())),
                ("retention.ms".to_owned(), Some("-1".to_owned())),
                ("max.message.bytes".to_owned(), Some(bytes_max.to_string())),
            ],
        };
        let made = broker.create_topics(vec![wanted], false).await;
        let made = made.map_err(|error| failed(error.to_string()))?;
        match made.into_iter().next() {
            // Somebody else may have made it meanwhile.
            Some(Ok(_) | Err(CreateTopicError::AlreadyExists { .. })) | None => {}
            Some(Err(error)) => return Err(failed(error.to_string())),
        }
        let topics = broker.topics();
        let made = topics.by_name(name).cloned();
        made.map(Some)
            .ok_or_else(|| failed("it was deleted at once".to_owned()))
    }
}

/// A delay that retention would overtake, for a queue that does not hold it back, would be the end of every message.
fn check_delay(topic: &Topic, settings: &QueueSettings) -> Result<(), QueueError> {
    let delay = i64::try_from(settings.delay.as_millis()).unwrap_or(i64::MAX);
    let is_by_age = topic.settings.cleanup_policy.delete;
    let retention = Retention {
        retention_ms: topic.settings.retention_ms.filter(|_| is_by_age),
        is_held: settings.is_retention_held,
    };
    let checked = check_due(TimestampMs(delay), TimestampMs(0), retention);
    checked.map_err(|error| QueueError::BadSetting {
        setting: "delay".into(),
        value: format!("{delay}ms").into(),
        reason: error.to_string().into(),
    })
}

fn not_created(topic: &TopicName, error: QueueCatalogError<CreateQueueError>) -> QueueError {
    match error {
        QueueCatalogError::Refused(error) => refused(topic, error),
        QueueCatalogError::Coordinator(error) => error.into(),
        QueueCatalogError::Unavailable(error) => not_available(&error),
    }
}

fn start_of(start: Start) -> QueueStart {
    match start {
        Start::Latest => QueueStart::Latest,
        Start::Earliest => QueueStart::Earliest,
        Start::Time(time) => QueueStart::Time(time),
        Start::Offset(offset) => QueueStart::Offset(offset),
    }
}

fn unknown(error: NoSuchQueue) -> QueueError {
    QueueError::NoSuchQueue { name: error.name }
}

fn bad_setting(error: &QueueSettingError) -> QueueError {
    let (setting, value) = match error {
        QueueSettingError::Setting(SettingError::Unknown { name, .. }) => (name.as_str(), ""),
        QueueSettingError::Setting(
            SettingError::Invalid { name, value, .. }
            | SettingError::Unsupported { name, value, .. },
        ) => (*name, value.as_str()),
        QueueSettingError::Setting(SettingError::TooLong { name, .. }) => (*name, ""),
        QueueSettingError::Setting(_) => ("", ""),
        QueueSettingError::Filter(_) => ("filter", ""),
        QueueSettingError::DeadLetter { topic, .. } => ("dead-letter", topic.as_str()),
    };
    QueueError::BadSetting {
        setting: setting.into(),
        value: value.into(),
        reason: error.to_string().into(),
    }
}

fn refused(topic: &TopicName, error: CreateQueueError) -> QueueError {
    let reason = error.to_string().into();
    match error {
        CreateQueueError::InvalidName { name, .. } | CreateQueueError::Reserved { name } => {
            QueueError::BadName { name, reason }
        }
        CreateQueueError::AlreadyExists { name, .. } => QueueError::Exists { name },
        CreateQueueError::NameIsGroup { name, .. } => QueueError::NameIsGroup { name },
        CreateQueueError::UnknownTopic { .. } => QueueError::NoSuchTopic {
            topic: topic.clone(),
        },
        CreateQueueError::TopicMadeAnew { .. } => not_available(&error),
        CreateQueueError::InternalTopic { topic } => QueueError::BadTopic { topic, reason },
        CreateQueueError::Setting(error) => bad_setting(&error),
        CreateQueueError::TooMany { max, .. } => QueueError::Limit {
            what: "the number of queues",
            given: max as i64 + 1,
            min: 0,
            max: max as i64,
        },
    }
}
