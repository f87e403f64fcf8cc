//! The bytes of a [`ShareRecord`] in `__share_group_state`, as Kafka 4.4 writes them.
//!
//! ```text
//! key of a snapshot   0: i16 | group | topic id | partition: i32
//! key of an update    1: i16 | group | topic id | partition: i32
//! value of a snapshot 0: i16 | snapshot epoch | state epoch | leader epoch | start | created | written | batches | tag 0: done with
//! value of an update  0: i16 | snapshot epoch | leader epoch | start | batches | tag 0: done with
//! ```
//!
//! No value: a tombstone, of the whole share-partition under the key of a snapshot. Updates bear one key and add up, so the
//! topic cannot be compacted: it is cut at the oldest snapshot that is needed.

use super::{DeliveryState, RecordState, ShareKey, ShareRecord, Snapshot, StateBatch, Update};
use fanlog_model::{GroupId, LeaderEpoch, Offset, PartitionIndex, TimestampMs, TopicId};
use fanlog_protocol::messages::{
    ShareSnapshotKey, ShareSnapshotValue, ShareUpdateKey, ShareUpdateValue, share_snapshot_value,
    share_update_value,
};
use fanlog_protocol::wire::{DecodeError, EncodeError, Reader};
use std::borrow::Cow;
use thiserror::Error;

const VALUE_VERSION: i16 = 0;
/// "As before", and "not yet known".
const NO_OFFSET: i64 = -1;

/// Why a record in the log is none of ours. It is skipped and reported.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SkippedShareRecord {
    /// Every record has one.
    #[error("record without a key")]
    NoKey,
    /// A key of a later version.
    #[error("key of kind {kind}, which this version does not know")]
    UnknownKey {
        /// The number at the key's beginning.
        kind: i16,
    },
    /// It can't be read, or has a version from the future.
    #[error("unreadable record: {0}")]
    Unreadable(#[from] DecodeError),
    /// Offsets that no record has.
    #[error("state of the impossible offsets {first} to {last}")]
    ImpossibleOffsets {
        /// The first.
        first: i64,
        /// The last.
        last: i64,
    },
    /// A number that stands for no state.
    #[error("state {0} of a record, which this version does not know")]
    UnknownState(i8),
}

/// Writes a record: its key, and its value or a tombstone.
///
/// # Errors
/// If the group's name is longer than the format can hold.
pub fn encode(
    key: &ShareKey,
    record: &ShareRecord,
) -> Result<(Vec<u8>, Option<Vec<u8>>), EncodeError> {
    Ok(match record {
        ShareRecord::Snapshot(snapshot) => (
            snapshot_key(key)?,
            Some(snapshot_value(snapshot).encode_with_version_prefix(VALUE_VERSION)?),
        ),
        ShareRecord::Update(update) => (
            update_key(key)?,
            Some(update_value(update).encode_with_version_prefix(VALUE_VERSION)?),
        ),
        ShareRecord::Deleted => (snapshot_key(key)?, None),
    })
}

/// Reads a record; none where a tombstone says nothing new.
///
/// # Errors
/// Says why the record is to be skipped.
pub fn decode(
    key: Option<&[u8]>,
    value: Option<&[u8]>,
) -> Result<Option<(ShareKey, ShareRecord)>, SkippedShareRecord> {
    let key = key.ok_or(SkippedShareRecord::NoKey)?;
    match Reader::new(key).i16()? {
        ShareSnapshotKey::KEY_VERSION => {
            let key = ShareSnapshotKey::decode_with_version_prefix(key)?;
            let key = share_key(&key.group_id, key.topic_id, key.partition);
            let record = match value {
                Some(value) => decode_snapshot(value)?,
                None => ShareRecord::Deleted,
            };
            Ok(Some((key, record)))
        }
        ShareUpdateKey::KEY_VERSION => {
            let key = ShareUpdateKey::decode_with_version_prefix(key)?;
            let key = share_key(&key.group_id, key.topic_id, key.partition);
            value
                .map(|value| Ok((key, decode_update(value)?)))
                .transpose()
        }
        kind => Err(SkippedShareRecord::UnknownKey { kind }),
    }
}

fn share_key(group: &str, topic: uuid::Uuid, partition: i32) -> ShareKey {
    ShareKey {
        group: GroupId::from(group),
        topic: TopicId(topic),
        partition: PartitionIndex(partition),
    }
}

