//! `OffsetForLeaderEpochResponse`, versions 2-4. Generated from `schemas/offset_for_leader_epoch.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `OffsetForLeaderEpochResponse`, versions 2-4.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct OffsetForLeaderEpochResponse<'a> {
    /// Kafka's `ThrottleTimeMs`.
    pub throttle_time_ms: i32,
    /// Kafka's `Topics`.
    pub topics: Vec<OffsetForLeaderTopicResult<'a>>,
}

impl<'a> OffsetForLeaderEpochResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 2..=4;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("OffsetForLeaderEpochResponse", version, Self::VERSIONS)?;
        let flexible = version == 4;
        let value = Self {
            throttle_time_ms: reader.i32()?,
            topics: reader.array(flexible, 3, |reader| {
                OffsetForLeaderTopicResult::decode(reader, version)
            })?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("OffsetForLeaderEpochResponse", version, Self::VERSIONS)?;
        let flexible = version == 4;
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

/// Part of Kafka's `OffsetForLeaderEpochResponse`: `OffsetForLeaderTopicResult`, versions 2-4.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct OffsetForLeaderTopicResult<'a> {
    /// Kafka's `Topic`.
    pub topic: Cow<'a, str>,
    /// Kafka's `Partitions`.
    pub partitions: Vec<EpochEndOffset>,
}

impl<'a> OffsetForLeaderTopicResult<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 4;
        let value = Self {
            topic: reader.string(flexible)?,
            partitions: reader.array(flexible, 18, |reader| {
                EpochEndOffset::decode(reader, version)
            })?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 4;
        buffer.put_string(flexible, &self.topic)?;
        buffer.put_array(flexible, &self.partitions, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `OffsetForLeaderEpochResponse`: `EpochEndOffset`, versions 2-4.
#[derive(Clone, Debug, PartialEq)]
pub struct EpochEndOffset {
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `Partition`.
    pub partition: i32,
    /// Kafka's `LeaderEpoch`, default -1.
    pub leader_epoch: i32,
    /// Kafka's `EndOffset`, default -1.
    pub end_offset: i64,
}

impl Default for EpochEndOffset {
    fn default() -> Self {
        Self {
            error_code: 0,
            partition: 0,
            leader_epoch: -1,
            end_offset: -1,
        }
    }
}

impl EpochEndOffset {
    fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 4;
        let value = Self {
            error_code: reader.i16()?,
            partition: reader.i32()?,
            leader_epoch: reader.i32()?,
            end_offset: reader.i64()?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 4;
        buffer.put_i16(self.error_code);
        buffer.put_i32(self.partition);
        buffer.put_i32(self.leader_epoch);
        buffer.put_i64(self.end_offset);
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for OffsetForLeaderEpochResponse<'a> {
    const NAME: &'static str = "OffsetForLeaderEpochResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
