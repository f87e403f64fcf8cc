//! The attributes of a queue that can be set: which there are, which values they take, and how two of them compare.
//!
//! Amazon's SDKs send numbers, truth values and policies alike as text. They are kept as text, in one form per value, so that a queue
//! made twice with the same attributes is the same queue.
//!
//! Two things are taken that Amazon refuses, since programs that are tested against emulators rely on them: blanks around a name, and a
//! `FifoQueue` that is not `true`, for a queue that is none.

use super::redrive;
use fanlog_aws_protocol::AwsError;
use fanlog_aws_protocol::limits::{
    DELAY_SECONDS_MAX, MESSAGE_BYTES_LIMIT_MIN, MESSAGE_BYTES_MAX, VISIBILITY_SECONDS_MAX,
    WAIT_SECONDS_MAX,
};
use serde_json::Value;
use std::collections::BTreeMap;

/// Attributes by name, as text.
pub(super) type Attributes = BTreeMap<String, String>;

pub(super) const CONTENT_BASED_DEDUPLICATION: &str = "ContentBasedDeduplication";
pub(super) const DEDUPLICATION_SCOPE: &str = "DeduplicationScope";
pub(super) const DELAY: &str = "DelaySeconds";
pub(super) const FIFO_QUEUE: &str = "FifoQueue";
pub(super) const FIFO_THROUGHPUT_LIMIT: &str = "FifoThroughputLimit";
const KMS_KEY: &str = "KmsMasterKeyId";
const KMS_REUSE: &str = "KmsDataKeyReusePeriodSeconds";
pub(super) const MESSAGE_BYTES: &str = "MaximumMessageSize";
pub(super) const RETENTION: &str = "MessageRetentionPeriod";
pub(super) const POLICY: &str = "Policy";
pub(super) const WAIT: &str = "ReceiveMessageWaitTimeSeconds";
pub(super) const REDRIVE_ALLOW_POLICY: &str = "RedriveAllowPolicy";
pub(super) const REDRIVE_POLICY: &str = "RedrivePolicy";
const MANAGED_SSE: &str = "SqsManagedSseEnabled";
pub(super) const VISIBILITY: &str = "VisibilityTimeout";

/// `DeduplicationScope` of a queue that remembers messages for each group apart.
pub(super) const PER_GROUP: &str = "messageGroup";

/// The longest that messages are kept, in seconds: fourteen days.
const RETENTION_SECONDS_MAX: i64 = 1_209_600;
/// The longest that Amazon's keys are used again, in seconds.
const KMS_REUSE_SECONDS: (i64, i64) = (60, 86_400);
/// The longest policy.
const POLICY_BYTES_MAX: usize = 64 * 1024;
/// The longest name of a key.
const KEY_BYTES_MAX: usize = 2_048;

/// Those that every queue has, with what they are if they are not given.
const DEFAULTS: &[(&str, &str)] = &[
    (DELAY, "0"),
    (MESSAGE_BYTES, "1048576"),
    (RETENTION, "345600"),
    (WAIT, "0"),
    (VISIBILITY, "30"),
];

/// Those that every FIFO queue has beside them.
const FIFO_DEFAULTS: &[(&str, &str)] = &[
    (CONTENT_BASED_DEDUPLICATION, "false"),
    (DEDUPLICATION_SCOPE, "queue"),
    (FIFO_QUEUE, "true"),
    (FIFO_THROUGHPUT_LIMIT, "perQueue"),
];

/// Those that a queue has only if they were given.
const OPTIONAL: &[&str] = &[
    KMS_KEY,
    KMS_REUSE,
    POLICY,
    REDRIVE_ALLOW_POLICY,
    REDRIVE_POLICY,
    MANAGED_SSE,
];

/// Those that are asked for and never set.
pub(super) const OBSERVED: &[&str] = &[
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesDelayed",
    "ApproximateNumberOfMessagesNotVisible",
    "CreatedTimestamp",
    "LastModifiedTimestamp",
    "QueueArn",
];

/// Whether a request asks for a FIFO queue.
pub(super) fn wants_fifo(given: &Attributes) -> bool {
    let named = given.iter().find(|(name, _)| name.trim() == FIFO_QUEUE);
    named.is_some_and(|(_, value)| value.eq_ignore_ascii_case("true"))
}

/// Whether an attribute of this name may be asked for.
pub(super) fn is_known(name: &str) -> bool {
    let with_default = DEFAULTS.iter().chain(FIFO_DEFAULTS).map(|(name, _)| *name);
    let mut known = with_default.chain(OPTIONAL.iter().chain(OBSERVED).copied());
    name == "All" || known.any(|known| known == name)
}

