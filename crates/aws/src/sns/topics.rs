//! CreateTopic, DeleteTopic, ListTopics, GetTopicAttributes, SetTopicAttributes.
//!
//! A topic of that name that is there already, since a Kafka client made it, is adopted: its records and settings stay as they are, and
//! stay when the SNS topic is deleted. A topic that was made here goes with all its records.

use super::pages::page;
use super::topic::{self, Counts, FORMAT, TopicDocument};
use super::{Response, Sns};
use crate::config::Caller;
use crate::documents::Stored;
use crate::shared::to_the_end;
use fanlog_aws_protocol::AwsError;
use fanlog_aws_protocol::arn::Arn;
use fanlog_aws_protocol::names::check_topic_name;
use fanlog_aws_protocol::sns::{
    CreateTopic, CreateTopicResponse, DeleteTopic, GetTopicAttributes, GetTopicAttributesResponse,
    ListTopics, ListTopicsResponse, SetTopicAttributes,
};
use fanlog_coordinators::catalog::{
    ChangeKind, ConfigChange, ConfigResource, IncrementalAlteration, ResourceKind,
};
use fanlog_model::TopicName;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A topic as the catalog has it.
pub(super) type Topic = Arc<Stored<TopicDocument>>;

/// For how long the messages of FIFO topics are known by their ids.
const DEDUPLICATION_MS: u64 = 300_000;
/// What the topics of SQS's queues begin with: they are no topics of SNS.
const OF_QUEUES: &str = "sqs.";

impl Sns {
    pub(super) async fn create_topic(
        self: &Arc<Self>,
        caller: &Caller,
        asked: CreateTopic,
    ) -> Result<Response, AwsError> {
        let attributes = topic::attributes_of_new(&asked.attributes)?;
        let is_fifo = topic::is_fifo_wanted(&attributes);
        check_topic_name(&asked.name, is_fifo, self.shared.config.names)?;
        if asked.name.starts_with(OF_QUEUES) || is_of_other_region(&asked.name) {
            return Err(AwsError::invalid_parameter(format!(
                "Invalid parameter: Name Reason: names that begin with {OF_QUEUES} are those of queues' own topics, with aws-<region>. those of other regions"
            )));
        }
        if asked.data_protection_policy.is_some() {
            return Err(AwsError::invalid_parameter(
                "Invalid parameter: DataProtectionPolicy Reason: message data is not looked through here",
            ));
        }
        super::tags::check_tags(&asked.tags)?;
        let (sns, region) = (self.clone(), caller.region.clone());
        let created =
            to_the_end(async move { sns.create_now(&region, asked, attributes).await }).await?;
        let topic_arn = created.value.arn(&caller.account).to_string();
        Ok(Response::CreateTopic(CreateTopicResponse { topic_arn }))
    }

    async fn create_now(
        self: &Arc<Self>,
        region: &str,
        asked: CreateTopic,
        attributes: BTreeMap<String, String>,
    ) -> Result<Topic, AwsError> {
        let shared = &self.shared;
        let _changing = shared.changing.lock().await;
        let document = shared.names.document(region, &asked.name);
        match self.topics.get(&document)? {
            Some(topic) if !topic.value.is_deleted => {
                self.make_kafka_topic(&topic.value).await?;
                return same_or_refused(topic, &attributes, &asked.tags);
            }
            Some(gone) => self.finish_topic_deletion(&gone).await?,
            None => {}
        }
        // One that has ended, and of which something is still to be received, goes on under the name.
        let before = self.topics.get(&document)?;
        let mut new = TopicDocument {
            format: FORMAT,
            region: region.to_owned(),
            name: asked.name,
            is_adopted: false,
            attributes,
            tags: asked.tags,
            created_ms: shared.now().0,
            subscriptions_deleted: 0,
            is_deleted: false,
        };
        new.is_adopted = self.make_kafka_topic(&new).await?;
        match before {
            Some(before) => {
                new.is_adopted = before.value.is_adopted;
                self.topics.replace(&before, &new).await
            }
            None => self.topics.create(&document, &new).await,
        }
    }

