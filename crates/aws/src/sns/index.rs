//! Subscriptions found by topic, by queue and by the broker's queue.
//!
//! Why it exists: each receive of an SQS queue asks what it is subscribed to, and each message what its subscription says; there may be
//! tens of thousands of them.
//! Owns: nothing that is not in the catalog: it is made anew when a document of them has changed.

use super::subscription::{Protocol, SPACE, SubscriptionDocument};
use crate::documents::{Documents, Stored};
use crate::shared::Shared;
use fanlog_aws_protocol::AwsError;
use fanlog_aws_protocol::arn::Arn;
use fanlog_coordinators::catalog::DocumentsOfSpace;
use fanlog_model::GroupId;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// A subscription as the catalog has it; its document's name is its id.
pub(crate) type Subscription = Arc<Stored<SubscriptionDocument>>;

/// The subscriptions that are there.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// In the order in which they were made.
    pub(super) all: Vec<Subscription>,
    /// Those that have ended, and of which something is still to be received.
    pub(super) running_out: Vec<Subscription>,
    by_topic: HashMap<(String, String), Vec<Subscription>>,
    by_endpoint: HashMap<String, Vec<Subscription>>,
    by_group: HashMap<GroupId, Subscription>,
}

/// The documents of subscriptions, and what is found in them.
#[derive(Debug)]
pub(super) struct Subscriptions {
    pub(super) documents: Documents<SubscriptionDocument>,
    made: Mutex<Option<(DocumentsOfSpace, Arc<Index>)>>,
}

impl Subscriptions {
    pub(super) fn new(documents: Documents<SubscriptionDocument>) -> Self {
        Self {
            documents,
            made: Mutex::default(),
        }
    }

    /// All that are there now.
    ///
    /// # Errors
    /// A document can't be read.
    pub(super) fn index(&self, shared: &Shared) -> Result<Arc<Index>, AwsError> {
        let Some(now) = shared.broker.catalog_view().documents_of(SPACE).cloned() else {
            return Ok(Arc::default());
        };
        let made = self.made.lock().clone();
        if let Some((of, index)) = made
            && Arc::ptr_eq(&of, &now)
        {
            return Ok(index);
        }
        let mut all = self.documents.list()?;
        all.retain(|subscription| !subscription.value.is_deleted);
        let index = Arc::new(Index::of(all, shared));
        *self.made.lock() = Some((now, index.clone()));
        Ok(index)
    }
}

impl Index {
    fn of(mut all: Vec<Subscription>, shared: &Shared) -> Self {
        all.sort_by(|one, other| {
            let order = |of: &Subscription| (of.value.created_ms, of.name().to_owned());
            order(one).cmp(&order(other))
        });
        let mut index = Self::default();
        for subscription in &all {
            let document = &subscription.value;
            if document.is_there() {
                let topic = (document.region.clone(), document.topic.clone());
                let of_topic = index.by_topic.entry(topic).or_default();
                of_topic.push(subscription.clone());
            }
            let at = index.by_endpoint.entry(document.endpoint.clone());
            at.or_default().push(subscription.clone());
            if let Some(group) = group_of(shared, subscription) {
                index.by_group.insert(group, subscription.clone());
            }
        }
        let (there, running_out) = all.into_iter().partition(|one| one.value.is_there());
        (index.all, index.running_out) = (there, running_out);
        index
    }

    /// Those of a topic.
    pub(super) fn of_topic(&self, region: &str, topic: &str) -> &[Subscription] {
        let of = self.by_topic.get(&(region.to_owned(), topic.to_owned()));
        of.map_or(&[], Vec::as_slice)
    }

    /// Those of a queue of SQS, with those that have ended.
    pub(super) fn of_queue(&self, queue: &Arn) -> impl Iterator<Item = &Subscription> {
        let at = self
            .by_endpoint
            .get(&queue.to_string())
            .into_iter()
            .flatten();
        at.filter(|subscription| subscription.value.protocol == Protocol::Sqs)
    }

    /// The one that is served by a queue of the broker.
    pub(super) fn of_group(&self, group: &GroupId) -> Option<&Subscription> {
        self.by_group.get(group)
    }

    /// Whether of a topic's messages some are still to be received by who is not subscribed any more.
    pub(super) fn is_running_out(&self, region: &str, topic: &str) -> bool {
        let mut all = self.running_out.iter();
        all.any(|one| one.value.region == region && one.value.topic == topic)
    }
}

/// The broker's queue by which a subscription is served, whether it is there or not.
pub(super) fn group_of(shared: &Shared, subscription: &Subscription) -> Option<GroupId> {
    let document = &subscription.value;
    match document.protocol {
        Protocol::Sqs => match &document.group {
            Some(group) => Some(GroupId::from(group.as_str())),
            None => usual_group(shared, document),
        },
        Protocol::Http | Protocol::Https => Some(GroupId::from(
            format!("sns.http.{}", subscription.name()).as_str(),
        )),
        Protocol::Email | Protocol::EmailJson | Protocol::Sms => None,
    }
}

/// The broker's queue by which a queue of SQS is served, unless another one has the name; nothing for a queue of another account.
pub(super) fn usual_group(shared: &Shared, document: &SubscriptionDocument) -> Option<GroupId> {
    let queue = Arn::parse_queue(&document.endpoint)?;
    let is_ours = queue.account == shared.config.account;
    is_ours.then(|| {
        let names = &shared.names;
        let topic = names.sns_topic(&document.region, &document.topic);
        names.subscription(&queue.region, &queue.name, topic.as_str())
    })
}
