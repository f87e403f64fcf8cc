//! The bytes of a [`ShareRecord`] in `__consumer_offsets`, as Kafka 4.4 writes them.
//!
//! ```text
//! key 10: i16 | group | member   value 0: i16 | who it is, what it subscribes to
//! key 11: i16 | group            value 0: i16 | epoch: i32 | metadata hash: i64
//! key 12: i16 | group            value 0: i16 | epoch: i32 | tag 0: time: i64
//! key 13: i16 | group | member   value 0: i16 | (topic id | partition: i32 *)*
//! key 14: i16 | group | member   value 0: i16 | epoch: i32 | epoch before: i32 | state: i8 | (topic id | partition: i32 *)*
//! key 15: i16 | group            value 0: i16 | initializing | initialized | deleting
//! ```

use super::{
    DeletingTopic, ShareAssignment, ShareGroupEpoch, ShareMember, SharePartitions, ShareRecord,
    ShareTopic,
};
use crate::group::consumer::TargetEpoch;
use crate::group::record_format::{Encoded, EncodedRecord, SkippedRecord, read, value};
use crate::group::{GroupRecord, MemberId, PartitionSets, partition_sets};
use fanlog_model::{GroupId, PartitionIndex, TimestampMs, TopicId};
use fanlog_protocol::messages::share_group_current_member_assignment_value::TopicPartitions;
use fanlog_protocol::messages::share_group_state_partition_metadata_value as state_value;
use fanlog_protocol::messages::share_group_target_assignment_member_value::TopicPartition;
use fanlog_protocol::messages::{
    ShareGroupCurrentMemberAssignmentKey, ShareGroupCurrentMemberAssignmentValue,
    ShareGroupMemberMetadataKey, ShareGroupMemberMetadataValue, ShareGroupMetadataKey,
    ShareGroupMetadataValue, ShareGroupStatePartitionMetadataKey,
    ShareGroupStatePartitionMetadataValue, ShareGroupTargetAssignmentMemberKey,
    ShareGroupTargetAssignmentMemberValue, ShareGroupTargetAssignmentMetadataKey,
    ShareGroupTargetAssignmentMetadataValue,
};
use fanlog_protocol::wire::EncodeError;
use std::borrow::Cow;
use std::sync::Arc;

const VALUE_VERSION: i16 = 0;

/// Writes a record.
///
/// # Errors
/// If a name is longer than the format can hold.
pub(in crate::group) fn encode(
    group: &GroupId,
    record: &ShareRecord,
) -> Result<EncodedRecord, EncodeError> {
    let group_id = Cow::Borrowed(group.as_str());
    let (key, value) = match record {
        ShareRecord::Epoch(epoch) => (
            ShareGroupMetadataKey { group_id }.encode_with_version_prefix()?,
            value(epoch.as_ref(), encode_epoch)?,
        ),
        ShareRecord::Member(id, member) => {
            let member_id = Cow::Borrowed(id.as_str());
            (
                ShareGroupMemberMetadataKey {
                    group_id,
                    member_id,
                }
                .encode_with_version_prefix()?,
                value(member.as_deref(), encode_member)?,
            )
        }
        ShareRecord::TargetEpoch(epoch) => (
            ShareGroupTargetAssignmentMetadataKey { group_id }.encode_with_version_prefix()?,
            value(epoch.as_ref(), encode_target_epoch)?,
        ),
        ShareRecord::Target(id, target) => {
            let member_id = Cow::Borrowed(id.as_str());
            (
                ShareGroupTargetAssignmentMemberKey {
                    group_id,
                    member_id,
                }
                .encode_with_version_prefix()?,
                value(target.as_deref(), encode_target)?,
            )
        }
        ShareRecord::Current(id, current) => {
            let member_id = Cow::Borrowed(id.as_str());
            (
                ShareGroupCurrentMemberAssignmentKey {
                    group_id,
                    member_id,
                }
                .encode_with_version_prefix()?,
                value(current.as_deref(), encode_current)?,
            )
        }
        ShareRecord::Partitions(partitions) => (
            ShareGroupStatePartitionMetadataKey { group_id }.encode_with_version_prefix()?,
            value(partitions.as_deref(), encode_partitions)?,
        ),
    };
    Ok(EncodedRecord { key, value })
}

