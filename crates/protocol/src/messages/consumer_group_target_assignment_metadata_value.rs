//! `ConsumerGroupTargetAssignmentMetadataValue`, version 0. Generated from `schemas/consumer_group_target_assignment_metadata_record.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{
    DecodeError, EncodeError, GatherBuffer, Reader, TaggedFields, decode_prefixed, encode_prefixed,
};
use std::ops::RangeInclusive;

/// Kafka's `ConsumerGroupTargetAssignmentMetadataValue`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ConsumerGroupTargetAssignmentMetadataValue {
    /// Kafka's `AssignmentEpoch`.
    pub assignment_epoch: i32,
    /// Kafka's `AssignmentTimestamp`.
    pub assignment_timestamp: i64,
}

impl ConsumerGroupTargetAssignmentMetadataValue {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=0;

    /// Reads the message behind its 2-byte version.
    pub fn decode_with_version_prefix(bytes: &[u8]) -> Result<Self, DecodeError> {
        decode_prefixed(
            bytes,
            "ConsumerGroupTargetAssignmentMetadataValue",
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
        reader.check_version(
            "ConsumerGroupTargetAssignmentMetadataValue",
            version,
            Self::VERSIONS,
        )?;
        let mut value = Self {
            assignment_epoch: reader.i32()?,
            assignment_timestamp: 0,
        };
        reader.tagged_fields(|tag, reader| {
            match tag {
                0 => value.assignment_timestamp = reader.i64()?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version(
            "ConsumerGroupTargetAssignmentMetadataValue",
            version,
            Self::VERSIONS,
        )?;
        buffer.put_i32(self.assignment_epoch);
        let mut tagged = TaggedFields::default();
        if self.assignment_timestamp != 0 {
            tagged.put(0, |buffer| {
                buffer.put_i64(self.assignment_timestamp);
                Ok(())
            })?;
        }
        buffer.put_tagged_fields(tagged);
        Ok(())
    }
}

impl Message<'_> for ConsumerGroupTargetAssignmentMetadataValue {
    const NAME: &'static str = "ConsumerGroupTargetAssignmentMetadataValue";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
