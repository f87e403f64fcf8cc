//! `ConsumerProtocolAssignment`, versions 0-3. Generated from `schemas/consumer_protocol.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, encode_prefixed};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `ConsumerProtocolAssignment`, versions 0-3.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ConsumerProtocolAssignment<'a> {
    /// Kafka's `AssignedPartitions`.
    pub assigned_partitions: Vec<TopicPartition<'a>>,
    /// Kafka's `UserData`, may be null, default null.
    pub user_data: Option<Cow<'a, [u8]>>,
}

impl<'a> ConsumerProtocolAssignment<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=3;

    /// Reads the message behind its 2-byte version. A version newer than we know is read as the newest that we know, and what it adds is left.
    pub fn decode_with_version_prefix(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        let version = reader.i16()?.min(3);
        Self::decode(&mut reader, version)
    }

    /// Writes the message behind its 2-byte version.
    pub fn encode_with_version_prefix(&self, version: i16) -> Result<Vec<u8>, EncodeError> {
        encode_prefixed(version, |buffer| self.encode(buffer, version))
    }

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("ConsumerProtocolAssignment", version, Self::VERSIONS)?;
        Ok(Self {
            assigned_partitions: reader
                .array(false, 6, |reader| TopicPartition::decode(reader, version))?,
            user_data: reader.nullable_bytes(false)?,
        })
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("ConsumerProtocolAssignment", version, Self::VERSIONS)?;
        buffer.put_array(false, &self.assigned_partitions, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_nullable_bytes(false, self.user_data.as_deref())?;
        Ok(())
    }
}

/// Part of Kafka's `ConsumerProtocolAssignment`: `TopicPartition`, versions 0-3.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct TopicPartition<'a> {
    /// Kafka's `Topic`.
    pub topic: Cow<'a, str>,
    /// Kafka's `Partitions`.
    pub partitions: Vec<i32>,
}

impl<'a> TopicPartition<'a> {
    fn decode(reader: &mut Reader<'a>, _version: i16) -> Result<Self, DecodeError> {
        Ok(Self {
            topic: reader.string(false)?,
            partitions: reader.array(false, 4, Reader::i32)?,
        })
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_string(false, &self.topic)?;
        buffer.put_array(false, &self.partitions, |buffer, element| {
            buffer.put_i32(*element);
            Ok(())
        })?;
        Ok(())
    }
}

impl<'a> Message<'a> for ConsumerProtocolAssignment<'a> {
    const NAME: &'static str = "ConsumerProtocolAssignment";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
