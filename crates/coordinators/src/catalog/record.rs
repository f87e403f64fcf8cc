//! The records of `__fanlog_catalog`: each holds the whole new state of one thing, so the latest per key is the truth.
//!
//! Why it exists: a catalog record must outlive versions of this program, and a half-written change must not exist.
//! Every record stands alone (a topic, a broker's settings, the producer-id counter): a log cut between any two
//! records is a legal catalog, and the topic may be compacted by key.
//! Owns: the byte layout.   Never: reads what it doesn't know; an unknown kind or version refuses to load.
//! In -> out: `Record` -> key and value bytes, and back.
//!
//! ```text
//! key    kind u8 | TOPIC: topic id, 16 bytes | BROKER_SETTINGS: broker id i32, -1 for all | PRODUCER_IDS: nothing
//!        GROUP_SETTINGS: group text | QUEUE: queue id, 16 bytes | DOCUMENT: space text, name text
//! value  version u16, 1, then by kind; no value (a tombstone) deletes the topic, the queue, the document or the settings
//!   TOPIC            name text | partitions i32 | made i32 | flags u8, bit 0: internal | overrides map
//!   BROKER_SETTINGS, GROUP_SETTINGS  overrides map
//!   PRODUCER_IDS     next i64, the first id never handed out
//!   QUEUE            name text | topic id, 16 bytes | start u8: 0 latest, 1 earliest, 2 time, 3 offset | time or offset i64, else 0
//!                    partitions at the start i32 | overrides map
//!   DOCUMENT         version u64 | length u32 | that many bytes, 256 KiB at most
//! text   length u16 | UTF-8 bytes
//! map    count u32 | count times: name text, value text; names ascending
//! ```
//! Numbers are big-endian. Lengths are exact: left-over bytes are an error.

use super::bytes_in::BytesIn;
use super::documents::{DOCUMENT_BYTES_MAX, DOCUMENT_NAME_BYTES_MAX, Document};
use bytes::Bytes;
use fanlog_model::settings::{Overrides, effective_queue_value};
use fanlog_model::{BrokerId, GroupId, Offset, TimestampMs, TopicId, TopicName};
use std::collections::BTreeMap;
use thiserror::Error;
use uuid::Uuid;

const KIND_TOPIC: u8 = 1;
const KIND_BROKER_SETTINGS: u8 = 2;
const KIND_PRODUCER_IDS: u8 = 3;
const KIND_GROUP_SETTINGS: u8 = 4;
const KIND_QUEUE: u8 = 5;
const KIND_DOCUMENT: u8 = 6;
const VERSION: u16 = 1;
const FLAG_INTERNAL: u8 = 1;

/// A topic as the catalog keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic {
    /// Its name, unique among living topics.
    pub name: TopicName,
    /// The id of this life of the topic.
    pub id: TopicId,
    /// How many partitions it has, numbered from 0; never falls.
    pub partitions: i32,
    /// How many of them, from 0 on, are known to have their folders: such a folder that is missing was lost.
    pub made: i32,
    /// The settings given for this topic, by name, in canonical form.
    pub overrides: Overrides,
    /// Whether it is ours: clients may read it, and may not produce to it, alter or delete it.
    pub is_internal: bool,
}

/// A queue as the catalog keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queue {
    /// Its name, unique among living queues and groups.
    pub name: GroupId,
    /// The id of this life of the queue.
    pub id: Uuid,
    /// The topic that it reads.
    pub topic: TopicId,
    /// Where it begins.
    pub start: QueueStart,
    /// How many partitions the topic had when it was created: those added later are read from their beginning.
    pub partitions_at_start: i32,
    /// The settings given for it, by name, in canonical form.
    pub overrides: Overrides,
}

impl Queue {
    /// Whether retention waits for it (`retention-hold`): for one that ends it does not.
    pub fn holds_retention(&self) -> bool {
        effective_queue_value("retention-hold", &self.overrides) == "true"
            && effective_queue_value("until", &self.overrides).is_empty()
    }
}

/// Where a queue begins to read each partition that its topic had when it was created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueStart {
    /// With what is produced from its creation on.
    Latest,
    /// With the oldest record.
    Earliest,
    /// With the first record that is no older.
    Time(TimestampMs),
    /// At this offset of every partition.
    Offset(Offset),
}

/// Whose settings a record holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BrokerScope {
    /// Every broker that has no value of its own.
    Default,
    /// One broker.
    Broker(BrokerId),
}

