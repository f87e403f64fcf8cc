//! The bytes of a [`ConsumerRecord`] in `__consumer_offsets`, as Kafka 4.4 writes them.
//!
//! ```text
//! key 3: i16 | group                value 0: i16 | epoch: i32 | tag 0: metadata hash: i64
//! key 5: i16 | group | member       value 0: i16 | who it is, what it subscribes to | tag 0: what it brought as a classic member
//! key 6: i16 | group                value 0: i16 | epoch: i32 | tag 0: time: i64
//! key 7: i16 | group | member       value 0: i16 | (topic id | partition: i32 *)*
//! key 8: i16 | group | member       value 0: i16 | epoch: i32 | epoch before: i32 | state: i8 | owned | to be given up
//! key 16: i16 | group | expression  value 0: i16 | topics | version: i64 | time: i64
//! ```
//!
//! Values are of the flexible encoding; key 4, of earlier versions, is not read.

use super::{
    ClassicMember, ConsumerMember, ConsumerRecord, CurrentAssignment, GroupEpoch, MemberState,
    OwnedPartitions, ResolvedRegex, TargetEpoch,
};
use crate::group::record_format::{Encoded, EncodedRecord, SkippedRecord, read, value};
use crate::group::{GroupRecord, InstanceId, MemberId, PartitionSets, Protocol, partition_sets};
use bytes::Bytes;
use fanlog_model::{GroupId, PartitionIndex, TimestampMs, TopicId};
use fanlog_protocol::messages::consumer_group_current_member_assignment_value::TopicPartitions;
use fanlog_protocol::messages::consumer_group_member_metadata_value as member_value;
use fanlog_protocol::messages::consumer_group_target_assignment_member_value::TopicPartition;
use fanlog_protocol::messages::{
    ConsumerGroupCurrentMemberAssignmentKey, ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataKey, ConsumerGroupMemberMetadataValue, ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue, ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionValue, ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberValue, ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
};
use fanlog_protocol::wire::EncodeError;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

const VALUE_VERSION: i16 = 0;

/// Writes a record.
///
/// # Errors
/// If a name is longer than the format can hold.
pub(in crate::group) fn encode(
    group: &GroupId,
    record: &ConsumerRecord,
) -> Result<EncodedRecord, EncodeError> {
    let group_id = Cow::Borrowed(group.as_str());
    let (key, value) = match record {
        ConsumerRecord::Epoch(epoch) => (
            ConsumerGroupMetadataKey { group_id }.encode_with_version_prefix()?,
            value(epoch.as_ref(), encode_epoch)?,
        ),
        ConsumerRecord::Member(id, member) => {
            let member_id = Cow::Borrowed(id.as_str());
            (
                ConsumerGroupMemberMetadataKey {
                    group_id,
                    member_id,
                }
                .encode_with_version_prefix()?,
                value(member.as_deref(), encode_member)?,
            )
        }
        ConsumerRecord::TargetEpoch(epoch) => (
            ConsumerGroupTargetAssignmentMetadataKey { group_id }.encode_with_version_prefix()?,
            value(epoch.as_ref(), encode_target_epoch)?,
        ),
        ConsumerRecord::Target(id, target) => {
            let member_id = Cow::Borrowed(id.as_str());
            (
                ConsumerGroupTargetAssignmentMemberKey {
                    group_id,
                    member_id,
                }
                .encode_with_version_prefix()?,
                value(target.as_deref(), encode_target)?,
            )
        }
        ConsumerRecord::Current(id, current) => {
            let member_id = Cow::Borrowed(id.as_str());
            (
                ConsumerGroupCurrentMemberAssignmentKey {
                    group_id,
                    member_id,
                }
                .encode_with_version_prefix()?,
                value(current.as_deref(), encode_current)?,
            )
        }
        ConsumerRecord::Regex(regex, resolved) => {
            let regular_expression = Cow::Borrowed(&**regex);
            (
                ConsumerGroupRegularExpressionKey {
                    group_id,
                    regular_expression,
                }
                .encode_with_version_prefix()?,
                value(resolved.as_deref(), encode_regex)?,
            )
        }
    };
    Ok(EncodedRecord { key, value })
}

