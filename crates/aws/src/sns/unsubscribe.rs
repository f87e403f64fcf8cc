//! Unsubscribe: the subscription is gone at once. What was published before is still received by its queue of SQS, as at AWS, where it would
//! have been copied there; what waits for an HTTP endpoint is dropped.
//!
//! The document says first that it is no more, durably; a crash before the rest is done leaves that mark, and the next start finishes.

use super::index::Subscription;
use super::{Response, Sns};
use crate::config::Caller;
use crate::shared::to_the_end;
use fanlog_aws_protocol::AwsError;
use fanlog_aws_protocol::arn::Arn;
use fanlog_aws_protocol::sns::Unsubscribe;
use std::sync::Arc;

impl Sns {
    pub(super) async fn unsubscribe(
        self: &Arc<Self>,
        caller: &Caller,
        asked: &Unsubscribe,
    ) -> Result<Response, AwsError> {
        let arn = Arn::parse_subscription(&asked.subscription_arn);
        let arn = arn.ok_or_else(|| {
            AwsError::invalid_parameter(
                "Invalid parameter: SubscriptionArn Reason: it is no ARN of a subscription",
            )
        })?;
        let Some(subscription) = self.find_subscription(&arn)? else {
            return Ok(Response::Unsubscribe);
        };
        if subscription.value.needs_signature() && !caller.is_signed {
            return Err(AwsError::authorization_error(
                "The subscription was confirmed with AuthenticateOnUnsubscribe: only a signed request ends it.",
            ));
        }
        let (sns, id) = (self.clone(), subscription.name().to_owned());
        to_the_end(async move {
            let _changing = sns.shared.changing.lock().await;
            match sns.subscriptions.documents.get(&id)? {
                Some(there) if there.value.is_there() => {
                    sns.count_end(&there).await?;
                    sns.end_subscription(&there).await
                }
                Some(_) | None => Ok(()),
            }
        })
        .await?;
        Ok(Response::Unsubscribe)
    }

    /// The topic says how many of its subscriptions have ended.
    async fn count_end(&self, subscription: &Subscription) -> Result<(), AwsError> {
        let (region, topic) = (&subscription.value.region, &subscription.value.topic);
        let document = self.shared.names.document(region, topic);
        if let Some(topic) = self.topics.get(&document)? {
            let mut counted = topic.value.clone();
            counted.subscriptions_deleted += 1;
            self.topics.replace(&topic, &counted).await?;
        }
        Ok(())
    }

    /// Ends a subscription. Whoever calls this holds `changing`.
    pub(super) async fn end_subscription(
        &self,
        subscription: &Subscription,
    ) -> Result<(), AwsError> {
        if self.has_left(subscription).await {
            return self.let_run_out(subscription).await;
        }
        let mut gone = subscription.value.clone();
        gone.is_deleted = true;
        let gone = self
            .subscriptions
            .documents
            .replace(subscription, &gone)
            .await?;
        self.finish_subscription_end(&gone).await
    }

    /// Takes away what hangs on a subscription that has ended.
    pub(super) async fn finish_subscription_end(
        &self,
        gone: &Subscription,
    ) -> Result<(), AwsError> {
        self.outbound.end(gone.name());
        self.end_queue(gone).await?;
        self.subscriptions.documents.delete(gone).await
    }
}
