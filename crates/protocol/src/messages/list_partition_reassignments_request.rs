//! `ListPartitionReassignmentsRequest`, version 0. Generated from `schemas/list_partition_reassignments.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `ListPartitionReassignmentsRequest`, version 0.
#[derive(Clone, Debug, PartialEq)]
pub struct ListPartitionReassignmentsRequest<'a> {
    /// Kafka's `TimeoutMs`, default 60000.
    pub timeout_ms: i32,
    /// Kafka's `Topics`, may be null, default null.
    pub topics: Option<Vec<ListPartitionReassignmentsTopics<'a>>>,
}

impl Default for ListPartitionReassignmentsRequest<'_> {
    fn default() -> Self {
        Self {
            timeout_ms: 60000,
            topics: None,
        }
    }
}

impl<'a> ListPartitionReassignmentsRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=0;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("ListPartitionReassignmentsRequest", version, Self::VERSIONS)?;
        let value = Self {
            timeout_ms: reader.i32()?,
            topics: reader.nullable_array(true, 3, |reader| {
                ListPartitionReassignmentsTopics::decode(reader, version)
            })?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("ListPartitionReassignmentsRequest", version, Self::VERSIONS)?;
        buffer.put_i32(self.timeout_ms);
        buffer.put_nullable_array(true, self.topics.as_deref(), |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `ListPartitionReassignmentsRequest`: `ListPartitionReassignmentsTopics`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ListPartitionReassignmentsTopics<'a> {
    /// Kafka's `Name`.
    pub name: Cow<'a, str>,
    /// Kafka's `PartitionIndexes`.
    pub partition_indexes: Vec<i32>,
}

impl<'a> ListPartitionReassignmentsTopics<'a> {
    fn decode(reader: &mut Reader<'a>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            name: reader.string(true)?,
            partition_indexes: reader.array(true, 4, Reader::i32)?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_string(true, &self.name)?;
        buffer.put_array(true, &self.partition_indexes, |buffer, element| {
            buffer.put_i32(*element);
            Ok(())
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for ListPartitionReassignmentsRequest<'a> {
    const NAME: &'static str = "ListPartitionReassignmentsRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for ListPartitionReassignmentsRequest<'a> {
    const KEY: ApiKey = ApiKey::ListPartitionReassignments;
    type Response<'r> = super::ListPartitionReassignmentsResponse<'r>;
}
