//! `ElectLeadersResponse`, versions 0-2. Generated from `schemas/elect_leaders.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, require_default};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `ElectLeadersResponse`, versions 0-2.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ElectLeadersResponse<'a> {
    /// Kafka's `ThrottleTimeMs`.
    pub throttle_time_ms: i32,
    /// Kafka's `ErrorCode`, versions 1-2.
    pub error_code: i16,
    /// Kafka's `ReplicaElectionResults`.
    pub replica_election_results: Vec<ReplicaElectionResult<'a>>,
}

impl<'a> ElectLeadersResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=2;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("ElectLeadersResponse", version, Self::VERSIONS)?;
        let flexible = version == 2;
        let value = Self {
            throttle_time_ms: reader.i32()?,
            error_code: if version >= 1 { reader.i16()? } else { 0 },
            replica_election_results: reader.array(flexible, 3, |reader| {
                ReplicaElectionResult::decode(reader, version)
            })?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("ElectLeadersResponse", version, Self::VERSIONS)?;
        let flexible = version == 2;
        buffer.put_i32(self.throttle_time_ms);
        if version >= 1 {
            buffer.put_i16(self.error_code);
        } else {
            require_default(
                self.error_code == 0,
                "ElectLeadersResponse.ErrorCode",
                version,
            )?;
        }
        buffer.put_array(
            flexible,
            &self.replica_election_results,
            |buffer, element| element.encode(buffer, version),
        )?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `ElectLeadersResponse`: `ReplicaElectionResult`, versions 0-2.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ReplicaElectionResult<'a> {
    /// Kafka's `Topic`.
    pub topic: Cow<'a, str>,
    /// Kafka's `PartitionResult`.
    pub partition_result: Vec<PartitionResult<'a>>,
}

impl<'a> ReplicaElectionResult<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 2;
        let value = Self {
            topic: reader.string(flexible)?,
            partition_result: reader.array(flexible, 8, |reader| {
                PartitionResult::decode(reader, version)
            })?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 2;
        buffer.put_string(flexible, &self.topic)?;
        buffer.put_array(flexible, &self.partition_result, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `ElectLeadersResponse`: `PartitionResult`, versions 0-2.
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionResult<'a> {
    /// Kafka's `PartitionId`.
    pub partition_id: i32,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `ErrorMessage`, may be null.
    pub error_message: Option<Cow<'a, str>>,
}

impl Default for PartitionResult<'_> {
    fn default() -> Self {
        Self {
            partition_id: 0,
            error_code: 0,
            error_message: Some(Cow::Borrowed("")),
        }
    }
}

impl<'a> PartitionResult<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 2;
        let value = Self {
            partition_id: reader.i32()?,
            error_code: reader.i16()?,
            error_message: reader.nullable_string(flexible)?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 2;
        buffer.put_i32(self.partition_id);
        buffer.put_i16(self.error_code);
        buffer.put_nullable_string(flexible, self.error_message.as_deref())?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for ElectLeadersResponse<'a> {
    const NAME: &'static str = "ElectLeadersResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
