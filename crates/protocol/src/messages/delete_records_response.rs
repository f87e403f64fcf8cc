//! `DeleteRecordsResponse`, versions 0-2. Generated from `schemas/delete_records.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `DeleteRecordsResponse`, versions 0-2.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DeleteRecordsResponse<'a> {
    /// Kafka's `ThrottleTimeMs`.
    pub throttle_time_ms: i32,
    /// Kafka's `Topics`.
    pub topics: Vec<DeleteRecordsTopicResult<'a>>,
}

impl<'a> DeleteRecordsResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=2;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("DeleteRecordsResponse", version, Self::VERSIONS)?;
        let flexible = version == 2;
        let value = Self {
            throttle_time_ms: reader.i32()?,
            topics: reader.array(flexible, 3, |reader| {
                DeleteRecordsTopicResult::decode(reader, version)
            })?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("DeleteRecordsResponse", version, Self::VERSIONS)?;
        let flexible = version == 2;
        buffer.put_i32(self.throttle_time_ms);
        buffer.put_array(flexible, &self.topics, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `DeleteRecordsResponse`: `DeleteRecordsTopicResult`, versions 0-2.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DeleteRecordsTopicResult<'a> {
    /// Kafka's `Name`.
    pub name: Cow<'a, str>,
    /// Kafka's `Partitions`.
    pub partitions: Vec<DeleteRecordsPartitionResult>,
}

impl<'a> DeleteRecordsTopicResult<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 2;
        let value = Self {
            name: reader.string(flexible)?,
            partitions: reader.array(flexible, 14, |reader| {
                DeleteRecordsPartitionResult::decode(reader, version)
            })?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 2;
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

/// Part of Kafka's `DeleteRecordsResponse`: `DeleteRecordsPartitionResult`, versions 0-2.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DeleteRecordsPartitionResult {
    /// Kafka's `PartitionIndex`.
    pub partition_index: i32,
    /// Kafka's `LowWatermark`.
    pub low_watermark: i64,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
}

impl DeleteRecordsPartitionResult {
    fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 2;
        let value = Self {
            partition_index: reader.i32()?,
            low_watermark: reader.i64()?,
            error_code: reader.i16()?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 2;
        buffer.put_i32(self.partition_index);
        buffer.put_i64(self.low_watermark);
        buffer.put_i16(self.error_code);
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for DeleteRecordsResponse<'a> {
    const NAME: &'static str = "DeleteRecordsResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
