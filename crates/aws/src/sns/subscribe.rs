//! Subscribe: checks the endpoint, remembers the subscription, and makes the queue by which it is served.
//!
//! A queue of SQS is subscribed at once, whether it is there or comes later. An HTTP endpoint is asked first, and has to be allowed by
//! `aws.sns.endpoints`. Mail and text messages are not sent: such a subscription is kept and never delivered to, and says so in its
//! attributes, the log and the metrics. Functions, mobile applications and firehoses are refused.

use super::endpoint::Endpoint;
use super::index::{Index, Subscription, usual_group};
use super::subscription::{FORMAT, Protocol, State, SubscriptionDocument};
use super::topic::TopicDocument;
use super::topics::Topic;
use super::{Response, Sns};
use crate::config::Caller;
use crate::shared::to_the_end;
use fanlog_aws_protocol::AwsError;
use fanlog_aws_protocol::arn::Arn;
use fanlog_aws_protocol::ids::uuid_text;
use fanlog_aws_protocol::names::is_fifo;
use fanlog_aws_protocol::sns::{Subscribe, SubscribeResponse};
use fanlog_model::GroupId;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is answered instead of a name that nobody is to know before the endpoint has confirmed.
const PENDING: &str = "pending confirmation";
/// How many subscriptions may be served over HTTP: each has a task of its own.
const ENDPOINTS_MAX: usize = 1_000;
const ENDPOINT_BYTES_MAX: usize = 2_048;

impl Sns {
    pub(super) async fn subscribe(
        self: &Arc<Self>,
        caller: &Caller,
        asked: Subscribe,
    ) -> Result<Response, AwsError> {
        let topic = self.topic(caller, &asked.topic_arn)?;
        let endpoint = asked.endpoint.unwrap_or_default();
        let protocol = self.checked_endpoint(&topic.value, &asked.protocol, &endpoint)?;
        let new = SubscriptionDocument {
            format: FORMAT,
            region: topic.value.region.clone(),
            topic: topic.value.name.clone(),
            protocol,
            endpoint,
            state: self.first_state(protocol),
            attributes: BTreeMap::new(),
            created_ms: self.shared.now().0,
            base_url: caller.base_url.clone(),
            group: None,
            is_running_out: false,
            is_deleted: false,
        };
        let sns = self.clone();
        let attributes = asked.attributes;
        let subscribed =
            to_the_end(async move { sns.subscribe_now(&topic, new, attributes).await }).await?;
        let is_told = asked.returns_subscription_arn || !subscribed.value.is_pending();
        let subscription_arn = match is_told {
            true => {
                let arn = subscribed.value.arn(&caller.account, subscribed.name());
                arn.to_string()
            }
            false => PENDING.to_owned(),
        };
        Ok(Response::Subscribe(SubscribeResponse { subscription_arn }))
    }

    async fn subscribe_now(
        self: &Arc<Self>,
        topic: &Topic,
        mut new: SubscriptionDocument,
        attributes: BTreeMap<String, String>,
    ) -> Result<Subscription, AwsError> {
        let _changing = self.shared.changing.lock().await;
        let topic = self.topics.get(topic.name())?;
        let topic = topic.filter(|topic| !topic.value.is_deleted);
        topic.ok_or_else(AwsError::topic_does_not_exist)?;
        let index = self.subscriptions.index(&self.shared)?;
        let of_topic = index.of_topic(&new.region, &new.topic);
        let known = of_topic
            .iter()
            .find(|one| one.value.protocol == new.protocol && one.value.endpoint == new.endpoint);
        if let Some(known) = known {
            return self.subscribe_again(known, new, &attributes).await;
        }
        let http = index.all.iter().filter(|one| one.value.protocol.is_http());
        if new.protocol.is_http() && http.count() >= ENDPOINTS_MAX {
            return Err(AwsError::subscription_limit_exceeded(format!(
                "There are {ENDPOINTS_MAX} subscriptions of HTTP endpoints, and no more are served."
            )));
        }
        new.set_all(&attributes)?;
        new.group = self.free_group(&index, &new);
        let id = uuid_text(self.shared.draw(), 4);
        let made = self.subscriptions.documents.create(&id, &new).await?;
        if let Err(error) = self.serve(&made).await {
            // It was not there for anybody.
            self.subscriptions.documents.delete(&made).await?;
            return Err(error);
        }
        self.begin(&made);
        Ok(made)
    }

