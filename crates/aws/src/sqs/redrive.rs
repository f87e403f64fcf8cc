//! Where messages go that failed too often: `RedrivePolicy` of a queue, and `RedriveAllowPolicy` of the one that takes them.
//!
//! In -> out: texts of JSON -> policies; a queue and its policy -> settings of the broker's queue.

use super::attributes::{REDRIVE_ALLOW_POLICY, REDRIVE_POLICY};
use fanlog_aws_protocol::AwsError;
use fanlog_aws_protocol::arn::Arn;
use serde_json::{Value, json};

/// How often a message may be received at most, before it is a dead letter.
const RECEIVES_MAX: u64 = 1_000;
/// How many queues an allow policy names at most.
const SOURCES_MAX: usize = 10;

/// Where dead letters go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RedrivePolicy {
    /// The queue that takes them.
    pub(super) target: Arn,
    /// How often a message is received before.
    pub(super) receives_max: u64,
}

/// Which queues may send their dead letters here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RedriveAllowPolicy {
    /// All.
    All,
    /// None.
    None,
    /// These.
    Queues(Vec<String>),
}

fn wrong(value: &str, reason: &str) -> AwsError {
    AwsError::invalid_value_for(REDRIVE_POLICY, value, reason)
}

/// The policy; none if the text is empty, as it is to take one back.
pub(super) fn policy(text: &str) -> Result<Option<RedrivePolicy>, AwsError> {
    if text.is_empty() {
        return Ok(None);
    }
    let not_json = "Redrive policy is not a valid JSON map.";
    let value: Value = serde_json::from_str(text).map_err(|_| wrong(text, not_json))?;
    let members = value.as_object().ok_or_else(|| wrong(text, not_json))?;
    if members.is_empty() {
        return Ok(None);
    }
    let mandatory = |name: &str| {
        let reason = format!("Redrive policy does not contain mandatory attribute: {name}.");
        members.get(name).ok_or_else(|| wrong(text, &reason))
    };
    let target = mandatory("deadLetterTargetArn")?;
    let target = target.as_str().and_then(Arn::parse);
    let target = target.filter(|target| target.service == "sqs");
    let count = mandatory("maxReceiveCount")?;
    let number = count.as_u64().or_else(|| count.as_str()?.parse().ok());
    let number = number.filter(|number| (1..=RECEIVES_MAX).contains(number));
    Ok(Some(RedrivePolicy {
        target: target.ok_or_else(|| wrong(text, "Invalid value for deadLetterTargetArn."))?,
        receives_max: number.ok_or_else(|| {
            let reason = format!(
                "Invalid value for maxReceiveCount: {count}, valid values are from 1 to {RECEIVES_MAX} both inclusive."
            );
            wrong(text, &reason)
        })?,
    }))
}

/// The policy as it is kept: as it was written, with the count as a number.
pub(super) fn canonical_policy(text: &str) -> Result<String, AwsError> {
    let Some(policy) = policy(text)? else {
        return Ok(String::new());
    };
    let has_number =
        serde_json::from_str::<Value>(text).is_ok_and(|value| value["maxReceiveCount"].is_u64());
    Ok(match has_number {
        true => text.to_owned(),
        false => json!({
            "deadLetterTargetArn": policy.target.to_string(),
            "maxReceiveCount": policy.receives_max,
        })
        .to_string(),
    })
}

/// The allow policy; an empty text allows all.
pub(super) fn allow_policy(text: &str) -> Result<RedriveAllowPolicy, AwsError> {
    let wrong = |reason: &str| AwsError::invalid_value_for(REDRIVE_ALLOW_POLICY, text, reason);
    if text.is_empty() {
        return Ok(RedriveAllowPolicy::All);
    }
    let not_json = || wrong("Redrive allow policy is not a valid JSON map.");
    let value: Value = serde_json::from_str(text).map_err(|_| not_json())?;
    let sources = &value["sourceQueueArns"];
    match (value["redrivePermission"].as_str(), sources) {
        (Some("allowAll"), Value::Null) => Ok(RedriveAllowPolicy::All),
        (Some("denyAll"), Value::Null) => Ok(RedriveAllowPolicy::None),
        (Some("byQueue"), Value::Array(sources)) if (1..=SOURCES_MAX).contains(&sources.len()) => {
            let arn = |source: &Value| {
                let text = source.as_str().filter(|text| Arn::parse(text).is_some());
                text.map(str::to_owned)
            };
            let sources = sources.iter().map(arn).collect::<Option<_>>();
            let sources =
                sources.ok_or_else(|| wrong("sourceQueueArns must be ARNs of queues."))?;
            Ok(RedriveAllowPolicy::Queues(sources))
        }
        (Some("byQueue"), _) => Err(wrong(
            "sourceQueueArns must list 1 to 10 queues with redrivePermission byQueue.",
        )),
        (Some("allowAll" | "denyAll"), _) => Err(wrong(
            "sourceQueueArns is taken with redrivePermission byQueue only.",
        )),
        _ => Err(wrong(
            "redrivePermission must be allowAll, denyAll or byQueue.",
        )),
    }
}

