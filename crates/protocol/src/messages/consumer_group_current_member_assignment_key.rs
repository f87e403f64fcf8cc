//! `ConsumerGroupCurrentMemberAssignmentKey`, version 0. Generated from `schemas/consumer_group_current_member_assignment_record.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{
    DecodeError, EncodeError, GatherBuffer, Reader, decode_prefixed, encode_prefixed,
};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `ConsumerGroupCurrentMemberAssignmentKey`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ConsumerGroupCurrentMemberAssignmentKey<'a> {
    /// Kafka's `GroupId`.
    pub group_id: Cow<'a, str>,
    /// Kafka's `MemberId`.
    pub member_id: Cow<'a, str>,
}

impl<'a> ConsumerGroupCurrentMemberAssignmentKey<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=0;

    /// The number that stands before a key of this kind.
    pub const KEY_VERSION: i16 = 8;

    /// Reads the key behind its 2-byte number.
    pub fn decode_with_version_prefix(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        decode_prefixed(
            bytes,
            "ConsumerGroupCurrentMemberAssignmentKey",
            8..=8,
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
            "ConsumerGroupCurrentMemberAssignmentKey",
            version,
            Self::VERSIONS,
        )?;
        Ok(Self {
            group_id: reader.string(false)?,
            member_id: reader.string(false)?,
        })
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version(
            "ConsumerGroupCurrentMemberAssignmentKey",
            version,
            Self::VERSIONS,
        )?;
        buffer.put_string(false, &self.group_id)?;
        buffer.put_string(false, &self.member_id)?;
        Ok(())
    }
}

impl<'a> Message<'a> for ConsumerGroupCurrentMemberAssignmentKey<'a> {
    const NAME: &'static str = "ConsumerGroupCurrentMemberAssignmentKey";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