/// One change of the catalog, as logged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// The topic is now so: created, grown or its settings changed.
    Topic(Topic),
    /// The topic is gone; its folders are removed afterwards.
    TopicDeleted(TopicId),
    /// The dynamic settings of a broker, or of all, are now exactly these.
    BrokerSettings(BrokerScope, Overrides),
    /// The settings of a group are now exactly these.
    GroupSettings(GroupId, Overrides),
    /// The queue is now so: created, or its settings changed.
    Queue(Queue),
    /// The queue is gone.
    QueueDeleted(Uuid),
    /// The document is now so.
    Document(Document),
    /// The document is gone.
    DocumentDeleted {
        /// Its space.
        space: String,
        /// Its name there.
        name: String,
    },
    /// Producer ids below `next` may have been handed out.
    ProducerIds {
        /// The first id that was never handed out.
        next: i64,
    },
}

/// Why bytes of the catalog's topic are not a record. Loading stops: going on would lose what they say.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CatalogRecordError {
    /// A newer program wrote this.
    #[error("catalog record of unknown kind {kind}; start a version of fanlog that knows it")]
    UnknownKind {
        /// The key's first byte.
        kind: u8,
    },
    /// A newer program wrote this.
    #[error(
        "catalog record of kind {kind} has version {version}, this program knows up to {VERSION}; start a newer version of fanlog"
    )]
    UnknownVersion {
        /// The key's first byte.
        kind: u8,
        /// The value's version.
        version: u16,
    },
    /// The bytes end early.
    #[error("catalog record ends early: {wanted} bytes wanted for {what}, {remaining} remain")]
    Short {
        /// Which part was being read.
        what: &'static str,
        /// How many bytes it needs.
        wanted: usize,
        /// How many there are.
        remaining: usize,
    },
    /// Bytes are left over.
    #[error("catalog record has {count} bytes too many")]
    TrailingBytes {
        /// How many.
        count: usize,
    },
    /// A part has a value that no version writes.
    #[error("catalog record has an illegal {what}: {value}")]
    Illegal {
        /// Which part.
        what: &'static str,
        /// The value found.
        value: String,
    },
}

impl Record {
    /// The key: what the record is about. Compaction keeps the last record of each.
    pub fn encode_key(&self) -> Vec<u8> {
        match self {
            Self::Topic(Topic { id, .. }) | Self::TopicDeleted(id) => {
                let mut key = vec![KIND_TOPIC];
                key.extend_from_slice(id.0.as_bytes());
                key
            }
            Self::BrokerSettings(scope, _) => {
                let mut key = vec![KIND_BROKER_SETTINGS];
                key.extend_from_slice(&scope_number(*scope).to_be_bytes());
                key
            }
            Self::GroupSettings(group, _) => {
                let mut key = vec![KIND_GROUP_SETTINGS];
                put_text(&mut key, group.as_str());
                key
            }
            Self::Queue(Queue { id, .. }) | Self::QueueDeleted(id) => {
                let mut key = vec![KIND_QUEUE];
                key.extend_from_slice(id.as_bytes());
                key
            }
            Self::Document(Document { space, name, .. })
            | Self::DocumentDeleted { space, name } => {
                let mut key = vec![KIND_DOCUMENT];
                put_text(&mut key, space);
                put_text(&mut key, name);
                key
            }
            Self::ProducerIds { .. } => vec![KIND_PRODUCER_IDS],
        }
    }

    /// The value; none is a tombstone.
    pub fn encode_value(&self) -> Option<Vec<u8>> {
        let mut out = VERSION.to_be_bytes().to_vec();
        match self {
            Self::Topic(topic) => {
                put_text(&mut out, topic.name.as_str());
                out.extend_from_slice(&topic.partitions.to_be_bytes());
                out.extend_from_slice(&topic.made.to_be_bytes());
                out.push(if topic.is_internal { FLAG_INTERNAL } else { 0 });
                put_map(&mut out, &topic.overrides);
            }
            Self::TopicDeleted(_) | Self::QueueDeleted(_) | Self::DocumentDeleted { .. } => {
                return None;
            }
            Self::Queue(queue) => put_queue(&mut out, queue),
            Self::Document(document) => put_document(&mut out, document),
            Self::BrokerSettings(_, overrides) | Self::GroupSettings(_, overrides)
                if overrides.is_empty() =>
            {
                return None;
            }
            Self::BrokerSettings(_, overrides) | Self::GroupSettings(_, overrides) => {
                put_map(&mut out, overrides);
            }
            Self::ProducerIds { next } => out.extend_from_slice(&next.to_be_bytes()),
        }
        Some(out)
    }