fn encode_epoch(epoch: &ShareGroupEpoch) -> Encoded {
    let value = ShareGroupMetadataValue {
        epoch: epoch.epoch,
        metadata_hash: epoch.metadata_hash,
    };
    value.encode_with_version_prefix(VALUE_VERSION)
}

fn encode_member(member: &ShareMember) -> Encoded {
    let topics = member.topics.iter();
    let value = ShareGroupMemberMetadataValue {
        rack_id: member.rack_id.as_deref().map(Cow::Borrowed),
        client_id: Cow::Borrowed(&member.client_id),
        client_host: Cow::Borrowed(&member.client_host),
        subscribed_topic_names: topics.map(|name| Cow::Borrowed(&**name)).collect(),
    };
    value.encode_with_version_prefix(VALUE_VERSION)
}

fn encode_target_epoch(epoch: &TargetEpoch) -> Encoded {
    let value = ShareGroupTargetAssignmentMetadataValue {
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
    let value = ShareGroupTargetAssignmentMemberValue {
        topic_partitions: topics.collect(),
    };
    value.encode_with_version_prefix(VALUE_VERSION)
}

fn encode_current(current: &ShareAssignment) -> Encoded {
    let topics = current.assigned.iter();
    let topics = topics.map(|(topic, partitions)| TopicPartitions {
        topic_id: topic.0,
        partitions: partitions.iter().map(|index| index.0).collect(),
    });
    let value = ShareGroupCurrentMemberAssignmentValue {
        member_epoch: current.epoch,
        previous_member_epoch: current.previous_epoch,
        state: current.state,
        assigned_partitions: topics.collect(),
    };
    value.encode_with_version_prefix(VALUE_VERSION)
}

fn encode_partitions(partitions: &SharePartitions) -> Encoded {
    let topics = |topics: &[ShareTopic]| topics.iter().map(encode_topic).collect();
    let deleting = partitions.deleting.iter();
    let value = ShareGroupStatePartitionMetadataValue {
        initializing_topics: topics(&partitions.initializing),
        initialized_topics: topics(&partitions.initialized),
        deleting_topics: deleting
            .map(|topic| state_value::TopicInfo {
                topic_id: topic.id.0,
                topic_name: Cow::Owned(topic.name.to_string()),
            })
            .collect(),
    };
    value.encode_with_version_prefix(VALUE_VERSION)
}

fn encode_topic(topic: &ShareTopic) -> state_value::TopicPartitionsInfo<'static> {
    state_value::TopicPartitionsInfo {
        topic_id: topic.id.0,
        topic_name: Cow::Owned(topic.name.to_string()),
        partitions: topic.partitions.iter().map(|index| index.0).collect(),
    }
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
        ShareGroupMetadataKey::KEY_VERSION => decode_epoch(key, value),
        ShareGroupMemberMetadataKey::KEY_VERSION => decode_member(key, value),
        ShareGroupTargetAssignmentMetadataKey::KEY_VERSION => decode_target_epoch(key, value),
        ShareGroupTargetAssignmentMemberKey::KEY_VERSION => decode_target(key, value),
        ShareGroupCurrentMemberAssignmentKey::KEY_VERSION => decode_current(key, value),
        ShareGroupStatePartitionMetadataKey::KEY_VERSION => decode_partitions(key, value),
        _ => return None,
    };
    let named = |(group, record)| GroupRecord::Share { group, record };
    Some(decoded.map(named))
}

type Decoded = Result<(GroupId, ShareRecord), SkippedRecord>;

fn decode_epoch(key: &[u8], value: Option<&[u8]>) -> Decoded {
    let key = ShareGroupMetadataKey::decode_with_version_prefix(key);
    let key = key.map_err(SkippedRecord::BadKey)?;
    let value = read(value, ShareGroupMetadataValue::decode_with_version_prefix)?;
    let epoch = value.map(|value| ShareGroupEpoch {
        epoch: value.epoch,
        metadata_hash: value.metadata_hash,
    });
    Ok((GroupId::from(&*key.group_id), ShareRecord::Epoch(epoch)))
}

