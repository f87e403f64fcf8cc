//! Messages for queues of SQS that are not there: they go to the queue of the subscription's redrive policy, as at AWS, if it has one.
//!
//! Why it exists: a queue that was deleted by mistake would otherwise cost all that is published until somebody sees it.
//! In -> out: a subscription whose queue is not there -> its messages, rejected; the broker moves them.

use super::Sns;
use super::index::{Subscription, group_of};
use super::queues::{Settings, refused};
use super::subscription::{Protocol, SubscriptionDocument};
use fanlog_aws_protocol::AwsError;
use fanlog_aws_protocol::arn::Arn;
use fanlog_broker::{Receive, SettleOutcome};
use std::time::Duration;

/// How many messages are rejected at once.
const RECORDS_MAX: usize = 100;
const BYTES_MAX: usize = 1024 * 1024;

impl Sns {
    /// The settings of the broker's queue that holds what has nowhere to go; nothing where there is no queue for dead letters.
    pub(super) fn undeliverable_settings(
        &self,
        document: &SubscriptionDocument,
    ) -> Result<Option<Settings>, AwsError> {
        let Some(dead) = self.dead_letter_topic(document)? else {
            return Ok(None);
        };
        let settings = [
            ("backoff", "none".to_owned()),
            ("dead-letter", dead),
            ("delay", "0s".to_owned()),
            ("lock", "60s".to_owned()),
            ("max-attempts", "1".to_owned()),
            ("order", "none".to_owned()),
            ("retention-hold", "true".to_owned()),
        ];
        let given = settings.into_iter();
        let given = given.map(|(name, value)| (name.to_owned(), Some(value)));
        Ok(Some(given.collect()))
    }

    /// Rejects what is published to queues that are not there.
    pub(super) async fn reject_undeliverable(&self) -> Result<(), AwsError> {
        let index = self.subscriptions.index(&self.shared)?;
        for subscription in &index.all {
            let document = &subscription.value;
            if document.protocol == Protocol::Sqs && document.dead_letters().is_some() {
                let queue = Arn::parse_queue(&document.endpoint);
                let queue = queue
                    .map(|queue| self.shared.queue_of(&queue))
                    .transpose()?;
                if queue.flatten().is_none() {
                    self.reject_all(subscription).await?;
                }
            }
        }
        Ok(())
    }

    async fn reject_all(&self, subscription: &Subscription) -> Result<(), AwsError> {
        let queues = self.shared.broker.queues();
        let Some(group) = group_of(&self.shared, subscription) else {
            return Ok(());
        };
        if self.shared.broker.catalog_view().queue(&group).is_none() {
            return Ok(());
        }
        loop {
            let wanted = Receive {
                consumer: "sns".into(),
                records_max: RECORDS_MAX,
                bytes_max: BYTES_MAX,
                wait_max: Duration::ZERO,
                lock: None,
            };
            let received = queues.receive(&group, wanted).await.map_err(refused)?;
            if received.messages.is_empty() {
                return Ok(());
            }
            let endpoint = &subscription.value.endpoint;
            tracing::warn!(
                subscription = subscription.name(),
                queue = endpoint,
                messages = received.messages.len(),
                "messages go to the queue for dead letters: the subscribed queue is not there"
            );
            let items = received.messages.into_iter().map(|message| {
                self.count(Protocol::Sqs, "refused");
                let reason = format!("the queue {endpoint} is not there");
                (message.receipt, SettleOutcome::Reject { reason })
            });
            let settled = queues.settle(&group, items.collect()).await;
            settled.map_err(refused)?;
        }
    }
}
