//! The bytes of a [`GroupRecord`] in `__consumer_offsets`, as Kafka 4.4 writes them.
//!
//! ```text
//! key of an offset    1: i16 | group | topic | partition: i32
//! key of a group      2: i16 | group
//! value of an offset  4: i16 | offset: i64 | leader epoch: i32 | metadata | commit time: i64 | tag 0: topic id
//!                     1: i16 | offset: i64 | metadata | commit time: i64 | expiry time: i64   (a retention of its own)
//! value of a group    3: i16 | protocol type | generation: i32 | protocol? | leader? | since: i64 | members
//! ```
//!
//! No value: a tombstone. Older value versions are read; keys of the other group types are in `consumer/record_format.rs` and
//! `share/record_format.rs`; keys of kinds that nobody knows are skipped, and counted by whoever calls. Kafka's tools and a later import rely on this layout.

use super::{CommittedOffset, GroupMetadata, GroupRecord, InstanceId, MemberId, MemberMetadata};
use super::{consumer, share};
use bytes::Bytes;
use fanlog_model::{
    GroupId, InvalidTopicName, LeaderEpoch, Offset, PartitionIndex, TimestampMs, TopicId,
    TopicName, TopicPartition,
};
use fanlog_protocol::messages::group_metadata_value::MemberMetadata as WireMember;
use fanlog_protocol::messages::{
    GroupMetadataKey, GroupMetadataValue, OffsetCommitKey, OffsetCommitValue,
};
use fanlog_protocol::wire::{DecodeError, EncodeError, Reader};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;
use thiserror::Error;

const GROUP_VALUE_VERSION: i16 = 3;
const OFFSET_VALUE_VERSION: i16 = 4;
const OFFSET_VALUE_VERSION_WITH_EXPIRY: i16 = 1;
/// The kind of key that Kafka wrote for an offset long ago; otherwise like today's.
const OLD_OFFSET_KEY_VERSION: i16 = 0;

/// A record as it goes into a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedRecord {
    /// The key.
    pub key: Vec<u8>,
    /// The value; `None` for a tombstone.
    pub value: Option<Vec<u8>>,
}

/// A value behind its version.
pub(super) type Encoded = Result<Vec<u8>, EncodeError>;

/// Writes a value, or none for a tombstone.
pub(super) fn value<T>(
    value: Option<&T>,
    encode: impl Fn(&T) -> Encoded,
) -> Result<Option<Vec<u8>>, EncodeError> {
    value.map(encode).transpose()
}

/// Reads a value; none is a tombstone.
pub(super) fn read<'a, T>(
    value: Option<&'a [u8]>,
    decode: impl Fn(&'a [u8]) -> Result<T, DecodeError>,
) -> Result<Option<T>, SkippedRecord> {
    value
        .map(decode)
        .transpose()
        .map_err(SkippedRecord::BadValue)
}

/// Why a record in the log is none of ours. It is skipped, counted and reported; the rest of the log still loads.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SkippedRecord {
    /// A compacted topic has no such records.
    #[error("record without a key")]
    NoKey,
    /// A key of a kind that belongs to another group type, or to a later version.
    #[error("key of kind {kind}, which this version does not know")]
    UnknownKey {
        /// The number at the key's beginning.
        kind: i16,
    },
    /// The key can't be read.
    #[error("unreadable key: {0}")]
    BadKey(DecodeError),
    /// The value can't be read, or has a version from the future.
    #[error("unreadable value: {0}")]
    BadValue(DecodeError),
    /// The topic can't exist.
    #[error("offset for an impossible topic: {0}")]
    BadTopic(InvalidTopicName),
}

/// Writes a record.
///
/// # Errors
/// If a name is longer than the format can hold; the machine lets none of these in.
pub fn encode(record: &GroupRecord) -> Result<EncodedRecord, EncodeError> {
    let (key, value) = match record {
        GroupRecord::Group { group, metadata } => {
            let value = group_value(metadata).encode_with_version_prefix(GROUP_VALUE_VERSION)?;
            (group_key(group)?, Some(value))
        }
        GroupRecord::GroupDeleted { group } => (group_key(group)?, None),
        GroupRecord::Offset {
            group,
            partition,
            committed,
        } => (
            offset_key(group, partition)?,
            Some(offset_value(committed)?),
        ),
        GroupRecord::OffsetDeleted { group, partition } => (offset_key(group, partition)?, None),
        GroupRecord::Consumer { group, record } => {
            return consumer::record_format::encode(group, record);
        }
        GroupRecord::Share { group, record } => return share::record_format::encode(group, record),
    };
    Ok(EncodedRecord { key, value })
}

