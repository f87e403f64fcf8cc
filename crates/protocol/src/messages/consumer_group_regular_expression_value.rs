//! `ConsumerGroupRegularExpressionValue`, version 0. Generated from `schemas/consumer_group_regular_expression_record.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{
    DecodeError, EncodeError, GatherBuffer, Reader, decode_prefixed, encode_prefixed,
};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `ConsumerGroupRegularExpressionValue`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ConsumerGroupRegularExpressionValue<'a> {
    /// Kafka's `Topics`.
    pub topics: Vec<Cow<'a, str>>,
    /// Kafka's `Version`.
    pub version: i64,
    /// Kafka's `Timestamp`.
    pub timestamp: i64,
}

impl<'a> ConsumerGroupRegularExpressionValue<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=0;

    /// Reads the message behind its 2-byte version.
    pub fn decode_with_version_prefix(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        decode_prefixed(
            bytes,
            "ConsumerGroupRegularExpressionValue",
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
        reader.check_version(
            "ConsumerGroupRegularExpressionValue",
            version,
            Self::VERSIONS,
        )?;
        let value = Self {
            topics: reader.array(true, 1, |reader| reader.string(true))?,
            version: reader.i64()?,
            timestamp: reader.i64()?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version(
            "ConsumerGroupRegularExpressionValue",
            version,
            Self::VERSIONS,
        )?;
        buffer.put_array(true, &self.topics, |buffer, element| {
            buffer.put_string(true, element)
        })?;
        buffer.put_i64(self.version);
        buffer.put_i64(self.timestamp);
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for ConsumerGroupRegularExpressionValue<'a> {
    const NAME: &'static str = "ConsumerGroupRegularExpressionValue";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
