//! `ResponseHeader`, versions 0-1. Generated from `schemas/headers.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use std::ops::RangeInclusive;

/// Kafka's `ResponseHeader`, versions 0-1.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ResponseHeader {
    /// Kafka's `CorrelationId`.
    pub correlation_id: i32,
}

impl ResponseHeader {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=1;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("ResponseHeader", version, Self::VERSIONS)?;
        let flexible = version == 1;
        let value = Self {
            correlation_id: reader.i32()?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("ResponseHeader", version, Self::VERSIONS)?;
        let flexible = version == 1;
        buffer.put_i32(self.correlation_id);
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl Message<'_> for ResponseHeader {
    const NAME: &'static str = "ResponseHeader";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
