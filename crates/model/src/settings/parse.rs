//! One value against one declaration.

use super::aws_settings::{AwsCredentials, is_account, is_region};
use super::declaration::{Effect, Setting, SettingType, Valid};
use super::queue_settings::{Backoff, DeadLetter, Until, duration};
use super::share_settings::OffsetReset;
use super::topic_settings::{Durability, INTERVAL_MS_MAX};
use std::collections::BTreeSet;
use std::time::Duration;
use thiserror::Error;

/// Why a setting's value is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SettingError {
    /// No such setting.
    #[error("unknown {of} setting '{name}'; docs/settings.md lists those there are")]
    Unknown {
        /// `topic`, `broker`, `group` or `queue`.
        of: &'static str,
        /// The name given.
        name: String,
    },
    /// The value is not of the setting's type or out of its range.
    #[error("invalid value '{value}' for setting {name}: expected {expected}")]
    Invalid {
        /// The setting.
        name: &'static str,
        /// The value given; a secret is not repeated.
        value: String,
        /// What would be taken.
        expected: String,
    },
    /// A value that Kafka takes and this broker does not.
    #[error("setting {name} can't be '{value}' here: {reason}; leave it {default}")]
    Unsupported {
        /// The setting.
        name: &'static str,
        /// The value given.
        value: String,
        /// Why.
        reason: &'static str,
        /// The only value taken, in words.
        default: String,
    },
    /// The value is too long to keep.
    #[error("the value of setting {name} has {length} bytes; at most {max} are kept")]
    TooLong {
        /// The setting.
        name: &'static str,
        /// Its length.
        length: usize,
        /// The most allowed.
        max: usize,
    },
    /// The settings of one resource are too long together.
    #[error("the settings have {length} bytes together; at most {max} are kept")]
    TooLongTogether {
        /// Their length.
        length: usize,
        /// The most allowed.
        max: usize,
    },
    /// Two settings contradict each other.
    #[error("setting {name} ({value}) may not be above {above} ({bound})")]
    Above {
        /// The setting that is too large.
        name: &'static str,
        /// Its value.
        value: String,
        /// The setting that bounds it.
        above: &'static str,
        /// The bound.
        bound: String,
    },
    /// The setting takes effect at start only.
    #[error(
        "setting {name} can't change while the broker runs; set it in the start-up file and restart"
    )]
    NotDynamic {
        /// The setting.
        name: &'static str,
    },
    /// The broker's own settings bound it.
    #[error(
        "setting {name} ({value}) must lie between {least} and {most}, as the broker's settings say"
    )]
    OutOfBounds {
        /// The setting.
        name: &'static str,
        /// Its value.
        value: String,
        /// The least.
        least: i64,
        /// The most.
        most: i64,
    },
    /// The setting may differ between brokers only.
    #[error("setting {name} can't be set for all brokers; name the broker")]
    PerBrokerOnly {
        /// The setting.
        name: &'static str,
    },
}

/// The values that a text may stand for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Boolean(bool),
    Number(i64),
    Fraction(f64),
    Text(String),
    List(Vec<String>),
}

impl Setting {
    /// The canonical form of `given`: trimmed, lists without blanks and repeats.
    ///
    /// # Errors
    /// When the text is not of the type, out of range, or a value that is not supported here.
    pub fn canonical(&self, given: &str) -> Result<String, SettingError> {
        let value = self.parse(given)?;
        let canonical = match value {
            Value::Boolean(value) => value.to_string(),
            Value::Number(value) => value.to_string(),
            Value::Fraction(_) => given.trim().to_owned(),
            Value::Text(value) => value,
            Value::List(items) => items.join(","),
        };
        match self.effect {
            Effect::Refused(reason) if Some(canonical.as_str()) != self.default => {
                Err(SettingError::Unsupported {
                    name: self.name,
                    value: self.shown(given),
                    reason,
                    default: self.default_in_words(),
                })
            }
            _ => Ok(canonical),
        }
    }

    pub(super) fn parse(&self, given: &str) -> Result<Value, SettingError> {
        let text = given.trim();
        let value = match self.kind {
            SettingType::Boolean => parse_boolean(text),
            SettingType::Int => text.parse::<i32>().ok().map(|n| Value::Number(n.into())),
            SettingType::Short => text.parse::<i16>().ok().map(|n| Value::Number(n.into())),
            SettingType::Long => text.parse::<i64>().ok().map(Value::Number),
            SettingType::Double => text.parse::<f64>().ok().map(Value::Fraction),
            SettingType::String | SettingType::Class => Some(Value::Text(text.to_owned())),
            SettingType::Password => Some(Value::Text(given.to_owned())),
            SettingType::List => Some(Value::List(items(text))),
        };
        value
            .filter(|value| self.valid.takes(value))
            .ok_or_else(|| SettingError::Invalid {
                name: self.name,
                value: self.shown(given),
                expected: self.expected(),
            })
    }

    fn shown(&self, given: &str) -> String {
        if self.is_sensitive() {
            return "(hidden)".to_owned();
        }
        const SHOWN_CHARACTERS_MAX: usize = 100;
        given.chars().take(SHOWN_CHARACTERS_MAX).collect()
    }

    fn default_in_words(&self) -> String {
        match self.default {
            None => "unset".to_owned(),
            Some(value) => format!("at '{value}'"),
        }
    }

