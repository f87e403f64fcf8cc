//! `ListOffsetsRequest`, versions 1-11. Generated from `schemas/list_offsets.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, require_default};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `ListOffsetsRequest`, versions 1-11.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ListOffsetsRequest<'a> {
    /// Kafka's `ReplicaId`.
    pub replica_id: i32,
    /// Kafka's `IsolationLevel`, versions 2-11.
    pub isolation_level: i8,
    /// Kafka's `Topics`.
    pub topics: Vec<ListOffsetsTopic<'a>>,
    /// Kafka's `TimeoutMs`, versions 10-11, left out of other versions.
    pub timeout_ms: i32,
}

impl<'a> ListOffsetsRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 1..=11;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("ListOffsetsRequest", version, Self::VERSIONS)?;
        let flexible = version >= 6;
        let value = Self {
            replica_id: reader.i32()?,
            isolation_level: if version >= 2 { reader.i8()? } else { 0 },
            topics: reader.array(flexible, 3, |reader| {
                ListOffsetsTopic::decode(reader, version)
            })?,
            timeout_ms: if version >= 10 { reader.i32()? } else { 0 },
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("ListOffsetsRequest", version, Self::VERSIONS)?;
        let flexible = version >= 6;
        buffer.put_i32(self.replica_id);
        if version >= 2 {
            buffer.put_i8(self.isolation_level);
        } else {
            require_default(
                self.isolation_level == 0,
                "ListOffsetsRequest.IsolationLevel",
                version,
            )?;
        }
        buffer.put_array(flexible, &self.topics, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if version >= 10 {
            buffer.put_i32(self.timeout_ms);
        }
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `ListOffsetsRequest`: `ListOffsetsTopic`, versions 1-11.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ListOffsetsTopic<'a> {
    /// Kafka's `Name`.
    pub name: Cow<'a, str>,
    /// Kafka's `Partitions`.
    pub partitions: Vec<ListOffsetsPartition>,
}

impl<'a> ListOffsetsTopic<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 6;
        let value = Self {
            name: reader.string(flexible)?,
            partitions: reader.array(flexible, 12, |reader| {
                ListOffsetsPartition::decode(reader, version)
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

/// Part of Kafka's `ListOffsetsRequest`: `ListOffsetsPartition`, versions 1-11.
#[derive(Clone, Debug, PartialEq)]
pub struct ListOffsetsPartition {
    /// Kafka's `PartitionIndex`.
    pub partition_index: i32,
    /// Kafka's `CurrentLeaderEpoch`, versions 4-11, default -1, left out of other versions.
    pub current_leader_epoch: i32,
    /// Kafka's `Timestamp`.
    pub timestamp: i64,
}

impl Default for ListOffsetsPartition {
    fn default() -> Self {
        Self {
            partition_index: 0,
            current_leader_epoch: -1,
            timestamp: 0,
        }
    }
}

impl ListOffsetsPartition {
    fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 6;
        let value = Self {
            partition_index: reader.i32()?,
            current_leader_epoch: if version >= 4 { reader.i32()? } else { -1 },
            timestamp: reader.i64()?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 6;
        buffer.put_i32(self.partition_index);
        if version >= 4 {
            buffer.put_i32(self.current_leader_epoch);
        }
        buffer.put_i64(self.timestamp);
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for ListOffsetsRequest<'a> {
    const NAME: &'static str = "ListOffsetsRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for ListOffsetsRequest<'a> {
    const KEY: ApiKey = ApiKey::ListOffsets;
    type Response<'r> = super::ListOffsetsResponse<'r>;
}
