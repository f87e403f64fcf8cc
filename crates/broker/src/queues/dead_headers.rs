//! The headers that say what became of a record: on dead letters, and on what is redriven.
//!
//! Where a record comes from stays with it through redrives: the origin is the first record of all.
//! In -> out: a record and its attempts -> the headers of its copy.

use super::delays::{DELIVER_AFTER, DELIVER_AT};
use super::types::Headers;
use bytes::Bytes;
use fanlog_coordinators::queue::Attempt;
use fanlog_model::{GroupId, Offset, PartitionIndex, TimestampMs, TopicName};
use serde_json::json;

/// All headers of this kind begin so.
const PREFIX: &str = "fanlog.dead.";
/// The queue in which it failed.
pub(super) const DEAD_QUEUE: &str = "fanlog.dead.queue";
/// Where it comes from.
pub(super) const DEAD_TOPIC: &str = "fanlog.dead.topic";
/// Where it comes from.
pub(super) const DEAD_PARTITION: &str = "fanlog.dead.partition";
/// Where it comes from.
pub(super) const DEAD_OFFSET: &str = "fanlog.dead.offset";
/// The time that it had there, in milliseconds.
pub(super) const DEAD_TIMESTAMP: &str = "fanlog.dead.timestamp";
/// How often it was delivered.
pub(super) const DEAD_ATTEMPTS: &str = "fanlog.dead.attempts";
/// Why the last attempt failed.
pub(super) const DEAD_REASON: &str = "fanlog.dead.reason";
/// The attempts: JSON.
pub(super) const DEAD_HISTORY: &str = "fanlog.dead.history";
/// How often it was redriven.
pub(super) const DEAD_REDRIVES: &str = "fanlog.dead.redrives";

const ORIGIN: [&str; 4] = [DEAD_TOPIC, DEAD_PARTITION, DEAD_OFFSET, DEAD_TIMESTAMP];

/// Where a record stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin<'a> {
    pub(super) topic: &'a TopicName,
    pub(super) partition: PartitionIndex,
    pub(super) offset: Offset,
    pub(super) timestamp: TimestampMs,
}

/// The value of a header as text.
pub(super) fn text<'a>(headers: &'a Headers, name: &str) -> Option<&'a str> {
    let (_, value) = headers.iter().find(|(header, _)| header == name)?;
    std::str::from_utf8(value.as_ref()?).ok()
}

/// How often a record was redriven.
pub(super) fn redrives(headers: &Headers) -> u32 {
    text(headers, DEAD_REDRIVES)
        .and_then(|text| text.parse().ok())
        .unwrap_or(0)
}

/// The headers of a dead letter: the record's own, and what became of it. What a record says of earlier redrives counts only if it
/// came by the redrive topic: on the queue's own topic a producer may claim anything.
pub(super) fn of_dead_letter(
    headers: &Headers,
    queue: &GroupId,
    origin: Origin<'_>,
    attempts: u16,
    history: &[Attempt],
    has_history: bool,
    is_redriven: bool,
) -> Headers {
    let redrives = match is_redriven {
        true => redrives(headers),
        false => 0,
    };
    let mut all = without_ours(headers);
    let mut put = |name: &str, value: String| all.push((name.to_owned(), Some(value.into())));
    put(DEAD_QUEUE, queue.to_string());
    let new = [
        origin.topic.to_string(),
        origin.partition.to_string(),
        origin.offset.to_string(),
        origin.timestamp.0.to_string(),
    ];
    for (name, new) in ORIGIN.into_iter().zip(new) {
        // Only what was redriven has one.
        let first = text(headers, name).filter(|_| redrives > 0);
        put(name, first.map_or(new, str::to_owned));
    }
    put(DEAD_ATTEMPTS, attempts.to_string());
    if let Some(last) = history.last() {
        put(DEAD_REASON, last.reason.to_string());
    }
    if has_history {
        let each = history.iter().map(|attempt| {
            json!({
                "attempt": attempt.attempt,
                "at": attempt.at.0,
                "consumer": &*attempt.consumer,
                "reason": &*attempt.reason,
            })
        });
        put(DEAD_HISTORY, serde_json::Value::from_iter(each).to_string());
    }
    if redrives > 0 {
        put(DEAD_REDRIVES, redrives.to_string());
    }
    all
}

