//! A subscription: what its document says, and its attributes.
//!
//! In -> out: attributes as texts -> a checked document, and back.

use super::delivery_policy::{self, DeliveryPolicy};
use super::filter_policy::{self, PolicyFault};
use fanlog_aws_protocol::AwsError;
use fanlog_aws_protocol::arn::Arn;
use fanlog_model::settings::FilterScope;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The space of the documents.
pub(crate) const SPACE: &str = "aws.subscription";
/// The format that is written.
pub(super) const FORMAT: u16 = 1;
const POLICY: &str = "FilterPolicy";
const SCOPE: &str = "FilterPolicyScope";
const RAW: &str = "RawMessageDelivery";
const DELIVERY: &str = "DeliveryPolicy";
const REDRIVE: &str = "RedrivePolicy";
const ROLE: &str = "SubscriptionRoleArn";

/// How a subscription is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Protocol {
    /// By a queue of SQS.
    Sqs,
    /// By requests to an endpoint.
    Http,
    /// The same over TLS.
    Https,
    /// Kept, and never delivered to: there is no mail here.
    Email,
    /// The same.
    EmailJson,
    /// Kept, and never delivered to: there is no phone here.
    Sms,
}

impl Protocol {
    /// As requests have it.
    pub(super) fn of(text: &str) -> Option<Self> {
        Some(match text {
            "sqs" => Self::Sqs,
            "http" => Self::Http,
            "https" => Self::Https,
            "email" => Self::Email,
            "email-json" => Self::EmailJson,
            "sms" => Self::Sms,
            _ => return None,
        })
    }

    /// As requests have it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Sqs => "sqs",
            Self::Http => "http",
            Self::Https => "https",
            Self::Email => "email",
            Self::EmailJson => "email-json",
            Self::Sms => "sms",
        }
    }

    /// Whether its endpoint is asked over HTTP.
    pub(crate) fn is_http(self) -> bool {
        matches!(self, Self::Http | Self::Https)
    }

    /// Whether messages reach its endpoint.
    pub(crate) fn is_delivered(self) -> bool {
        self == Self::Sqs || self.is_http()
    }
}

/// Whether the endpoint wants messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "is")]
pub(crate) enum State {
    /// It was asked, by this token at this time, and has not answered yet.
    Pending {
        /// What it answers with.
        token: String,
        /// When it was asked, in milliseconds since 1970.
        since_ms: i64,
    },
    /// It does.
    Confirmed {
        /// Whether only a signed request ends it.
        needs_signature: bool,
        /// What it answered with: it may say so twice.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token: Option<String>,
    },
}

/// What the catalog keeps of a subscription.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SubscriptionDocument {
    /// How this is written.
    pub(super) format: u16,
    /// The region of its topic.
    pub(super) region: String,
    /// Its topic.
    pub(super) topic: String,
    /// How it is served.
    pub(crate) protocol: Protocol,
    /// Where it delivers to.
    pub(crate) endpoint: String,
    /// Whether its endpoint wants messages.
    pub(super) state: State,
    /// Those attributes that were given, in canonical form.
    pub(super) attributes: BTreeMap<String, String>,
    /// When it was made, in milliseconds since 1970.
    pub(super) created_ms: i64,
    /// By which address who subscribed reached us: messages lead back there.
    pub(super) base_url: String,
    /// The broker's queue by which a queue of SQS is served, where an earlier subscription still has the usual name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) group: Option<String>,
    /// It has ended: only what was published before is still received.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_running_out: bool,
    /// Its end is under way: it is not there any more, and its queue goes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_deleted: bool,
}

/// What an attribute is set to, checked.
struct Change {
    name: &'static str,
    value: String,
}

impl SubscriptionDocument {
    /// Its name as a resource.
    pub(super) fn arn(&self, account: &str, id: &str) -> Arn {
        self.topic_arn(account).subscription(id)
    }

    /// That of its topic.
    pub(super) fn topic_arn(&self, account: &str) -> Arn {
        Arn::topic(&self.region, account, &self.topic)
    }

    /// Whether only a signed request ends it.
    pub(super) fn needs_signature(&self) -> bool {
        matches!(
            self.state,
            State::Confirmed {
                needs_signature: true,
                ..
            }
        )
    }

    /// Whether it is there for those who ask.
    pub(super) fn is_there(&self) -> bool {
        !self.is_deleted && !self.is_running_out
    }

    pub(super) fn is_pending(&self) -> bool {
        matches!(self.state, State::Pending { .. })
    }

    fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.get(name).map(String::as_str)
    }

    /// Whether messages come without an envelope.
    pub(crate) fn is_raw(&self) -> bool {
        self.attribute(RAW) == Some("true")
    }

    /// Its filter and what that looks at, if it has one.
    pub(super) fn filter(&self) -> Option<(&str, FilterScope)> {
        Some((self.attribute(POLICY)?, self.scope()))
    }

    fn scope(&self) -> FilterScope {
        let scope = self.attribute(SCOPE).and_then(filter_policy::scope_of);
        scope.unwrap_or(FilterScope::Headers)
    }

    /// How its endpoint is tried.
    pub(super) fn delivery_policy(&self, topic: &str) -> DeliveryPolicy {
        DeliveryPolicy::of(topic, self.attribute(DELIVERY).unwrap_or_default())
    }

    /// The queue of what could not be delivered.
    pub(super) fn dead_letters(&self) -> Option<Arn> {
        dead_letters(self.attribute(REDRIVE)?).ok()
    }

    /// Sets all that is given, or nothing. The scope goes first: it says what is a filter.
    ///
    /// # Errors
    /// There is no such attribute, or this is no value of it.
    pub(super) fn set_all(&mut self, given: &BTreeMap<String, String>) -> Result<(), AwsError> {
        let mut changed = self.clone();
        if let Some(scope) = given.get(SCOPE) {
            changed.apply(SCOPE, scope, given.contains_key(POLICY))?;
        }
        for (name, value) in given.iter().filter(|(name, _)| *name != SCOPE) {
            changed.apply(name, value, false)?;
        }
        *self = changed;
        Ok(())
    }

    /// Sets an attribute; an empty text takes one back.
    ///
    /// # Errors
    /// There is no such attribute, or this is no value of it.
    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<(), AwsError> {
        self.apply(name, value, false)
    }

    fn apply(&mut self, name: &str, value: &str, is_policy_next: bool) -> Result<(), AwsError> {
        let change = self.checked(name, value, is_policy_next)?;
        if change.name == POLICY && change.value.is_empty() {
            // Without a filter there is nothing that it could look at.
            self.attributes.remove(SCOPE);
        }
        match change.value.is_empty() {
            true => self.attributes.remove(change.name),
            false => self.attributes.insert(change.name.to_owned(), change.value),
        };
        Ok(())
    }

    fn checked(&self, name: &str, value: &str, is_policy_next: bool) -> Result<Change, AwsError> {
        let is = |name: &'static str, value: &str| {
            Ok(Change {
                name,
                value: value.to_owned(),
            })
        };
        match name {
            POLICY => {
                if !value.is_empty() {
                    check_filter(value, self.scope())?;
                }
                is(POLICY, value)
            }
            SCOPE => {
                let scope = filter_policy::scope_of(value);
                let scope = scope
                    .ok_or_else(|| invalid(SCOPE, "it must be MessageAttributes or MessageBody"))?;
                if let Some(policy) = self.attribute(POLICY).filter(|_| !is_policy_next) {
                    check_filter(policy, scope)?;
                }
                is(SCOPE, value)
            }
            RAW => match value.to_ascii_lowercase().as_str() {
                "true" => is(RAW, "true"),
                "false" | "" => is(RAW, ""),
                _ => Err(invalid(RAW, "it must be true or false")),
            },
            DELIVERY if !value.is_empty() && !self.protocol.is_http() => {
                Err(invalid(DELIVERY, "only HTTP and HTTPS endpoints have one"))
            }
            DELIVERY => {
                let checked = delivery_policy::check_subscription(value);
                checked.map_err(|reason| invalid(DELIVERY, &reason))?;
                is(DELIVERY, value)
            }
            REDRIVE => {
                if !value.is_empty() {
                    dead_letters(value)?;
                }
                is(REDRIVE, value)
            }
            ROLE => is(ROLE, value),
            "ReplayPolicy" => Err(invalid(
                name,
                "messages are not replayed here: a Kafka consumer reads a topic from where it likes",
            )),
            _ => Err(AwsError::invalid_parameter(
                "Invalid parameter: AttributeName",
            )),
        }
    }

    /// All attributes, as they are answered; the topic's delivery policy is part of what is in force.
    pub(super) fn shown(
        &self,
        account: &str,
        id: &str,
        topic_policy: &str,
    ) -> BTreeMap<String, String> {
        let mut shown = self.attributes.clone();
        if shown.contains_key(POLICY) {
            let scope = shown.entry(SCOPE.to_owned());
            scope.or_insert_with(|| "MessageAttributes".to_owned());
        } else {
            shown.remove(SCOPE);
        }
        let mut put = |name: &str, value: String| {
            shown.insert(name.to_owned(), value);
        };
        put("SubscriptionArn", self.arn(account, id).to_string());
        put("TopicArn", self.topic_arn(account).to_string());
        put("Owner", account.to_owned());
        put("Protocol", self.protocol.as_str().to_owned());
        put("Endpoint", self.endpoint.clone());
        put(RAW, self.is_raw().to_string());
        put("PendingConfirmation", self.is_pending().to_string());
        put(
            "ConfirmationWasAuthenticated",
            (!self.is_pending()).to_string(),
        );
        let user = format!("arn:aws:iam::{account}:root");
        put("SubscriptionPrincipal", user);
        if self.protocol.is_http() {
            let effective = self.delivery_policy(topic_policy).shown();
            put("EffectiveDeliveryPolicy", effective);
        }
        if !self.protocol.is_delivered() {
            let protocol = self.protocol.as_str();
            put(
                "FanlogDelivery",
                format!("none: Fanlog does not deliver to {protocol}"),
            );
        }
        shown
    }
}

fn check_filter(policy: &str, scope: FilterScope) -> Result<(), AwsError> {
    filter_policy::check(policy, scope).map_err(|fault| match fault {
        PolicyFault::Invalid(message) => AwsError::invalid_parameter(message),
        PolicyFault::Unknown => AwsError::internal_error("Unknown"),
    })
}

fn dead_letters(policy: &str) -> Result<Arn, AwsError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Redrive {
        dead_letter_target_arn: String,
    }
    let policy = serde_json::from_str::<Redrive>(policy);
    let policy =
        policy.map_err(|_| invalid(REDRIVE, "it must be {\"deadLetterTargetArn\": \"..\"}"))?;
    let arn = Arn::parse_queue(&policy.dead_letter_target_arn);
    arn.ok_or_else(|| invalid(REDRIVE, "deadLetterTargetArn must name a queue of SQS"))
}

fn invalid(name: &str, reason: &str) -> AwsError {
    AwsError::invalid_parameter(format!("Invalid parameter: {name} Reason: {reason}"))
}

#[cfg(test)]
#[path = "subscription_tests.rs"]
mod tests;
