//! `OffsetCommitRequest`, versions 2-10. Generated from `schemas/offset_commit.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, require_default};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;
use uuid::Uuid;

/// Kafka's `OffsetCommitRequest`, versions 2-10.
#[derive(Clone, Debug, PartialEq)]
pub struct OffsetCommitRequest<'a> {
    /// Kafka's `GroupId`.
    pub group_id: Cow<'a, str>,
    /// Kafka's `GenerationIdOrMemberEpoch`, default -1.
    pub generation_id_or_member_epoch: i32,
    /// Kafka's `MemberId`.
    pub member_id: Cow<'a, str>,
    /// Kafka's `GroupInstanceId`, versions 7-10, may be null, default null.
    pub group_instance_id: Option<Cow<'a, str>>,
    /// Kafka's `RetentionTimeMs`, versions 2-4, default -1, left out of other versions.
    pub retention_time_ms: i64,
    /// Kafka's `Topics`.
    pub topics: Vec<OffsetCommitRequestTopic<'a>>,
}

impl Default for OffsetCommitRequest<'_> {
    fn default() -> Self {
        Self {
            group_id: Cow::Borrowed(""),
            generation_id_or_member_epoch: -1,
            member_id: Cow::Borrowed(""),
            group_instance_id: None,
            retention_time_ms: -1,
            topics: Vec::new(),
        }
    }
}

impl<'a> OffsetCommitRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 2..=10;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("OffsetCommitRequest", version, Self::VERSIONS)?;
        let flexible = version >= 8;
        let value = Self {
            group_id: reader.string(flexible)?,
            generation_id_or_member_epoch: reader.i32()?,
            member_id: reader.string(flexible)?,
            group_instance_id: if version >= 7 {
                reader.nullable_string(flexible)?
            } else {
                None
            },
            retention_time_ms: if version <= 4 { reader.i64()? } else { -1 },
            topics: reader.array(flexible, 3, |reader| {
                OffsetCommitRequestTopic::decode(reader, version)
            })?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("OffsetCommitRequest", version, Self::VERSIONS)?;
        let flexible = version >= 8;
        buffer.put_string(flexible, &self.group_id)?;
        buffer.put_i32(self.generation_id_or_member_epoch);
        buffer.put_string(flexible, &self.member_id)?;
        if version >= 7 {
            buffer.put_nullable_string(flexible, self.group_instance_id.as_deref())?;
        } else {
            require_default(
                self.group_instance_id.is_none(),
                "OffsetCommitRequest.GroupInstanceId",
                version,
            )?;
        }
        if version <= 4 {
            buffer.put_i64(self.retention_time_ms);
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

/// Part of Kafka's `OffsetCommitRequest`: `OffsetCommitRequestTopic`, versions 2-10.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct OffsetCommitRequestTopic<'a> {
    /// Kafka's `Name`, versions 2-9, left out of other versions.
    pub name: Cow<'a, str>,
    /// Kafka's `TopicId`, version 10, left out of other versions.
    pub topic_id: Uuid,
    /// Kafka's `Partitions`.
    pub partitions: Vec<OffsetCommitRequestPartition<'a>>,
}

impl<'a> OffsetCommitRequestTopic<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 8;
        let value = Self {
            name: if version <= 9 {
                reader.string(flexible)?
            } else {
                Cow::Borrowed("")
            },
            topic_id: if version == 10 {
                reader.uuid()?
            } else {
                Uuid::nil()
            },
            partitions: reader.array(flexible, 14, |reader| {
                OffsetCommitRequestPartition::decode(reader, version)
            })?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 8;
        if version <= 9 {
            buffer.put_string(flexible, &self.name)?;
        }
        if version == 10 {
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

/// Part of Kafka's `OffsetCommitRequest`: `OffsetCommitRequestPartition`, versions 2-10.
#[derive(Clone, Debug, PartialEq)]
pub struct OffsetCommitRequestPartition<'a> {
    /// Kafka's `PartitionIndex`.
    pub partition_index: i32,
    /// Kafka's `CommittedOffset`.
    pub committed_offset: i64,
    /// Kafka's `CommittedLeaderEpoch`, versions 6-10, default -1, left out of other versions.
    pub committed_leader_epoch: i32,
    /// Kafka's `CommittedMetadata`, may be null.
    pub committed_metadata: Option<Cow<'a, str>>,
}

impl Default for OffsetCommitRequestPartition<'_> {
    fn default() -> Self {
        Self {
            partition_index: 0,
            committed_offset: 0,
            committed_leader_epoch: -1,
            committed_metadata: Some(Cow::Borrowed("")),
        }
    }
}

impl<'a> OffsetCommitRequestPartition<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 8;
        let value = Self {
            partition_index: reader.i32()?,
            committed_offset: reader.i64()?,
            committed_leader_epoch: if version >= 6 { reader.i32()? } else { -1 },
            committed_metadata: reader.nullable_string(flexible)?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 8;
        buffer.put_i32(self.partition_index);
        buffer.put_i64(self.committed_offset);
        if version >= 6 {
            buffer.put_i32(self.committed_leader_epoch);
        }
        buffer.put_nullable_string(flexible, self.committed_metadata.as_deref())?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for OffsetCommitRequest<'a> {
    const NAME: &'static str = "OffsetCommitRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for OffsetCommitRequest<'a> {
    const KEY: ApiKey = ApiKey::OffsetCommit;
    type Response<'r> = super::OffsetCommitResponse<'r>;
}
