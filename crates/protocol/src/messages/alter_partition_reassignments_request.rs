//! `AlterPartitionReassignmentsRequest`, versions 0-1. Generated from `schemas/alter_partition_reassignments.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, require_default};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `AlterPartitionReassignmentsRequest`, versions 0-1.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterPartitionReassignmentsRequest<'a> {
    /// Kafka's `TimeoutMs`, default 60000.
    pub timeout_ms: i32,
    /// Kafka's `AllowReplicationFactorChange`, version 1, default true.
    pub allow_replication_factor_change: bool,
    /// Kafka's `Topics`.
    pub topics: Vec<ReassignableTopic<'a>>,
}

impl Default for AlterPartitionReassignmentsRequest<'_> {
    fn default() -> Self {
        Self {
            timeout_ms: 60000,
            allow_replication_factor_change: true,
            topics: Vec::new(),
        }
    }
}

impl<'a> AlterPartitionReassignmentsRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=1;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version(
            "AlterPartitionReassignmentsRequest",
            version,
            Self::VERSIONS,
        )?;
        let value = Self {
            timeout_ms: reader.i32()?,
            allow_replication_factor_change: if version == 1 { reader.bool()? } else { true },
            topics: reader.array(true, 3, |reader| ReassignableTopic::decode(reader, version))?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version(
            "AlterPartitionReassignmentsRequest",
            version,
            Self::VERSIONS,
        )?;
        buffer.put_i32(self.timeout_ms);
        if version == 1 {
            buffer.put_bool(self.allow_replication_factor_change);
        } else {
            require_default(
                self.allow_replication_factor_change,
                "AlterPartitionReassignmentsRequest.AllowReplicationFactorChange",
                version,
            )?;
        }
        buffer.put_array(true, &self.topics, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `AlterPartitionReassignmentsRequest`: `ReassignableTopic`, versions 0-1.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ReassignableTopic<'a> {
    /// Kafka's `Name`.
    pub name: Cow<'a, str>,
    /// Kafka's `Partitions`.
    pub partitions: Vec<ReassignablePartition>,
}

impl<'a> ReassignableTopic<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            name: reader.string(true)?,
            partitions: reader.array(true, 6, |reader| {
                ReassignablePartition::decode(reader, version)
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

/// Part of Kafka's `AlterPartitionReassignmentsRequest`: `ReassignablePartition`, versions 0-1.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ReassignablePartition {
    /// Kafka's `PartitionIndex`.
    pub partition_index: i32,
    /// Kafka's `Replicas`, may be null, default null.
    pub replicas: Option<Vec<i32>>,
}

impl ReassignablePartition {
    fn decode(reader: &mut Reader<'_>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            partition_index: reader.i32()?,
            replicas: reader.nullable_array(true, 4, Reader::i32)?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_i32(self.partition_index);
        buffer.put_nullable_array(true, self.replicas.as_deref(), |buffer, element| {
            buffer.put_i32(*element);
            Ok(())
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for AlterPartitionReassignmentsRequest<'a> {
    const NAME: &'static str = "AlterPartitionReassignmentsRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for AlterPartitionReassignmentsRequest<'a> {
    const KEY: ApiKey = ApiKey::AlterPartitionReassignments;
    type Response<'r> = super::AlterPartitionReassignmentsResponse<'r>;
}
