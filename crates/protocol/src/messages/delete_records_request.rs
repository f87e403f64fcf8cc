//! `DeleteRecordsRequest`, versions 0-2. Generated from `schemas/delete_records.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `DeleteRecordsRequest`, versions 0-2.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DeleteRecordsRequest<'a> {
    /// Kafka's `Topics`.
    pub topics: Vec<DeleteRecordsTopic<'a>>,
    /// Kafka's `TimeoutMs`.
    pub timeout_ms: i32,
}

impl<'a> DeleteRecordsRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=2;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("DeleteRecordsRequest", version, Self::VERSIONS)?;
        let flexible = version == 2;
        let value = Self {
            topics: reader.array(flexible, 3, |reader| {
                DeleteRecordsTopic::decode(reader, version)
            })?,
            timeout_ms: reader.i32()?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("DeleteRecordsRequest", version, Self::VERSIONS)?;
        let flexible = version == 2;
        buffer.put_array(flexible, &self.topics, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_i32(self.timeout_ms);
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `DeleteRecordsRequest`: `DeleteRecordsTopic`, versions 0-2.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DeleteRecordsTopic<'a> {
    /// Kafka's `Name`.
    pub name: Cow<'a, str>,
    /// Kafka's `Partitions`.
    pub partitions: Vec<DeleteRecordsPartition>,
}

impl<'a> DeleteRecordsTopic<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 2;
        let value = Self {
            name: reader.string(flexible)?,
            partitions: reader.array(flexible, 12, |reader| {
                DeleteRecordsPartition::decode(reader, version)
            })?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 2;
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

/// Part of Kafka's `DeleteRecordsRequest`: `DeleteRecordsPartition`, versions 0-2.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DeleteRecordsPartition {
    /// Kafka's `PartitionIndex`.
    pub partition_index: i32,
    /// Kafka's `Offset`.
    pub offset: i64,
}

impl DeleteRecordsPartition {
    fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 2;
        let value = Self {
            partition_index: reader.i32()?,
            offset: reader.i64()?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 2;
        buffer.put_i32(self.partition_index);
        buffer.put_i64(self.offset);
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for DeleteRecordsRequest<'a> {
    const NAME: &'static str = "DeleteRecordsRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for DeleteRecordsRequest<'a> {
    const KEY: ApiKey = ApiKey::DeleteRecords;
    type Response<'r> = super::DeleteRecordsResponse<'r>;
}
