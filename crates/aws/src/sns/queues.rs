//! The broker's queues by which subscriptions are served: made, kept in step and ended.
//!
//! Why it exists: a subscription of an SQS queue works as that queue does (visibility, redrive policy, delay), whenever either of the two
//! is made or changed; and what a crash has cut short is finished.
//! Never: a queue without a document: the document is made first and goes last.

use super::Sns;
use super::index::{Subscription, group_of};
use super::subscription::{Protocol, SubscriptionDocument};
use crate::shared::Shared;
use crate::sqs::QueueDocument;
use fanlog_aws_protocol::AwsError;
use fanlog_aws_protocol::arn::Arn;
use fanlog_broker::{NewQueue, QueueError, Start};
use fanlog_model::GroupId;
use fanlog_model::settings::{FilterScope, queue_settings};
use std::collections::BTreeMap;

/// For how long a message is held while its endpoint is asked: longer than that can take.
const LOCK_OF_ENDPOINTS: &str = "60s";

pub(super) type Settings = BTreeMap<String, Option<String>>;

impl Sns {
    /// The queues of the broker by which a queue of SQS gets what its topics publish.
    pub(crate) fn sources_of(&self, queue: &QueueDocument) -> Vec<GroupId> {
        let Ok(index) = self.subscriptions.index(&self.shared) else {
            return Vec::new();
        };
        let catalog = self.shared.broker.catalog_view();
        let arn = queue.arn(&self.shared.config.account);
        let of_queue = index.of_queue(&arn);
        let groups = of_queue.filter_map(|subscription| group_of(&self.shared, subscription));
        // One that is being made is not there yet.
        groups
            .filter(|group| catalog.queue(group).is_some())
            .collect()
    }

    /// A queue of SQS is there: those subscriptions that waited for it are served.
    pub(crate) async fn queue_created(&self, queue: &QueueDocument) -> Result<(), AwsError> {
        self.settings_changed(queue).await
    }

    /// A queue of SQS is about to go, with all that it has not received; its subscriptions stay.
    pub(crate) async fn queue_deleted(&self, queue: &QueueDocument) -> Result<(), AwsError> {
        let index = self.subscriptions.index(&self.shared)?;
        for subscription in index.of_queue(&queue.arn(&self.shared.config.account)) {
            match subscription.value.is_running_out {
                true => self.finish_run_out(subscription).await?,
                false => {
                    self.end_queue(subscription).await?;
                    // What is published from now on is a dead letter, if it may be one.
                    self.serve(subscription).await?;
                }
            }
        }
        Ok(())
    }

    /// A queue of SQS has other settings: those by which it is subscribed have them too.
    pub(crate) async fn settings_changed(&self, queue: &QueueDocument) -> Result<(), AwsError> {
        let index = self.subscriptions.index(&self.shared)?;
        let arn = queue.arn(&self.shared.config.account);
        for subscription in index.of_queue(&arn).filter(|one| one.value.is_there()) {
            self.serve(subscription).await?;
        }
        Ok(())
    }

    /// Sees to it that a subscription's queue is there, with its settings; a subscription that waits for something has none.
    pub(super) async fn serve(&self, subscription: &Subscription) -> Result<(), AwsError> {
        let document = &subscription.value;
        let Some(group) = group_of(&self.shared, subscription) else {
            return Ok(());
        };
        let Some(settings) = self.settings_of(document)? else {
            return Ok(());
        };
        let topic = self
            .shared
            .names
            .sns_topic(&document.region, &document.topic);
        let queues = self.shared.broker.queues();
        match queues.describe(&group) {
            Ok(found) => {
                let is_it = self
                    .shared
                    .broker
                    .topics()
                    .by_name(&topic)
                    .map(|now| now.id)
                    == Some(found.topic_id);
                if found.topic == topic && is_it {
                    if is_in_force(&settings, &found.settings) {
                        return Ok(());
                    }
                    let altered = queues.alter(&group, settings).await;
                    return altered.map(|_| ()).map_err(refused);
                }
                if found.topic != topic {
                    let message = format!(
                        "Invalid parameter: Endpoint Reason: the queue {group} of topic {} is in the way",
                        found.topic
                    );
                    return Err(AwsError::invalid_parameter(message));
                }
                // It reads a topic that is gone, of the same name.
                queues.delete(&group).await.map_err(refused)?;
            }
            Err(QueueError::NoSuchQueue { .. }) => {}
            Err(error) => return Err(refused(error)),
        }
        let given = settings.into_iter();
        let new = NewQueue {
            name: group,
            topic,
            settings: given
                .filter_map(|(name, value)| Some((name, value?)))
                .collect(),
            start: Start::Latest,
        };
        queues.create(new).await.map(|_| ()).map_err(refused)
    }

    /// Ends the queue of a subscription, with all that was not delivered.
    pub(super) async fn end_queue(&self, subscription: &Subscription) -> Result<(), AwsError> {
        let Some(group) = group_of(&self.shared, subscription) else {
            return Ok(());
        };
        match self.shared.broker.queues().delete(&group).await {
            Ok(()) | Err(QueueError::NoSuchQueue { .. }) => Ok(()),
            Err(error) => Err(refused(error)),
        }
    }

