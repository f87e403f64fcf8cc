//! `WriteTxnMarkersResponse`, versions 1-2. Generated from `schemas/write_txn_markers.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `WriteTxnMarkersResponse`, versions 1-2.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct WriteTxnMarkersResponse<'a> {
    /// Kafka's `Markers`.
    pub markers: Vec<WritableTxnMarkerResult<'a>>,
}

impl<'a> WriteTxnMarkersResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 1..=2;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("WriteTxnMarkersResponse", version, Self::VERSIONS)?;
        let value = Self {
            markers: reader.array(true, 10, |reader| {
                WritableTxnMarkerResult::decode(reader, version)
            })?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("WriteTxnMarkersResponse", version, Self::VERSIONS)?;
        buffer.put_array(true, &self.markers, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `WriteTxnMarkersResponse`: `WritableTxnMarkerResult`, versions 1-2.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct WritableTxnMarkerResult<'a> {
    /// Kafka's `ProducerId`.
    pub producer_id: i64,
    /// Kafka's `Topics`.
    pub topics: Vec<WritableTxnMarkerTopicResult<'a>>,
}

impl<'a> WritableTxnMarkerResult<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            producer_id: reader.i64()?,
            topics: reader.array(true, 3, |reader| {
                WritableTxnMarkerTopicResult::decode(reader, version)
            })?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.put_i64(self.producer_id);
        buffer.put_array(true, &self.topics, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `WriteTxnMarkersResponse`: `WritableTxnMarkerTopicResult`, versions 1-2.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct WritableTxnMarkerTopicResult<'a> {
    /// Kafka's `Name`.
    pub name: Cow<'a, str>,
    /// Kafka's `Partitions`.
    pub partitions: Vec<WritableTxnMarkerPartitionResult>,
}

impl<'a> WritableTxnMarkerTopicResult<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            name: reader.string(true)?,
            partitions: reader.array(true, 7, |reader| {
                WritableTxnMarkerPartitionResult::decode(reader, version)
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

/// Part of Kafka's `WriteTxnMarkersResponse`: `WritableTxnMarkerPartitionResult`, versions 1-2.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct WritableTxnMarkerPartitionResult {
    /// Kafka's `PartitionIndex`.
    pub partition_index: i32,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
}

impl WritableTxnMarkerPartitionResult {
    fn decode(reader: &mut Reader<'_>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            partition_index: reader.i32()?,
            error_code: reader.i16()?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_i32(self.partition_index);
        buffer.put_i16(self.error_code);
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for WriteTxnMarkersResponse<'a> {
    const NAME: &'static str = "WriteTxnMarkersResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