/// The allow policy as it is kept: as it was written.
pub(super) fn canonical_allow_policy(text: &str) -> Result<String, AwsError> {
    allow_policy(text).map(|_| text.to_owned())
}

impl RedriveAllowPolicy {
    /// Whether the queue may send its dead letters here.
    pub(super) fn allows(&self, source: &Arn) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Queues(queues) => queues.contains(&source.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARN: &str = "arn:aws:sqs:us-east-1:000000000000:dead";

    #[test]
    fn a_policy_names_a_queue_and_a_count() {
        let check = |text: &str, expected: Result<Option<u64>, &str>| match (policy(text), expected)
        {
            (Ok(policy), Ok(expected)) => {
                assert_eq!(policy.map(|policy| policy.receives_max), expected, "{text}");
            }
            (Err(error), Err(expected)) => {
                assert!(error.message.contains(expected), "{}", error.message);
            }
            (got, _) => panic!("{text}: {got:?}"),
        };
        let of = |count: Value| json!({"deadLetterTargetArn": ARN, "maxReceiveCount": count});
        check(&of(json!(3)).to_string(), Ok(Some(3)));
        check(&of(json!("3")).to_string(), Ok(Some(3)));
        check("", Ok(None));
        check("{}", Ok(None));
        check(&of(json!(0)).to_string(), Err("from 1 to 1000"));
        check(&of(json!(1001)).to_string(), Err("from 1 to 1000"));
        check(r#"{"maxReceiveCount":1}"#, Err("deadLetterTargetArn"));
        check(
            &json!({ "deadLetterTargetArn": ARN }).to_string(),
            Err("maxReceiveCount"),
        );
        check("x", Err("not a valid JSON map"));
        check("[]", Err("not a valid JSON map"));
    }

    #[test]
    fn a_policy_is_kept_as_it_was_written_with_its_count_as_a_number() {
        let written = format!(r#"{{"deadLetterTargetArn": "{ARN}", "maxReceiveCount": 3}}"#);
        assert_eq!(canonical_policy(&written).unwrap(), written);
        let with_text = format!(r#"{{"deadLetterTargetArn":"{ARN}","maxReceiveCount":"3"}}"#);
        let kept: Value = serde_json::from_str(&canonical_policy(&with_text).unwrap()).unwrap();
        assert_eq!(kept["maxReceiveCount"], 3);
    }

    #[test]
    fn an_allow_policy_says_who_may_send_dead_letters() {
        let source = Arn::queue("us-east-1", "000000000000", "mail");
        let allows = |text: &str| allow_policy(text).map(|policy| policy.allows(&source)).ok();
        assert_eq!(allows(""), Some(true));
        assert_eq!(allows(r#"{"redrivePermission":"allowAll"}"#), Some(true));
        assert_eq!(allows(r#"{"redrivePermission":"denyAll"}"#), Some(false));
        let by_queue = |arn: &str| {
            let policy = json!({"redrivePermission": "byQueue", "sourceQueueArns": [arn]});
            allows(&policy.to_string())
        };
        assert_eq!(by_queue(&source.to_string()), Some(true));
        assert_eq!(by_queue(ARN), Some(false));
        assert_eq!(by_queue("mail"), None);
        assert_eq!(allows(r#"{"redrivePermission":"byQueue"}"#), None);
        assert_eq!(allows(r#"{"redrivePermission":"sometimes"}"#), None);
        assert_eq!(allows("x"), None);
    }
}
