//! `OffsetFetchResponse`, versions 1-10. Generated from `schemas/offset_fetch.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, require_default};
use std::borrow::Cow;
use std::ops::RangeInclusive;
use uuid::Uuid;

/// Kafka's `OffsetFetchResponse`, versions 1-10.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct OffsetFetchResponse<'a> {
    /// Kafka's `ThrottleTimeMs`, versions 3-10, left out of other versions.
    pub throttle_time_ms: i32,
    /// Kafka's `Topics`, versions 1-7.
    pub topics: Vec<OffsetFetchResponseTopic<'a>>,
    /// Kafka's `ErrorCode`, versions 2-7, left out of other versions.
    pub error_code: i16,
    /// Kafka's `Groups`, versions 8-10.
    pub groups: Vec<OffsetFetchResponseGroup<'a>>,
}

impl<'a> OffsetFetchResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 1..=10;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("OffsetFetchResponse", version, Self::VERSIONS)?;
        let flexible = version >= 6;
        let value = Self {
            throttle_time_ms: if version >= 3 { reader.i32()? } else { 0 },
            topics: if version <= 7 {
                reader.array(flexible, 3, |reader| {
                    OffsetFetchResponseTopic::decode(reader, version)
                })?
            } else {
                Vec::new()
            },
            error_code: if (2..=7).contains(&version) {
                reader.i16()?
            } else {
                0
            },
            groups: if version >= 8 {
                reader.array(flexible, 5, |reader| {
                    OffsetFetchResponseGroup::decode(reader, version)
                })?
            } else {
                Vec::new()
            },
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("OffsetFetchResponse", version, Self::VERSIONS)?;
        let flexible = version >= 6;
        if version >= 3 {
            buffer.put_i32(self.throttle_time_ms);
        }
        if version <= 7 {
            buffer.put_array(flexible, &self.topics, |buffer, element| {
                element.encode(buffer, version)
            })?;
        } else {
            require_default(
                self.topics.is_empty(),
                "OffsetFetchResponse.Topics",
                version,
            )?;
        }
        if (2..=7).contains(&version) {
            buffer.put_i16(self.error_code);
        }
        if version >= 8 {
            buffer.put_array(flexible, &self.groups, |buffer, element| {
                element.encode(buffer, version)
            })?;
        } else {
            require_default(
                self.groups.is_empty(),
                "OffsetFetchResponse.Groups",
                version,
            )?;
        }
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `OffsetFetchResponse`: `OffsetFetchResponseGroup`, versions 8-10.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct OffsetFetchResponseGroup<'a> {
    /// Kafka's `GroupId`.
    pub group_id: Cow<'a, str>,
    /// Kafka's `Topics`.
    pub topics: Vec<OffsetFetchResponseTopics<'a>>,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
}

impl<'a> OffsetFetchResponseGroup<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            group_id: reader.string(true)?,
            topics: reader.array(true, 3, |reader| {
                OffsetFetchResponseTopics::decode(reader, version)
            })?,
            error_code: reader.i16()?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.put_string(true, &self.group_id)?;
        buffer.put_array(true, &self.topics, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_i16(self.error_code);
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `OffsetFetchResponse`: `OffsetFetchResponseTopics`, versions 8-10.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct OffsetFetchResponseTopics<'a> {
    /// Kafka's `Name`, versions 8-9, left out of other versions.
    pub name: Cow<'a, str>,
    /// Kafka's `TopicId`, version 10, left out of other versions.
    pub topic_id: Uuid,
    /// Kafka's `Partitions`.
    pub partitions: Vec<OffsetFetchResponsePartitions<'a>>,
}