    /// Reads a record from its key and value.
    ///
    /// # Errors
    /// Says what is unknown or malformed.
    pub fn decode(key: &[u8], value: Option<&[u8]>) -> Result<Self, CatalogRecordError> {
        let mut key = BytesIn::new(key);
        match key.u8("kind")? {
            KIND_TOPIC => {
                let id = TopicId(Uuid::from_bytes(key.array("topic id")?));
                key.finish()?;
                value.map_or(Ok(Self::TopicDeleted(id)), |value| decode_topic(id, value))
            }
            KIND_BROKER_SETTINGS => {
                let scope = scope_of(key.i32("broker id")?)?;
                key.finish()?;
                let overrides = value.map_or(Ok(Overrides::new()), |value| {
                    decode_settings(KIND_BROKER_SETTINGS, value)
                })?;
                Ok(Self::BrokerSettings(scope, overrides))
            }
            KIND_GROUP_SETTINGS => {
                let group = GroupId::from(key.text("group")?);
                key.finish()?;
                let overrides = value.map_or(Ok(Overrides::new()), |value| {
                    decode_settings(KIND_GROUP_SETTINGS, value)
                })?;
                Ok(Self::GroupSettings(group, overrides))
            }
            KIND_QUEUE => {
                let id = Uuid::from_bytes(key.array("queue id")?);
                key.finish()?;
                value.map_or(Ok(Self::QueueDeleted(id)), |value| decode_queue(id, value))
            }
            KIND_DOCUMENT => {
                let space = document_name(&mut key, "document space")?;
                let name = document_name(&mut key, "document name")?;
                key.finish()?;
                match value {
                    None => Ok(Self::DocumentDeleted { space, name }),
                    Some(value) => decode_document((space, name), value),
                }
            }
            KIND_PRODUCER_IDS => {
                key.finish()?;
                let value = value.ok_or(CatalogRecordError::Illegal {
                    what: "producer id record",
                    value: "no value".to_owned(),
                })?;
                decode_producer_ids(value)
            }
            kind => Err(CatalogRecordError::UnknownKind { kind }),
        }
    }
}

fn decode_topic(id: TopicId, value: &[u8]) -> Result<Record, CatalogRecordError> {
    let mut value = versioned(KIND_TOPIC, value)?;
    let name = value.text("topic name")?;
    let name = TopicName::new(name).map_err(|e| illegal("topic name", e))?;
    let partitions = value.i32("partition count")?;
    if partitions < 1 {
        return Err(illegal("partition count", partitions));
    }
    let made = value.i32("count of made partitions")?;
    if !(0..=partitions).contains(&made) {
        return Err(illegal("count of made partitions", made));
    }
    let flags = value.u8("flags")?;
    if flags & !FLAG_INTERNAL != 0 {
        return Err(illegal("flags", flags));
    }
    let overrides = take_map(&mut value)?;
    value.finish()?;
    Ok(Record::Topic(Topic {
        name,
        id,
        partitions,
        made,
        overrides,
        is_internal: flags & FLAG_INTERNAL != 0,
    }))
}

fn put_queue(out: &mut Vec<u8>, queue: &Queue) {
    put_text(out, queue.name.as_str());
    out.extend_from_slice(queue.topic.0.as_bytes());
    let (kind, number) = match queue.start {
        QueueStart::Latest => (0, 0),
        QueueStart::Earliest => (1, 0),
        QueueStart::Time(time) => (2, time.0),
        QueueStart::Offset(offset) => (3, offset.0),
    };
    out.push(kind);
    out.extend_from_slice(&i64::to_be_bytes(number));
    out.extend_from_slice(&queue.partitions_at_start.to_be_bytes());
    put_map(out, &queue.overrides);
}