/// The attributes of a request, checked and in canonical form; an empty text takes an attribute back.
pub(super) fn checked(given: &Attributes, is_fifo: bool) -> Result<Attributes, AwsError> {
    let mut checked = Attributes::new();
    for (name, value) in given {
        let name = name.trim();
        let is_of_fifo = FIFO_DEFAULTS.iter().any(|(of_fifo, _)| *of_fifo == name);
        if name == FIFO_QUEUE {
            // What it is, its name says too.
            continue;
        }
        if is_of_fifo && !is_fifo {
            return Err(AwsError::invalid_attribute_name(name));
        }
        checked.insert(name.to_owned(), canonical(name, value)?);
    }
    Ok(checked)
}

/// What contradicts itself is refused once all is known.
pub(super) fn check_together(attributes: &Attributes) -> Result<(), AwsError> {
    let is = |name: &str, value: &str| attributes.get(name).is_some_and(|given| given == value);
    if is(FIFO_THROUGHPUT_LIMIT, "perMessageGroupId") && !is(DEDUPLICATION_SCOPE, PER_GROUP) {
        let message = "The perMessageGroupId value is allowed only when the value for DeduplicationScope is messageGroup.";
        return Err(AwsError::invalid_parameter_value(message));
    }
    let seconds = |name: &str| attributes.get(name)?.parse::<i64>().ok();
    if let (Some(delay), Some(retention)) = (seconds(DELAY), seconds(RETENTION))
        && delay >= retention
    {
        // Amazon takes it, and no message is ever received.
        return Err(AwsError::invalid_parameter_value(format!(
            "DelaySeconds is {delay} and MessageRetentionPeriod {retention}: messages would be too old before they can be received."
        )));
    }
    Ok(())
}

fn canonical(name: &str, value: &str) -> Result<String, AwsError> {
    let number = |least: i64, most: i64| {
        let number = value.trim().parse::<i64>().ok();
        let number = number.filter(|number| (least..=most).contains(number));
        number
            .map(|number| number.to_string())
            .ok_or_else(|| AwsError::invalid_attribute_value(name))
    };
    let one_of = |values: &[&'static str]| {
        let found = values
            .iter()
            .find(|known| known.eq_ignore_ascii_case(value));
        found
            .map(|found| (*found).to_owned())
            .ok_or_else(|| AwsError::invalid_attribute_value(name))
    };
    let bytes_max = MESSAGE_BYTES_MAX as i64;
    match name {
        DELAY => number(0, DELAY_SECONDS_MAX),
        MESSAGE_BYTES => number(MESSAGE_BYTES_LIMIT_MIN as i64, bytes_max),
        // Amazon's least is a minute: shorter ones help who tests.
        RETENTION => number(1, RETENTION_SECONDS_MAX),
        WAIT => number(0, WAIT_SECONDS_MAX),
        VISIBILITY => number(0, VISIBILITY_SECONDS_MAX),
        KMS_REUSE => number(KMS_REUSE_SECONDS.0, KMS_REUSE_SECONDS.1),
        CONTENT_BASED_DEDUPLICATION | MANAGED_SSE => one_of(&["true", "false"]),
        DEDUPLICATION_SCOPE => one_of(&["queue", PER_GROUP]),
        FIFO_THROUGHPUT_LIMIT => one_of(&["perQueue", "perMessageGroupId"]),
        KMS_KEY if value.len() <= KEY_BYTES_MAX => Ok(value.to_owned()),
        POLICY => policy(value),
        REDRIVE_POLICY => redrive::canonical_policy(value),
        REDRIVE_ALLOW_POLICY => redrive::canonical_allow_policy(value),
        KMS_KEY => Err(AwsError::invalid_attribute_value(name)),
        _ => Err(AwsError::invalid_attribute_name(name)),
    }
}

fn policy(value: &str) -> Result<String, AwsError> {
    let is_object = || serde_json::from_str::<Value>(value).is_ok_and(|policy| policy.is_object());
    match value.is_empty() || (value.len() <= POLICY_BYTES_MAX && is_object()) {
        true => Ok(value.to_owned()),
        false => Err(AwsError::invalid_attribute_value(POLICY)),
    }
}

/// Puts changes into the attributes that were given before.
pub(super) fn put(attributes: &mut Attributes, changes: Attributes) {
    for (name, value) in changes {
        match value.is_empty() {
            true => attributes.remove(&name),
            false => attributes.insert(name, value),
        };
    }
}

/// The first attribute of a request in which it differs from those in force.
pub(super) fn first_difference(in_force: &Attributes, asked: &Attributes) -> Option<String> {
    let differs = |(name, value): &(&String, &String)| {
        let of_queue = in_force.get(*name).map_or("", String::as_str);
        !are_same(name, of_queue, value)
    };
    let different = asked.iter().find(differs);
    different.map(|(name, _)| name.clone())
}