/// The headers of what is redriven: the record's own, where it comes from, and how often it was redriven.
pub(super) fn of_redriven(headers: &Headers) -> Headers {
    let mut all = without_ours(headers);
    let origin = headers
        .iter()
        .filter(|(name, _)| ORIGIN.contains(&name.as_str()));
    all.extend(origin.cloned());
    let redrives = redrives(headers).saturating_add(1);
    all.push((DEAD_REDRIVES.to_owned(), Some(redrives.to_string().into())));
    all
}

/// The headers of what somebody sends to another topic: it is not delayed again, and a dead letter goes as one that is redriven.
pub(super) fn of_sent(headers: &Headers) -> Headers {
    let is_dead = text(headers, DEAD_QUEUE).is_some();
    let mut all = match is_dead {
        true => of_redriven(headers),
        false => headers.clone(),
    };
    all.retain(|(name, _)| ![DELIVER_AT, DELIVER_AFTER].contains(&name.as_str()));
    all
}

fn without_ours(headers: &Headers) -> Headers {
    let foreign = headers.iter().filter(|(name, _)| !name.starts_with(PREFIX));
    foreign.cloned().collect()
}

/// The same, as a batch is built from it.
pub(super) fn borrowed(headers: &Headers) -> Vec<(&str, Option<&[u8]>)> {
    let each = headers.iter();
    each.map(|(name, value)| (name.as_str(), value.as_deref()))
        .collect()
}

/// A header, for tests and for placeholders.
pub(super) fn header(name: &str, value: &str) -> (String, Option<Bytes>) {
    (
        name.to_owned(),
        Some(Bytes::copy_from_slice(value.as_bytes())),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(headers: &Headers) -> String {
        let one = |(name, value): &(String, Option<Bytes>)| {
            let value = String::from_utf8_lossy(value.as_deref().unwrap_or_default()).into_owned();
            format!("{}={value}", name.strip_prefix(PREFIX).unwrap_or(name))
        };
        headers.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_first_origin_stays_through_redrives() {
        let topic = TopicName::new("t").unwrap();
        let origin = |offset| Origin {
            topic: &topic,
            partition: PartitionIndex(2),
            offset: Offset(offset),
            timestamp: TimestampMs(9),
        };
        let history = [Attempt {
            at: TimestampMs(5),
            attempt: 1,
            consumer: "c".into(),
            reason: "no \"way\"".into(),
            first_given: None,
        }];
        // What a producer claims of our headers is not believed.
        let given = vec![
            header("a", "b"),
            header(DEAD_TOPIC, "forged"),
            header(DEAD_REDRIVES, "5"),
        ];
        let dead = of_dead_letter(&given, &"q".into(), origin(7), 1, &history, true, false);
        let said = r#"a=b queue=q topic=t partition=2 offset=7 timestamp=9 attempts=1 reason=no "way" history=[{"at":5,"attempt":1,"consumer":"c","reason":"no \"way\""}]"#;
        assert_eq!(shown(&dead), said);
        let again = of_redriven(&dead);
        assert_eq!(
            shown(&again),
            "a=b topic=t partition=2 offset=7 timestamp=9 redrives=1"
        );
        let dead = of_dead_letter(&again, &"q".into(), origin(0), 3, &[], false, true);
        let said = "a=b queue=q topic=t partition=2 offset=7 timestamp=9 attempts=3 redrives=1";
        assert_eq!(shown(&dead), said);
        assert_eq!(redrives(&of_redriven(&dead)), 2);
        let mut sent = dead.clone();
        sent.push(header(DELIVER_AFTER, "5s"));
        assert_eq!(of_sent(&sent), of_redriven(&dead));
        let plain = vec![header("a", "b"), header(DELIVER_AT, "5")];
        assert_eq!(shown(&of_sent(&plain)), "a=b");
    }
}
