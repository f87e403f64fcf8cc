//! `ShareGroupStatePartitionMetadataKey`, version 0. Generated from `schemas/share_group_state_partition_metadata_record.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{
    DecodeError, EncodeError, GatherBuffer, Reader, decode_prefixed, encode_prefixed,
};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `ShareGroupStatePartitionMetadataKey`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ShareGroupStatePartitionMetadataKey<'a> {
    /// Kafka's `GroupId`.
    pub group_id: Cow<'a, str>,
}

impl<'a> ShareGroupStatePartitionMetadataKey<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=0;

    /// The number that stands before a key of this kind.
    pub const KEY_VERSION: i16 = 15;

    /// Reads the key behind its 2-byte number.
    pub fn decode_with_version_prefix(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        decode_prefixed(
            bytes,
            "ShareGroupStatePartitionMetadataKey",
            15..=15,
            |reader, _| Self::decode(reader, 0),
        )
    }

    /// Writes the key behind its 2-byte number.
    pub fn encode_with_version_prefix(&self) -> Result<Vec<u8>, EncodeError> {
        encode_prefixed(Self::KEY_VERSION, |buffer| self.encode(buffer, 0))
    }

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version(
            "ShareGroupStatePartitionMetadataKey",
            version,
            Self::VERSIONS,
        )?;
        Ok(Self {
            group_id: reader.string(false)?,
        })
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version(
            "ShareGroupStatePartitionMetadataKey",
            version,
            Self::VERSIONS,
        )?;
        buffer.put_string(false, &self.group_id)?;
        Ok(())
    }
}

impl<'a> Message<'a> for ShareGroupStatePartitionMetadataKey<'a> {
    const NAME: &'static str = "ShareGroupStatePartitionMetadataKey";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
