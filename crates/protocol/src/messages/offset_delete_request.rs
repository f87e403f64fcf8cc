//! `OffsetDeleteRequest`, version 0. Generated from `schemas/offset_delete.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `OffsetDeleteRequest`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct OffsetDeleteRequest<'a> {
    /// Kafka's `GroupId`.
    pub group_id: Cow<'a, str>,
    /// Kafka's `Topics`.
    pub topics: Vec<OffsetDeleteRequestTopic<'a>>,
}

impl<'a> OffsetDeleteRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=0;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("OffsetDeleteRequest", version, Self::VERSIONS)?;
        Ok(Self {
            group_id: reader.string(false)?,
            topics: reader.array(false, 6, |reader| {
                OffsetDeleteRequestTopic::decode(reader, version)
            })?,
        })
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("OffsetDeleteRequest", version, Self::VERSIONS)?;
        buffer.put_string(false, &self.group_id)?;
        buffer.put_array(false, &self.topics, |buffer, element| {
            element.encode(buffer, version)
        })?;
        Ok(())
    }
}

/// Part of Kafka's `OffsetDeleteRequest`: `OffsetDeleteRequestTopic`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct OffsetDeleteRequestTopic<'a> {
    /// Kafka's `Name`.
    pub name: Cow<'a, str>,
    /// Kafka's `Partitions`.
    pub partitions: Vec<OffsetDeleteRequestPartition>,
}

impl<'a> OffsetDeleteRequestTopic<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Ok(Self {
            name: reader.string(false)?,
            partitions: reader.array(false, 4, |reader| {
                OffsetDeleteRequestPartition::decode(reader, version)
            })?,
        })
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.put_string(false, &self.name)?;
        buffer.put_array(false, &self.partitions, |buffer, element| {
            element.encode(buffer, version)
        })?;
        Ok(())
    }
}

/// Part of Kafka's `OffsetDeleteRequest`: `OffsetDeleteRequestPartition`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct OffsetDeleteRequestPartition {
    /// Kafka's `PartitionIndex`.
    pub partition_index: i32,
}

impl OffsetDeleteRequestPartition {
    fn decode(reader: &mut Reader<'_>, _version: i16) -> Result<Self, DecodeError> {
        Ok(Self {
            partition_index: reader.i32()?,
        })
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_i32(self.partition_index);
        Ok(())
    }
}

impl<'a> Message<'a> for OffsetDeleteRequest<'a> {
    const NAME: &'static str = "OffsetDeleteRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for OffsetDeleteRequest<'a> {
    const KEY: ApiKey = ApiKey::OffsetDelete;
    type Response<'r> = super::OffsetDeleteResponse<'r>;
}