    /// A name for the broker's queue, where the usual one belongs to a subscription that is running out.
    fn free_group(&self, index: &Index, new: &SubscriptionDocument) -> Option<String> {
        let usual = usual_group(&self.shared, new).filter(|_| new.protocol == Protocol::Sqs)?;
        let is_free = |group: &GroupId| index.of_group(group).is_none();
        if is_free(&usual) {
            return None;
        }
        let mut others = (2..).map(|number| format!("{usual}.{number}"));
        others.find(|name| is_free(&GroupId::from(name.as_str())))
    }

    /// Who subscribes again gets what there is; an endpoint that has not answered is asked again.
    async fn subscribe_again(
        self: &Arc<Self>,
        known: &Subscription,
        new: SubscriptionDocument,
        attributes: &BTreeMap<String, String>,
    ) -> Result<Subscription, AwsError> {
        let mut wanted = known.value.clone();
        wanted.set_all(attributes)?;
        if wanted.attributes != known.value.attributes {
            return Err(AwsError::invalid_parameter(
                "Invalid parameter: Attributes Reason: Subscription already exists with different attributes",
            ));
        }
        if !known.value.is_pending() {
            return Ok(known.clone());
        }
        wanted.state = new.state;
        wanted.base_url = new.base_url;
        let asked = self.subscriptions.documents.replace(known, &wanted).await?;
        self.begin(&asked);
        Ok(asked)
    }

    /// What follows once a subscription is durable.
    fn begin(self: &Arc<Self>, subscription: &Subscription) {
        let document = &subscription.value;
        if !document.protocol.is_delivered() {
            self.count_undeliverable(document.protocol);
            tracing::warn!(
                subscription = subscription.name(),
                protocol = document.protocol.as_str(),
                "a subscription is kept that is never delivered to: Fanlog sends no mail and no text messages"
            );
        }
        if document.protocol.is_http() {
            self.serve_endpoint(subscription);
        }
    }

    /// Queues are subscribed at once; endpoints are asked, where that is wanted; whoever is never delivered to is never confirmed, but for
    /// phones, which AWS does not ask.
    fn first_state(&self, protocol: Protocol) -> State {
        let confirmed = State::Confirmed {
            needs_signature: false,
            token: None,
        };
        match protocol {
            Protocol::Sqs | Protocol::Sms => confirmed,
            Protocol::Http | Protocol::Https if !self.shared.config.asks_endpoints => confirmed,
            Protocol::Http | Protocol::Https | Protocol::Email | Protocol::EmailJson => {
                self.new_question()
            }
        }
    }

    /// A question with a token of its own.
    pub(super) fn new_question(&self) -> State {
        let token = [self.shared.draw(), self.shared.draw()].concat();
        State::Pending {
            token: token.iter().map(|byte| format!("{byte:02x}")).collect(),
            since_ms: self.shared.now().0,
        }
    }