fn snapshot_key(key: &ShareKey) -> Result<Vec<u8>, EncodeError> {
    ShareSnapshotKey {
        group_id: Cow::Borrowed(key.group.as_str()),
        topic_id: key.topic.0,
        partition: key.partition.0,
    }
    .encode_with_version_prefix()
}

fn update_key(key: &ShareKey) -> Result<Vec<u8>, EncodeError> {
    ShareUpdateKey {
        group_id: Cow::Borrowed(key.group.as_str()),
        topic_id: key.topic.0,
        partition: key.partition.0,
    }
    .encode_with_version_prefix()
}

fn snapshot_value(snapshot: &Snapshot) -> ShareSnapshotValue {
    let batch = |batch: &StateBatch| share_snapshot_value::StateBatch {
        first_offset: batch.first.0,
        last_offset: batch.last.0,
        delivery_state: batch.is.state.code(),
        delivery_count: batch.is.delivery_count,
    };
    ShareSnapshotValue {
        snapshot_epoch: snapshot.snapshot_epoch,
        state_epoch: snapshot.state_epoch,
        leader_epoch: snapshot.leader_epoch.0,
        start_offset: snapshot.start.map_or(NO_OFFSET, |start| start.0),
        delivery_complete_count: snapshot.delivery_complete_count,
        create_timestamp: snapshot.created_at.0,
        write_timestamp: snapshot.written_at.0,
        state_batches: snapshot.batches.iter().map(batch).collect(),
    }
}

fn update_value(update: &Update) -> ShareUpdateValue {
    let batch = |batch: &StateBatch| share_update_value::StateBatch {
        first_offset: batch.first.0,
        last_offset: batch.last.0,
        delivery_state: batch.is.state.code(),
        delivery_count: batch.is.delivery_count,
    };
    ShareUpdateValue {
        snapshot_epoch: update.snapshot_epoch,
        leader_epoch: update.leader_epoch.0,
        start_offset: update.start.map_or(NO_OFFSET, |start| start.0),
        delivery_complete_count: update.delivery_complete_count,
        state_batches: update.batches.iter().map(batch).collect(),
    }
}

fn decode_snapshot(value: &[u8]) -> Result<ShareRecord, SkippedShareRecord> {
    let value = ShareSnapshotValue::decode_with_version_prefix(value)?;
    let batches = value.state_batches.iter();
    let batch = |b: &share_snapshot_value::StateBatch| {
        state_batch(
            b.first_offset,
            b.last_offset,
            b.delivery_state,
            b.delivery_count,
        )
    };
    Ok(ShareRecord::Snapshot(Snapshot {
        snapshot_epoch: value.snapshot_epoch,
        state_epoch: value.state_epoch,
        leader_epoch: LeaderEpoch(value.leader_epoch),
        start: offset(value.start_offset),
        delivery_complete_count: value.delivery_complete_count,
        created_at: TimestampMs(value.create_timestamp),
        written_at: TimestampMs(value.write_timestamp),
        batches: batches.map(batch).collect::<Result<_, _>>()?,
    }))
}

fn decode_update(value: &[u8]) -> Result<ShareRecord, SkippedShareRecord> {
    let value = ShareUpdateValue::decode_with_version_prefix(value)?;
    let batches = value.state_batches.iter();
    let batch = |b: &share_update_value::StateBatch| {
        state_batch(
            b.first_offset,
            b.last_offset,
            b.delivery_state,
            b.delivery_count,
        )
    };
    Ok(ShareRecord::Update(Update {
        snapshot_epoch: value.snapshot_epoch,
        leader_epoch: LeaderEpoch(value.leader_epoch),
        start: offset(value.start_offset),
        delivery_complete_count: value.delivery_complete_count,
        batches: batches.map(batch).collect::<Result<_, _>>()?,
    }))
}

fn offset(offset: i64) -> Option<Offset> {
    (offset >= 0).then_some(Offset(offset))
}

fn state_batch(
    first: i64,
    last: i64,
    state: i8,
    delivery_count: i16,
) -> Result<StateBatch, SkippedShareRecord> {
    if first < 0 || last < first || last == i64::MAX {
        return Err(SkippedShareRecord::ImpossibleOffsets { first, last });
    }
    let known = DeliveryState::from_code(state);
    let state = known.ok_or(SkippedShareRecord::UnknownState(state))?;
    Ok(StateBatch {
        first: Offset(first),
        last: Offset(last),
        is: RecordState {
            state,
            delivery_count,
        },
    })
}
