//! `EndTxnMarker`, version 0. Generated from `schemas/end_txn_marker.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{
    DecodeError, EncodeError, GatherBuffer, Reader, decode_prefixed, encode_prefixed,
};
use std::ops::RangeInclusive;

/// Kafka's `EndTxnMarker`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct EndTxnMarker {
    /// Kafka's `CoordinatorEpoch`.
    pub coordinator_epoch: i32,
}

impl EndTxnMarker {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=0;

    /// Reads the message behind its 2-byte version.
    pub fn decode_with_version_prefix(bytes: &[u8]) -> Result<Self, DecodeError> {
        decode_prefixed(bytes, "EndTxnMarker", Self::VERSIONS, Self::decode)
    }

    /// Writes the message behind its 2-byte version.
    pub fn encode_with_version_prefix(&self, version: i16) -> Result<Vec<u8>, EncodeError> {
        encode_prefixed(version, |buffer| self.encode(buffer, version))
    }

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("EndTxnMarker", version, Self::VERSIONS)?;
        Ok(Self {
            coordinator_epoch: reader.i32()?,
        })
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("EndTxnMarker", version, Self::VERSIONS)?;
        buffer.put_i32(self.coordinator_epoch);
        Ok(())
    }
}

impl Message<'_> for EndTxnMarker {
    const NAME: &'static str = "EndTxnMarker";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
