//! `ListOffsetsResponse`, versions 1-11. Generated from `schemas/list_offsets.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, require_default};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `ListOffsetsResponse`, versions 1-11.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ListOffsetsResponse<'a> {
    /// Kafka's `ThrottleTimeMs`, versions 2-11, left out of other versions.
    pub throttle_time_ms: i32,
    /// Kafka's `Topics`.
    pub topics: Vec<ListOffsetsTopicResponse<'a>>,
}

impl<'a> ListOffsetsResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 1..=11;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("ListOffsetsResponse", version, Self::VERSIONS)?;
        let flexible = version >= 6;
        let value = Self {
            throttle_time_ms: if version >= 2 { reader.i32()? } else { 0 },
            topics: reader.array(flexible, 3, |reader| {
                ListOffsetsTopicResponse::decode(reader, version)
            })?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("ListOffsetsResponse", version, Self::VERSIONS)?;
        let flexible = version >= 6;
        if version >= 2 {
            buffer.put_i32(self.throttle_time_ms);
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

/// Part of Kafka's `ListOffsetsResponse`: `ListOffsetsTopicResponse`, versions 1-11.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ListOffsetsTopicResponse<'a> {
    /// Kafka's `Name`.
    pub name: Cow<'a, str>,
    /// Kafka's `Partitions`.
    pub partitions: Vec<ListOffsetsPartitionResponse>,
}

impl<'a> ListOffsetsTopicResponse<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 6;
        let value = Self {
            name: reader.string(flexible)?,
            partitions: reader.array(flexible, 22, |reader| {
                ListOffsetsPartitionResponse::decode(reader, version)
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

/// Part of Kafka's `ListOffsetsResponse`: `ListOffsetsPartitionResponse`, versions 1-11.
#[derive(Clone, Debug, PartialEq)]
pub struct ListOffsetsPartitionResponse {
    /// Kafka's `PartitionIndex`.
    pub partition_index: i32,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `Timestamp`, default -1.
    pub timestamp: i64,
    /// Kafka's `Offset`, default -1.
    pub offset: i64,
    /// Kafka's `LeaderEpoch`, versions 4-11, default -1.
    pub leader_epoch: i32,
}

impl Default for ListOffsetsPartitionResponse {
    fn default() -> Self {
        Self {
            partition_index: 0,
            error_code: 0,
            timestamp: -1,
            offset: -1,
            leader_epoch: -1,
        }
    }
}

impl ListOffsetsPartitionResponse {
    fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 6;
        let value = Self {
            partition_index: reader.i32()?,
            error_code: reader.i16()?,
            timestamp: reader.i64()?,
            offset: reader.i64()?,
            leader_epoch: if version >= 4 { reader.i32()? } else { -1 },
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 6;
        buffer.put_i32(self.partition_index);
        buffer.put_i16(self.error_code);
        buffer.put_i64(self.timestamp);
        buffer.put_i64(self.offset);
        if version >= 4 {
            buffer.put_i32(self.leader_epoch);
        } else {
            require_default(
                self.leader_epoch == -1,
                "ListOffsetsPartitionResponse.LeaderEpoch",
                version,
            )?;
        }
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for ListOffsetsResponse<'a> {
    const NAME: &'static str = "ListOffsetsResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