fn encode_epoch(epoch: &GroupEpoch) -> Encoded {
    let value = ConsumerGroupMetadataValue {
        epoch: epoch.epoch,
        metadata_hash: epoch.metadata_hash,
    };
    value.encode_with_version_prefix(VALUE_VERSION)
}

fn encode_member(member: &ConsumerMember) -> Encoded {
    let optional = |name: &'_ Option<Arc<str>>| name.as_deref().map(str::to_owned).map(Cow::Owned);
    let instance = member.instance_id.as_ref();
    let value = ConsumerGroupMemberMetadataValue {
        instance_id: instance.map(|id| Cow::Borrowed(id.as_str())),
        rack_id: optional(&member.rack_id),
        client_id: Cow::Borrowed(&member.client_id),
        client_host: Cow::Borrowed(&member.client_host),
        subscribed_topic_names: names(&member.topics),
        subscribed_topic_regex: optional(&member.regex),
        rebalance_timeout_ms: member.rebalance_timeout_ms,
        server_assignor: optional(&member.server_assignor),
        classic_member_metadata: member.classic.as_ref().map(encode_classic),
    };
    value.encode_with_version_prefix(VALUE_VERSION)
}

fn encode_classic(classic: &ClassicMember) -> member_value::ClassicMemberMetadata<'_> {
    let protocols = classic.protocols.iter();
    let protocols = protocols.map(|protocol| member_value::ClassicProtocol {
        name: Cow::Borrowed(&*protocol.name),
        metadata: Cow::Borrowed(&*protocol.metadata),
    });
    member_value::ClassicMemberMetadata {
        session_timeout_ms: classic.session_timeout_ms,
        supported_protocols: protocols.collect(),
    }
}

fn encode_target_epoch(epoch: &TargetEpoch) -> Encoded {
    let value = ConsumerGroupTargetAssignmentMetadataValue {
        assignment_epoch: epoch.epoch,
        assignment_timestamp: epoch.made_at.get(),
    };
    value.encode_with_version_prefix(VALUE_VERSION)
}

fn encode_target(target: &PartitionSets) -> Encoded {
    let topics = target.iter().map(|(topic, partitions)| TopicPartition {
        topic_id: topic.0,
        partitions: partitions.iter().map(|index| index.0).collect(),
    });
    let value = ConsumerGroupTargetAssignmentMemberValue {
        topic_partitions: topics.collect(),
    };
    value.encode_with_version_prefix(VALUE_VERSION)
}

fn encode_current(current: &CurrentAssignment) -> Encoded {
    let value = ConsumerGroupCurrentMemberAssignmentValue {
        member_epoch: current.epoch,
        previous_member_epoch: current.previous_epoch,
        state: current.state.code(),
        assigned_partitions: encode_owned(&current.assigned),
        partitions_pending_revocation: encode_owned(&current.pending_revocation),
    };
    value.encode_with_version_prefix(VALUE_VERSION)
}

fn encode_owned(owned: &OwnedPartitions) -> Vec<TopicPartitions> {
    let topics = owned.0.iter().map(|(topic, partitions)| TopicPartitions {
        topic_id: topic.0,
        partitions: partitions.keys().map(|index| index.0).collect(),
        assignment_epochs: Some(partitions.values().copied().collect()),
    });
    topics.collect()
}

fn encode_regex(resolved: &ResolvedRegex) -> Encoded {
    let value = ConsumerGroupRegularExpressionValue {
        topics: names(&resolved.topics),
        version: resolved.version,
        timestamp: resolved.resolved_at.get(),
    };
    value.encode_with_version_prefix(VALUE_VERSION)
}

fn names(names: &[Arc<str>]) -> Vec<Cow<'_, str>> {
    names.iter().map(|name| Cow::Borrowed(&**name)).collect()
}

