//! `ShareGroupMetadataValue`, version 0. Generated from `schemas/share_group_metadata_record.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{
    DecodeError, EncodeError, GatherBuffer, Reader, decode_prefixed, encode_prefixed,
};
use std::ops::RangeInclusive;

/// Kafka's `ShareGroupMetadataValue`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ShareGroupMetadataValue {
    /// Kafka's `Epoch`.
    pub epoch: i32,
    /// Kafka's `MetadataHash`.
    pub metadata_hash: i64,
}

impl ShareGroupMetadataValue {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=0;

    /// Reads the message behind its 2-byte version.
    pub fn decode_with_version_prefix(bytes: &[u8]) -> Result<Self, DecodeError> {
        decode_prefixed(
            bytes,
            "ShareGroupMetadataValue",
            Self::VERSIONS,
            Self::decode,
        )
    }

    /// Writes the message behind its 2-byte version.
    pub fn encode_with_version_prefix(&self, version: i16) -> Result<Vec<u8>, EncodeError> {
        encode_prefixed(version, |buffer| self.encode(buffer, version))
    }

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("ShareGroupMetadataValue", version, Self::VERSIONS)?;
        let value = Self {
            epoch: reader.i32()?,
            metadata_hash: reader.i64()?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("ShareGroupMetadataValue", version, Self::VERSIONS)?;
        buffer.put_i32(self.epoch);
        buffer.put_i64(self.metadata_hash);
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl Message<'_> for ShareGroupMetadataValue {
    const NAME: &'static str = "ShareGroupMetadataValue";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