fn are_same(name: &str, one: &str, other: &str) -> bool {
    let is_json = [POLICY, REDRIVE_POLICY, REDRIVE_ALLOW_POLICY].contains(&name);
    let read = |text: &str| serde_json::from_str::<Value>(text).ok();
    one == other || (is_json && read(one).is_some() && read(one) == read(other))
}

/// All attributes in force: those given, and the defaults of the others.
pub(super) fn in_force(given: &Attributes, is_fifo: bool) -> Attributes {
    let of_fifo = FIFO_DEFAULTS.iter().filter(|_| is_fifo);
    let defaults = DEFAULTS.iter().chain(of_fifo);
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let mut all: Attributes = defaults.map(owned).collect();
    all.extend(given.clone());
    all
}

/// The value in force of an attribute that every queue has.
pub(super) fn number(given: &Attributes, name: &str) -> i64 {
    let default = DEFAULTS.iter().find(|(of, _)| *of == name);
    let text = given.get(name).map(String::as_str);
    let text = text.or(default.map(|(_, value)| *value)).unwrap_or("0");
    text.parse().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(attributes: &[(&str, &str)]) -> Attributes {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        attributes.iter().map(owned).collect()
    }

    #[test]
    fn values_are_checked_and_have_one_form() {
        let check = |name: &str, value: &str, expected: Result<&str, &str>| {
            let checked = checked(&given(&[(name, value)]), true);
            let checked = checked.map(|checked| checked[name.trim()].clone());
            let checked = checked.map_err(|error| error.query_code);
            assert_eq!(checked, expected.map(str::to_owned), "{name}={value}");
        };
        check("VisibilityTimeout", "030", Ok("30"));
        check("VisibilityTimeout ", "1", Ok("1"));
        check("VisibilityTimeout", "43201", Err("InvalidAttributeValue"));
        check("VisibilityTimeout", "-1", Err("InvalidAttributeValue"));
        check("VisibilityTimeout", "x", Err("InvalidAttributeValue"));
        check("DelaySeconds", "900", Ok("900"));
        check("MaximumMessageSize", "1023", Err("InvalidAttributeValue"));
        check(
            "MaximumMessageSize",
            "1048577",
            Err("InvalidAttributeValue"),
        );
        check("ContentBasedDeduplication", "True", Ok("true"));
        check("DeduplicationScope", "group", Err("InvalidAttributeValue"));
        check("Policy", "[]", Err("InvalidAttributeValue"));
        check("Policy", "{}", Ok("{}"));
        check("QueueArn", "x", Err("InvalidAttributeName"));
        check("Nonsense", "x", Err("InvalidAttributeName"));
    }

    #[test]
    fn attributes_of_fifo_queues_are_theirs_alone() {
        let deduplication = given(&[(CONTENT_BASED_DEDUPLICATION, "true")]);
        assert!(checked(&deduplication, true).is_ok());
        assert!(checked(&deduplication, false).is_err());
        assert!(checked(&given(&[(FIFO_QUEUE, "false")]), false).is_ok());
        assert!(wants_fifo(&given(&[(FIFO_QUEUE, "true")])));
        assert!(!wants_fifo(&given(&[(FIFO_QUEUE, "tru")])));
        let limit = given(&[(FIFO_THROUGHPUT_LIMIT, "perMessageGroupId")]);
        assert!(check_together(&limit).is_err());
        let both = [
            (FIFO_THROUGHPUT_LIMIT, "perMessageGroupId"),
            (DEDUPLICATION_SCOPE, PER_GROUP),
        ];
        assert!(check_together(&given(&both)).is_ok());
    }

    #[test]
    fn a_queue_made_again_differs_in_the_attributes_that_were_said() {
        let of_queue = in_force(
            &given(&[(VISIBILITY, "10"), (POLICY, r#"{"a": 1}"#)]),
            false,
        );
        let check = |asked: &[(&str, &str)], expected: Option<&str>| {
            let different = first_difference(&of_queue, &given(asked));
            assert_eq!(different.as_deref(), expected, "{asked:?}");
        };
        check(&[], None);
        check(&[(VISIBILITY, "10"), (DELAY, "0")], None);
        check(&[(VISIBILITY, "30")], Some(VISIBILITY));
        check(&[(POLICY, r#"{"a":1}"#)], None);
        check(&[(POLICY, "")], Some(POLICY));
        check(&[(REDRIVE_POLICY, "{}")], Some(REDRIVE_POLICY));
    }

    #[test]
    fn an_empty_text_takes_an_attribute_back() {
        let mut attributes = given(&[(POLICY, "{}"), (DELAY, "1")]);
        put(&mut attributes, given(&[(POLICY, ""), (VISIBILITY, "5")]));
        assert_eq!(attributes, given(&[(DELAY, "1"), (VISIBILITY, "5")]));
        assert_eq!(number(&attributes, VISIBILITY), 5);
        assert_eq!(number(&attributes, RETENTION), 345_600);
    }
}
