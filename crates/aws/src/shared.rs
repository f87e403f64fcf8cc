//! What SQS and SNS both have at hand.

use crate::config::AwsConfig;
use crate::documents::Documents;
use crate::names::Names;
use crate::sqs::{self, Queue, QueueDocument};
use fanlog_aws_protocol::AwsError;
use fanlog_aws_protocol::arn::Arn;
use fanlog_broker::Broker;
use fanlog_coordinators::catalog::{CreateTopicError, DeleteTopicError, NewTopic, TopicRef};
use fanlog_model::{TimestampMs, TopicId, TopicName};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What SQS and SNS both have at hand.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) broker: Arc<Broker>,
    pub(crate) config: AwsConfig,
    pub(crate) names: Names,
    pub(crate) queues: Documents<QueueDocument>,
    /// Held by whoever changes documents, topics or the broker's queues: several steps are one change.
    pub(crate) changing: tokio::sync::Mutex<()>,
}

impl Shared {
    pub(crate) fn new(broker: Arc<Broker>, config: AwsConfig) -> Self {
        Self {
            names: Names::new(&config.region),
            queues: Documents::new(broker.clone(), sqs::SPACE),
            changing: tokio::sync::Mutex::default(),
            config,
            broker,
        }
    }

    /// Now, in milliseconds since 1970.
    pub(crate) fn now(&self) -> TimestampMs {
        self.broker.environment().clock.wall_ms()
    }

    /// Sixteen bytes that no one has drawn before.
    pub(crate) fn draw(&self) -> [u8; 16] {
        let mut draw = [0; 16];
        self.broker.environment().entropy.fill(&mut draw);
        draw
    }

    /// The queue of that name, if it is there.
    pub(crate) fn queue(&self, region: &str, name: &str) -> Result<Option<Queue>, AwsError> {
        let queue = self.queues.get(&self.names.document(region, name))?;
        Ok(queue.filter(|queue| !queue.value.is_deleted()))
    }

    /// The queue that an ARN names, if it is there.
    pub(crate) fn queue_of(&self, arn: &Arn) -> Result<Option<Queue>, AwsError> {
        match arn.service == "sqs" && arn.account == self.config.account {
            true => self.queue(&arn.region, &arn.name),
            false => Ok(None),
        }
    }

    /// All queues that are there, in the order of region and name.
    pub(crate) fn all_queues(&self) -> Result<Vec<Queue>, AwsError> {
        let mut queues = self.queues.list()?;
        queues.retain(|queue| !queue.value.is_deleted());
        Ok(queues)
    }

    /// The settings of the broker's queues that make up a queue.
    pub(crate) fn settings_of(
        &self,
        queue: &QueueDocument,
    ) -> Result<BTreeMap<String, String>, AwsError> {
        let target = queue.redrive_target();
        let target = target.map(|target| self.queue_of(&target)).transpose()?;
        let topic = target.flatten().map(|target| target.value.topic());
        Ok(queue.settings(topic.as_ref()))
    }

    /// Makes a topic; that there is one already is no mistake.
    pub(crate) async fn make_topic(
        &self,
        name: &TopicName,
        settings: Vec<(String, Option<String>)>,
    ) -> Result<(), AwsError> {
        let new = NewTopic {
            id: TopicId::ZERO,
            name: name.to_string(),
            partitions: self.config.partitions,
            replication_factor: 1,
            assignments: Vec::new(),
            overrides: settings,
        };
        let made = self.broker.create_topics(vec![new], false).await;
        let made = made.map_err(|error| AwsError::service_unavailable(error.to_string()))?;
        match made.into_iter().next() {
            None | Some(Ok(_) | Err(CreateTopicError::AlreadyExists { .. })) => Ok(()),
            Some(Err(error @ CreateTopicError::TooManyPartitions { .. })) => {
                Err(AwsError::over_limit(error.to_string()))
            }
            Some(Err(error)) => Err(AwsError::invalid_parameter_value(error.to_string())),
        }
    }

    /// Deletes a topic with all its records; that there is none is no mistake.
    pub(crate) async fn delete_topic(&self, name: &TopicName) -> Result<(), AwsError> {
        let topic = TopicRef::Name(name.to_string());
        let deleted = self.broker.delete_topics(vec![topic]).await;
        let deleted = deleted.map_err(|error| AwsError::service_unavailable(error.to_string()))?;
        match deleted.into_iter().next() {
            None | Some(Ok(_) | Err(DeleteTopicError::UnknownTopic { .. })) => Ok(()),
            Some(Err(error)) => Err(AwsError::unsupported_operation(error.to_string())),
        }
    }
}

/// Runs a change of several steps to its end, also if who asked for it goes away.
pub(crate) async fn to_the_end<T: Send + 'static>(
    change: impl Future<Output = T> + Send + 'static,
) -> T {
    match tokio::spawn(change).await {
        Ok(done) => done,
        Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
    }
}
