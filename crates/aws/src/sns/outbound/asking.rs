//! The question whether an endpoint wants a topic's messages: sent until it was heard, and forgotten after three days without an answer.

use crate::sns::Sns;
use crate::sns::confirm::TOKEN_MS;
use crate::sns::delivery_policy::{CONTENT_TYPE, DeliveryPolicy};
use crate::sns::endpoint::Endpoint;
use crate::sns::envelope::{Confirmation, Signature};
use crate::sns::index::Subscription;
use crate::sns::signing::{SignatureVersion, SigningError};
use crate::sns::subscription::State;
use bytes::Bytes;
use fanlog_aws_protocol::ids::uuid_text;
use fanlog_model::times::format_timestamp;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

impl Sns {
    /// Asks an endpoint, and ends the subscription if it does not answer within days.
    pub(super) async fn ask(self: &Arc<Self>, subscription: &Subscription) {
        let State::Pending { token, since_ms } = &subscription.value.state else {
            return;
        };
        let retries = DeliveryPolicy::default().retry;
        for attempt in 1.. {
            let reason = match self.ask_once(subscription, token).await {
                Ok(None) => break,
                Ok(Some(reason)) => reason,
                Err(error) => error.to_string(),
            };
            let delay = retries.delay_after(attempt);
            tracing::warn!(
                subscription = subscription.name(), endpoint = subscription.value.endpoint, attempt, %reason,
                "an endpoint could not be asked whether it wants a topic's messages"
            );
            match delay {
                Some(delay) => sleep(delay).await,
                None => break,
            }
        }
        let age = self.shared.now().0.saturating_sub(*since_ms);
        let left = u64::try_from(TOKEN_MS.saturating_sub(age)).unwrap_or(0);
        sleep(Duration::from_millis(left)).await;
        self.forget(subscription).await;
    }

    /// Sends the question; nothing if it was heard, or why not.
    async fn ask_once(
        &self,
        subscription: &Subscription,
        token: &str,
    ) -> Result<Option<String>, SigningError> {
        let document = &subscription.value;
        let endpoint = match Endpoint::parse(&document.endpoint) {
            Ok(endpoint) if endpoint.is_allowed_by(&self.shared.config.sns_endpoints) => endpoint,
            Ok(_) => return Ok(Some("aws.sns.endpoints does not allow it".to_owned())),
            Err(error) => return Ok(Some(error.to_string())),
        };
        let topic_arn = document.topic_arn(&self.shared.config.account).to_string();
        let message_id = uuid_text(self.shared.draw(), 4);
        let timestamp = format_timestamp(self.shared.now());
        let base_url = &document.base_url;
        let confirmation = Confirmation {
            message_id: &message_id,
            token,
            topic_arn: &topic_arn,
            subscribe_url: &format!(
                "{base_url}/?Action=ConfirmSubscription&TopicArn={topic_arn}&Token={token}"
            ),
            timestamp: &timestamp,
        };
        let names = &self.shared.names;
        let topic = names.document(&document.region, &document.topic);
        let topic = self.topics.get(&topic).ok().flatten();
        let version = topic.map(|topic| topic.value.signature_version());
        let version: SignatureVersion = version.unwrap_or_default();
        let signed = confirmation.signed_text();
        let signature = self.signatures.sign(version, signed).await?;
        let body = confirmation.write(Signature {
            version: version.as_str(),
            text: &signature,
            certificate_url: &self.certificate_url(base_url).await?,
        });
        let headers = [
            ("content-type", CONTENT_TYPE.to_owned()),
            ("user-agent", super::sending::USER_AGENT.to_owned()),
            ("x-amz-sns-message-id", message_id.clone()),
            (
                "x-amz-sns-message-type",
                "SubscriptionConfirmation".to_owned(),
            ),
            ("x-amz-sns-topic-arn", topic_arn.clone()),
        ];
        let posted = self
            .outbound
            .poster()
            .post(&endpoint, &headers, Bytes::from(body))
            .await;
        Ok(match posted {
            Ok(status) if status.is_success() => None,
            Ok(status) => Some(format!("it answered {status}")),
            Err(error) => Some(error.to_string()),
        })
    }

    /// Nobody has answered: the subscription is not there any more.
    async fn forget(self: &Arc<Self>, asked: &Subscription) {
        let _changing = self.shared.changing.lock().await;
        let found = self.subscriptions.documents.get(asked.name());
        let Ok(Some(found)) = found else {
            return;
        };
        if found.value.state == asked.value.state && !found.value.is_deleted {
            tracing::info!(
                subscription = asked.name(),
                endpoint = asked.value.endpoint,
                "a subscription ends that nobody has confirmed"
            );
            // It runs in the very task that the end of a subscription aborts: what is left the next start finishes.
            let sns = self.clone();
            tokio::spawn(async move { sns.end_subscription(&found).await });
        }
    }
}