    /// The settings of its queue; nothing where it has none: its endpoint is not there or has not confirmed.
    fn settings_of(&self, document: &SubscriptionDocument) -> Result<Option<Settings>, AwsError> {
        let mut settings = match document.protocol {
            Protocol::Sqs => match sqs_settings(&self.shared, document)? {
                Some(settings) => settings,
                None => match self.undeliverable_settings(document)? {
                    Some(settings) => settings,
                    None => return Ok(None),
                },
            },
            Protocol::Http | Protocol::Https if !document.is_pending() => {
                self.endpoint_settings(document)?
            }
            _ => return Ok(None),
        };
        let filter = document.filter();
        let scope = filter.map(|(_, scope)| match scope {
            FilterScope::Headers => "headers".to_owned(),
            FilterScope::Body => "body".to_owned(),
        });
        settings.insert(
            "filter".to_owned(),
            filter.map(|(policy, _)| policy.to_owned()),
        );
        settings.insert("filter-scope".to_owned(), scope);
        Ok(Some(settings))
    }

    /// Of an endpoint over HTTP: its delivery policy says how often it is tried; when, who tries it says.
    fn endpoint_settings(&self, document: &SubscriptionDocument) -> Result<Settings, AwsError> {
        let policy = self.delivery_policy(document)?;
        let dead = self.dead_letter_topic(document)?;
        let settings = [
            ("backoff", "none".to_owned()),
            ("dead-letter", dead.unwrap_or_else(|| "none".to_owned())),
            ("lock", LOCK_OF_ENDPOINTS.to_owned()),
            ("max-attempts", (policy.retry.num_retries + 1).to_string()),
            ("order", "none".to_owned()),
        ];
        let given = settings.into_iter();
        Ok(given
            .map(|(name, value)| (name.to_owned(), Some(value)))
            .collect())
    }

    /// The topic of the queue that takes what could not be delivered, if it is there.
    pub(super) fn dead_letter_topic(
        &self,
        document: &SubscriptionDocument,
    ) -> Result<Option<String>, AwsError> {
        let dead = document.dead_letters();
        let dead = dead.map(|arn| self.shared.queue_of(&arn)).transpose()?;
        Ok(dead.flatten().map(|queue| queue.value.topic().to_string()))
    }

    /// Finishes deletions that a stop has cut short, and makes the queues of subscriptions that have none yet.
    pub(super) async fn recover_queues(&self) {
        let _changing = self.shared.changing.lock().await;
        for gone in self.topics.list().unwrap_or_default() {
            if gone.value.is_deleted
                && let Err(error) = self.finish_topic_deletion(&gone).await
            {
                tracing::warn!(topic = gone.name(), %error, "a deleted topic of SNS leaves something until the next start");
            }
        }
        for subscription in self.subscriptions.documents.list().unwrap_or_default() {
            let document = &subscription.value;
            let done = match (document.is_deleted, document.is_running_out) {
                (true, _) => self.finish_subscription_end(&subscription).await,
                (false, true) => self.end_where_the_topic_ends(&subscription).await,
                (false, false) => self.serve(&subscription).await,
            };
            if let Err(error) = done {
                tracing::warn!(subscription = subscription.name(), %error, "a subscription is not served");
            }
        }
    }
}

/// Whether a queue has these settings: a start with many subscriptions changes nothing.
fn is_in_force(wanted: &Settings, found: &BTreeMap<String, String>) -> bool {
    wanted.iter().all(|(name, value)| {
        let default = || queue_settings().get(name.as_str())?.default;
        let value = value.as_deref().or_else(default);
        value == found.get(name).map(String::as_str)
    })
}

/// Of a queue of SQS: those of that queue; nothing if it is not there.
fn sqs_settings(
    shared: &Shared,
    document: &SubscriptionDocument,
) -> Result<Option<Settings>, AwsError> {
    let arn = Arn::parse_queue(&document.endpoint);
    let queue = arn.map(|arn| shared.queue_of(&arn)).transpose()?;
    let Some(queue) = queue.flatten() else {
        return Ok(None);
    };
    let settings = shared.settings_of(&queue.value)?.into_iter();
    Ok(Some(
        settings.map(|(name, value)| (name, Some(value))).collect(),
    ))
}

/// What the broker says of its queues, in SNS's words.
pub(super) fn refused(error: QueueError) -> AwsError {
    match error {
        QueueError::NoSuchTopic { .. } => AwsError::topic_does_not_exist(),
        QueueError::NoSuchQueue { .. } => AwsError::subscription_does_not_exist(),
        QueueError::Unavailable(_) | QueueError::Read { .. } => {
            AwsError::internal_error(error.to_string())
        }
        QueueError::Limit { .. } => AwsError::subscription_limit_exceeded(error.to_string()),
        error => {
            AwsError::invalid_parameter(format!("Invalid parameter: Endpoint Reason: {error}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_in_force_where_each_is_or_is_the_default() {
        let found = [("lock", "30s"), ("filter", ""), ("delay", "5s")];
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let found: BTreeMap<String, String> = found.map(owned).into();
        let check = |name: &str, value: Option<&str>, expected: bool| {
            let wanted = [(name.to_owned(), value.map(str::to_owned))].into();
            assert_eq!(is_in_force(&wanted, &found), expected, "{name} {value:?}");
        };
        check("lock", Some("30s"), true);
        check("lock", Some("31s"), false);
        check("filter", None, true);
        check("delay", None, false);
        check("order", Some("key"), false);
    }
}