    /// Makes the Kafka topic, or adopts the one that is there; says which.
    async fn make_kafka_topic(&self, topic: &TopicDocument) -> Result<bool, AwsError> {
        let name = self.kafka_topic(topic);
        let found = self.shared.broker.topics().by_name(&name).cloned();
        let Some(found) = found else {
            let window = if topic.is_fifo() { DEDUPLICATION_MS } else { 0 };
            let settings = match window {
                0 => Vec::new(),
                window => vec![("dedup.window.ms".to_owned(), Some(window.to_string()))],
            };
            self.shared.make_topic(&name, settings).await?;
            return Ok(false);
        };
        if found.is_internal {
            return Err(AwsError::invalid_parameter(
                "Invalid parameter: Name Reason: the topic of that name is the broker's own",
            ));
        }
        if topic.is_fifo() && found.settings.dedup_window_ms == 0 {
            self.remember_ids(&name).await?;
        }
        Ok(true)
    }

    /// A topic that has not remembered message ids does from now on.
    async fn remember_ids(&self, topic: &TopicName) -> Result<(), AwsError> {
        let alteration = IncrementalAlteration {
            resource: ConfigResource {
                kind: ResourceKind::Topic,
                name: topic.to_string(),
            },
            changes: vec![ConfigChange {
                name: "dedup.window.ms".to_owned(),
                kind: ChangeKind::Set,
                value: Some(DEDUPLICATION_MS.to_string()),
            }],
        };
        let altered = self
            .shared
            .broker
            .incremental_alter_configs(vec![alteration], false);
        let altered = altered
            .await
            .map_err(|error| AwsError::internal_error(error.to_string()))?;
        match altered.into_iter().next() {
            Some(Err(error)) => Err(AwsError::internal_error(error.to_string())),
            Some(Ok(())) | None => Ok(()),
        }
    }

    pub(super) async fn delete_topic(
        self: &Arc<Self>,
        caller: &Caller,
        asked: &DeleteTopic,
    ) -> Result<Response, AwsError> {
        let arn = topic_arn(&asked.topic_arn)?;
        let Some(topic) = self.find_topic(caller, &arn)? else {
            return Ok(Response::DeleteTopic);
        };
        let (sns, name) = (self.clone(), topic.name().to_owned());
        to_the_end(async move {
            let _changing = sns.shared.changing.lock().await;
            let topic = sns.topics.get(&name)?;
            let Some(topic) = topic.filter(|topic| !topic.value.is_deleted) else {
                return Ok(());
            };
            let mut gone = topic.value.clone();
            gone.is_deleted = true;
            let gone = sns.topics.replace(&topic, &gone).await?;
            sns.finish_topic_deletion(&gone).await
        })
        .await?;
        Ok(Response::DeleteTopic)
    }

    /// Takes away what hangs on a deleted topic; as long as something of it is still to be received, the topic stays. Whoever calls this
    /// holds `changing`.
    pub(super) async fn finish_topic_deletion(&self, gone: &Topic) -> Result<(), AwsError> {
        let topic = &gone.value;
        let index = self.subscriptions.index(&self.shared)?;
        for subscription in index.of_topic(&topic.region, &topic.name) {
            self.end_subscription(subscription).await?;
        }
        let index = self.subscriptions.index(&self.shared)?;
        if index.is_running_out(&topic.region, &topic.name) {
            return Ok(());
        }
        if !topic.is_adopted {
            self.shared.delete_topic(&self.kafka_topic(topic)).await?;
        }
        self.topics.delete(gone).await
    }

    pub(super) fn list_topics(
        &self,
        caller: &Caller,
        asked: &ListTopics,
    ) -> Result<Response, AwsError> {
        let mut topics = self.topics.list()?;
        topics.retain(|topic| !topic.value.is_deleted && *topic.value.region == *caller.region);
        topics.sort_by(|one, other| {
            let order = |of: &Topic| (of.value.created_ms, of.value.name.clone());
            order(one).cmp(&order(other))
        });
        let arns: Vec<String> = topics
            .iter()
            .map(|topic| topic.value.arn(&caller.account).to_string())
            .collect();
        let (topic_arns, next_token) = page(&arns, asked.next_token.as_deref())?;
        Ok(Response::ListTopics(ListTopicsResponse {
            topic_arns,
            next_token,
        }))
    }

    pub(super) fn topic_attributes(
        &self,
        caller: &Caller,
        asked: &GetTopicAttributes,
    ) -> Result<Response, AwsError> {
        let topic = self.topic(caller, &asked.topic_arn)?;
        let index = self.subscriptions.index(&self.shared)?;
        let of_topic = index.of_topic(&topic.value.region, &topic.value.name);
        let pending = of_topic.iter().filter(|one| one.value.is_pending()).count();
        let counts = Counts {
            pending,
            confirmed: of_topic.len() - pending,
        };
        let attributes = topic.value.shown(&caller.account, counts);
        Ok(Response::GetTopicAttributes(GetTopicAttributesResponse {
            attributes,
        }))
    }