    fn checked_endpoint(
        &self,
        topic: &TopicDocument,
        protocol: &str,
        endpoint: &str,
    ) -> Result<Protocol, AwsError> {
        let Some(known) = Protocol::of(protocol) else {
            return Err(refused_protocol(protocol, endpoint));
        };
        if endpoint.is_empty() || endpoint.len() > ENDPOINT_BYTES_MAX {
            return Err(invalid("Endpoint", "it is empty or too long"));
        }
        if topic.is_fifo() && known != Protocol::Sqs {
            return Err(invalid(
                "Protocol",
                "FIFO topics deliver to queues of SQS only",
            ));
        }
        match known {
            Protocol::Sqs => check_queue(topic, endpoint)?,
            Protocol::Http | Protocol::Https => {
                self.check_address(known == Protocol::Https, endpoint)?;
            }
            Protocol::Email | Protocol::EmailJson => match endpoint.split_once('@') {
                Some((user, host)) if !user.is_empty() && !host.is_empty() => {}
                _ => {
                    return Err(AwsError::invalid_parameter(
                        "Invalid parameter: Email address",
                    ));
                }
            },
            Protocol::Sms => check_phone(endpoint)?,
        }
        Ok(known)
    }

    fn check_address(&self, is_https: bool, address: &str) -> Result<(), AwsError> {
        let endpoint = Endpoint::of_protocol(is_https, address)
            .map_err(|error| invalid("Endpoint", &error.to_string()))?;
        match endpoint.is_allowed_by(&self.shared.config.sns_endpoints) {
            true => Ok(()),
            false => Err(AwsError::authorization_error(format!(
                "No endpoint at {} may be subscribed: the broker's setting aws.sns.endpoints lists what the addresses may begin with.",
                endpoint.host
            ))),
        }
    }
}

fn check_queue(topic: &TopicDocument, endpoint: &str) -> Result<(), AwsError> {
    let queue = Arn::parse_queue(endpoint)
        .ok_or_else(|| AwsError::invalid_parameter("Invalid parameter: SQS endpoint ARN"))?;
    if is_fifo(&queue.name) && !topic.is_fifo() {
        return Err(AwsError::invalid_parameter(
            "Invalid parameter: Invalid parameter: Endpoint Reason: FIFO SQS Queues can not be subscribed to standard SNS topics",
        ));
    }
    Ok(())
}

/// Digits with a plus before them, and single separators between them.
fn check_phone(endpoint: &str) -> Result<(), AwsError> {
    let wrong = || AwsError::invalid_parameter(format!("Invalid SMS endpoint: {endpoint}"));
    let is_separator = |character: char| matches!(character, '.' | '/' | '-');
    let parts: Vec<&str> = endpoint.split(is_separator).collect();
    if parts.iter().any(|part| part.is_empty()) || !is_phone(&parts.concat()) {
        return Err(wrong());
    }
    Ok(())
}

/// As E.164 writes numbers, with or without its plus.
pub(super) fn is_phone(number: &str) -> bool {
    let digits = number.strip_prefix('+').unwrap_or(number);
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    (2..=15).contains(&digits.len()) && is_number && !digits.starts_with('0')
}

fn refused_protocol(protocol: &str, endpoint: &str) -> AwsError {
    match protocol {
        // In AWS's own words, with the space that they lack.
        "application" => AwsError::invalid_parameter(format!(
            "Invalid parameter: Endpoint Reason: Endpoint does not exist for endpoint arn{endpoint}"
        )),
        "lambda" | "firehose" => invalid(
            "Protocol",
            &format!(
                "Fanlog does not deliver to {protocol}: subscribe an HTTP endpoint or a queue of SQS"
            ),
        ),
        _ => AwsError::invalid_parameter(
            "Invalid parameter: Amazon SNS does not support this protocol string",
        ),
    }
}

fn invalid(name: &str, reason: &str) -> AwsError {
    AwsError::invalid_parameter(format!("Invalid parameter: {name} Reason: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phones_have_digits_and_single_separators() {
        for right in ["+15551234567", "+15/55-123.4567"] {
            assert!(check_phone(right).is_ok(), "{right}");
        }
        for wrong in [
            "NAA+15551234567",
            "+15--551234567",
            "+15551234567.",
            "/+15551234567",
            "",
            "+0123",
        ] {
            assert!(check_phone(wrong).is_err(), "{wrong}");
        }
    }
}
