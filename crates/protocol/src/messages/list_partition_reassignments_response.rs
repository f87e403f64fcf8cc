//! `ListPartitionReassignmentsResponse`, version 0. Generated from `schemas/list_partition_reassignments.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `ListPartitionReassignmentsResponse`, version 0.
#[derive(Clone, Debug, PartialEq)]
pub struct ListPartitionReassignmentsResponse<'a> {
    /// Kafka's `ThrottleTimeMs`.
    pub throttle_time_ms: i32,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `ErrorMessage`, may be null.
    pub error_message: Option<Cow<'a, str>>,
    /// Kafka's `Topics`.
    pub topics: Vec<OngoingTopicReassignment<'a>>,
}

impl Default for ListPartitionReassignmentsResponse<'_> {
    fn default() -> Self {
        Self {
            throttle_time_ms: 0,
            error_code: 0,
            error_message: Some(Cow::Borrowed("")),
            topics: Vec::new(),
        }
    }
}

impl<'a> ListPartitionReassignmentsResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=0;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version(
            "ListPartitionReassignmentsResponse",
            version,
            Self::VERSIONS,
        )?;
        let value = Self {
            throttle_time_ms: reader.i32()?,
            error_code: reader.i16()?,
            error_message: reader.nullable_string(true)?,
            topics: reader.array(true, 3, |reader| {
                OngoingTopicReassignment::decode(reader, version)
            })?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version(
            "ListPartitionReassignmentsResponse",
            version,
            Self::VERSIONS,
        )?;
        buffer.put_i32(self.throttle_time_ms);
        buffer.put_i16(self.error_code);
        buffer.put_nullable_string(true, self.error_message.as_deref())?;
        buffer.put_array(true, &self.topics, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `ListPartitionReassignmentsResponse`: `OngoingTopicReassignment`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct OngoingTopicReassignment<'a> {
    /// Kafka's `Name`.
    pub name: Cow<'a, str>,
    /// Kafka's `Partitions`.
    pub partitions: Vec<OngoingPartitionReassignment>,
}

impl<'a> OngoingTopicReassignment<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            name: reader.string(true)?,
            partitions: reader.array(true, 8, |reader| {
                OngoingPartitionReassignment::decode(reader, version)
            })?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.put_string(true, &self.name)?;
        buffer.put_array(true, &self.partitions, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `ListPartitionReassignmentsResponse`: `OngoingPartitionReassignment`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct OngoingPartitionReassignment {
    /// Kafka's `PartitionIndex`.
    pub partition_index: i32,
    /// Kafka's `Replicas`.
    pub replicas: Vec<i32>,
    /// Kafka's `AddingReplicas`.
    pub adding_replicas: Vec<i32>,
    /// Kafka's `RemovingReplicas`.
    pub removing_replicas: Vec<i32>,
}

impl OngoingPartitionReassignment {
    fn decode(reader: &mut Reader<'_>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            partition_index: reader.i32()?,
            replicas: reader.array(true, 4, Reader::i32)?,
            adding_replicas: reader.array(true, 4, Reader::i32)?,
            removing_replicas: reader.array(true, 4, Reader::i32)?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_i32(self.partition_index);
        buffer.put_array(true, &self.replicas, |buffer, element| {
            buffer.put_i32(*element);
            Ok(())
        })?;
        buffer.put_array(true, &self.adding_replicas, |buffer, element| {
            buffer.put_i32(*element);
            Ok(())
        })?;
        buffer.put_array(true, &self.removing_replicas, |buffer, element| {
            buffer.put_i32(*element);
            Ok(())
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for ListPartitionReassignmentsResponse<'a> {
    const NAME: &'static str = "ListPartitionReassignmentsResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
