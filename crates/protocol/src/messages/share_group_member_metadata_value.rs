//! `ShareGroupMemberMetadataValue`, version 0. Generated from `schemas/share_group_member_metadata_record.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{
    DecodeError, EncodeError, GatherBuffer, Reader, decode_prefixed, encode_prefixed,
};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `ShareGroupMemberMetadataValue`, version 0.
#[derive(Clone, Debug, PartialEq)]
pub struct ShareGroupMemberMetadataValue<'a> {
    /// Kafka's `RackId`, may be null.
    pub rack_id: Option<Cow<'a, str>>,
    /// Kafka's `ClientId`.
    pub client_id: Cow<'a, str>,
    /// Kafka's `ClientHost`.
    pub client_host: Cow<'a, str>,
    /// Kafka's `SubscribedTopicNames`.
    pub subscribed_topic_names: Vec<Cow<'a, str>>,
}

impl Default for ShareGroupMemberMetadataValue<'_> {
    fn default() -> Self {
        Self {
            rack_id: Some(Cow::Borrowed("")),
            client_id: Cow::Borrowed(""),
            client_host: Cow::Borrowed(""),
            subscribed_topic_names: Vec::new(),
        }
    }
}

impl<'a> ShareGroupMemberMetadataValue<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=0;

    /// Reads the message behind its 2-byte version.
    pub fn decode_with_version_prefix(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        decode_prefixed(
            bytes,
            "ShareGroupMemberMetadataValue",
            Self::VERSIONS,
            Self::decode,
        )
    }

    /// Writes the message behind its 2-byte version.
    pub fn encode_with_version_prefix(&self, version: i16) -> Result<Vec<u8>, EncodeError> {
        encode_prefixed(version, |buffer| self.encode(buffer, version))
    }

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("ShareGroupMemberMetadataValue", version, Self::VERSIONS)?;
        let value = Self {
            rack_id: reader.nullable_string(true)?,
            client_id: reader.string(true)?,
            client_host: reader.string(true)?,
            subscribed_topic_names: reader.array(true, 1, |reader| reader.string(true))?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("ShareGroupMemberMetadataValue", version, Self::VERSIONS)?;
        buffer.put_nullable_string(true, self.rack_id.as_deref())?;
        buffer.put_string(true, &self.client_id)?;
        buffer.put_string(true, &self.client_host)?;
        buffer.put_array(true, &self.subscribed_topic_names, |buffer, element| {
            buffer.put_string(true, element)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for ShareGroupMemberMetadataValue<'a> {
    const NAME: &'static str = "ShareGroupMemberMetadataValue";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