/// Reads a record whose key is of one of our kinds; `None` for another.
///
/// # Errors
/// Says why the record is to be skipped.
pub(in crate::group) fn decode(
    kind: i16,
    key: &[u8],
    value: Option<&[u8]>,
) -> Option<Result<GroupRecord, SkippedRecord>> {
    let decoded = match kind {
        ConsumerGroupMetadataKey::KEY_VERSION => decode_epoch(key, value),
        ConsumerGroupMemberMetadataKey::KEY_VERSION => decode_member(key, value),
        ConsumerGroupTargetAssignmentMetadataKey::KEY_VERSION => decode_target_epoch(key, value),
        ConsumerGroupTargetAssignmentMemberKey::KEY_VERSION => decode_target(key, value),
        ConsumerGroupCurrentMemberAssignmentKey::KEY_VERSION => decode_current(key, value),
        ConsumerGroupRegularExpressionKey::KEY_VERSION => decode_regex(key, value),
        _ => return None,
    };
    let named = |(group, record)| GroupRecord::Consumer { group, record };
    Some(decoded.map(named))
}

type Decoded = Result<(GroupId, ConsumerRecord), SkippedRecord>;

fn decode_epoch(key: &[u8], value: Option<&[u8]>) -> Decoded {
    let key = ConsumerGroupMetadataKey::decode_with_version_prefix(key);
    let key = key.map_err(SkippedRecord::BadKey)?;
    let value = read(
        value,
        ConsumerGroupMetadataValue::decode_with_version_prefix,
    )?;
    let epoch = value.map(|value| GroupEpoch {
        epoch: value.epoch,
        metadata_hash: value.metadata_hash,
    });
    Ok((GroupId::from(&*key.group_id), ConsumerRecord::Epoch(epoch)))
}

fn decode_member(key: &[u8], value: Option<&[u8]>) -> Decoded {
    let key = ConsumerGroupMemberMetadataKey::decode_with_version_prefix(key);
    let key = key.map_err(SkippedRecord::BadKey)?;
    let value = read(
        value,
        ConsumerGroupMemberMetadataValue::decode_with_version_prefix,
    )?;
    let member = value.map(|value| {
        let optional = |name: Option<Cow<'_, str>>| name.map(|name| Arc::from(&*name));
        Arc::new(ConsumerMember {
            instance_id: value.instance_id.map(|id| InstanceId::from(&*id)),
            rack_id: optional(value.rack_id),
            client_id: (&*value.client_id).into(),
            client_host: (&*value.client_host).into(),
            topics: in_order(&value.subscribed_topic_names),
            regex: optional(value.subscribed_topic_regex),
            rebalance_timeout_ms: value.rebalance_timeout_ms,
            server_assignor: optional(value.server_assignor),
            classic: value.classic_member_metadata.map(decode_classic),
        })
    });
    let record = ConsumerRecord::Member(MemberId::from(&*key.member_id), member);
    Ok((GroupId::from(&*key.group_id), record))
}

fn decode_classic(classic: member_value::ClassicMemberMetadata<'_>) -> ClassicMember {
    let protocols = classic.supported_protocols.into_iter();
    let protocols = protocols.map(|protocol| Protocol {
        name: (&*protocol.name).into(),
        metadata: Bytes::from(protocol.metadata.into_owned()),
    });
    ClassicMember {
        session_timeout_ms: classic.session_timeout_ms,
        protocols: protocols.collect(),
    }
}

