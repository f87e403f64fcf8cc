//! The settings that share groups obey, of the broker and of one group.

use super::Overrides;
use super::layers::{BrokerLayers, effective_broker_value, effective_group_value};

/// What the broker allows share groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareSettings {
    /// `group.share.max.size`.
    pub group_size_max: u32,
    /// `group.share.session.timeout.ms`.
    pub session_timeout_ms: u64,
    /// `group.share.max.share.sessions`.
    pub sessions_max: u32,
    /// `share.coordinator.snapshot.update.records.per.snapshot`.
    pub updates_per_snapshot: u32,
    /// `share.coordinator.state.topic.num.partitions`.
    pub state_topic_partitions: i32,
    /// `share.coordinator.state.topic.segment.bytes`.
    pub state_topic_segment_bytes: u32,
}

/// Where a share group begins to read a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffsetReset {
    /// With what is produced from now on.
    Latest,
    /// With the oldest record.
    Earliest,
    /// With the first record that is no older than this, in milliseconds.
    ByDuration(i64),
}

/// One share group's settings in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareGroupSettings {
    /// `share.auto.offset.reset`.
    pub auto_offset_reset: OffsetReset,
    /// `share.delivery.count.limit`.
    pub delivery_count_limit: i16,
    /// `share.heartbeat.interval.ms`.
    pub heartbeat_interval_ms: i32,
    /// `share.isolation.level` is `read_committed`.
    pub is_read_committed: bool,
    /// `share.partition.max.record.locks`.
    pub partition_record_locks_max: u32,
    /// `share.record.lock.duration.ms`.
    pub record_lock_ms: u64,
    /// `share.renew.acknowledge.enable`.
    pub is_renewal_enabled: bool,
    /// `share.session.timeout.ms`.
    pub session_timeout_ms: i32,
}

impl ShareSettings {
    pub(super) fn resolve(layers: &BrokerLayers<'_>) -> Self {
        let number = |name: &str| -> i64 {
            let text = effective_broker_value(name, layers);
            text.and_then(|text| text.parse().ok())
                .expect("a number setting in force is a number: it was checked, or is a default")
        };
        let count = |name: &str| u32::try_from(number(name).max(0)).unwrap_or(u32::MAX);
        Self {
            group_size_max: count("group.share.max.size"),
            session_timeout_ms: number("group.share.session.timeout.ms").unsigned_abs(),
            sessions_max: count("group.share.max.share.sessions"),
            updates_per_snapshot: count("share.coordinator.snapshot.update.records.per.snapshot"),
            state_topic_partitions: i32::try_from(number(
                "share.coordinator.state.topic.num.partitions",
            ))
            .unwrap_or(i32::MAX),
            state_topic_segment_bytes: count("share.coordinator.state.topic.segment.bytes"),
        }
    }
}

impl ShareGroupSettings {
    /// Resolves what was given for a group.
    pub fn resolve(group: &Overrides, layers: &BrokerLayers<'_>) -> Self {
        let text = |name: &str| effective_group_value(name, group, layers);
        // The broker's bounds may have come closer since the group's value was taken.
        let number = |name: &str| -> i64 {
            let value = text(name).parse();
            let value = value
                .expect("a number setting in force is a number: it was checked, or is a default");
            match super::group_bounds(name, layers) {
                Some((least, most)) => i64::max(value, least).min(most),
                None => value,
            }
        };
        let small = |name: &str| i32::try_from(number(name)).unwrap_or(i32::MAX);
        Self {
            auto_offset_reset: OffsetReset::of(&text("share.auto.offset.reset"))
                .unwrap_or(OffsetReset::Latest),
            delivery_count_limit: i16::try_from(number("share.delivery.count.limit"))
                .unwrap_or(i16::MAX),
            heartbeat_interval_ms: small("share.heartbeat.interval.ms"),
            is_read_committed: text("share.isolation.level") == "read_committed",
            partition_record_locks_max: u32::try_from(number("share.partition.max.record.locks"))
                .unwrap_or(u32::MAX),
            record_lock_ms: number("share.record.lock.duration.ms").unsigned_abs(),
            is_renewal_enabled: text("share.renew.acknowledge.enable") == "true",
            session_timeout_ms: small("share.session.timeout.ms"),
        }
    }
}

impl OffsetReset {
    /// `latest`, `earliest`, or `by_duration:` and a duration as ISO 8601 writes it (`P1DT2H`), not negative.
    pub fn of(text: &str) -> Option<Self> {
        match text.to_ascii_lowercase().as_str() {
            "latest" => Some(Self::Latest),
            "earliest" => Some(Self::Earliest),
            _ => {
                let (kind, duration) = text.split_once(':')?;
                let is_duration = kind.eq_ignore_ascii_case("by_duration");
                is_duration.then_some(Self::ByDuration(duration_ms(duration)?))
            }
        }
    }
}

/// Milliseconds of `PnDTnHnMn.nS`: days, hours, minutes and seconds, each at most once and in this order, one at least.
fn duration_ms(text: &str) -> Option<i64> {
    let text = text.to_ascii_uppercase();
    let rest = text.strip_prefix('P')?;
    let (days, time) = match rest.split_once('T') {
        Some((days, time)) if !time.is_empty() => (days, time),
        Some(_) => return None,
        None => (rest, ""),
    };
    if days.is_empty() && time.is_empty() {
        return None;
    }
    let mut total = 0_i64;
    if !days.is_empty() {
        let number: i64 = digits(days.strip_suffix('D')?)?;
        total = number.checked_mul(86_400_000)?;
    }
    let mut rest = time;
    for (unit, ms) in [('H', 3_600_000_i64), ('M', 60_000)] {
        if let Some((number, behind)) = rest.split_once(unit) {
            total = total.checked_add(digits(number)?.checked_mul(ms)?)?;
            rest = behind;
        }
    }
    if !rest.is_empty() {
        total = total.checked_add(seconds_ms(rest.strip_suffix('S')?)?)?;
    }
    Some(total)
}

fn digits(text: &str) -> Option<i64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

/// Seconds with up to nine digits behind the point.
fn seconds_ms(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let whole = digits(whole)?.checked_mul(1000)?;
    if fraction.is_empty() {
        return Some(whole);
    }
    if fraction.len() > 9 {
        return None;
    }
    digits(fraction)?;
    let ms: String = fraction.chars().chain("000".chars()).take(3).collect();
    whole.checked_add(digits(&ms)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_to_begin_is_said_as_kafka_says_it() {
        let check = |text: &str, expected: Option<OffsetReset>| {
            assert_eq!(OffsetReset::of(text), expected, "{text}");
        };
        check("latest", Some(OffsetReset::Latest));
        check("Earliest", Some(OffsetReset::Earliest));
        check("by_duration:PT1H", Some(OffsetReset::ByDuration(3_600_000)));
        check(
            "by_duration:P2DT3H4M5.678S",
            Some(OffsetReset::ByDuration(183_845_678)),
        );
        check("by_duration:PT0.5S", Some(OffsetReset::ByDuration(500)));
        check("by_duration:PT0S", Some(OffsetReset::ByDuration(0)));
        for bad in [
            "",
            "none",
            "by_duration:",
            "by_duration:P",
            "by_duration:PT",
            "by_duration:-PT1H",
            "by_duration:PT-1H",
            "by_duration:1H",
            "by_duration:PT1M1H",
            "by_duration:P99999999999999999999D",
        ] {
            check(bad, None);
        }
    }
}