impl<'a> OffsetFetchResponseTopics<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            name: if version <= 9 {
                reader.string(true)?
            } else {
                Cow::Borrowed("")
            },
            topic_id: if version == 10 {
                reader.uuid()?
            } else {
                Uuid::nil()
            },
            partitions: reader.array(true, 20, |reader| {
                OffsetFetchResponsePartitions::decode(reader, version)
            })?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        if version <= 9 {
            buffer.put_string(true, &self.name)?;
        }
        if version == 10 {
            buffer.put_uuid(self.topic_id);
        }
        buffer.put_array(true, &self.partitions, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `OffsetFetchResponse`: `OffsetFetchResponsePartitions`, versions 8-10.
#[derive(Clone, Debug, PartialEq)]
pub struct OffsetFetchResponsePartitions<'a> {
    /// Kafka's `PartitionIndex`.
    pub partition_index: i32,
    /// Kafka's `CommittedOffset`.
    pub committed_offset: i64,
    /// Kafka's `CommittedLeaderEpoch`, default -1.
    pub committed_leader_epoch: i32,
    /// Kafka's `Metadata`, may be null.
    pub metadata: Option<Cow<'a, str>>,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
}

impl Default for OffsetFetchResponsePartitions<'_> {
    fn default() -> Self {
        Self {
            partition_index: 0,
            committed_offset: 0,
            committed_leader_epoch: -1,
            metadata: Some(Cow::Borrowed("")),
            error_code: 0,
        }
    }
}

impl<'a> OffsetFetchResponsePartitions<'a> {
    fn decode(reader: &mut Reader<'a>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            partition_index: reader.i32()?,
            committed_offset: reader.i64()?,
            committed_leader_epoch: reader.i32()?,
            metadata: reader.nullable_string(true)?,
            error_code: reader.i16()?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_i32(self.partition_index);
        buffer.put_i64(self.committed_offset);
        buffer.put_i32(self.committed_leader_epoch);
        buffer.put_nullable_string(true, self.metadata.as_deref())?;
        buffer.put_i16(self.error_code);
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `OffsetFetchResponse`: `OffsetFetchResponseTopic`, versions 1-7.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct OffsetFetchResponseTopic<'a> {
    /// Kafka's `Name`.
    pub name: Cow<'a, str>,
    /// Kafka's `Partitions`.
    pub partitions: Vec<OffsetFetchResponsePartition<'a>>,
}

impl<'a> OffsetFetchResponseTopic<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 6;
        let value = Self {
            name: reader.string(flexible)?,
            partitions: reader.array(flexible, 16, |reader| {
                OffsetFetchResponsePartition::decode(reader, version)
            })?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 6;
        buffer.put_string(flexible, &self.name)?;
        buffer.put_array(flexible, &self.partitions, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `OffsetFetchResponse`: `OffsetFetchResponsePartition`, versions 1-7.
#[derive(Clone, Debug, PartialEq)]
pub struct OffsetFetchResponsePartition<'a> {
    /// Kafka's `PartitionIndex`.
    pub partition_index: i32,
    /// Kafka's `CommittedOffset`.
    pub committed_offset: i64,
    /// Kafka's `CommittedLeaderEpoch`, versions 5-7, default -1, left out of other versions.
    pub committed_leader_epoch: i32,
    /// Kafka's `Metadata`, may be null.
    pub metadata: Option<Cow<'a, str>>,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
}

impl Default for OffsetFetchResponsePartition<'_> {
    fn default() -> Self {
        Self {
            partition_index: 0,
            committed_offset: 0,
            committed_leader_epoch: -1,
            metadata: Some(Cow::Borrowed("")),
            error_code: 0,
        }
    }
}

impl<'a> OffsetFetchResponsePartition<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 6;
        let value = Self {
            partition_index: reader.i32()?,
            committed_offset: reader.i64()?,
            committed_leader_epoch: if version >= 5 { reader.i32()? } else { -1 },
            metadata: reader.nullable_string(flexible)?,
            error_code: reader.i16()?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 6;
        buffer.put_i32(self.partition_index);
        buffer.put_i64(self.committed_offset);
        if version >= 5 {
            buffer.put_i32(self.committed_leader_epoch);
        }
        buffer.put_nullable_string(flexible, self.metadata.as_deref())?;
        buffer.put_i16(self.error_code);
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for OffsetFetchResponse<'a> {
    const NAME: &'static str = "OffsetFetchResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
