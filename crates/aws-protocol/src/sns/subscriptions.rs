//! Subscribe, Unsubscribe, ConfirmSubscription, the lists of subscriptions, and their attributes.

use std::collections::BTreeMap;

use super::topics::{ATTRIBUTES, ATTRIBUTES_OUT};
use crate::action::{Action, Encode};
use crate::fields::{FieldError, Fields};
use crate::writer::{ListNames, Writer, optional_text};

/// Subscribes an endpoint to a topic.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Subscribe {
    /// To which topic.
    pub topic_arn: String,
    /// `sqs`, `http`, `https` and others that are not spoken here.
    pub protocol: String,
    /// A queue's name as a resource, or an address.
    pub endpoint: Option<String>,
    /// The subscription's attributes, as text.
    pub attributes: BTreeMap<String, String>,
    /// If it is to be answered by its name even before it is confirmed.
    pub returns_subscription_arn: bool,
}

/// By what the subscription is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscribeResponse {
    /// Its name as a resource, or `pending confirmation`.
    pub subscription_arn: String,
}

impl Action for Subscribe {
    fn decode(fields: &mut Fields) -> Result<Subscribe, FieldError> {
        Ok(Subscribe {
            topic_arn: fields.required_text("TopicArn")?,
            protocol: fields.required_text("Protocol")?,
            endpoint: fields.text("Endpoint")?,
            attributes: fields.text_map(ATTRIBUTES)?.unwrap_or_default(),
            returns_subscription_arn: fields.boolean("ReturnSubscriptionArn")?.unwrap_or(false),
        })
    }
}

impl Encode for SubscribeResponse {
    fn encode(&self, out: &mut dyn Writer) {
        out.text("SubscriptionArn", &self.subscription_arn);
    }
}

/// Ends a subscription; one that is not there has ended already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsubscribe {
    /// Which subscription.
    pub subscription_arn: String,
}

impl Action for Unsubscribe {
    fn decode(fields: &mut Fields) -> Result<Unsubscribe, FieldError> {
        Ok(Unsubscribe {
            subscription_arn: fields.required_text("SubscriptionArn")?,
        })
    }
}

/// Confirms a subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfirmSubscription {
    /// To which topic.
    pub topic_arn: String,
    /// What its endpoint was sent.
    pub token: String,
    /// If it is to end only on a signed request; a text in the protocol, as `true`.
    pub authenticate_on_unsubscribe: Option<String>,
}

/// By what the subscription is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfirmSubscriptionResponse {
    /// Its name as a resource.
    pub subscription_arn: String,
}

impl Action for ConfirmSubscription {
    fn decode(fields: &mut Fields) -> Result<ConfirmSubscription, FieldError> {
        Ok(ConfirmSubscription {
            topic_arn: fields.required_text("TopicArn")?,
            token: fields.required_text("Token")?,
            authenticate_on_unsubscribe: fields.text("AuthenticateOnUnsubscribe")?,
        })
    }
}

impl Encode for ConfirmSubscriptionResponse {
    fn encode(&self, out: &mut dyn Writer) {
        out.text("SubscriptionArn", &self.subscription_arn);
    }
}

/// Lists all subscriptions, in pages.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListSubscriptions {
    /// From the page before.
    pub next_token: Option<String>,
}

/// Lists a topic's subscriptions, in pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListSubscriptionsByTopic {
    /// Which topic.
    pub topic_arn: String,
    /// From the page before.
    pub next_token: Option<String>,
}

/// A page of subscriptions, of one topic or of all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListSubscriptionsResponse {
    /// The subscriptions.
    pub subscriptions: Vec<Subscription>,
    /// For the next page.
    pub next_token: Option<String>,
}

/// A subscription in a list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Subscription {
    /// Its name as a resource, or `PendingConfirmation`.
    pub subscription_arn: String,
    /// Whose it is.
    pub owner: String,
    /// `sqs`, `http` or `https`.
    pub protocol: String,
    /// Where it delivers to.
    pub endpoint: String,
    /// What it is subscribed to.
    pub topic_arn: String,
}

impl Action for ListSubscriptions {
    fn decode(fields: &mut Fields) -> Result<ListSubscriptions, FieldError> {
        Ok(ListSubscriptions {
            next_token: fields.text("NextToken")?,
        })
    }
}

impl Action for ListSubscriptionsByTopic {
    fn decode(fields: &mut Fields) -> Result<ListSubscriptionsByTopic, FieldError> {
        Ok(ListSubscriptionsByTopic {
            topic_arn: fields.required_text("TopicArn")?,
            next_token: fields.text("NextToken")?,
        })
    }
}

impl Encode for ListSubscriptionsResponse {
    fn encode(&self, out: &mut dyn Writer) {
        let names = ListNames {
            json: "Subscriptions",
            around: Some("Subscriptions"),
            element: "member",
        };
        out.structures(names, self.subscriptions.len(), &mut |index, out| {
            let subscription = &self.subscriptions[index];
            out.text("SubscriptionArn", &subscription.subscription_arn);
            out.text("Owner", &subscription.owner);
            out.text("Protocol", &subscription.protocol);
            out.text("Endpoint", &subscription.endpoint);
            out.text("TopicArn", &subscription.topic_arn);
        });
        optional_text(out, "NextToken", self.next_token.as_deref());
    }
}

/// Asks for a subscription's attributes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GetSubscriptionAttributes {
    /// Which subscription.
    pub subscription_arn: String,
}

/// The attributes as text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GetSubscriptionAttributesResponse {
    /// By name.
    pub attributes: BTreeMap<String, String>,
}

impl Action for GetSubscriptionAttributes {
    fn decode(fields: &mut Fields) -> Result<GetSubscriptionAttributes, FieldError> {
        Ok(GetSubscriptionAttributes {
            subscription_arn: fields.required_text("SubscriptionArn")?,
        })
    }
}

impl Encode for GetSubscriptionAttributesResponse {
    fn encode(&self, out: &mut dyn Writer) {
        out.text_map(ATTRIBUTES_OUT, &self.attributes);
    }
}

/// Sets an attribute of a subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetSubscriptionAttributes {
    /// Of which subscription.
    pub subscription_arn: String,
    /// Which attribute.
    pub attribute_name: String,
    /// To what; without it the attribute is taken back.
    pub attribute_value: Option<String>,
}

impl Action for SetSubscriptionAttributes {
    fn decode(fields: &mut Fields) -> Result<SetSubscriptionAttributes, FieldError> {
        Ok(SetSubscriptionAttributes {
            subscription_arn: fields.required_text("SubscriptionArn")?,
            attribute_name: fields.required_text("AttributeName")?,
            attribute_value: fields.text("AttributeValue")?,
        })
    }
}
