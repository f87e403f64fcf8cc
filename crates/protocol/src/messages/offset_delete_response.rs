//! `OffsetDeleteResponse`, version 0. Generated from `schemas/offset_delete.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `OffsetDeleteResponse`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct OffsetDeleteResponse<'a> {
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `ThrottleTimeMs`.
    pub throttle_time_ms: i32,
    /// Kafka's `Topics`.
    pub topics: Vec<OffsetDeleteResponseTopic<'a>>,
}

impl<'a> OffsetDeleteResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=0;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("OffsetDeleteResponse", version, Self::VERSIONS)?;
        Ok(Self {
            error_code: reader.i16()?,
            throttle_time_ms: reader.i32()?,
            topics: reader.array(false, 6, |reader| {
                OffsetDeleteResponseTopic::decode(reader, version)
            })?,
        })
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("OffsetDeleteResponse", version, Self::VERSIONS)?;
        buffer.put_i16(self.error_code);
        buffer.put_i32(self.throttle_time_ms);
        buffer.put_array(false, &self.topics, |buffer, element| {
            element.encode(buffer, version)
        })?;
        Ok(())
    }
}

/// Part of Kafka's `OffsetDeleteResponse`: `OffsetDeleteResponseTopic`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct OffsetDeleteResponseTopic<'a> {
    /// Kafka's `Name`.
    pub name: Cow<'a, str>,
    /// Kafka's `Partitions`.
    pub partitions: Vec<OffsetDeleteResponsePartition>,
}

impl<'a> OffsetDeleteResponseTopic<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Ok(Self {
            name: reader.string(false)?,
            partitions: reader.array(false, 6, |reader| {
                OffsetDeleteResponsePartition::decode(reader, version)
            })?,
        })
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.put_string(false, &self.name)?;
        buffer.put_array(false, &self.partitions, |buffer, element| {
            element.encode(buffer, version)
        })?;
        Ok(())
    }
}

/// Part of Kafka's `OffsetDeleteResponse`: `OffsetDeleteResponsePartition`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct OffsetDeleteResponsePartition {
    /// Kafka's `PartitionIndex`.
    pub partition_index: i32,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
}

impl OffsetDeleteResponsePartition {
    fn decode(reader: &mut Reader<'_>, _version: i16) -> Result<Self, DecodeError> {
        Ok(Self {
            partition_index: reader.i32()?,
            error_code: reader.i16()?,
        })
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_i32(self.partition_index);
        buffer.put_i16(self.error_code);
        Ok(())
    }
}

impl<'a> Message<'a> for OffsetDeleteResponse<'a> {
    const NAME: &'static str = "OffsetDeleteResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
