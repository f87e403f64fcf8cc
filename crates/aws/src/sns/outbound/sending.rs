//! Sends what was published to an endpoint, some messages at a time, until the subscription ends.
//!
//! What is taken (any status of 200 to 299) is done with. Where the endpoint says that it will never take a message (300 to 499, but for
//! 408 and 429), the message becomes a dead letter at once; whatever else fails is tried again, as the delivery policy says. Messages that
//! are given up go to the queue of the subscription's redrive policy; without one they are gone, which is logged and counted.

use crate::sns::Sns;
use crate::sns::delivery_policy::DeliveryPolicy;
use crate::sns::endpoint::Endpoint;
use crate::sns::index::{Subscription, group_of};
use fanlog_broker::{Message, QueueError, Receive, SettleOutcome};
use fanlog_model::GroupId;
use hyper::StatusCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

/// Some programs let only requests by that name in.
pub(super) const USER_AGENT: &str = "Amazon Simple Notification Service Agent";
/// How many messages of one subscription are under way at once.
const IN_FLIGHT_MAX: usize = 16;
/// How many bytes of messages are taken at once; a single one may have more.
const BYTES_MAX: usize = 256 * 1024;
/// How long a task waits for messages before it looks at its subscription again.
const WAIT: Duration = Duration::from_secs(20);
/// How long it rests where it can't go on.
const REST: Duration = Duration::from_secs(1);

/// What became of an attempt.
enum Sent {
    Taken,
    /// It will never be taken.
    Refused(String),
    /// It may be taken later.
    Failed(String),
}

/// What all messages of a round have in common.
struct Round {
    subscription: Subscription,
    group: GroupId,
    policy: DeliveryPolicy,
    endpoint: Endpoint,
}

impl Sns {
    /// Sends until the subscription has ended.
    pub(super) async fn send_all(self: &Arc<Self>, id: &str) {
        let mut under_way: JoinSet<()> = JoinSet::new();
        let mut next_at = Instant::now();
        while let Some(round) = self.round(id).await {
            while under_way.try_join_next().is_some() {}
            let Some(more) = self.place(&mut under_way).await else {
                continue;
            };
            let free = IN_FLIGHT_MAX - under_way.len();
            let records_max = match (&more, round.policy.per_second_max) {
                // One after the other, in its time.
                (_, Some(_)) => 1,
                // The one that every subscription may have.
                (None, None) => 1,
                (Some(_), None) => free,
            };
            let messages = match self.take(&round.group, records_max).await {
                Ok(messages) => messages,
                Err(error) => {
                    tracing::debug!(subscription = id, %error, "an endpoint is served a little later");
                    sleep(REST).await;
                    continue;
                }
            };
            let round = Arc::new(round);
            let more = more.map(Arc::new);
            for message in messages {
                if let Some(per_second) = round.policy.per_second_max {
                    sleep_until(next_at).await;
                    next_at = Instant::now() + Duration::from_secs(1) / per_second;
                }
                let (sns, round, more) = (self.clone(), round.clone(), more.clone());
                under_way.spawn(async move {
                    sns.send(&round, message).await;
                    drop(more);
                });
            }
        }
    }

    /// What holds for the next messages; nothing once the subscription has ended.
    async fn round(&self, id: &str) -> Option<Round> {
        loop {
            let subscription = self.subscriptions.documents.get(id).ok()??;
            if subscription.value.is_deleted || subscription.value.is_pending() {
                return None;
            }
            let endpoint = Endpoint::parse(&subscription.value.endpoint).ok()?;
            let group = group_of(&self.shared, &subscription)?;
            let policy = self.delivery_policy(&subscription.value).ok()?;
            if endpoint.is_allowed_by(&self.shared.config.sns_endpoints) {
                return Some(Round {
                    subscription,
                    group,
                    policy,
                    endpoint,
                });
            }
            // The setting changes with a restart only: until then what is published waits.
            tracing::warn!(
                subscription = id,
                endpoint = subscription.value.endpoint,
                "nothing is sent to an endpoint that aws.sns.endpoints does not allow; what is published waits"
            );
            std::future::pending::<()>().await;
        }
    }