fn decode_queue(id: Uuid, value: &[u8]) -> Result<Record, CatalogRecordError> {
    let mut value = versioned(KIND_QUEUE, value)?;
    let name = GroupId::from(value.text("queue name")?);
    let topic = TopicId(Uuid::from_bytes(value.array("topic id")?));
    let start = match (value.u8("start")?, value.i64("number of the start")?) {
        (0, 0) => QueueStart::Latest,
        (1, 0) => QueueStart::Earliest,
        (2, time) => QueueStart::Time(TimestampMs(time)),
        (3, offset) if offset >= 0 => QueueStart::Offset(Offset(offset)),
        (kind, number) => return Err(illegal("start", format_args!("{kind} {number}"))),
    };
    let partitions_at_start = value.i32("partition count")?;
    if partitions_at_start < 1 {
        return Err(illegal("partition count", partitions_at_start));
    }
    let overrides = take_map(&mut value)?;
    value.finish()?;
    Ok(Record::Queue(Queue {
        name,
        id,
        topic,
        start,
        partitions_at_start,
        overrides,
    }))
}

fn put_document(out: &mut Vec<u8>, document: &Document) {
    out.extend_from_slice(&document.version.to_be_bytes());
    let length = u32::try_from(document.bytes.len());
    let length = length.expect("a document is checked to be below 256 KiB");
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(&document.bytes);
}

fn decode_document(
    (space, name): (String, String),
    value: &[u8],
) -> Result<Record, CatalogRecordError> {
    let mut value = versioned(KIND_DOCUMENT, value)?;
    let version = value.u64("document version")?;
    let length = value.u32("document length")? as usize;
    if length > DOCUMENT_BYTES_MAX {
        return Err(illegal("document length", length));
    }
    let bytes = Bytes::copy_from_slice(value.take(length, "document")?);
    value.finish()?;
    Ok(Record::Document(Document {
        space,
        name,
        version,
        bytes,
    }))
}

fn document_name(key: &mut BytesIn<'_>, what: &'static str) -> Result<String, CatalogRecordError> {
    let text = key.text(what)?;
    match text.len() {
        1..=DOCUMENT_NAME_BYTES_MAX => Ok(text.to_owned()),
        length => Err(illegal(what, format_args!("{length} bytes"))),
    }
}

fn decode_settings(kind: u8, value: &[u8]) -> Result<Overrides, CatalogRecordError> {
    let mut value = versioned(kind, value)?;
    let overrides = take_map(&mut value)?;
    value.finish()?;
    Ok(overrides)
}

fn decode_producer_ids(value: &[u8]) -> Result<Record, CatalogRecordError> {
    let mut value = versioned(KIND_PRODUCER_IDS, value)?;
    let next = value.i64("next producer id")?;
    if next < 0 {
        return Err(illegal("next producer id", next));
    }
    value.finish()?;
    Ok(Record::ProducerIds { next })
}

fn versioned(kind: u8, value: &[u8]) -> Result<BytesIn<'_>, CatalogRecordError> {
    let mut value = BytesIn::new(value);
    match value.u16("version")? {
        VERSION => Ok(value),
        version => Err(CatalogRecordError::UnknownVersion { kind, version }),
    }
}

fn scope_number(scope: BrokerScope) -> i32 {
    match scope {
        BrokerScope::Default => -1,
        BrokerScope::Broker(id) => id.0,
    }
}

fn scope_of(number: i32) -> Result<BrokerScope, CatalogRecordError> {
    match number {
        -1 => Ok(BrokerScope::Default),
        0.. => Ok(BrokerScope::Broker(BrokerId(number))),
        _ => Err(illegal("broker id", number)),
    }
}

fn illegal(what: &'static str, value: impl std::fmt::Display) -> CatalogRecordError {
    CatalogRecordError::Illegal {
        what,
        value: value.to_string(),
    }
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    let length =
        u16::try_from(text.len()).expect("names and values are checked to be below 32 KiB");
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(text.as_bytes());
}

fn put_map(out: &mut Vec<u8>, map: &Overrides) {
    let count = u32::try_from(map.len()).expect("a resource has at most some hundred settings");
    out.extend_from_slice(&count.to_be_bytes());
    for (name, value) in map {
        put_text(out, name);
        put_text(out, value);
    }
}

/// Each entry is read before the next is made room for: the count drives no allocation.
fn take_map(value: &mut BytesIn<'_>) -> Result<Overrides, CatalogRecordError> {
    let count = value.u32("settings count")?;
    let mut map = BTreeMap::new();
    for _ in 0..count {
        let name = value.text("setting name")?;
        if map
            .last_key_value()
            .is_some_and(|(last, _): (&String, _)| last.as_str() >= name)
        {
            return Err(illegal("order of settings", name));
        }
        let text = value.text("setting value")?;
        map.insert(name.to_owned(), text.to_owned());
    }
    Ok(map)
}

#[cfg(test)]
#[path = "record_tests.rs"]
pub(super) mod tests;
