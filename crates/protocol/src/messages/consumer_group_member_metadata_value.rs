//! `ConsumerGroupMemberMetadataValue`, version 0. Generated from `schemas/consumer_group_member_metadata_record.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{
    DecodeError, EncodeError, GatherBuffer, Reader, TaggedFields, decode_prefixed, encode_prefixed,
};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `ConsumerGroupMemberMetadataValue`, version 0.
#[derive(Clone, Debug, PartialEq)]
pub struct ConsumerGroupMemberMetadataValue<'a> {
    /// Kafka's `InstanceId`, may be null.
    pub instance_id: Option<Cow<'a, str>>,
    /// Kafka's `RackId`, may be null.
    pub rack_id: Option<Cow<'a, str>>,
    /// Kafka's `ClientId`.
    pub client_id: Cow<'a, str>,
    /// Kafka's `ClientHost`.
    pub client_host: Cow<'a, str>,
    /// Kafka's `SubscribedTopicNames`.
    pub subscribed_topic_names: Vec<Cow<'a, str>>,
    /// Kafka's `SubscribedTopicRegex`, may be null.
    pub subscribed_topic_regex: Option<Cow<'a, str>>,
    /// Kafka's `RebalanceTimeoutMs`, default -1.
    pub rebalance_timeout_ms: i32,
    /// Kafka's `ServerAssignor`, may be null.
    pub server_assignor: Option<Cow<'a, str>>,
    /// Kafka's `ClassicMemberMetadata`, may be null.
    pub classic_member_metadata: Option<ClassicMemberMetadata<'a>>,
}

impl Default for ConsumerGroupMemberMetadataValue<'_> {
    fn default() -> Self {
        Self {
            instance_id: Some(Cow::Borrowed("")),
            rack_id: Some(Cow::Borrowed("")),
            client_id: Cow::Borrowed(""),
            client_host: Cow::Borrowed(""),
            subscribed_topic_names: Vec::new(),
            subscribed_topic_regex: Some(Cow::Borrowed("")),
            rebalance_timeout_ms: -1,
            server_assignor: Some(Cow::Borrowed("")),
            classic_member_metadata: Some(ClassicMemberMetadata::default()),
        }
    }
}

impl<'a> ConsumerGroupMemberMetadataValue<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=0;

    /// Reads the message behind its 2-byte version.
    pub fn decode_with_version_prefix(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        decode_prefixed(
            bytes,
            "ConsumerGroupMemberMetadataValue",
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
        reader.check_version("ConsumerGroupMemberMetadataValue", version, Self::VERSIONS)?;
        let mut value = Self {
            instance_id: reader.nullable_string(true)?,
            rack_id: reader.nullable_string(true)?,
            client_id: reader.string(true)?,
            client_host: reader.string(true)?,
            subscribed_topic_names: reader.array(true, 1, |reader| reader.string(true))?,
            subscribed_topic_regex: reader.nullable_string(true)?,
            rebalance_timeout_ms: reader.i32()?,
            server_assignor: reader.nullable_string(true)?,
            classic_member_metadata: Some(ClassicMemberMetadata::default()),
        };
        reader.tagged_fields(|tag, reader| {
            match tag {
                0 => {
                    value.classic_member_metadata = reader.nullable_tagged_struct(|reader| {
                        ClassicMemberMetadata::decode(reader, version)
                    })?
                }
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("ConsumerGroupMemberMetadataValue", version, Self::VERSIONS)?;
        buffer.put_nullable_string(true, self.instance_id.as_deref())?;
        buffer.put_nullable_string(true, self.rack_id.as_deref())?;
        buffer.put_string(true, &self.client_id)?;
        buffer.put_string(true, &self.client_host)?;
        buffer.put_array(true, &self.subscribed_topic_names, |buffer, element| {
            buffer.put_string(true, element)
        })?;
        buffer.put_nullable_string(true, self.subscribed_topic_regex.as_deref())?;
        buffer.put_i32(self.rebalance_timeout_ms);
        buffer.put_nullable_string(true, self.server_assignor.as_deref())?;
        let mut tagged = TaggedFields::default();
        if self.classic_member_metadata != Some(ClassicMemberMetadata::default()) {
            tagged.put(0, |buffer| {
                buffer.put_nullable_tagged_struct(
                    self.classic_member_metadata.as_ref(),
                    |buffer, value| value.encode(buffer, version),
                )
            })?;
        }
        buffer.put_tagged_fields(tagged);
        Ok(())
    }
}

/// Part of Kafka's `ConsumerGroupMemberMetadataValue`: `ClassicMemberMetadata`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ClassicMemberMetadata<'a> {
    /// Kafka's `SessionTimeoutMs`.
    pub session_timeout_ms: i32,
    /// Kafka's `SupportedProtocols`.
    pub supported_protocols: Vec<ClassicProtocol<'a>>,
}

impl<'a> ClassicMemberMetadata<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            session_timeout_ms: reader.i32()?,
            supported_protocols: reader
                .array(true, 3, |reader| ClassicProtocol::decode(reader, version))?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.put_i32(self.session_timeout_ms);
        buffer.put_array(true, &self.supported_protocols, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `ConsumerGroupMemberMetadataValue`: `ClassicProtocol`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ClassicProtocol<'a> {
    /// Kafka's `Name`.
    pub name: Cow<'a, str>,
    /// Kafka's `Metadata`.
    pub metadata: Cow<'a, [u8]>,
}

impl<'a> ClassicProtocol<'a> {
    fn decode(reader: &mut Reader<'a>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            name: reader.string(true)?,
            metadata: reader.bytes(true)?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_string(true, &self.name)?;
        buffer.put_bytes(true, &self.metadata)?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for ConsumerGroupMemberMetadataValue<'a> {
    const NAME: &'static str = "ConsumerGroupMemberMetadataValue";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