    /// A place for more requests: beyond one of its own a subscription shares them with all others. Nothing if it should look again.
    async fn place(&self, under_way: &mut JoinSet<()>) -> Option<Option<OwnedSemaphorePermit>> {
        if under_way.len() >= IN_FLIGHT_MAX {
            under_way.join_next().await;
            return None;
        }
        if let Ok(permit) = self.outbound.more.clone().try_acquire_owned() {
            return Some(Some(permit));
        }
        if under_way.is_empty() {
            return Some(None);
        }
        under_way.join_next().await;
        None
    }

    async fn take(&self, group: &GroupId, records_max: usize) -> Result<Vec<Message>, QueueError> {
        let wanted = Receive {
            consumer: "sns".into(),
            records_max,
            bytes_max: BYTES_MAX,
            wait_max: WAIT,
            lock: None,
        };
        // What is under way is bounded by its number and by BYTES_MAX: a slow endpoint takes nothing of the memory of those who fetch.
        let received = self.shared.broker.queues().receive(group, wanted).await?;
        Ok(received.messages)
    }

    async fn send(&self, round: &Round, message: Message) {
        let attempt = u32::from(message.attempt);
        let (protocol, id) = (round.subscription.value.protocol, round.subscription.name());
        let (outcome, counted) = match self.send_once(round, &message).await {
            Sent::Taken => (SettleOutcome::Ack, "delivered"),
            Sent::Refused(reason) => {
                tracing::warn!(subscription = id, message = %message.id, %reason, "an endpoint refuses a message for good");
                (SettleOutcome::Reject { reason }, "refused")
            }
            Sent::Failed(reason) => match round.policy.retry.delay_after(attempt) {
                Some(delay) => {
                    tracing::debug!(subscription = id, message = %message.id, attempt, %reason, "a message is sent again");
                    let delay = Some(delay);
                    (SettleOutcome::Nack { delay, reason }, "failed")
                }
                None => {
                    tracing::warn!(subscription = id, message = %message.id, attempt, %reason, "a message is given up");
                    (SettleOutcome::Reject { reason }, "given-up")
                }
            },
        };
        self.count(protocol, counted);
        let items = vec![(message.receipt, outcome)];
        let settled = self
            .shared
            .broker
            .queues()
            .settle(&round.group, items)
            .await;
        if let Err(error) = settled {
            tracing::debug!(subscription = id, %error, "a message is sent again when its lock has run out");
        }
    }

    async fn send_once(&self, round: &Round, message: &Message) -> Sent {
        let document = &round.subscription.value;
        let base_url = &document.base_url;
        let delivery = match self.delivery(base_url, &round.subscription, message).await {
            Ok(delivery) => delivery,
            Err(error) => return Sent::Failed(error.to_string()),
        };
        let account = &self.shared.config.account;
        let arn = document.arn(account, round.subscription.name());
        let mut headers = vec![
            ("content-type", round.policy.content_type().to_owned()),
            ("user-agent", USER_AGENT.to_owned()),
            ("x-amz-sns-message-id", delivery.message_id),
            ("x-amz-sns-message-type", "Notification".to_owned()),
            ("x-amz-sns-subscription-arn", arn.to_string()),
            (
                "x-amz-sns-topic-arn",
                arn.without_subscription().to_string(),
            ),
        ];
        if document.is_raw() {
            headers.push(("x-amz-sns-rawdelivery", "true".to_owned()));
        }
        let poster = self.outbound.poster();
        let posted = poster
            .post(&round.endpoint, &headers, delivery.body.into())
            .await;
        match posted {
            Ok(status) if status.is_success() => Sent::Taken,
            Ok(status) => match is_final(status) {
                true => Sent::Refused(format!("the endpoint answered {status}")),
                false => Sent::Failed(format!("the endpoint answered {status}")),
            },
            Err(error) => Sent::Failed(error.to_string()),
        }
    }
}

/// Whether an endpoint that answers so would answer the same the next time: redirects, which are not followed, and what is the request's
/// own fault.
fn is_final(status: StatusCode) -> bool {
    let may_pass = [StatusCode::REQUEST_TIMEOUT, StatusCode::TOO_MANY_REQUESTS];
    (status.is_redirection() || status.is_client_error()) && !may_pass.contains(&status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_endpoint_says_about_itself_may_pass() {
        let check = |code: u16, expected: bool| {
            let status = StatusCode::from_u16(code).unwrap();
            assert_eq!(is_final(status), expected, "{code}");
        };
        check(301, true);
        check(400, true);
        check(404, true);
        check(408, false);
        check(429, false);
        check(500, false);
        check(503, false);
    }
}