    /// What the setting takes, for messages and docs.
    pub fn expected(&self) -> String {
        let kind = self.kind.with_article();
        match self.valid {
            Valid::Any if self.kind == SettingType::Boolean => "true or false".to_owned(),
            Valid::Any => kind,
            Valid::AtLeast(least) => format!("{kind} of {least} or more"),
            Valid::Between(least, most) => format!("{kind} from {least} to {most}"),
            Valid::MinusOneOr(least, most) => format!("-1, or {kind} from {least} to {most}"),
            Valid::Fraction(least, most) => format!("{kind} from {least} to {most}"),
            Valid::OneOf(texts) => format!("one of {}", texts.join(", ")),
            Valid::AnyOf(texts) => format!("a list of any of {}", texts.join(", ")),
            Valid::ThrottledReplicas => "*, or a list of partition:broker".to_owned(),
            Valid::Durability => {
                format!("sync, os, or interval:<ms> with 1 to {INTERVAL_MS_MAX} milliseconds")
            }
            Valid::OffsetReset => "latest, earliest, or by_duration:<PnDTnHnMn.nS>".to_owned(),
            Valid::Duration(least, most) => format!(
                "a duration from {} to {}, such as 500ms, 30s, 5m, 2h or 7d",
                shown_duration(least),
                shown_duration(most)
            ),
            Valid::Backoff => "none, fixed:<duration>[:<jitter>] or exponential:<first>:<max>[:<jitter>], with durations up to 7d and the jitter from 0 to 100 percent".to_owned(),
            Valid::DeadLetter => {
                "a topic's name, none, or nothing for the queue's name and .dead".to_owned()
            }
            Valid::Until => "a list of partition:offset, or nothing".to_owned(),
            Valid::AwsAccount => "twelve digits".to_owned(),
            Valid::AwsCredentials => "a list of id:secret, or nothing".to_owned(),
            Valid::AwsRegion => "small letters, digits and dashes".to_owned(),
            Valid::UnlimitedOrPositive => format!("-1 for no limit, or {kind} of 1 or more"),
        }
    }
}

impl Valid {
    fn takes(self, value: &Value) -> bool {
        match (self, value) {
            (Self::Any, _) => true,
            (Self::AtLeast(least), Value::Number(n)) => *n >= least,
            (Self::Between(least, most), Value::Number(n)) => (least..=most).contains(n),
            (Self::MinusOneOr(least, most), Value::Number(n)) => {
                *n == -1 || (least..=most).contains(n)
            }
            (Self::UnlimitedOrPositive, Value::Number(n)) => *n == -1 || *n >= 1,
            (Self::Fraction(least, most), Value::Fraction(x)) => (least..=most).contains(x),
            (Self::OneOf(texts), Value::Text(text)) => texts.contains(&text.as_str()),
            (Self::AnyOf(texts), Value::List(given)) => {
                given.iter().all(|item| texts.contains(&item.as_str()))
            }
            (Self::ThrottledReplicas, Value::List(given)) => {
                given.as_slice() == ["*"] || given.iter().all(|item| is_replica(item))
            }
            (Self::Durability, Value::Text(text)) => Durability::of(text).is_some(),
            (Self::OffsetReset, Value::Text(text)) => OffsetReset::of(text).is_some(),
            (Self::Duration(least, most), Value::Text(text)) => {
                duration(text).is_some_and(|given| {
                    let bounds = Duration::from_millis(least)..=Duration::from_millis(most);
                    bounds.contains(&given)
                })
            }
            (Self::Backoff, Value::Text(text)) => Backoff::of(text).is_some(),
            (Self::DeadLetter, Value::Text(text)) => DeadLetter::of(text).is_some(),
            (Self::Until, Value::Text(text)) => Until::of(text).is_some(),
            (Self::AwsAccount, Value::Text(text)) => is_account(text),
            (Self::AwsCredentials, Value::Text(text)) => AwsCredentials::of(text).is_some(),
            (Self::AwsRegion, Value::Text(text)) => is_region(text),
            // The tables' test holds that each range fits its type.
            _ => false,
        }
    }
}

/// In the largest unit that divides it.
fn shown_duration(ms: u64) -> String {
    const UNITS: [(u64, &str); 4] = [
        (86_400_000, "d"),
        (3_600_000, "h"),
        (60_000, "m"),
        (1_000, "s"),
    ];
    let unit = UNITS
        .into_iter()
        .find(|(unit_ms, _)| ms >= *unit_ms && ms.is_multiple_of(*unit_ms));
    let (unit_ms, name) = unit.unwrap_or((1, "ms"));
    format!("{}{name}", ms / unit_ms)
}

fn parse_boolean(text: &str) -> Option<Value> {
    if text.eq_ignore_ascii_case("true") {
        Some(Value::Boolean(true))
    } else if text.eq_ignore_ascii_case("false") {
        Some(Value::Boolean(false))
    } else {
        None
    }
}

/// The texts between commas, without blanks, empty ones and repeats.
pub(super) fn items(list: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let items = list.split(',').map(str::trim);
    items
        .filter(|item| !item.is_empty() && seen.insert(*item))
        .map(str::to_owned)
        .collect()
}

fn is_replica(text: &str) -> bool {
    let number = |part: &str| part.parse::<u32>().is_ok();
    text.split_once(':')
        .is_some_and(|(partition, broker)| number(partition) && number(broker))
}
