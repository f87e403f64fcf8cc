//! Topics: create, delete, grow.

use super::Admin;
use crate::{ClientError, TopicView};
use fanlog_protocol::messages::create_partitions_request::{
    CreatePartitionsRequest, CreatePartitionsTopic,
};
use fanlog_protocol::messages::create_topics_request::{
    CreatableTopic, CreatableTopicConfig, CreateTopicsRequest,
};
use fanlog_protocol::messages::delete_topics_request::{DeleteTopicState, DeleteTopicsRequest};
use fanlog_protocol::{ApiKey, ErrorCode};
use std::borrow::Cow;

/// A topic to be created.
#[derive(Clone, Debug)]
pub struct NewTopic {
    /// Its name.
    pub name: String,
    /// How many partitions it has; -1 leaves it to the broker.
    pub partitions: i32,
    /// How many brokers hold each; -1 leaves it to the broker.
    pub replication_factor: i16,
    /// Settings that differ from the broker's.
    pub configs: Vec<(String, String)>,
}

impl NewTopic {
    /// A topic with the broker's own settings.
    pub fn new(name: impl Into<String>, partitions: i32) -> Self {
        Self {
            name: name.into(),
            partitions,
            replication_factor: -1,
            configs: Vec::new(),
        }
    }
}

impl Admin {
    /// Creates a topic and waits until its partitions have leaders. With `validate_only`, only says whether it could.
    ///
    /// # Errors
    /// When it exists, or a name or setting is not allowed.
    pub async fn create_topic(
        &self,
        topic: &NewTopic,
        validate_only: bool,
    ) -> Result<(), ClientError> {
        let configs = topic
            .configs
            .iter()
            .map(|(name, value)| CreatableTopicConfig {
                name: Cow::Borrowed(name),
                value: Some(Cow::Borrowed(value)),
            });
        let creatable = CreatableTopic {
            name: Cow::Borrowed(&topic.name),
            num_partitions: topic.partitions,
            replication_factor: topic.replication_factor,
            configs: configs.collect(),
            ..CreatableTopic::default()
        };
        let request = &CreateTopicsRequest {
            topics: vec![creatable],
            timeout_ms: self.timeout_ms(),
            validate_only,
        };
        let about = &format!("topic '{}'", topic.name);
        self.at_controller(|connection| async move {
            let reply = connection.call(request).await?;
            let answer = reply.read()?;
            for one in &answer.topics {
                let message = one.error_message.as_deref();
                connection.check(ApiKey::CreateTopics, about, one.error_code, message)?;
            }
            Ok(())
        })
        .await?;
        if validate_only {
            return Ok(());
        }
        self.await_topic(&topic.name, |view| !view.partitions.is_empty())
            .await
    }

    /// Deletes a topic with its records.
    ///
    /// # Errors
    /// When it does not exist.
    pub async fn delete_topic(&self, name: &str) -> Result<(), ClientError> {
        let about = &format!("topic '{name}'");
        self.at_controller(|connection| async move {
            // From version 6 a topic is a structure, before it is its name.
            let request = if connection.version(ApiKey::DeleteTopics)? >= 6 {
                let topic = DeleteTopicState {
                    name: Some(Cow::Borrowed(name)),
                    ..DeleteTopicState::default()
                };
                DeleteTopicsRequest {
                    topics: vec![topic],
                    timeout_ms: self.timeout_ms(),
                    ..DeleteTopicsRequest::default()
                }
            } else {
                DeleteTopicsRequest {
                    topic_names: vec![Cow::Borrowed(name)],
                    timeout_ms: self.timeout_ms(),
                    ..DeleteTopicsRequest::default()
                }
            };
            let reply = connection.call(&request).await?;
            let answer = reply.read()?;
            for one in &answer.responses {
                let message = one.error_message.as_deref();
                connection.check(ApiKey::DeleteTopics, about, one.error_code, message)?;
            }
            Ok(())
        })
        .await
    }

    /// Raises a topic's number of partitions to `count`.
    ///
    /// # Errors
    /// When it has as many already.
    pub async fn create_partitions(&self, name: &str, count: i32) -> Result<(), ClientError> {
        let topic = CreatePartitionsTopic {
            name: Cow::Borrowed(name),
            count,
            assignments: None,
        };
        let request = &CreatePartitionsRequest {
            topics: vec![topic],
            timeout_ms: self.timeout_ms(),
            validate_only: false,
        };
        let about = &format!("topic '{name}'");
        self.at_controller(|connection| async move {
            let reply = connection.call(request).await?;
            let answer = reply.read()?;
            for one in &answer.results {
                let message = one.error_message.as_deref();
                connection.check(ApiKey::CreatePartitions, about, one.error_code, message)?;
            }
            Ok(())
        })
        .await?;
        let grown =
            |view: &TopicView| i32::try_from(view.partitions.len()).is_ok_and(|n| n >= count);
        self.await_topic(name, grown).await
    }

    /// Waits until metadata shows what was just done: brokers learn of it one after the other.
    async fn await_topic(
        &self,
        name: &str,
        is_done: impl Fn(&TopicView) -> bool,
    ) -> Result<(), ClientError> {
        let mut backoff = self.cluster.backoff();
        loop {
            let answers = self.cluster.refresh(&[name], false).await?;
            let seen = answers.into_iter().next().map(|(_, topic)| topic);
            let has_leaders = |view: &TopicView| view.partitions.iter().all(|one| one.leader >= 0);
            match seen {
                Some(Ok(view)) if is_done(&view) && has_leaders(&view) => return Ok(()),
                Some(Err(error)) if error.code() != Some(ErrorCode::UnknownTopicOrPartition) => {
                    backoff.wait_or(error).await?;
                }
                _ => backoff.wait_or(self.not_visible(name)).await?,
            }
        }
    }

    fn not_visible(&self, name: &str) -> ClientError {
        ClientError::Incomplete {
            broker: self.cluster.config().bootstrap.join(","),
            api: ApiKey::Metadata,
            about: format!("topic '{name}' as it was just made"),
        }
    }

    pub(super) fn timeout_ms(&self) -> i32 {
        let timeout = self.cluster.config().request_timeout.as_millis();
        i32::try_from(timeout).unwrap_or(i32::MAX)
    }
}
