//! `AlterPartitionReassignmentsResponse`, versions 0-1. Generated from `schemas/alter_partition_reassignments.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `AlterPartitionReassignmentsResponse`, versions 0-1.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterPartitionReassignmentsResponse<'a> {
    /// Kafka's `ThrottleTimeMs`.
    pub throttle_time_ms: i32,
    /// Kafka's `AllowReplicationFactorChange`, version 1, default true, left out of other versions.
    pub allow_replication_factor_change: bool,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `ErrorMessage`, may be null.
    pub error_message: Option<Cow<'a, str>>,
    /// Kafka's `Responses`.
    pub responses: Vec<ReassignableTopicResponse<'a>>,
}

impl Default for AlterPartitionReassignmentsResponse<'_> {
    fn default() -> Self {
        Self {
            throttle_time_ms: 0,
            allow_replication_factor_change: true,
            error_code: 0,
            error_message: Some(Cow::Borrowed("")),
            responses: Vec::new(),
        }
    }
}

impl<'a> AlterPartitionReassignmentsResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=1;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version(
            "AlterPartitionReassignmentsResponse",
            version,
            Self::VERSIONS,
        )?;
        let value = Self {
            throttle_time_ms: reader.i32()?,
            allow_replication_factor_change: if version == 1 { reader.bool()? } else { true },
            error_code: reader.i16()?,
            error_message: reader.nullable_string(true)?,
            responses: reader.array(true, 3, |reader| {
                ReassignableTopicResponse::decode(reader, version)
            })?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version(
            "AlterPartitionReassignmentsResponse",
            version,
            Self::VERSIONS,
        )?;
        buffer.put_i32(self.throttle_time_ms);
        if version == 1 {
            buffer.put_bool(self.allow_replication_factor_change);
        }
        buffer.put_i16(self.error_code);
        buffer.put_nullable_string(true, self.error_message.as_deref())?;
        buffer.put_array(true, &self.responses, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `AlterPartitionReassignmentsResponse`: `ReassignableTopicResponse`, versions 0-1.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ReassignableTopicResponse<'a> {
    /// Kafka's `Name`.
    pub name: Cow<'a, str>,
    /// Kafka's `Partitions`.
    pub partitions: Vec<ReassignablePartitionResponse<'a>>,
}

impl<'a> ReassignableTopicResponse<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            name: reader.string(true)?,
            partitions: reader.array(true, 8, |reader| {
                ReassignablePartitionResponse::decode(reader, version)
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

/// Part of Kafka's `AlterPartitionReassignmentsResponse`: `ReassignablePartitionResponse`, versions 0-1.
#[derive(Clone, Debug, PartialEq)]
pub struct ReassignablePartitionResponse<'a> {
    /// Kafka's `PartitionIndex`.
    pub partition_index: i32,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `ErrorMessage`, may be null.
    pub error_message: Option<Cow<'a, str>>,
}

impl Default for ReassignablePartitionResponse<'_> {
    fn default() -> Self {
        Self {
            partition_index: 0,
            error_code: 0,
            error_message: Some(Cow::Borrowed("")),
        }
    }
}

impl<'a> ReassignablePartitionResponse<'a> {
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

impl<'a> Message<'a> for AlterPartitionReassignmentsResponse<'a> {
    const NAME: &'static str = "AlterPartitionReassignmentsResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
