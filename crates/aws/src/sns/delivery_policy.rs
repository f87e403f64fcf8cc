//! How often, after which waits and how fast an endpoint is tried: the delivery policies of topics and subscriptions.
//!
//! In -> out: two policies as JSON -> what is in force; the number of an attempt -> how long it rests before the next.
//!
//! ```text
//! topic         {"http": {"defaultHealthyRetryPolicy": {..}, "disableSubscriptionOverrides": false,
//!                "defaultThrottlePolicy": {"maxReceivesPerSecond": 5}, "defaultRequestPolicy": {"headerContentType": "text/plain"}}}
//! subscription  {"healthyRetryPolicy": {..}, "throttlePolicy": {..}, "requestPolicy": {..}}
//! retry policy  {"numRetries": 3, "minDelayTarget": 20, "maxDelayTarget": 20, "numNoDelayRetries": 0, "numMinDelayRetries": 0,
//!                "numMaxDelayRetries": 0, "backoffFunction": "linear" | "arithmetic" | "geometric" | "exponential"}
//! ```
//! The retries: at once, then at the shortest wait, then with waits that grow from the shortest to the longest, then at the longest.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// AWS's limits, in retries and seconds.
const RETRIES_MAX: u32 = 100;
const DELAY_MAX: u32 = 3_600;
/// The type of a notification's body, unless the policy says another.
pub(crate) const CONTENT_TYPE: &str = "text/plain; charset=UTF-8";
const CONTENT_TYPE_LENGTH_MAX: usize = 256;

