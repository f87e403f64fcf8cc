//! SNS: its 19 actions for messages, one file per group of them.
//!
//! Those for phones, text messages, platforms and data protection are not spoken: `InvalidAction`.
//! In -> out: `Fields` -> `Request`; `Response` -> fields of an answer. Read next: `publish.rs`.

mod permissions;
mod publish;
mod subscriptions;
mod tags;
mod topics;

pub use permissions::{AddPermission, RemovePermission};
pub use publish::{
    Notification, Publish, PublishBatch, PublishBatchEntry, PublishBatchResponse,
    PublishBatchResultEntry, PublishResponse,
};
pub use subscriptions::{
    ConfirmSubscription, ConfirmSubscriptionResponse, GetSubscriptionAttributes,
    GetSubscriptionAttributesResponse, ListSubscriptions, ListSubscriptionsByTopic,
    ListSubscriptionsResponse, SetSubscriptionAttributes, Subscribe, SubscribeResponse,
    Subscription, Unsubscribe,
};
pub use tags::{ListTagsForResource, ListTagsForResourceResponse, TagResource, UntagResource};
pub use topics::{
    CreateTopic, CreateTopicResponse, DeleteTopic, GetTopicAttributes, GetTopicAttributesResponse,
    ListTopics, ListTopicsResponse, SetTopicAttributes,
};

use crate::action::{Action, Encode, Read, actions};
use crate::fields::Fields;
use crate::writer::Writer;

/// The version that SNS's forms name.
pub const VERSION: &str = "2010-03-31";

/// The namespace of XML answers.
pub(crate) const XML_NAMESPACE: &str = "http://sns.amazonaws.com/doc/2010-03-31/";

/// Actions that answer nothing and yet have an element for it.
pub(crate) const WITH_EMPTY_RESULT: &[&str] = &["TagResource", "UntagResource"];

actions! {
    /// Lets others use the topic.
    AddPermission;
    /// Confirms a subscription with the token that its endpoint was sent.
    ConfirmSubscription -> ConfirmSubscriptionResponse;
    /// Makes a topic.
    CreateTopic -> CreateTopicResponse;
    /// Deletes a topic with its subscriptions.
    DeleteTopic;
    /// Asks for a subscription's attributes.
    GetSubscriptionAttributes -> GetSubscriptionAttributesResponse;
    /// Asks for a topic's attributes.
    GetTopicAttributes -> GetTopicAttributesResponse;
    /// Lists all subscriptions.
    ListSubscriptions -> ListSubscriptionsResponse;
    /// Lists a topic's subscriptions.
    ListSubscriptionsByTopic -> ListSubscriptionsResponse;
    /// Lists a topic's tags.
    ListTagsForResource -> ListTagsForResourceResponse;
    /// Lists topics.
    ListTopics -> ListTopicsResponse;
    /// Publishes a message.
    Publish -> PublishResponse;
    /// Publishes up to ten messages.
    PublishBatch -> PublishBatchResponse;
    /// Takes a permission back.
    RemovePermission;
    /// Sets an attribute of a subscription.
    SetSubscriptionAttributes;
    /// Sets an attribute of a topic.
    SetTopicAttributes;
    /// Subscribes an endpoint to a topic.
    Subscribe -> SubscribeResponse;
    /// Adds tags.
    TagResource;
    /// Ends a subscription.
    Unsubscribe;
    /// Removes tags.
    UntagResource;
}