fn in_order(names: &[Cow<'_, str>]) -> Arc<[Arc<str>]> {
    let mut names: Vec<Arc<str>> = names.iter().map(|name| Arc::from(&**name)).collect();
    names.sort();
    names.dedup();
    names.into()
}

fn decode_target_epoch(key: &[u8], value: Option<&[u8]>) -> Decoded {
    let key = ConsumerGroupTargetAssignmentMetadataKey::decode_with_version_prefix(key);
    let key = key.map_err(SkippedRecord::BadKey)?;
    let value = read(
        value,
        ConsumerGroupTargetAssignmentMetadataValue::decode_with_version_prefix,
    )?;
    let epoch = value.map(|value| TargetEpoch {
        epoch: value.assignment_epoch,
        made_at: TimestampMs(value.assignment_timestamp),
    });
    let record = ConsumerRecord::TargetEpoch(epoch);
    Ok((GroupId::from(&*key.group_id), record))
}

fn decode_target(key: &[u8], value: Option<&[u8]>) -> Decoded {
    let key = ConsumerGroupTargetAssignmentMemberKey::decode_with_version_prefix(key);
    let key = key.map_err(SkippedRecord::BadKey)?;
    let value = read(
        value,
        ConsumerGroupTargetAssignmentMemberValue::decode_with_version_prefix,
    )?;
    let target = value.map(|value| {
        let topics = value.topic_partitions.into_iter();
        let lists = topics.map(|topic| (TopicId(topic.topic_id), topic.partitions));
        Arc::new(partition_sets::gather(lists))
    });
    let record = ConsumerRecord::Target(MemberId::from(&*key.member_id), target);
    Ok((GroupId::from(&*key.group_id), record))
}

fn decode_current(key: &[u8], value: Option<&[u8]>) -> Decoded {
    let key = ConsumerGroupCurrentMemberAssignmentKey::decode_with_version_prefix(key);
    let key = key.map_err(SkippedRecord::BadKey)?;
    let value = read(
        value,
        ConsumerGroupCurrentMemberAssignmentValue::decode_with_version_prefix,
    )?;
    let current = value.map(|value| {
        let owned = |topics| decode_owned(topics, value.member_epoch);
        Arc::new(CurrentAssignment {
            epoch: value.member_epoch,
            previous_epoch: value.previous_member_epoch,
            state: MemberState::from_code(value.state),
            assigned: owned(value.assigned_partitions),
            pending_revocation: owned(value.partitions_pending_revocation),
        })
    });
    let record = ConsumerRecord::Current(MemberId::from(&*key.member_id), current);
    Ok((GroupId::from(&*key.group_id), record))
}

/// Earlier versions don't say since when a partition is owned: then it is since the member's epoch.
fn decode_owned(topics: Vec<TopicPartitions>, epoch: i32) -> OwnedPartitions {
    let mut owned = BTreeMap::<TopicId, BTreeMap<PartitionIndex, i32>>::new();
    for topic in topics {
        let epochs = topic.assignment_epochs.unwrap_or_default();
        let epochs = epochs.into_iter().chain(std::iter::repeat(epoch));
        let partitions = topic.partitions.into_iter().map(PartitionIndex);
        for (partition, epoch) in partitions.zip(epochs) {
            let of_topic = owned.entry(TopicId(topic.topic_id)).or_default();
            of_topic.insert(partition, epoch);
        }
    }
    OwnedPartitions(owned)
}

fn decode_regex(key: &[u8], value: Option<&[u8]>) -> Decoded {
    let key = ConsumerGroupRegularExpressionKey::decode_with_version_prefix(key);
    let key = key.map_err(SkippedRecord::BadKey)?;
    let value = read(
        value,
        ConsumerGroupRegularExpressionValue::decode_with_version_prefix,
    )?;
    let resolved = value.map(|value| {
        Arc::new(ResolvedRegex {
            topics: in_order(&value.topics),
            version: value.version,
            resolved_at: TimestampMs(value.timestamp),
        })
    });
    let record = ConsumerRecord::Regex((&*key.regular_expression).into(), resolved);
    Ok((GroupId::from(&*key.group_id), record))
}

impl MemberState {
    const STABLE: i8 = 0;
    const UNREVOKED_PARTITIONS: i8 = 1;
    const UNRELEASED_PARTITIONS: i8 = 2;
    const UNKNOWN: i8 = 127;

    fn code(self) -> i8 {
        match self {
            Self::Stable => Self::STABLE,
            Self::UnrevokedPartitions => Self::UNREVOKED_PARTITIONS,
            Self::UnreleasedPartitions => Self::UNRELEASED_PARTITIONS,
            Self::Unknown => Self::UNKNOWN,
        }
    }

    fn from_code(code: i8) -> Self {
        match code {
            Self::STABLE => Self::Stable,
            Self::UNREVOKED_PARTITIONS => Self::UnrevokedPartitions,
            Self::UNRELEASED_PARTITIONS => Self::UnreleasedPartitions,
            _ => Self::Unknown,
        }
    }
}
