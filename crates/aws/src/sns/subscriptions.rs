//! ListSubscriptions, ListSubscriptionsByTopic, GetSubscriptionAttributes, SetSubscriptionAttributes.

use super::delivery_policy::DeliveryPolicy;
use super::index::Subscription;
use super::pages::page;
use super::subscription::SubscriptionDocument;
use super::{Response, Sns};
use crate::config::Caller;
use crate::shared::to_the_end;
use fanlog_aws_protocol::AwsError;
use fanlog_aws_protocol::arn::Arn;
use fanlog_aws_protocol::sns::{
    GetSubscriptionAttributes, GetSubscriptionAttributesResponse, ListSubscriptions,
    ListSubscriptionsByTopic, ListSubscriptionsResponse, SetSubscriptionAttributes,
    Subscription as Listed,
};
use std::sync::Arc;

/// How the name of a subscription is listed that its endpoint has not confirmed.
const PENDING: &str = "PendingConfirmation";

impl Sns {
    pub(super) fn list_subscriptions(
        &self,
        caller: &Caller,
        asked: &ListSubscriptions,
    ) -> Result<Response, AwsError> {
        let index = self.subscriptions.index(&self.shared)?;
        let all = index.all.iter();
        let of_region: Vec<_> = all
            .filter(|subscription| *subscription.value.region == *caller.region)
            .cloned()
            .collect();
        let listed = listed(caller, &of_region, asked.next_token.as_deref())?;
        Ok(Response::ListSubscriptions(listed))
    }

    pub(super) fn list_of_topic(
        &self,
        caller: &Caller,
        asked: &ListSubscriptionsByTopic,
    ) -> Result<Response, AwsError> {
        let topic = self.topic(caller, &asked.topic_arn)?;
        let index = self.subscriptions.index(&self.shared)?;
        let of_topic = index.of_topic(&topic.value.region, &topic.value.name);
        let listed = listed(caller, of_topic, asked.next_token.as_deref())?;
        Ok(Response::ListSubscriptionsByTopic(listed))
    }

    pub(super) fn subscription_attributes(
        &self,
        caller: &Caller,
        asked: &GetSubscriptionAttributes,
    ) -> Result<Response, AwsError> {
        let subscription = self.subscription(&asked.subscription_arn)?;
        let policy = self.topic_delivery_policy(&subscription.value)?;
        let id = subscription.name();
        let attributes = subscription.value.shown(&caller.account, id, &policy);
        Ok(Response::GetSubscriptionAttributes(
            GetSubscriptionAttributesResponse { attributes },
        ))
    }

    pub(super) async fn set_subscription_attribute(
        self: &Arc<Self>,
        _: &Caller,
        asked: SetSubscriptionAttributes,
    ) -> Result<Response, AwsError> {
        let subscription = self.subscription(&asked.subscription_arn)?;
        let (sns, id) = (self.clone(), subscription.name().to_owned());
        to_the_end(async move {
            let _changing = sns.shared.changing.lock().await;
            let before = sns.subscriptions.documents.get(&id)?;
            let before = before.filter(|subscription| subscription.value.is_there());
            let before = before.ok_or_else(AwsError::subscription_does_not_exist)?;
            let mut changed = before.value.clone();
            let value = asked.attribute_value.as_deref().unwrap_or_default();
            changed.set(&asked.attribute_name, value)?;
            let documents = &sns.subscriptions.documents;
            let changed = documents.replace(&before, &changed).await?;
            sns.serve(&changed).await
        })
        .await?;
        Ok(Response::SetSubscriptionAttributes)
    }

    fn subscription(&self, arn: &str) -> Result<Subscription, AwsError> {
        let arn = Arn::parse(arn).ok_or_else(|| {
            // Of as many parts, but of no service that has subscriptions: nothing is there.
            let has_all_parts = arn.starts_with("arn:") && arn.matches(':').count() == 6;
            if has_all_parts {
                return AwsError::subscription_does_not_exist();
            }
            AwsError::invalid_parameter(
                "Invalid parameter: SubscriptionArn Reason: it is no ARN of a subscription",
            )
        })?;
        let subscription = self.find_subscription(&arn)?;
        subscription.ok_or_else(AwsError::subscription_does_not_exist)
    }

    /// The subscription of that name as a resource, if it is there.
    pub(super) fn find_subscription(&self, arn: &Arn) -> Result<Option<Subscription>, AwsError> {
        let Some(id) = &arn.subscription else {
            return Ok(None);
        };
        let subscription = self.subscriptions.documents.get(id)?;
        let account = &self.shared.config.account;
        Ok(subscription.filter(|subscription| {
            let is_meant = subscription.value.arn(account, id) == *arn;
            is_meant && subscription.value.is_there()
        }))
    }

    /// How the endpoint of a subscription is tried.
    pub(super) fn delivery_policy(
        &self,
        document: &SubscriptionDocument,
    ) -> Result<DeliveryPolicy, AwsError> {
        Ok(document.delivery_policy(&self.topic_delivery_policy(document)?))
    }

    fn topic_delivery_policy(&self, document: &SubscriptionDocument) -> Result<String, AwsError> {
        let names = &self.shared.names;
        let topic = names.document(&document.region, &document.topic);
        let topic = self.topics.get(&topic)?;
        Ok(topic.map_or_else(String::new, |topic| {
            topic.value.delivery_policy().to_owned()
        }))
    }
}

fn listed(
    caller: &Caller,
    all: &[Subscription],
    token: Option<&str>,
) -> Result<ListSubscriptionsResponse, AwsError> {
    let (page, next_token) = page(all, token)?;
    let one = |subscription: &Subscription| {
        let document = &subscription.value;
        Listed {
            subscription_arn: match document.is_pending() {
                true => PENDING.to_owned(),
                false => document
                    .arn(&caller.account, subscription.name())
                    .to_string(),
            },
            owner: caller.account.to_string(),
            protocol: document.protocol.as_str().to_owned(),
            endpoint: document.endpoint.clone(),
            topic_arn: document.topic_arn(&caller.account).to_string(),
        }
    };
    Ok(ListSubscriptionsResponse {
        subscriptions: page.iter().map(one).collect(),
        next_token,
    })
}
