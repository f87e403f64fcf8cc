//! Subscriptions of SQS queues that have ended while something was still to be received.
//!
//! Why it exists: at AWS a message is in the queue once it was published, whatever becomes of the subscription or the topic. Here it lies in
//! the topic; so the broker's queue stays, ends where the topic ended at that time, and goes when all before it is received.
//! In -> out: a subscription that ends -> one that is not there for those who ask, and gone some time later.

use super::Sns;
use super::index::{Subscription, group_of};
use super::queues::refused;
use super::subscription::Protocol;
use fanlog_aws_protocol::AwsError;
use fanlog_broker::QueueError;
use fanlog_model::TopicName;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

/// How often it is looked whether all was received.
const LOOK_EVERY: Duration = Duration::from_secs(10);

impl Sns {
    /// Whether something is still to be received of a subscription.
    pub(super) async fn has_left(&self, subscription: &Subscription) -> bool {
        let group = group_of(&self.shared, subscription);
        let Some(group) = group.filter(|_| subscription.value.protocol == Protocol::Sqs) else {
            return false;
        };
        let counted = self.shared.broker.queues().counts(&group).await;
        counted.is_ok_and(|counts| counts.visible + counts.in_flight + counts.delayed > 0)
    }

    /// The subscription is not there any more; what was published before is.
    pub(super) async fn let_run_out(&self, subscription: &Subscription) -> Result<(), AwsError> {
        let mut ended = subscription.value.clone();
        ended.is_running_out = true;
        let documents = &self.subscriptions.documents;
        let ended = documents.replace(subscription, &ended).await?;
        self.end_where_the_topic_ends(&ended).await
    }

    /// From now on its queue reads nothing that comes into the topic. One that ends already stays as it is.
    pub(super) async fn end_where_the_topic_ends(
        &self,
        ended: &Subscription,
    ) -> Result<(), AwsError> {
        let Some(group) = group_of(&self.shared, ended) else {
            return Ok(());
        };
        let queues = self.shared.broker.queues();
        let found = match queues.describe(&group) {
            Ok(found) => found,
            Err(QueueError::NoSuchQueue { .. }) => return Ok(()),
            Err(error) => return Err(refused(error)),
        };
        if found
            .settings
            .get("until")
            .is_some_and(|until| !until.is_empty())
        {
            return Ok(());
        }
        let until = self.ends_of(&found.topic);
        let changes = [("until".to_owned(), Some(until))].into();
        let altered = queues.alter(&group, changes).await;
        altered.map(|_| ()).map_err(refused)
    }

    fn ends_of(&self, topic: &TopicName) -> String {
        let topics = self.shared.broker.topics();
        let partitions = topics.by_name(topic).map(|topic| topic.partitions.iter());
        let end = |partition: &Arc<fanlog_broker::Partition>| {
            format!("{}:{}", partition.index(), partition.high_watermark())
        };
        let ends: Vec<_> = partitions.into_iter().flatten().map(end).collect();
        ends.join(",")
    }

    /// Takes away those of which all was received, from time to time.
    pub(super) async fn care(self: Arc<Self>) {
        loop {
            sleep(LOOK_EVERY).await;
            if let Err(error) = self.reject_undeliverable().await {
                tracing::debug!(%error, "messages for queues that are not there become dead letters later");
            }
            let Ok(index) = self.subscriptions.index(&self.shared) else {
                continue;
            };
            for ended in &index.running_out {
                if self.has_left(ended).await {
                    continue;
                }
                let _changing = self.shared.changing.lock().await;
                if let Err(error) = self.finish_run_out(ended).await {
                    tracing::debug!(subscription = ended.name(), %error, "what is left of a subscription goes later");
                }
            }
        }
    }

    /// Nothing is to be received any more: the queue goes, and, if it was the last of a topic that has ended, the topic. Whoever calls this
    /// holds `changing`.
    pub(super) async fn finish_run_out(&self, ended: &Subscription) -> Result<(), AwsError> {
        self.finish_subscription_end(ended).await?;
        let (region, topic) = (&ended.value.region, &ended.value.topic);
        let topic = self
            .topics
            .get(&self.shared.names.document(region, topic))?;
        match topic.filter(|topic| topic.value.is_deleted) {
            Some(gone) => self.finish_topic_deletion(&gone).await,
            None => Ok(()),
        }
    }
}