/// Reads a record.
///
/// # Errors
/// Says why the record is to be skipped.
pub fn decode(key: Option<&[u8]>, value: Option<&[u8]>) -> Result<GroupRecord, SkippedRecord> {
    let key = key.ok_or(SkippedRecord::NoKey)?;
    match Reader::new(key).i16().map_err(SkippedRecord::BadKey)? {
        OLD_OFFSET_KEY_VERSION => {
            let mut body = Reader::new(&key[size_of::<i16>()..]);
            let key = OffsetCommitKey::decode(&mut body, 0).map_err(SkippedRecord::BadKey)?;
            decode_offset(&key, value)
        }
        OffsetCommitKey::KEY_VERSION => {
            let key = OffsetCommitKey::decode_with_version_prefix(key);
            decode_offset(&key.map_err(SkippedRecord::BadKey)?, value)
        }
        GroupMetadataKey::KEY_VERSION => {
            let key = GroupMetadataKey::decode_with_version_prefix(key);
            decode_group(&key.map_err(SkippedRecord::BadKey)?, value)
        }
        kind => consumer::record_format::decode(kind, key, value)
            .or_else(|| share::record_format::decode(kind, key, value))
            .unwrap_or(Err(SkippedRecord::UnknownKey { kind })),
    }
}

fn group_key(group: &GroupId) -> Result<Vec<u8>, EncodeError> {
    let group = Cow::Borrowed(group.as_str());
    GroupMetadataKey { group }.encode_with_version_prefix()
}

fn offset_key(group: &GroupId, partition: &TopicPartition) -> Result<Vec<u8>, EncodeError> {
    let key = OffsetCommitKey {
        group: Cow::Borrowed(group.as_str()),
        topic: Cow::Borrowed(partition.topic.as_str()),
        partition: partition.partition.get(),
    };
    key.encode_with_version_prefix()
}

fn offset_value(committed: &CommittedOffset) -> Result<Vec<u8>, EncodeError> {
    let mut value = OffsetCommitValue {
        offset: committed.offset.get(),
        leader_epoch: committed.leader_epoch.get(),
        metadata: Cow::Borrowed(&committed.metadata),
        commit_timestamp: committed.committed_at.get(),
        expire_timestamp: -1,
        topic_id: committed.topic_id.0,
    };
    match committed.expires_at {
        None => value.encode_with_version_prefix(OFFSET_VALUE_VERSION),
        // Only version 1 can say when an offset expires.
        Some(at) => {
            value.expire_timestamp = at.get();
            value.encode_with_version_prefix(OFFSET_VALUE_VERSION_WITH_EXPIRY)
        }
    }
}

fn group_value(metadata: &GroupMetadata) -> GroupMetadataValue<'_> {
    let protocol_type = metadata.protocol_type.as_deref();
    let leader = metadata.leader.as_ref();
    GroupMetadataValue {
        protocol_type: Cow::Borrowed(protocol_type.unwrap_or_default()),
        generation: metadata.generation,
        protocol: metadata.protocol.as_deref().map(Cow::Borrowed),
        leader: leader.map(|leader| Cow::Borrowed(leader.as_str())),
        current_state_timestamp: metadata.state_since.map_or(-1, TimestampMs::get),
        members: metadata.members.iter().map(member_value).collect(),
    }
}

fn member_value(member: &MemberMetadata) -> WireMember<'_> {
    let instance = member.instance_id.as_ref();
    WireMember {
        member_id: Cow::Borrowed(member.member_id.as_str()),
        group_instance_id: instance.map(|id| Cow::Borrowed(id.as_str())),
        client_id: Cow::Borrowed(&member.client_id),
        client_host: Cow::Borrowed(&member.client_host),
        rebalance_timeout: member.rebalance_timeout_ms,
        session_timeout: member.session_timeout_ms,
        subscription: Cow::Borrowed(&member.subscription),
        assignment: Cow::Borrowed(&member.assignment),
    }
}

