//! `AlterShareGroupOffsetsResponse`, version 0. Generated from `schemas/alter_share_group_offsets.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use std::borrow::Cow;
use std::ops::RangeInclusive;
use uuid::Uuid;

/// Kafka's `AlterShareGroupOffsetsResponse`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct AlterShareGroupOffsetsResponse<'a> {
    /// Kafka's `ThrottleTimeMs`.
    pub throttle_time_ms: i32,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `ErrorMessage`, may be null, default null.
    pub error_message: Option<Cow<'a, str>>,
    /// Kafka's `Responses`.
    pub responses: Vec<AlterShareGroupOffsetsResponseTopic<'a>>,
}

impl<'a> AlterShareGroupOffsetsResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=0;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("AlterShareGroupOffsetsResponse", version, Self::VERSIONS)?;
        let value = Self {
            throttle_time_ms: reader.i32()?,
            error_code: reader.i16()?,
            error_message: reader.nullable_string(true)?,
            responses: reader.array(true, 19, |reader| {
                AlterShareGroupOffsetsResponseTopic::decode(reader, version)
            })?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("AlterShareGroupOffsetsResponse", version, Self::VERSIONS)?;
        buffer.put_i32(self.throttle_time_ms);
        buffer.put_i16(self.error_code);
        buffer.put_nullable_string(true, self.error_message.as_deref())?;
        buffer.put_array(true, &self.responses, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `AlterShareGroupOffsetsResponse`: `AlterShareGroupOffsetsResponseTopic`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct AlterShareGroupOffsetsResponseTopic<'a> {
    /// Kafka's `TopicName`.
    pub topic_name: Cow<'a, str>,
    /// Kafka's `TopicId`.
    pub topic_id: Uuid,
    /// Kafka's `Partitions`.
    pub partitions: Vec<AlterShareGroupOffsetsResponsePartition<'a>>,
}

impl<'a> AlterShareGroupOffsetsResponseTopic<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            topic_name: reader.string(true)?,
            topic_id: reader.uuid()?,
            partitions: reader.array(true, 8, |reader| {
                AlterShareGroupOffsetsResponsePartition::decode(reader, version)
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

/// Part of Kafka's `AlterShareGroupOffsetsResponse`: `AlterShareGroupOffsetsResponsePartition`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct AlterShareGroupOffsetsResponsePartition<'a> {
    /// Kafka's `PartitionIndex`.
    pub partition_index: i32,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `ErrorMessage`, may be null, default null.
    pub error_message: Option<Cow<'a, str>>,
}

impl<'a> AlterShareGroupOffsetsResponsePartition<'a> {
    fn decode(reader: &mut Reader<'a>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            partition_index: reader.i32()?,
            error_code: reader.i16()?,
            error_message: reader.nullable_string(true)?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_i32(self.partition_index);
        buffer.put_i16(self.error_code);
        buffer.put_nullable_string(true, self.error_message.as_deref())?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for AlterShareGroupOffsetsResponse<'a> {
    const NAME: &'static str = "AlterShareGroupOffsetsResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