/// Which endpoint is tried how often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct RetryPolicy {
    pub(crate) num_retries: u32,
    num_no_delay_retries: u32,
    num_min_delay_retries: u32,
    num_max_delay_retries: u32,
    min_delay_target: u32,
    max_delay_target: u32,
    backoff_function: Backoff,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Backoff {
    #[default]
    Linear,
    Arithmetic,
    Geometric,
    Exponential,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            num_retries: 3,
            num_no_delay_retries: 0,
            num_min_delay_retries: 0,
            num_max_delay_retries: 0,
            min_delay_target: 20,
            max_delay_target: 20,
            backoff_function: Backoff::Linear,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Throttle {
    max_receives_per_second: Option<u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Request {
    header_content_type: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct OfTopic {
    http: Option<OfTopicHttp>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct OfTopicHttp {
    default_healthy_retry_policy: Option<RetryPolicy>,
    disable_subscription_overrides: bool,
    default_throttle_policy: Option<Throttle>,
    default_request_policy: Option<Request>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct OfSubscription {
    healthy_retry_policy: Option<RetryPolicy>,
    throttle_policy: Option<Throttle>,
    request_policy: Option<Request>,
}

/// What is in force for a subscription, or for those of a topic that say nothing else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DeliveryPolicy {
    pub(crate) retry: RetryPolicy,
    /// How many messages a second are sent at most.
    pub(crate) per_second_max: Option<u32>,
    content_type: Option<String>,
}

impl DeliveryPolicy {
    /// What is in force of a topic's policy and a subscription's: empty texts for none. What cannot be read counts for nothing: it was
    /// refused when it was set.
    pub(crate) fn of(topic: &str, subscription: &str) -> Self {
        let topic: OfTopic = serde_json::from_str(topic).unwrap_or_default();
        let topic = topic.http.unwrap_or_default();
        let own: OfSubscription = match topic.disable_subscription_overrides {
            true => OfSubscription::default(),
            false => serde_json::from_str(subscription).unwrap_or_default(),
        };
        let throttle = own.throttle_policy.or(topic.default_throttle_policy);
        let request = own.request_policy.or(topic.default_request_policy);
        let retry = own
            .healthy_retry_policy
            .or(topic.default_healthy_retry_policy);
        Self {
            retry: retry.unwrap_or_default(),
            per_second_max: throttle.and_then(|throttle| throttle.max_receives_per_second),
            content_type: request.and_then(|request| request.header_content_type),
        }
    }

    /// The type of a notification's body.
    pub(crate) fn content_type(&self) -> &str {
        self.content_type.as_deref().unwrap_or(CONTENT_TYPE)
    }

    /// As `EffectiveDeliveryPolicy` says it.
    pub(crate) fn shown(&self) -> String {
        let throttle = self
            .per_second_max
            .map(|max| serde_json::json!({ "maxReceivesPerSecond": max }));
        let mut shown = serde_json::json!({
            "defaultHealthyRetryPolicy": self.retry,
            "sicklyRetryPolicy": null,
            "throttlePolicy": throttle,
            "guaranteed": false,
        });
        if let Some(content_type) = &self.content_type {
            shown["requestPolicy"] = serde_json::json!({ "headerContentType": content_type });
        }
        shown.to_string()
    }
}

/// Whether a topic's policy is one.
///
/// # Errors
/// What is wrong with it, in words.
pub(crate) fn check_topic(policy: &str) -> Result<(), String> {
    if policy.is_empty() {
        return Ok(());
    }
    let policy: OfTopic = serde_json::from_str(policy).map_err(|error| error.to_string())?;
    let http = policy.http.unwrap_or_default();
    check(
        http.default_healthy_retry_policy.as_ref(),
        http.default_throttle_policy.as_ref(),
        http.default_request_policy.as_ref(),
    )
}

/// Whether a subscription's policy is one.
///
/// # Errors
/// What is wrong with it, in words.
pub(crate) fn check_subscription(policy: &str) -> Result<(), String> {
    if policy.is_empty() {
        return Ok(());
    }
    let policy: OfSubscription = serde_json::from_str(policy).map_err(|error| error.to_string())?;
    check(
        policy.healthy_retry_policy.as_ref(),
        policy.throttle_policy.as_ref(),
        policy.request_policy.as_ref(),
    )
}

fn check(
    retry: Option<&RetryPolicy>,
    throttle: Option<&Throttle>,
    request: Option<&Request>,
) -> Result<(), String> {
    retry.map_or(Ok(()), RetryPolicy::check)?;
    if throttle.is_some_and(|throttle| throttle.max_receives_per_second == Some(0)) {
        return Err("throttlePolicy.maxReceivesPerSecond must be 1 or more".to_owned());
    }
    let content_type = request.and_then(|request| request.header_content_type.as_deref());
    let is_header = |text: &str| {
        let is_legal = |byte: u8| (b' '..=b'~').contains(&byte);
        (1..=CONTENT_TYPE_LENGTH_MAX).contains(&text.len()) && text.bytes().all(is_legal)
    };
    match content_type.is_none_or(is_header) {
        true => Ok(()),
        false => Err("requestPolicy.headerContentType must be the value of a header".to_owned()),
    }
}

impl RetryPolicy {
    fn check(&self) -> Result<(), String> {
        let phased = [
            self.num_no_delay_retries,
            self.num_min_delay_retries,
            self.num_max_delay_retries,
        ];
        let phased = phased.into_iter().fold(0_u32, u32::saturating_add);
        if self.num_retries > RETRIES_MAX {
            return Err(format!("numRetries must be {RETRIES_MAX} or less"));
        }
        if phased > self.num_retries {
            return Err(
                "numRetries must be at least the sum of numNoDelayRetries, numMinDelayRetries and numMaxDelayRetries"
                    .to_owned(),
            );
        }
        if self.min_delay_target == 0 || self.min_delay_target > self.max_delay_target {
            return Err(
                "minDelayTarget must be 1 or more, and maxDelayTarget at least as much".to_owned(),
            );
        }
        match self.max_delay_target > DELAY_MAX {
            true => Err(format!("maxDelayTarget must be {DELAY_MAX} or less")),
            false => Ok(()),
        }
    }

    /// How long a message rests when this attempt of it, from 1, has failed; nothing if it was the last.
    pub(crate) fn delay_after(&self, attempt: u32) -> Option<Duration> {
        let retry = attempt.checked_sub(1)?;
        if retry >= self.num_retries {
            return None;
        }
        let min = f64::from(self.min_delay_target);
        let max = f64::from(self.max_delay_target);
        let growing_from = self.num_no_delay_retries + self.num_min_delay_retries;
        let growing_to = self.num_retries - self.num_max_delay_retries;
        let seconds = if retry < self.num_no_delay_retries {
            0.0
        } else if retry < growing_from {
            min
        } else if retry >= growing_to {
            max
        } else {
            let step = f64::from(retry - growing_from + 1);
            let steps = f64::from(growing_to - growing_from);
            self.backoff_function.between(min, max, step, steps)
        };
        Some(Duration::from_secs_f64(seconds))
    }
}

impl Backoff {
    /// The wait at one of the steps, from 1 to their number, where it is the longest.
    fn between(self, min: f64, max: f64, step: f64, steps: f64) -> f64 {
        let part = match self {
            Self::Linear => step / steps,
            Self::Arithmetic => step * (step + 1.0) / (steps * (steps + 1.0)),
            Self::Geometric => return min * (max / min).powf(step / steps),
            Self::Exponential => (step.exp2() - 1.0) / (steps.exp2() - 1.0),
        };
        min + (max - min) * part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(policy: &str) -> Vec<u64> {
        let policy = DeliveryPolicy::of("", &format!(r#"{{"healthyRetryPolicy": {policy}}}"#));
        let waits = (1..).map_while(|attempt| policy.retry.delay_after(attempt));
        waits.map(|wait| wait.as_secs()).collect()
    }

    #[test]
    fn retries_come_at_once_then_early_then_later_and_late() {
        assert_eq!(waits("{}"), [20, 20, 20]);
        assert_eq!(waits(r#"{"numRetries": 0}"#), [0_u64; 0]);
        let phases = r#"{"numRetries": 8, "minDelayTarget": 1, "maxDelayTarget": 10, "numNoDelayRetries": 2,
            "numMinDelayRetries": 1, "numMaxDelayRetries": 2"#;
        let with =
            |function: &str| waits(&format!(r#"{phases}, "backoffFunction": "{function}"}}"#));
        assert_eq!(with("linear"), [0, 0, 1, 4, 7, 10, 10, 10]);
        assert_eq!(with("arithmetic"), [0, 0, 1, 2, 5, 10, 10, 10]);
        assert_eq!(with("geometric"), [0, 0, 1, 2, 4, 10, 10, 10]);
        assert_eq!(with("exponential"), [0, 0, 1, 2, 4, 10, 10, 10]);
    }

    #[test]
    fn a_subscription_goes_before_its_topic_unless_that_forbids_it() {
        let topic = r#"{"http": {"defaultHealthyRetryPolicy": {"numRetries": 5}, "defaultThrottlePolicy": {"maxReceivesPerSecond": 7}}}"#;
        let own = r#"{"healthyRetryPolicy": {"numRetries": 9}, "requestPolicy": {"headerContentType": "application/json"}}"#;
        let both = DeliveryPolicy::of(topic, own);
        assert_eq!(both.retry.num_retries, 9);
        assert_eq!(both.per_second_max, Some(7));
        assert_eq!(both.content_type(), "application/json");
        assert_eq!(DeliveryPolicy::of(topic, "").retry.num_retries, 5);
        let closed = topic.replace(
            "\"defaultThrottle",
            "\"disableSubscriptionOverrides\": true, \"defaultThrottle",
        );
        let closed = DeliveryPolicy::of(&closed, own);
        assert_eq!(closed.retry.num_retries, 5);
        assert_eq!(closed.content_type(), CONTENT_TYPE);
    }

    #[test]
    fn what_is_in_force_without_a_policy_is_what_aws_says() {
        let shown: serde_json::Value =
            serde_json::from_str(&DeliveryPolicy::default().shown()).unwrap();
        let expected = serde_json::json!({
            "defaultHealthyRetryPolicy": {
                "numNoDelayRetries": 0, "numMinDelayRetries": 0, "minDelayTarget": 20, "maxDelayTarget": 20,
                "numMaxDelayRetries": 0, "numRetries": 3, "backoffFunction": "linear"
            },
            "sicklyRetryPolicy": null, "throttlePolicy": null, "guaranteed": false
        });
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_policy_that_means_nothing_is_refused() {
        let check = |policy: &str, expected: &str| {
            let error = check_subscription(policy).expect_err(policy);
            assert!(error.contains(expected), "{policy}: {error}");
        };
        check("{", "EOF");
        check(
            r#"{"healthyRetryPolicy": {"numRetries": 101}}"#,
            "100 or less",
        );
        check(
            r#"{"healthyRetryPolicy": {"numRetries": -1}}"#,
            "invalid value",
        );
        check(
            r#"{"healthyRetryPolicy": {"numRetries": 1, "numNoDelayRetries": 2}}"#,
            "the sum of",
        );
        check(
            r#"{"healthyRetryPolicy": {"minDelayTarget": 30}}"#,
            "at least as much",
        );
        check(
            r#"{"healthyRetryPolicy": {"maxDelayTarget": 3601}}"#,
            "3600 or less",
        );
        check(
            r#"{"healthyRetryPolicy": {"backoffFunction": "cubic"}}"#,
            "unknown variant",
        );
        check(
            r#"{"throttlePolicy": {"maxReceivesPerSecond": 0}}"#,
            "1 or more",
        );
        check(
            r#"{"requestPolicy": {"headerContentType": "a\r\nb: c"}}"#,
            "value of a header",
        );
        let healthy = r#"{"http": {"defaultHealthyRetryPolicy": {"numRetries": 5}}}"#;
        assert_eq!(check_topic(healthy), Ok(()));
        assert!(
            check_topic(r#"{"http": {"defaultHealthyRetryPolicy": {"numRetries": 500}}}"#).is_err()
        );
        assert_eq!(check_topic(""), Ok(()));
    }
}
