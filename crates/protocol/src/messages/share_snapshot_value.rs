//! `ShareSnapshotValue`, version 0. Generated from `schemas/share_snapshot_record.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{
    DecodeError, EncodeError, GatherBuffer, Reader, TaggedFields, decode_prefixed, encode_prefixed,
};
use std::ops::RangeInclusive;

/// Kafka's `ShareSnapshotValue`, version 0.
#[derive(Clone, Debug, PartialEq)]
pub struct ShareSnapshotValue {
    /// Kafka's `SnapshotEpoch`.
    pub snapshot_epoch: i32,
    /// Kafka's `StateEpoch`.
    pub state_epoch: i32,
    /// Kafka's `LeaderEpoch`.
    pub leader_epoch: i32,
    /// Kafka's `StartOffset`.
    pub start_offset: i64,
    /// Kafka's `DeliveryCompleteCount`, default -1.
    pub delivery_complete_count: i32,
    /// Kafka's `CreateTimestamp`.
    pub create_timestamp: i64,
    /// Kafka's `WriteTimestamp`.
    pub write_timestamp: i64,
    /// Kafka's `StateBatches`.
    pub state_batches: Vec<StateBatch>,
}

impl Default for ShareSnapshotValue {
    fn default() -> Self {
        Self {
            snapshot_epoch: 0,
            state_epoch: 0,
            leader_epoch: 0,
            start_offset: 0,
            delivery_complete_count: -1,
            create_timestamp: 0,
            write_timestamp: 0,
            state_batches: Vec::new(),
        }
    }
}

impl ShareSnapshotValue {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=0;

    /// Reads the message behind its 2-byte version.
    pub fn decode_with_version_prefix(bytes: &[u8]) -> Result<Self, DecodeError> {
        decode_prefixed(bytes, "ShareSnapshotValue", Self::VERSIONS, Self::decode)
    }

    /// Writes the message behind its 2-byte version.
    pub fn encode_with_version_prefix(&self, version: i16) -> Result<Vec<u8>, EncodeError> {
        encode_prefixed(version, |buffer| self.encode(buffer, version))
    }

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("ShareSnapshotValue", version, Self::VERSIONS)?;
        let mut value = Self {
            snapshot_epoch: reader.i32()?,
            state_epoch: reader.i32()?,
            leader_epoch: reader.i32()?,
            start_offset: reader.i64()?,
            delivery_complete_count: -1,
            create_timestamp: reader.i64()?,
            write_timestamp: reader.i64()?,
            state_batches: reader.array(true, 20, |reader| StateBatch::decode(reader, version))?,
        };
        reader.tagged_fields(|tag, reader| {
            match tag {
                0 => value.delivery_complete_count = reader.i32()?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("ShareSnapshotValue", version, Self::VERSIONS)?;
        buffer.put_i32(self.snapshot_epoch);
        buffer.put_i32(self.state_epoch);
        buffer.put_i32(self.leader_epoch);
        buffer.put_i64(self.start_offset);
        buffer.put_i64(self.create_timestamp);
        buffer.put_i64(self.write_timestamp);
        buffer.put_array(true, &self.state_batches, |buffer, element| {
            element.encode(buffer, version)
        })?;
        let mut tagged = TaggedFields::default();
        if self.delivery_complete_count != -1 {
            tagged.put(0, |buffer| {
                buffer.put_i32(self.delivery_complete_count);
                Ok(())
            })?;
        }
        buffer.put_tagged_fields(tagged);
        Ok(())
    }
}

/// Part of Kafka's `ShareSnapshotValue`: `StateBatch`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct StateBatch {
    /// Kafka's `FirstOffset`.
    pub first_offset: i64,
    /// Kafka's `LastOffset`.
    pub last_offset: i64,
    /// Kafka's `DeliveryState`.
    pub delivery_state: i8,
    /// Kafka's `DeliveryCount`.
    pub delivery_count: i16,
}

impl StateBatch {
    fn decode(reader: &mut Reader<'_>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            first_offset: reader.i64()?,
            last_offset: reader.i64()?,
            delivery_state: reader.i8()?,
            delivery_count: reader.i16()?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_i64(self.first_offset);
        buffer.put_i64(self.last_offset);
        buffer.put_i8(self.delivery_state);
        buffer.put_i16(self.delivery_count);
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl Message<'_> for ShareSnapshotValue {
    const NAME: &'static str = "ShareSnapshotValue";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
