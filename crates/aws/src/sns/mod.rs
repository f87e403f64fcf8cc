//! SNS: one file per group of actions.
//!
//! Why it exists: see `lib.rs`. An SNS topic is a Kafka topic with a document beside it; a subscription is a document and a queue of the
//! broker on that topic, from which a queue of SQS takes its messages (`deliver.rs`) or the endpoint is served (`outbound/`).
//! Owns: the documents of topics and subscriptions, the key that signs.   Never: copies of messages.
//! In -> out: a request of SNS -> its answer; a record and a subscription -> the message that its endpoint gets.
//! Read next: `topic.rs`, `subscription.rs`, `publish.rs`, `deliver.rs`.

mod delivery_policy;
mod filter_policy;
mod subscription;
mod topic;

mod index;
mod queues;
mod running_out;
mod undeliverable;

mod confirm;
mod pages;
mod permissions;
mod publish;
mod publish_batch;
mod subscribe;
mod subscriptions;
mod tags;
mod topics;
mod unsubscribe;

mod canonical;
mod certificate;
mod deliver;
mod envelope;
mod signatures;
mod signing;

mod endpoint;
mod outbound;
mod post;

use crate::config::Caller;
use crate::documents::Documents;
use crate::service::Outcome;
use crate::shared::Shared;
use fanlog_aws_protocol::AwsError;
use fanlog_aws_protocol::sns::{Request, Response};
use index::Subscriptions;
use outbound::Outbound;
use parking_lot::Mutex;
use signatures::Signatures;
use std::sync::Arc;
use tokio::task::AbortHandle;
use topic::TopicDocument;

/// SNS.
#[derive(Debug)]
pub(crate) struct Sns {
    shared: Arc<Shared>,
    topics: Documents<TopicDocument>,
    subscriptions: Subscriptions,
    signatures: Signatures,
    outbound: Outbound,
    /// What takes away subscriptions that have run out.
    care: Mutex<Option<AbortHandle>>,
}

impl Sns {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let broker = &shared.broker;
        Self {
            topics: Documents::new(broker.clone(), topic::SPACE),
            subscriptions: Subscriptions::new(Documents::new(broker.clone(), subscription::SPACE)),
            signatures: Signatures::new(broker.environment().clone()),
            outbound: Outbound::new(),
            care: Mutex::default(),
            shared,
        }
    }

    /// Answers a request.
    pub(crate) async fn answer(
        self: &Arc<Self>,
        caller: Caller,
        request: Request,
    ) -> Result<Outcome, AwsError> {
        let of = &caller;
        let response = match request {
            Request::AddPermission(asked) => self.add_permission(of, asked).await?,
            Request::ConfirmSubscription(asked) => self.confirm(of, asked).await?,
            Request::CreateTopic(asked) => self.create_topic(of, asked).await?,
            Request::DeleteTopic(asked) => self.delete_topic(of, &asked).await?,
            Request::GetSubscriptionAttributes(asked) => {
                self.subscription_attributes(of, &asked)?
            }
            Request::GetTopicAttributes(asked) => self.topic_attributes(of, &asked)?,
            Request::ListSubscriptions(asked) => self.list_subscriptions(of, &asked)?,
            Request::ListSubscriptionsByTopic(asked) => self.list_of_topic(of, &asked)?,
            Request::ListTagsForResource(asked) => self.list_tags(of, &asked)?,
            Request::ListTopics(asked) => self.list_topics(of, &asked)?,
            Request::Publish(asked) => self.publish(of, asked).await?,
            Request::PublishBatch(asked) => self.publish_batch(of, asked).await?,
            Request::RemovePermission(asked) => self.remove_permission(of, asked).await?,
            Request::SetSubscriptionAttributes(asked) => {
                self.set_subscription_attribute(of, asked).await?
            }
            Request::SetTopicAttributes(asked) => self.set_topic_attribute(of, asked).await?,
            Request::Subscribe(asked) => self.subscribe(of, asked).await?,
            Request::TagResource(asked) => self.tag(of, asked).await?,
            Request::Unsubscribe(asked) => self.unsubscribe(of, &asked).await?,
            Request::UntagResource(asked) => self.untag(of, asked).await?,
        };
        Ok(Response::into(response))
    }

    /// The certificate that a path below the root of the HTTP port names, if it is ours.
    pub(crate) async fn certificate(&self, file: &str) -> Option<String> {
        self.signatures.certificate(file).await
    }

    /// Finishes what was under way when the broker stopped, and begins to serve endpoints.
    pub(crate) async fn recover(self: &Arc<Self>) {
        self.recover_queues().await;
        self.serve_endpoints();
        let care = tokio::spawn(self.clone().care());
        if let Some(before) = self.care.lock().replace(care.abort_handle()) {
            before.abort();
        }
    }

    /// Stops serving endpoints: what is under way ends, and comes again after the next start if it has not.
    pub(crate) fn stop(&self) {
        self.outbound.stop();
        if let Some(care) = self.care.lock().take() {
            care.abort();
        }
    }
}
