//! A topic as SNS sees it: what its document says, and its attributes.
//!
//! Why it exists: records, partitions and retention are the Kafka topic's; SNS adds a policy, a display name, tags and the like.
//! In -> out: attributes as texts -> a checked document, and back.

use super::delivery_policy::{self, DeliveryPolicy};
use super::signing::SignatureVersion;
use fanlog_aws_protocol::AwsError;
use fanlog_aws_protocol::arn::Arn;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The space of the documents.
pub(crate) const SPACE: &str = "aws.topic";
/// The format that is written.
pub(super) const FORMAT: u16 = 1;
const FIFO: &str = "FifoTopic";
const CONTENT_BASED: &str = "ContentBasedDeduplication";
const SCOPE: &str = "FifoThroughputScope";
const DISPLAY_NAME_LENGTH_MAX: usize = 100;
const VALUE_BYTES_MAX: usize = 30 * 1024;

/// What is kept and returned, and has no effect here: keys, traces and logs are AWS's own services.
const KEPT: [&str; 17] = [
    "KmsMasterKeyId",
    "TracingConfig",
    "HTTPSuccessFeedbackRoleArn",
    "HTTPSuccessFeedbackSampleRate",
    "HTTPFailureFeedbackRoleArn",
    "FirehoseSuccessFeedbackRoleArn",
    "FirehoseSuccessFeedbackSampleRate",
    "FirehoseFailureFeedbackRoleArn",
    "LambdaSuccessFeedbackRoleArn",
    "LambdaSuccessFeedbackSampleRate",
    "LambdaFailureFeedbackRoleArn",
    "SQSSuccessFeedbackRoleArn",
    "SQSSuccessFeedbackSampleRate",
    "SQSFailureFeedbackRoleArn",
    "ApplicationSuccessFeedbackRoleArn",
    "ApplicationSuccessFeedbackSampleRate",
    "ApplicationFailureFeedbackRoleArn",
];

/// What the catalog keeps of a topic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TopicDocument {
    /// How this is written.
    pub(super) format: u16,
    /// Its region.
    pub(super) region: String,
    /// Its name.
    pub(super) name: String,
    /// The Kafka topic was there before: it stays when this is deleted.
    pub(super) is_adopted: bool,
    /// Those attributes that were given, in canonical form.
    pub(super) attributes: BTreeMap<String, String>,
    /// Its tags, in the order in which they came.
    pub(super) tags: Vec<(String, String)>,
    /// When it was made, in milliseconds since 1970.
    pub(super) created_ms: i64,
    /// How many subscriptions have ended.
    pub(super) subscriptions_deleted: u64,
    /// Its end is under way: it is not there any more, and what hangs on it goes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_deleted: bool,
}

/// How many subscriptions a topic has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) pending: usize,
    pub(super) confirmed: usize,
}

impl TopicDocument {
    /// Its name as a resource.
    pub(super) fn arn(&self, account: &str) -> Arn {
        Arn::topic(&self.region, account, &self.name)
    }

    fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.get(name).map(String::as_str)
    }

    /// Whether its messages keep the order of their groups.
    pub(super) fn is_fifo(&self) -> bool {
        self.attribute(FIFO) == Some("true")
    }

    /// Whether a message without an id is known by its content.
    pub(super) fn is_content_based(&self) -> bool {
        self.attribute(CONTENT_BASED) == Some("true")
    }

    /// Whether messages of two groups may have one id.
    pub(super) fn has_ids_per_group(&self) -> bool {
        self.attribute(SCOPE) == Some("MessageGroup")
    }

    /// Over which digest its messages are signed.
    pub(super) fn signature_version(&self) -> SignatureVersion {
        let version = self.attribute("SignatureVersion");
        version.and_then(SignatureVersion::of).unwrap_or_default()
    }

    /// How its endpoints are tried; empty if it does not say.
    pub(super) fn delivery_policy(&self) -> &str {
        self.attribute("DeliveryPolicy").unwrap_or_default()
    }

    /// Its policy, as JSON: what was set, or that everybody of the account may use it.
    pub(super) fn policy(&self, account: &str) -> Value {
        let own = self.attribute("Policy");
        let own = own.and_then(|policy| serde_json::from_str(policy).ok());
        own.unwrap_or_else(|| default_policy(&self.arn(account).to_string(), account))
    }

    /// Sets an attribute; an empty text takes one back.
    ///
    /// # Errors
    /// There is no such attribute, or this is no value of it.
    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<(), AwsError> {
        if value.len() > VALUE_BYTES_MAX {
            return Err(invalid(name, "it is too long"));
        }
        let value = canonical(name, value, self.is_fifo())?;
        match value.is_empty() {
            true => self.attributes.remove(name),
            false => self.attributes.insert(name.to_owned(), value),
        };
        Ok(())
    }

    /// All attributes, as they are answered.
    pub(super) fn shown(&self, account: &str, counts: Counts) -> BTreeMap<String, String> {
        let mut shown = self.attributes.clone();
        shown.remove(FIFO);
        let effective = DeliveryPolicy::of(self.delivery_policy(), "");
        let mut put = |name: &str, value: String| {
            shown.insert(name.to_owned(), value);
        };
        put("TopicArn", self.arn(account).to_string());
        put("Owner", account.to_owned());
        put("Policy", self.policy(account).to_string());
        put("SubscriptionsPending", counts.pending.to_string());
        put("SubscriptionsConfirmed", counts.confirmed.to_string());
        put(
            "SubscriptionsDeleted",
            self.subscriptions_deleted.to_string(),
        );
        put("DeliveryPolicy", self.delivery_policy().to_owned());
        put("EffectiveDeliveryPolicy", effective.shown());
        let name = self.attribute("DisplayName").unwrap_or_default();
        put("DisplayName", name.to_owned());
        if self.is_fifo() {
            put(FIFO, "true".to_owned());
            put(CONTENT_BASED, self.is_content_based().to_string());
        }
        shown
    }
}

