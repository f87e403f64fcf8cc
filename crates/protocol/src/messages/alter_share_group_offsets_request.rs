//! `AlterShareGroupOffsetsRequest`, version 0. Generated from `schemas/alter_share_group_offsets.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `AlterShareGroupOffsetsRequest`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct AlterShareGroupOffsetsRequest<'a> {
    /// Kafka's `GroupId`.
    pub group_id: Cow<'a, str>,
    /// Kafka's `Topics`.
    pub topics: Vec<AlterShareGroupOffsetsRequestTopic<'a>>,
}

impl<'a> AlterShareGroupOffsetsRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=0;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("AlterShareGroupOffsetsRequest", version, Self::VERSIONS)?;
        let value = Self {
            group_id: reader.string(true)?,
            topics: reader.array(true, 3, |reader| {
                AlterShareGroupOffsetsRequestTopic::decode(reader, version)
            })?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("AlterShareGroupOffsetsRequest", version, Self::VERSIONS)?;
        buffer.put_string(true, &self.group_id)?;
        buffer.put_array(true, &self.topics, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `AlterShareGroupOffsetsRequest`: `AlterShareGroupOffsetsRequestTopic`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct AlterShareGroupOffsetsRequestTopic<'a> {
    /// Kafka's `TopicName`.
    pub topic_name: Cow<'a, str>,
    /// Kafka's `Partitions`.
    pub partitions: Vec<AlterShareGroupOffsetsRequestPartition>,
}

impl<'a> AlterShareGroupOffsetsRequestTopic<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            topic_name: reader.string(true)?,
            partitions: reader.array(true, 13, |reader| {
                AlterShareGroupOffsetsRequestPartition::decode(reader, version)
            })?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.put_string(true, &self.topic_name)?;
        buffer.put_array(true, &self.partitions, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `AlterShareGroupOffsetsRequest`: `AlterShareGroupOffsetsRequestPartition`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct AlterShareGroupOffsetsRequestPartition {
    /// Kafka's `PartitionIndex`.
    pub partition_index: i32,
    /// Kafka's `StartOffset`.
    pub start_offset: i64,
}

impl AlterShareGroupOffsetsRequestPartition {
    fn decode(reader: &mut Reader<'_>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            partition_index: reader.i32()?,
            start_offset: reader.i64()?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_i32(self.partition_index);
        buffer.put_i64(self.start_offset);
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for AlterShareGroupOffsetsRequest<'a> {
    const NAME: &'static str = "AlterShareGroupOffsetsRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for AlterShareGroupOffsetsRequest<'a> {
    const KEY: ApiKey = ApiKey::AlterShareGroupOffsets;
    type Response<'r> = super::AlterShareGroupOffsetsResponse<'r>;
}
