//! A redrive in the background, as the catalog keeps it: a document of JSON.
//!
//! What says which dead letters are meant stays as it was when the redrive began, so that what it delivers and what fails again is not
//! redriven by it once more. How far it is stands in the queue's own books: what it has moved is not there any more.
//! Owns: the document's form.
//!
//! ```text
//! space  "redrives"   name  queue's id "/" redrive's id
//! {"version": 1, "queue": text, "topic": topic id, "name": topic name, "last": [[partition, offset], ...],
//!  "which": "all" | {"filter": text, "over_body": flag} | {"offsets": [[partition, [offset, ...]], ...]},
//!  "rate": number | null, "redrives_max": number, "state": text, "started": ms, "ended": ms | null,
//!  "to_move": number, "moved": number, "reason": text | null}
//! ```

use super::dead_types::{DeadSelection, RedriveState};
use super::types::MessageId;
use fanlog_model::{GroupId, Offset, PartitionIndex, TimestampMs, TopicId, TopicName};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use uuid::Uuid;

/// The space of all of them.
pub(super) const SPACE: &str = "redrives";
const VERSION: u64 = 1;

/// What the catalog keeps of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RedriveRecord {
    pub(super) queue: GroupId,
    /// The topic of the dead letters; none if the queue had none.
    pub(super) topic: Option<(TopicId, TopicName)>,
    /// In each partition, the last that is meant.
    pub(super) last: BTreeMap<PartitionIndex, Offset>,
    pub(super) which: DeadSelection,
    pub(super) rate: Option<u32>,
    pub(super) redrives_max: u32,
    pub(super) state: RedriveState,
    pub(super) started: TimestampMs,
    pub(super) ended: Option<TimestampMs>,
    pub(super) to_move: u64,
    pub(super) moved: u64,
    pub(super) reason: Option<String>,
}

/// The name of a document.
pub(super) fn name_of(queue: Uuid, job: Uuid) -> String {
    format!("{queue}/{job}")
}

/// The queue and the redrive that a document's name names.
pub(super) fn ids_of(name: &str) -> Option<(Uuid, Uuid)> {
    let (queue, job) = name.split_once('/')?;
    Some((queue.parse().ok()?, job.parse().ok()?))
}

impl RedriveRecord {
    pub(super) fn encode(&self) -> Vec<u8> {
        let last = self.last.iter();
        let last: Vec<_> = last.map(|(at, last)| json!([at.0, last.0])).collect();
        let which = match &self.which {
            DeadSelection::All => json!("all"),
            DeadSelection::Filter {
                policy,
                is_over_body,
            } => json!({ "filter": policy, "over_body": is_over_body }),
            DeadSelection::Ids(ids) => json!({ "offsets": self.offsets(ids) }),
        };
        let text = json!({
            "version": VERSION,
            "queue": self.queue.as_str(),
            "topic": self.topic.as_ref().map(|(id, _)| id.0.to_string()),
            "name": self.topic.as_ref().map(|(_, name)| name.as_str()),
            "last": last,
            "which": which,
            "rate": self.rate,
            "redrives_max": self.redrives_max,
            "state": self.state.name(),
            "started": self.started.0,
            "ended": self.ended.map(|ended| ended.0),
            "to_move": self.to_move,
            "moved": self.moved,
            "reason": self.reason,
        });
        text.to_string().into_bytes()
    }

    /// Those of its topic: others are no dead letters of the queue.
    fn offsets(&self, ids: &[MessageId]) -> Vec<Value> {
        let name = self.topic.as_ref().map(|(_, name)| name);
        let mut by_partition: BTreeMap<i32, Vec<i64>> = BTreeMap::new();
        for id in ids.iter().filter(|id| Some(&id.topic) == name) {
            let offsets = by_partition.entry(id.partition.0).or_default();
            offsets.push(id.offset.0);
        }
        let each = by_partition.into_iter();
        each.map(|(partition, offsets)| json!([partition, offsets]))
            .collect()
    }

