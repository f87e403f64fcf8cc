//! `TxnOffsetCommitRequest`, versions 0-6. Generated from `schemas/txn_offset_commit.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, require_default};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;
use uuid::Uuid;

/// Kafka's `TxnOffsetCommitRequest`, versions 0-6.
#[derive(Clone, Debug, PartialEq)]
pub struct TxnOffsetCommitRequest<'a> {
    /// Kafka's `TransactionalId`.
    pub transactional_id: Cow<'a, str>,
    /// Kafka's `GroupId`.
    pub group_id: Cow<'a, str>,
    /// Kafka's `ProducerId`.
    pub producer_id: i64,
    /// Kafka's `ProducerEpoch`.
    pub producer_epoch: i16,
    /// Kafka's `GenerationIdOrMemberEpoch`, versions 3-6, default -1.
    pub generation_id_or_member_epoch: i32,
    /// Kafka's `MemberId`, versions 3-6.
    pub member_id: Cow<'a, str>,
    /// Kafka's `GroupInstanceId`, versions 3-6, may be null, default null.
    pub group_instance_id: Option<Cow<'a, str>>,
    /// Kafka's `Topics`.
    pub topics: Vec<TxnOffsetCommitRequestTopic<'a>>,
}

impl Default for TxnOffsetCommitRequest<'_> {
    fn default() -> Self {
        Self {
            transactional_id: Cow::Borrowed(""),
            group_id: Cow::Borrowed(""),
            producer_id: 0,
            producer_epoch: 0,
            generation_id_or_member_epoch: -1,
            member_id: Cow::Borrowed(""),
            group_instance_id: None,
            topics: Vec::new(),
        }
    }
}

impl<'a> TxnOffsetCommitRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=6;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("TxnOffsetCommitRequest", version, Self::VERSIONS)?;
        let flexible = version >= 3;
        let value = Self {
            transactional_id: reader.string(flexible)?,
            group_id: reader.string(flexible)?,
            producer_id: reader.i64()?,
            producer_epoch: reader.i16()?,
            generation_id_or_member_epoch: if version >= 3 { reader.i32()? } else { -1 },
            member_id: if version >= 3 {
                reader.string(flexible)?
            } else {
                Cow::Borrowed("")
            },
            group_instance_id: if version >= 3 {
                reader.nullable_string(flexible)?
            } else {
                None
            },
            topics: reader.array(flexible, 3, |reader| {
                TxnOffsetCommitRequestTopic::decode(reader, version)
            })?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("TxnOffsetCommitRequest", version, Self::VERSIONS)?;
        let flexible = version >= 3;
        buffer.put_string(flexible, &self.transactional_id)?;
        buffer.put_string(flexible, &self.group_id)?;
        buffer.put_i64(self.producer_id);
        buffer.put_i16(self.producer_epoch);
        if version >= 3 {
            buffer.put_i32(self.generation_id_or_member_epoch);
        } else {
            require_default(
                self.generation_id_or_member_epoch == -1,
                "TxnOffsetCommitRequest.GenerationIdOrMemberEpoch",
                version,
            )?;
        }
        if version >= 3 {
            buffer.put_string(flexible, &self.member_id)?;
        } else {
            require_default(
                self.member_id.is_empty(),
                "TxnOffsetCommitRequest.MemberId",
                version,
            )?;
        }
        if version >= 3 {
            buffer.put_nullable_string(flexible, self.group_instance_id.as_deref())?;
        } else {
            require_default(
                self.group_instance_id.is_none(),
                "TxnOffsetCommitRequest.GroupInstanceId",
                version,
            )?;
        }
        buffer.put_array(flexible, &self.topics, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `TxnOffsetCommitRequest`: `TxnOffsetCommitRequestTopic`, versions 0-6.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct TxnOffsetCommitRequestTopic<'a> {
    /// Kafka's `Name`, versions 0-5, left out of other versions.
    pub name: Cow<'a, str>,
    /// Kafka's `TopicId`, version 6, left out of other versions.
    pub topic_id: Uuid,
    /// Kafka's `Partitions`.
    pub partitions: Vec<TxnOffsetCommitRequestPartition<'a>>,
}

impl<'a> TxnOffsetCommitRequestTopic<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 3;
        let value = Self {
            name: if version <= 5 {
                reader.string(flexible)?
            } else {
                Cow::Borrowed("")
            },
            topic_id: if version == 6 {
                reader.uuid()?
            } else {
                Uuid::nil()
            },
            partitions: reader.array(flexible, 14, |reader| {
                TxnOffsetCommitRequestPartition::decode(reader, version)
            })?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 3;
        if version <= 5 {
            buffer.put_string(flexible, &self.name)?;
        }
        if version == 6 {
            buffer.put_uuid(self.topic_id);
        }
        buffer.put_array(flexible, &self.partitions, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `TxnOffsetCommitRequest`: `TxnOffsetCommitRequestPartition`, versions 0-6.
#[derive(Clone, Debug, PartialEq)]
pub struct TxnOffsetCommitRequestPartition<'a> {
    /// Kafka's `PartitionIndex`.
    pub partition_index: i32,
    /// Kafka's `CommittedOffset`.
    pub committed_offset: i64,
    /// Kafka's `CommittedLeaderEpoch`, versions 2-6, default -1, left out of other versions.
    pub committed_leader_epoch: i32,
    /// Kafka's `CommittedMetadata`, may be null.
    pub committed_metadata: Option<Cow<'a, str>>,
}

impl Default for TxnOffsetCommitRequestPartition<'_> {
    fn default() -> Self {
        Self {
            partition_index: 0,
            committed_offset: 0,
            committed_leader_epoch: -1,
            committed_metadata: Some(Cow::Borrowed("")),
        }
    }
}

impl<'a> TxnOffsetCommitRequestPartition<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 3;
        let value = Self {
            partition_index: reader.i32()?,
            committed_offset: reader.i64()?,
            committed_leader_epoch: if version >= 2 { reader.i32()? } else { -1 },
            committed_metadata: reader.nullable_string(flexible)?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 3;
        buffer.put_i32(self.partition_index);
        buffer.put_i64(self.committed_offset);
        if version >= 2 {
            buffer.put_i32(self.committed_leader_epoch);
        }
        buffer.put_nullable_string(flexible, self.committed_metadata.as_deref())?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for TxnOffsetCommitRequest<'a> {
    const NAME: &'static str = "TxnOffsetCommitRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for TxnOffsetCommitRequest<'a> {
    const KEY: ApiKey = ApiKey::TxnOffsetCommit;
    type Response<'r> = super::TxnOffsetCommitResponse<'r>;
}
