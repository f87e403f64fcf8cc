//! `DescribeShareGroupOffsetsResponse`, versions 0-1. Generated from `schemas/describe_share_group_offsets.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use std::borrow::Cow;
use std::ops::RangeInclusive;
use uuid::Uuid;

/// Kafka's `DescribeShareGroupOffsetsResponse`, versions 0-1.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DescribeShareGroupOffsetsResponse<'a> {
    /// Kafka's `ThrottleTimeMs`.
    pub throttle_time_ms: i32,
    /// Kafka's `Groups`.
    pub groups: Vec<DescribeShareGroupOffsetsResponseGroup<'a>>,
}

impl<'a> DescribeShareGroupOffsetsResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=1;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("DescribeShareGroupOffsetsResponse", version, Self::VERSIONS)?;
        let value = Self {
            throttle_time_ms: reader.i32()?,
            groups: reader.array(true, 6, |reader| {
                DescribeShareGroupOffsetsResponseGroup::decode(reader, version)
            })?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("DescribeShareGroupOffsetsResponse", version, Self::VERSIONS)?;
        buffer.put_i32(self.throttle_time_ms);
        buffer.put_array(true, &self.groups, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `DescribeShareGroupOffsetsResponse`: `DescribeShareGroupOffsetsResponseGroup`, versions 0-1.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DescribeShareGroupOffsetsResponseGroup<'a> {
    /// Kafka's `GroupId`.
    pub group_id: Cow<'a, str>,
    /// Kafka's `Topics`.
    pub topics: Vec<DescribeShareGroupOffsetsResponseTopic<'a>>,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `ErrorMessage`, may be null, default null.
    pub error_message: Option<Cow<'a, str>>,
}

impl<'a> DescribeShareGroupOffsetsResponseGroup<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            group_id: reader.string(true)?,
            topics: reader.array(true, 19, |reader| {
                DescribeShareGroupOffsetsResponseTopic::decode(reader, version)
            })?,
            error_code: reader.i16()?,
            error_message: reader.nullable_string(true)?,
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
        buffer.put_nullable_string(true, self.error_message.as_deref())?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `DescribeShareGroupOffsetsResponse`: `DescribeShareGroupOffsetsResponseTopic`, versions 0-1.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DescribeShareGroupOffsetsResponseTopic<'a> {
    /// Kafka's `TopicName`.
    pub topic_name: Cow<'a, str>,
    /// Kafka's `TopicId`.
    pub topic_id: Uuid,
    /// Kafka's `Partitions`.
    pub partitions: Vec<DescribeShareGroupOffsetsResponsePartition<'a>>,
}

impl<'a> DescribeShareGroupOffsetsResponseTopic<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            topic_name: reader.string(true)?,
            topic_id: reader.uuid()?,
            partitions: reader.array(true, 20, |reader| {
                DescribeShareGroupOffsetsResponsePartition::decode(reader, version)
            })?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.put_string(true, &self.topic_name)?;
        buffer.put_uuid(self.topic_id);
        buffer.put_array(true, &self.partitions, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `DescribeShareGroupOffsetsResponse`: `DescribeShareGroupOffsetsResponsePartition`, versions 0-1.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeShareGroupOffsetsResponsePartition<'a> {
    /// Kafka's `PartitionIndex`.
    pub partition_index: i32,
    /// Kafka's `StartOffset`.
    pub start_offset: i64,
    /// Kafka's `LeaderEpoch`.
    pub leader_epoch: i32,
    /// Kafka's `Lag`, version 1, default -1, left out of other versions.
    pub lag: i64,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `ErrorMessage`, may be null, default null.
    pub error_message: Option<Cow<'a, str>>,
}

impl Default for DescribeShareGroupOffsetsResponsePartition<'_> {
    fn default() -> Self {
        Self {
            partition_index: 0,
            start_offset: 0,
            leader_epoch: 0,
            lag: -1,
            error_code: 0,
            error_message: None,
        }
    }
}

impl<'a> DescribeShareGroupOffsetsResponsePartition<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            partition_index: reader.i32()?,
            start_offset: reader.i64()?,
            leader_epoch: reader.i32()?,
            lag: if version == 1 { reader.i64()? } else { -1 },
            error_code: reader.i16()?,
            error_message: reader.nullable_string(true)?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.put_i32(self.partition_index);
        buffer.put_i64(self.start_offset);
        buffer.put_i32(self.leader_epoch);
        if version == 1 {
            buffer.put_i64(self.lag);
        }
        buffer.put_i16(self.error_code);
        buffer.put_nullable_string(true, self.error_message.as_deref())?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for DescribeShareGroupOffsetsResponse<'a> {
    const NAME: &'static str = "DescribeShareGroupOffsetsResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