/// The attributes of a new topic, checked. `FifoTopic` is among them where it is true.
///
/// # Errors
/// There is no such attribute, or this is no value of it.
pub(super) fn attributes_of_new(
    given: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, AwsError> {
    let is_fifo = match given.get(FIFO) {
        Some(value) => boolean(FIFO, value)? == "true",
        None => false,
    };
    let mut attributes = BTreeMap::new();
    for (name, value) in given {
        if name == FIFO {
            continue;
        }
        let value = canonical(name, value, is_fifo)?;
        if !value.is_empty() {
            attributes.insert(name.clone(), value);
        }
    }
    if is_fifo {
        attributes.insert(FIFO.to_owned(), "true".to_owned());
    }
    Ok(attributes)
}

/// Whether these are attributes of a FIFO topic.
pub(super) fn is_fifo_wanted(attributes: &BTreeMap<String, String>) -> bool {
    attributes.get(FIFO).is_some_and(|value| value == "true")
}

fn canonical(name: &str, value: &str, is_fifo: bool) -> Result<String, AwsError> {
    match name {
        "DisplayName" if value.chars().count() > DISPLAY_NAME_LENGTH_MAX => {
            Err(invalid(name, "it has more than 100 characters"))
        }
        "DisplayName" => Ok(value.to_owned()),
        "Policy" if value.is_empty() => Ok(String::new()),
        "Policy" => match serde_json::from_str::<Value>(value) {
            Ok(policy @ Value::Object(_)) => Ok(policy.to_string()),
            Ok(_) | Err(_) => Err(invalid(name, "it is no JSON object")),
        },
        "DeliveryPolicy" => {
            delivery_policy::check_topic(value).map_err(|reason| invalid(name, &reason))?;
            Ok(value.to_owned())
        }
        "SignatureVersion" => match SignatureVersion::of(value) {
            Some(version) => Ok(version.as_str().to_owned()),
            None => Err(invalid(name, "it must be 1 or 2")),
        },
        CONTENT_BASED => match (boolean(name, value)?, is_fifo) {
            ("true", false) => Err(invalid(name, "only FIFO topics have it")),
            ("false", false) => Ok(String::new()),
            (value, _) => Ok(value.to_owned()),
        },
        SCOPE if !is_fifo => Err(invalid(name, "only FIFO topics have it")),
        SCOPE => match value {
            "Topic" | "MessageGroup" => Ok(value.to_owned()),
            _ => Err(invalid(name, "it must be Topic or MessageGroup")),
        },
        FIFO => Err(invalid(name, "it is set when the topic is made")),
        "ArchivePolicy" => Err(invalid(
            name,
            "archives are not kept here: the Kafka topic is one, as its retention says",
        )),
        name if KEPT.contains(&name) => Ok(value.to_owned()),
        _ => Err(AwsError::invalid_parameter(
            "Invalid parameter: AttributeName",
        )),
    }
}

fn boolean(name: &str, value: &str) -> Result<&'static str, AwsError> {
    match value.to_ascii_lowercase().as_str() {
        "true" => Ok("true"),
        "false" => Ok("false"),
        _ => Err(invalid(name, "it must be true or false")),
    }
}

fn invalid(name: &str, reason: &str) -> AwsError {
    AwsError::invalid_parameter(format!("Invalid parameter: {name} Reason: {reason}"))
}

/// What SNS gives a topic that was given no policy.
fn default_policy(arn: &str, account: &str) -> Value {
    json!({
        "Version": "2008-10-17",
        "Id": "__default_policy_ID",
        "Statement": [{
            "Effect": "Allow",
            "Sid": "__default_statement_ID",
            "Principal": { "AWS": "*" },
            "Action": [
                "SNS:GetTopicAttributes", "SNS:SetTopicAttributes", "SNS:AddPermission", "SNS:RemovePermission",
                "SNS:DeleteTopic", "SNS:Subscribe", "SNS:ListSubscriptionsByTopic", "SNS:Publish",
            ],
            "Resource": arn,
            "Condition": { "StringEquals": { "AWS:SourceOwner": account } },
        }],
    })
}

#[cfg(test)]
#[path = "topic_tests.rs"]
mod tests;
