//! `RequestHeader`, versions 1-2. Generated from `schemas/headers.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `RequestHeader`, versions 1-2.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestHeader<'a> {
    /// Kafka's `RequestApiKey`.
    pub request_api_key: i16,
    /// Kafka's `RequestApiVersion`.
    pub request_api_version: i16,
    /// Kafka's `CorrelationId`.
    pub correlation_id: i32,
    /// Kafka's `ClientId`, may be null.
    pub client_id: Option<Cow<'a, str>>,
}

impl Default for RequestHeader<'_> {
    fn default() -> Self {
        Self {
            request_api_key: 0,
            request_api_version: 0,
            correlation_id: 0,
            client_id: Some(Cow::Borrowed("")),
        }
    }
}

impl<'a> RequestHeader<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 1..=2;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("RequestHeader", version, Self::VERSIONS)?;
        let flexible = version == 2;
        let value = Self {
            request_api_key: reader.i16()?,
            request_api_version: reader.i16()?,
            correlation_id: reader.i32()?,
            client_id: reader.nullable_string(false)?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("RequestHeader", version, Self::VERSIONS)?;
        let flexible = version == 2;
        buffer.put_i16(self.request_api_key);
        buffer.put_i16(self.request_api_version);
        buffer.put_i32(self.correlation_id);
        buffer.put_nullable_string(false, self.client_id.as_deref())?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for RequestHeader<'a> {
    const NAME: &'static str = "RequestHeader";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