    pub(super) async fn set_topic_attribute(
        self: &Arc<Self>,
        caller: &Caller,
        asked: SetTopicAttributes,
    ) -> Result<Response, AwsError> {
        let topic = self.topic(caller, &asked.topic_arn)?;
        let changed = self.change_topic(&topic, move |topic| {
            let value = asked.attribute_value.as_deref().unwrap_or_default();
            topic.set(&asked.attribute_name, value)
        });
        changed.await?;
        Ok(Response::SetTopicAttributes)
    }

    /// Changes the document of a topic.
    pub(super) async fn change_topic(
        self: &Arc<Self>,
        topic: &Topic,
        change: impl FnOnce(&mut TopicDocument) -> Result<(), AwsError> + Send + 'static,
    ) -> Result<(), AwsError> {
        let (sns, name) = (self.clone(), topic.name().to_owned());
        to_the_end(async move {
            let _changing = sns.shared.changing.lock().await;
            let before = sns.topics.get(&name)?;
            let before = before.filter(|topic| !topic.value.is_deleted);
            let before = before.ok_or_else(AwsError::topic_does_not_exist)?;
            let mut topic = before.value.clone();
            change(&mut topic)?;
            sns.topics.replace(&before, &topic).await?;
            Ok(())
        })
        .await
    }

    /// The topic that a request names.
    pub(super) fn topic(&self, caller: &Caller, arn: &str) -> Result<Topic, AwsError> {
        let topic = self.find_topic(caller, &topic_arn(arn)?)?;
        topic.ok_or_else(AwsError::topic_does_not_exist)
    }

    /// The topic that a request names, in whichever region: who follows an address signs nothing, and has none.
    pub(super) fn topic_anywhere(&self, arn: &str) -> Result<Topic, AwsError> {
        let topic = self.topic_of(&topic_arn(arn)?)?;
        topic.ok_or_else(AwsError::topic_does_not_exist)
    }

    /// The topic of that name as a resource, if it is there, and in the caller's region.
    pub(super) fn find_topic(&self, caller: &Caller, arn: &Arn) -> Result<Option<Topic>, AwsError> {
        match *arn.region == *caller.region {
            true => self.topic_of(arn),
            false => Ok(None),
        }
    }

    fn topic_of(&self, arn: &Arn) -> Result<Option<Topic>, AwsError> {
        if arn.account != self.shared.config.account {
            return Ok(None);
        }
        let document = self.shared.names.document(&arn.region, &arn.name);
        let topic = self.topics.get(&document)?;
        Ok(topic.filter(|topic| !topic.value.is_deleted))
    }

    /// The Kafka topic that a topic is.
    pub(super) fn kafka_topic(&self, topic: &TopicDocument) -> TopicName {
        self.shared.names.sns_topic(&topic.region, &topic.name)
    }
}

/// Whether the Kafka topic of another region's topic could have this name.
fn is_of_other_region(name: &str) -> bool {
    let rest = name
        .strip_prefix("aws-")
        .and_then(|rest| rest.split_once('.'));
    rest.is_some_and(|(region, rest)| !region.is_empty() && rest != "fifo")
}

fn topic_arn(text: &str) -> Result<Arn, AwsError> {
    Arn::parse_topic(text).ok_or_else(|| {
        AwsError::invalid_parameter("Invalid parameter: TopicArn Reason: it is no ARN of a topic")
    })
}

/// A topic made again is the same, unless what is said of it this time contradicts it.
fn same_or_refused(
    topic: Topic,
    attributes: &BTreeMap<String, String>,
    tags: &[(String, String)],
) -> Result<Topic, AwsError> {
    let has = |(name, value): (&String, &String)| topic.value.attributes.get(name) == Some(value);
    if !attributes.iter().all(has) {
        return Err(AwsError::invalid_parameter(
            "Invalid parameter: Attributes Reason: Topic already exists with different attributes",
        ));
    }
    match tags.iter().all(|tag| topic.value.tags.contains(tag)) {
        true => Ok(topic),
        false => Err(AwsError::invalid_parameter(
            "Invalid parameter: Tags Reason: Topic already exists with different tags",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_regions_are_not_taken_at_home() {
        assert!(is_of_other_region("aws-eu-west-1.orders"));
        for other in [
            "orders",
            "aws-orders",
            "aws-orders.fifo",
            "order.paid",
            "aws-.",
        ] {
            assert!(!is_of_other_region(other), "{other}");
        }
    }
}