fn decode_member(key: &[u8], value: Option<&[u8]>) -> Decoded {
    let key = ShareGroupMemberMetadataKey::decode_with_version_prefix(key);
    let key = key.map_err(SkippedRecord::BadKey)?;
    let value = read(
        value,
        ShareGroupMemberMetadataValue::decode_with_version_prefix,
    )?;
    let member = value.map(|value| {
        let names = value.subscribed_topic_names.iter();
        let mut topics: Vec<Arc<str>> = names.map(|name| Arc::from(&**name)).collect();
        topics.sort();
        topics.dedup();
        Arc::new(ShareMember {
            rack_id: value.rack_id.map(|name| Arc::from(&*name)),
            client_id: (&*value.client_id).into(),
            client_host: (&*value.client_host).into(),
            topics: topics.into(),
        })
    });
    let record = ShareRecord::Member(MemberId::from(&*key.member_id), member);
    Ok((GroupId::from(&*key.group_id), record))
}

fn decode_target_epoch(key: &[u8], value: Option<&[u8]>) -> Decoded {
    let key = ShareGroupTargetAssignmentMetadataKey::decode_with_version_prefix(key);
    let key = key.map_err(SkippedRecord::BadKey)?;
    let value = read(
        value,
        ShareGroupTargetAssignmentMetadataValue::decode_with_version_prefix,
    )?;
    let epoch = value.map(|value| TargetEpoch {
        epoch: value.assignment_epoch,
        made_at: TimestampMs(value.assignment_timestamp),
    });
    let record = ShareRecord::TargetEpoch(epoch);
    Ok((GroupId::from(&*key.group_id), record))
}

fn decode_target(key: &[u8], value: Option<&[u8]>) -> Decoded {
    let key = ShareGroupTargetAssignmentMemberKey::decode_with_version_prefix(key);
    let key = key.map_err(SkippedRecord::BadKey)?;
    let value = read(
        value,
        ShareGroupTargetAssignmentMemberValue::decode_with_version_prefix,
    )?;
    let target = value.map(|value| {
        let topics = value.topic_partitions.into_iter();
        let lists = topics.map(|topic| (TopicId(topic.topic_id), topic.partitions));
        Arc::new(partition_sets::gather(lists))
    });
    let record = ShareRecord::Target(MemberId::from(&*key.member_id), target);
    Ok((GroupId::from(&*key.group_id), record))
}

fn decode_current(key: &[u8], value: Option<&[u8]>) -> Decoded {
    let key = ShareGroupCurrentMemberAssignmentKey::decode_with_version_prefix(key);
    let key = key.map_err(SkippedRecord::BadKey)?;
    let value = read(
        value,
        ShareGroupCurrentMemberAssignmentValue::decode_with_version_prefix,
    )?;
    let current = value.map(|value| {
        let topics = value.assigned_partitions.into_iter();
        let lists = topics.map(|topic| (TopicId(topic.topic_id), topic.partitions));
        Arc::new(ShareAssignment {
            epoch: value.member_epoch,
            previous_epoch: value.previous_member_epoch,
            state: value.state,
            assigned: partition_sets::gather(lists),
        })
    });
    let record = ShareRecord::Current(MemberId::from(&*key.member_id), current);
    Ok((GroupId::from(&*key.group_id), record))
}

fn decode_partitions(key: &[u8], value: Option<&[u8]>) -> Decoded {
    let key = ShareGroupStatePartitionMetadataKey::decode_with_version_prefix(key);
    let key = key.map_err(SkippedRecord::BadKey)?;
    let value = read(
        value,
        ShareGroupStatePartitionMetadataValue::decode_with_version_prefix,
    )?;
    let partitions = value.map(|value| {
        let topics = |topics: Vec<_>| topics.into_iter().map(decode_topic).collect();
        let deleting = value.deleting_topics.into_iter();
        Arc::new(SharePartitions {
            initializing: topics(value.initializing_topics),
            initialized: topics(value.initialized_topics),
            deleting: deleting
                .map(|topic| DeletingTopic {
                    id: TopicId(topic.topic_id),
                    name: (&*topic.topic_name).into(),
                })
                .collect(),
        })
    });
    let record = ShareRecord::Partitions(partitions);
    Ok((GroupId::from(&*key.group_id), record))
}

fn decode_topic(topic: state_value::TopicPartitionsInfo<'_>) -> ShareTopic {
    ShareTopic {
        id: TopicId(topic.topic_id),
        name: (&*topic.topic_name).into(),
        partitions: topic.partitions.into_iter().map(PartitionIndex).collect(),
    }
}
