//! `ShareGroupHeartbeatResponse`, version 1. Generated from `schemas/share_group_heartbeat.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use std::borrow::Cow;
use std::ops::RangeInclusive;
use uuid::Uuid;

/// Kafka's `ShareGroupHeartbeatResponse`, version 1.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ShareGroupHeartbeatResponse<'a> {
    /// Kafka's `ThrottleTimeMs`.
    pub throttle_time_ms: i32,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `ErrorMessage`, may be null, default null.
    pub error_message: Option<Cow<'a, str>>,
    /// Kafka's `MemberId`, may be null, default null.
    pub member_id: Option<Cow<'a, str>>,
    /// Kafka's `MemberEpoch`.
    pub member_epoch: i32,
    /// Kafka's `HeartbeatIntervalMs`.
    pub heartbeat_interval_ms: i32,
    /// Kafka's `Assignment`, may be null, default null.
    pub assignment: Option<Assignment>,
}

impl<'a> ShareGroupHeartbeatResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 1..=1;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("ShareGroupHeartbeatResponse", version, Self::VERSIONS)?;
        let value = Self {
            throttle_time_ms: reader.i32()?,
            error_code: reader.i16()?,
            error_message: reader.nullable_string(true)?,
            member_id: reader.nullable_string(true)?,
            member_epoch: reader.i32()?,
            heartbeat_interval_ms: reader.i32()?,
            assignment: reader.nullable_struct(|reader| Assignment::decode(reader, version))?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("ShareGroupHeartbeatResponse", version, Self::VERSIONS)?;
        buffer.put_i32(self.throttle_time_ms);
        buffer.put_i16(self.error_code);
        buffer.put_nullable_string(true, self.error_message.as_deref())?;
        buffer.put_nullable_string(true, self.member_id.as_deref())?;
        buffer.put_i32(self.member_epoch);
        buffer.put_i32(self.heartbeat_interval_ms);
        buffer.put_nullable_struct(self.assignment.as_ref(), |buffer, value| {
            value.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `ShareGroupHeartbeatResponse`: `Assignment`, version 1.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Assignment {
    /// Kafka's `TopicPartitions`.
    pub topic_partitions: Vec<TopicPartitions>,
}

impl Assignment {
    fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            topic_partitions: reader
                .array(true, 18, |reader| TopicPartitions::decode(reader, version))?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.put_array(true, &self.topic_partitions, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `ShareGroupHeartbeatResponse`: `TopicPartitions`, version 1.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct TopicPartitions {
    /// Kafka's `TopicId`.
    pub topic_id: Uuid,
    /// Kafka's `Partitions`.
    pub partitions: Vec<i32>,
}

impl TopicPartitions {
    fn decode(reader: &mut Reader<'_>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            topic_id: reader.uuid()?,
            partitions: reader.array(true, 4, Reader::i32)?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_uuid(self.topic_id);
        buffer.put_array(true, &self.partitions, |buffer, element| {
            buffer.put_i32(*element);
            Ok(())
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for ShareGroupHeartbeatResponse<'a> {
    const NAME: &'static str = "ShareGroupHeartbeatResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
