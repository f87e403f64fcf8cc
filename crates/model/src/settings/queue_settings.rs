//! The policy of one queue, typed.
//!
//! Why it exists: the catalog keeps texts, the runtime wants numbers, and both must mean the same.
//! In -> out: overrides of a queue -> [`QueueSettings`]; durations as people write them (`500ms`, `30s`, `5m`, `2h`, `7d`).

use super::{Overrides, SettingError, check_queue_setting, queue_settings};
use crate::{GroupId, InvalidTopicName, Offset, PartitionIndex, TopicName};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The shortest lock, in milliseconds.
pub(super) const LOCK_MS_MIN: u64 = 1_000;
/// The longest lock, in milliseconds: twelve hours.
pub(super) const LOCK_MS_MAX: u64 = 12 * 3_600_000;
/// The most attempts that can be asked for; 0 stands for without an end.
pub(super) const ATTEMPTS_MAX: i64 = 1_000;
/// The most records of one partition that may be held at once.
pub(super) const IN_FLIGHT_MAX: i64 = 1_000_000;
/// The longest delay of a queue, in milliseconds: fifteen minutes.
pub(super) const DELAY_MS_MAX: u64 = 15 * 60_000;
/// The longest rest between attempts, in milliseconds: seven days.
const BACKOFF_MS_MAX: u64 = 7 * 86_400_000;
/// The longest name of a queue: its topics are called after it.
pub const QUEUE_NAME_BYTES_MAX: usize = TopicName::LENGTH_MAX - REDRIVE_SUFFIX.len();

const DEAD_SUFFIX: &str = ".dead";
const REDRIVE_SUFFIX: &str = ".redrive";

/// How long a record rests after an attempt that failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backoff {
    /// Not at all.
    #[default]
    None,
    /// Always as long.
    Fixed {
        /// So long.
        delay: Duration,
        /// Up to so many hundredths of it less, by chance that depends on the record and the attempt alone.
        jitter_percent: u8,
    },
    /// Twice as long each time.
    Exponential {
        /// After the first attempt.
        first: Duration,
        /// Never longer.
        max: Duration,
        /// As of `Fixed`.
        jitter_percent: u8,
    },
}

/// Whether records wait for each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// No.
    #[default]
    None,
    /// Those of one key do: in the order of their offsets, to one consumer at a time (QUE-3).
    Key,
}

/// Where records go after their last attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeadLetter {
    /// To the topic called after the queue.
    OfQueue,
    /// To this topic.
    Topic(TopicName),
    /// Nowhere: they are given up and counted.
    None,
}

/// Where a queue ends in each partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Until(Arc<BTreeMap<PartitionIndex, Offset>>);

impl Until {
    /// Pairs as people write them: `0:1042,1:77`. No pair is no end; nothing at all is no text of that kind.
    pub(super) fn of(text: &str) -> Option<Option<Self>> {
        let pair = |pair: &str| {
            let (partition, offset) = pair.trim().split_once(':')?;
            let partition = partition.parse().ok().filter(|number| *number >= 0)?;
            let offset = offset.parse().ok().filter(|number| *number >= 0)?;
            Some((PartitionIndex(partition), Offset(offset)))
        };
        if text.is_empty() {
            return Some(None);
        }
        let ends = text.split(',').map(pair).collect::<Option<_>>()?;
        Some(Some(Self(Arc::new(ends))))
    }

    /// From where on a partition is not read.
    pub fn of_partition(&self, partition: PartitionIndex) -> Offset {
        self.0.get(&partition).copied().unwrap_or(Offset::ZERO)
    }
}

/// What a filter looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FilterScope {
    /// The record's headers.
    #[default]
    Headers,
    /// The record's value, read as JSON.
    Body,
}

/// One queue's settings in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueSettings {
    /// `lock`.
    pub lock: Duration,
    /// `max-attempts`; 0 for without an end.
    pub attempts_max: u16,
    /// `backoff`.
    pub backoff: Backoff,
    /// `order`.
    pub order: Order,
    /// `dead-letter`.
    pub dead_letter: DeadLetter,
    /// `delay`.
    pub delay: Duration,
    /// `filter`: the policy as text, which was checked; none for all records.
    pub filter: Option<Arc<str>>,
    /// `filter-scope`.
    pub filter_scope: FilterScope,
    /// `max-in-flight`, in one partition.
    pub in_flight_max: u32,
    /// `paused`.
    pub is_paused: bool,
    /// `retention-hold`.
    pub is_retention_held: bool,
    /// `until`.
    pub until: Option<Until>,
}

