//! `WriteTxnMarkersRequest`, versions 1-2. Generated from `schemas/write_txn_markers.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `WriteTxnMarkersRequest`, versions 1-2.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct WriteTxnMarkersRequest<'a> {
    /// Kafka's `Markers`.
    pub markers: Vec<WritableTxnMarker<'a>>,
}

impl<'a> WriteTxnMarkersRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 1..=2;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("WriteTxnMarkersRequest", version, Self::VERSIONS)?;
        let value = Self {
            markers: reader.array(true, 17, |reader| {
                WritableTxnMarker::decode(reader, version)
            })?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("WriteTxnMarkersRequest", version, Self::VERSIONS)?;
        buffer.put_array(true, &self.markers, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `WriteTxnMarkersRequest`: `WritableTxnMarker`, versions 1-2.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct WritableTxnMarker<'a> {
    /// Kafka's `ProducerId`.
    pub producer_id: i64,
    /// Kafka's `ProducerEpoch`.
    pub producer_epoch: i16,
    /// Kafka's `TransactionResult`.
    pub transaction_result: bool,
    /// Kafka's `Topics`.
    pub topics: Vec<WritableTxnMarkerTopic<'a>>,
    /// Kafka's `CoordinatorEpoch`.
    pub coordinator_epoch: i32,
    /// Kafka's `TransactionVersion`, version 2, left out of other versions.
    pub transaction_version: i8,
}

impl<'a> WritableTxnMarker<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            producer_id: reader.i64()?,
            producer_epoch: reader.i16()?,
            transaction_result: reader.bool()?,
            topics: reader.array(true, 3, |reader| {
                WritableTxnMarkerTopic::decode(reader, version)
            })?,
            coordinator_epoch: reader.i32()?,
            transaction_version: if version == 2 { reader.i8()? } else { 0 },
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.put_i64(self.producer_id);
        buffer.put_i16(self.producer_epoch);
        buffer.put_bool(self.transaction_result);
        buffer.put_array(true, &self.topics, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_i32(self.coordinator_epoch);
        if version == 2 {
            buffer.put_i8(self.transaction_version);
        }
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `WriteTxnMarkersRequest`: `WritableTxnMarkerTopic`, versions 1-2.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct WritableTxnMarkerTopic<'a> {
    /// Kafka's `Name`.
    pub name: Cow<'a, str>,
    /// Kafka's `PartitionIndexes`.
    pub partition_indexes: Vec<i32>,
}

impl<'a> WritableTxnMarkerTopic<'a> {
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

impl<'a> Message<'a> for WriteTxnMarkersRequest<'a> {
    const NAME: &'static str = "WriteTxnMarkersRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for WriteTxnMarkersRequest<'a> {
    const KEY: ApiKey = ApiKey::WriteTxnMarkers;
    type Response<'r> = super::WriteTxnMarkersResponse<'r>;
}