fn decode_offset(
    key: &OffsetCommitKey<'_>,
    value: Option<&[u8]>,
) -> Result<GroupRecord, SkippedRecord> {
    let group = GroupId::from(&*key.group);
    let partition = TopicPartition {
        topic: TopicName::new(&key.topic).map_err(SkippedRecord::BadTopic)?,
        partition: PartitionIndex(key.partition),
    };
    let Some(value) = value else {
        return Ok(GroupRecord::OffsetDeleted { group, partition });
    };
    let value = OffsetCommitValue::decode_with_version_prefix(value);
    let value = value.map_err(SkippedRecord::BadValue)?;
    let committed = CommittedOffset {
        offset: Offset(value.offset),
        leader_epoch: LeaderEpoch(value.leader_epoch),
        metadata: (&*value.metadata).into(),
        committed_at: TimestampMs(value.commit_timestamp),
        expires_at: (value.expire_timestamp != -1).then_some(TimestampMs(value.expire_timestamp)),
        topic_id: TopicId(value.topic_id),
    };
    Ok(GroupRecord::Offset {
        group,
        partition,
        committed,
    })
}

fn decode_group(
    key: &GroupMetadataKey<'_>,
    value: Option<&[u8]>,
) -> Result<GroupRecord, SkippedRecord> {
    let group = GroupId::from(&*key.group);
    let Some(value) = value else {
        return Ok(GroupRecord::GroupDeleted { group });
    };
    let value = GroupMetadataValue::decode_with_version_prefix(value);
    let metadata = group_metadata(value.map_err(SkippedRecord::BadValue)?);
    Ok(GroupRecord::Group { group, metadata })
}

/// The record in our terms: members in order, no name twice, a leader (if any) that is a member. Ours always are so; others' logs need not be.
fn group_metadata(value: GroupMetadataValue<'_>) -> GroupMetadata {
    let mut members: Vec<_> = value.members.into_iter().map(member_metadata).collect();
    let mut instances = BTreeSet::new();
    members
        .retain(|m: &MemberMetadata| m.instance_id.iter().all(|id| instances.insert(id.clone())));
    members.sort_by(|a, b| a.member_id.cmp(&b.member_id));
    members.dedup_by(|a, b| a.member_id == b.member_id);
    let leader = value.leader.map(|leader| MemberId::from(&*leader));
    let is_member = |leader: &MemberId| members.iter().any(|m| m.member_id == *leader);
    let first = || members.first().map(|m| m.member_id.clone());
    let leader = leader.and_then(|leader| Some(leader).filter(is_member).or_else(first));
    let protocol_type = Some(value.protocol_type).filter(|word| !word.is_empty());
    let protocol = value.protocol.map(|name| Arc::from(&*name));
    let no_name = (!members.is_empty()).then(Arc::default);
    GroupMetadata {
        protocol_type: protocol_type.map(|word| Arc::from(&*word)),
        generation: value.generation,
        protocol: protocol.or(no_name),
        leader,
        state_since: (value.current_state_timestamp != -1)
            .then_some(TimestampMs(value.current_state_timestamp)),
        members,
    }
}

fn member_metadata(member: WireMember<'_>) -> MemberMetadata {
    MemberMetadata {
        member_id: MemberId::from(&*member.member_id),
        instance_id: member.group_instance_id.map(|id| InstanceId::from(&*id)),
        client_id: (&*member.client_id).into(),
        client_host: (&*member.client_host).into(),
        // Version 0 has no rebalance timeout: the session timeout stood for it.
        rebalance_timeout_ms: match member.rebalance_timeout {
            -1 => member.session_timeout,
            given => given,
        },
        session_timeout_ms: member.session_timeout,
        subscription: Bytes::from(member.subscription.into_owned()),
        assignment: Bytes::from(member.assignment.into_owned()),
    }
}

#[cfg(test)]
#[path = "record_format_tests.rs"]
pub(crate) mod tests;