impl QueueSettings {
    /// Resolves what was given for a queue; what this program can't read counts as not given.
    pub fn resolve(queue: &Overrides) -> Self {
        let text = |name: &str| effective_queue_value(name, queue);
        let number = |name: &str| -> u32 {
            let value = text(name).parse();
            value.expect("a number setting in force is a number: it was checked, or is a default")
        };
        Self {
            lock: duration(text("lock")).expect("a duration in force was checked, or is a default"),
            attempts_max: u16::try_from(number("max-attempts")).unwrap_or(u16::MAX),
            backoff: Backoff::of(text("backoff")).unwrap_or_default(),
            order: match text("order") {
                "key" => Order::Key,
                _ => Order::None,
            },
            dead_letter: DeadLetter::of(text("dead-letter")).unwrap_or(DeadLetter::OfQueue),
            delay: duration(text("delay"))
                .expect("a duration in force was checked, or is a default"),
            filter: Some(text("filter"))
                .filter(|filter| !filter.is_empty())
                .map(Into::into),
            filter_scope: match text("filter-scope") {
                "body" => FilterScope::Body,
                _ => FilterScope::Headers,
            },
            in_flight_max: number("max-in-flight"),
            is_paused: text("paused") == "true",
            is_retention_held: text("retention-hold") == "true",
            until: Until::of(text("until")).flatten(),
        }
    }

    /// Checks and resolves what is given for a queue.
    ///
    /// # Errors
    /// Names the setting, its value and what would be taken.
    pub fn parse(given: &Overrides) -> Result<Self, SettingError> {
        let canonical = |(name, value): (&String, &String)| {
            check_queue_setting(name, value).map(|value| (name.clone(), value))
        };
        let canonical: Result<Overrides, _> = given.iter().map(canonical).collect();
        Ok(Self::resolve(&canonical?))
    }

    /// The topic of the queue's dead letters; none where they are given up.
    pub fn dead_letter_topic(&self, queue: &GroupId) -> Option<TopicName> {
        match &self.dead_letter {
            DeadLetter::OfQueue => topic_after(queue, DEAD_SUFFIX),
            DeadLetter::Topic(topic) => Some(topic.clone()),
            DeadLetter::None => None,
        }
    }
}

/// The topic through which dead letters of a queue come to it again; none where no queue can have the name.
pub fn redrive_topic(queue: &GroupId) -> Option<TopicName> {
    topic_after(queue, REDRIVE_SUFFIX)
}

fn topic_after(queue: &GroupId, suffix: &str) -> Option<TopicName> {
    TopicName::new(&format!("{queue}{suffix}")).ok()
}

/// Checks that a queue may have the name: that of a topic, and short enough for the topics called after it.
///
/// # Errors
/// Says which rule the name breaks.
pub fn check_queue_name(name: &str) -> Result<(), InvalidTopicName> {
    TopicName::new(name)?;
    TopicName::new(&format!("{name}{REDRIVE_SUFFIX}")).map(|_| ())
}

/// The value in force for a setting of a queue.
///
/// # Panics
/// When no setting of that name is declared.
pub fn effective_queue_value<'a>(name: &str, queue: &'a Overrides) -> &'a str {
    let setting = queue_settings()[name];
    let given = queue.get(name).map(String::as_str);
    given
        .filter(|value| setting.parse(value).is_ok())
        .or(setting.default)
        .expect("every queue setting has a default; the tables' test says so")
}

/// A duration as people write it: a whole number and one of `ms`, `s`, `m`, `h`, `d`.
pub fn duration(text: &str) -> Option<Duration> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().ok()?;
    let unit_ms = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    let ms = number.checked_mul(unit_ms)?;
    // Times are signed milliseconds: what does not fit them is no duration.
    i64::try_from(ms).ok()?;
    Some(Duration::from_millis(ms))
}

impl Backoff {
    /// `none`, `fixed:<duration>[:<jitter>]`, `exponential:<first>:<max>[:<jitter>]`; the jitter in hundredths, with or
    /// without `%`, 0 where it is not given.
    pub(super) fn of(text: &str) -> Option<Self> {
        let mut parts = text.split(':');
        let kind = parts.next()?;
        let mut rest = || {
            let rest = duration(parts.next()?)?;
            (rest <= Duration::from_millis(BACKOFF_MS_MAX)).then_some(rest)
        };
        let backoff = match kind {
            "none" => Self::None,
            "fixed" => Self::Fixed {
                delay: rest()?,
                jitter_percent: percent(parts.next())?,
            },
            "exponential" => {
                let (first, max) = (rest()?, rest()?);
                if first.is_zero() || first > max {
                    return None;
                }
                Self::Exponential {
                    first,
                    max,
                    jitter_percent: percent(parts.next())?,
                }
            }
            _ => return None,
        };
        parts.next().is_none().then_some(backoff)
    }
}

fn percent(text: Option<&str>) -> Option<u8> {
    let Some(text) = text else { return Some(0) };
    let digits = text.strip_suffix('%').unwrap_or(text);
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    let percent = digits.parse().ok().filter(|_| is_number)?;
    (percent <= 100).then_some(percent)
}

impl DeadLetter {
    /// Nothing, `none`, or a topic's name.
    pub(super) fn of(text: &str) -> Option<Self> {
        match text {
            "" => Some(Self::OfQueue),
            "none" => Some(Self::None),
            name => TopicName::new(name).ok().map(Self::Topic),
        }
    }
}

#[cfg(test)]
#[path = "queue_settings_tests.rs"]
mod tests;