    /// None for what this program does not know.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let all: Value = serde_json::from_slice(bytes).ok()?;
        if all["version"].as_u64() != Some(VERSION) {
            return None;
        }
        let topic = match (&all["topic"], &all["name"]) {
            (Value::String(id), Value::String(name)) => {
                Some((TopicId(id.parse().ok()?), TopicName::new(name).ok()?))
            }
            _ => None,
        };
        let name = topic.as_ref().map(|(_, name)| name.clone());
        let optional = |value: &Value| match value {
            Value::Null => Some(None),
            value => value.as_i64().map(|ms| Some(TimestampMs(ms))),
        };
        let state = all["state"].as_str()?;
        Some(Self {
            queue: GroupId::from(all["queue"].as_str()?),
            last: pairs(&all["last"], |offset| offset.as_i64().map(Offset))?,
            which: which_of(&all["which"], name.as_ref())?,
            rate: match &all["rate"] {
                Value::Null => None,
                rate => Some(rate.as_u64()?.try_into().ok()?),
            },
            redrives_max: all["redrives_max"].as_u64()?.try_into().ok()?,
            state: RedriveState::ALL.into_iter().find(|s| s.name() == state)?,
            started: TimestampMs(all["started"].as_i64()?),
            ended: optional(&all["ended"])?,
            to_move: all["to_move"].as_u64()?,
            moved: all["moved"].as_u64()?,
            reason: all["reason"].as_str().map(str::to_owned),
            topic,
        })
    }
}

fn pairs<T>(
    list: &Value,
    read: impl Fn(&Value) -> Option<T>,
) -> Option<BTreeMap<PartitionIndex, T>> {
    let pair = |pair: &Value| {
        let partition = i32::try_from(pair.get(0)?.as_i64()?).ok()?;
        Some((PartitionIndex(partition), read(pair.get(1)?)?))
    };
    list.as_array()?.iter().map(pair).collect()
}

fn which_of(value: &Value, topic: Option<&TopicName>) -> Option<DeadSelection> {
    if value == "all" {
        return Some(DeadSelection::All);
    }
    if let Some(policy) = value["filter"].as_str() {
        return Some(DeadSelection::Filter {
            policy: policy.to_owned(),
            is_over_body: value["over_body"].as_bool()?,
        });
    }
    let offsets = pairs(&value["offsets"], |offsets| {
        let offsets = offsets.as_array()?.iter();
        offsets
            .map(|offset| offset.as_i64().map(Offset))
            .collect::<Option<Vec<_>>>()
    })?;
    let mut ids = Vec::new();
    for (partition, offsets) in offsets {
        for offset in offsets {
            let topic = topic?.clone();
            ids.push(MessageId {
                topic,
                partition,
                offset,
            });
        }
    }
    Some(DeadSelection::Ids(ids))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(which: DeadSelection) -> RedriveRecord {
        RedriveRecord {
            queue: "mail".into(),
            topic: Some((
                TopicId(Uuid::from_u128(7)),
                TopicName::new("mail.dead").unwrap(),
            )),
            last: [
                (PartitionIndex(0), Offset(12)),
                (PartitionIndex(2), Offset(-1)),
            ]
            .into(),
            which,
            rate: Some(5),
            redrives_max: 3,
            state: RedriveState::Cancelling,
            started: TimestampMs(1),
            ended: None,
            to_move: 9,
            moved: 4,
            reason: Some("why \"not\"".to_owned()),
        }
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let filter = DeadSelection::Filter {
            policy: r#"{"a": ["b"]}"#.to_owned(),
            is_over_body: true,
        };
        let id = |text: &str| text.parse().unwrap();
        let ids = DeadSelection::Ids(vec![id("mail.dead/0/3"), id("mail.dead/2/0")]);
        for which in [DeadSelection::All, filter, ids] {
            let record = record(which);
            assert_eq!(
                RedriveRecord::decode(&record.encode()),
                Some(record.clone())
            );
            let over = RedriveRecord {
                ended: Some(TimestampMs(8)),
                rate: None,
                reason: None,
                topic: record.topic.clone(),
                ..record
            };
            assert_eq!(RedriveRecord::decode(&over.encode()), Some(over));
        }
        let none = RedriveRecord {
            topic: None,
            last: BTreeMap::new(),
            ..record(DeadSelection::All)
        };
        assert_eq!(RedriveRecord::decode(&none.encode()), Some(none));
    }

    #[test]
    fn what_another_version_wrote_or_nobody_is_not_read() {
        let text = String::from_utf8(record(DeadSelection::All).encode()).unwrap();
        for (from, to) in [
            ("\"version\":1", "\"version\":2"),
            ("cancelling", "resting"),
            ("\"moved\":4", "\"moved\":-4"),
            ("[0,12]", "[0]"),
        ] {
            let other = text.replace(from, to);
            assert_ne!(other, text, "{from}");
            assert_eq!(RedriveRecord::decode(other.as_bytes()), None, "{to}");
        }
        assert_eq!(RedriveRecord::decode(b"nonsense"), None);
        let (queue, job) = (Uuid::from_u128(1), Uuid::from_u128(2));
        assert_eq!(ids_of(&name_of(queue, job)), Some((queue, job)));
        assert_eq!(ids_of("nonsense"), None);
    }
}
