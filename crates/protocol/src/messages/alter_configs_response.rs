//! `AlterConfigsResponse`, versions 0-2. Generated from `schemas/alter_configs.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `AlterConfigsResponse`, versions 0-2.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct AlterConfigsResponse<'a> {
    /// Kafka's `ThrottleTimeMs`.
    pub throttle_time_ms: i32,
    /// Kafka's `Responses`.
    pub responses: Vec<AlterConfigsResourceResponse<'a>>,
}

impl<'a> AlterConfigsResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=2;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("AlterConfigsResponse", version, Self::VERSIONS)?;
        let flexible = version == 2;
        let value = Self {
            throttle_time_ms: reader.i32()?,
            responses: reader.array(flexible, 6, |reader| {
                AlterConfigsResourceResponse::decode(reader, version)
            })?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("AlterConfigsResponse", version, Self::VERSIONS)?;
        let flexible = version == 2;
        buffer.put_i32(self.throttle_time_ms);
        buffer.put_array(flexible, &self.responses, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `AlterConfigsResponse`: `AlterConfigsResourceResponse`, versions 0-2.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterConfigsResourceResponse<'a> {
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `ErrorMessage`, may be null.
    pub error_message: Option<Cow<'a, str>>,
    /// Kafka's `ResourceType`.
    pub resource_type: i8,
    /// Kafka's `ResourceName`.
    pub resource_name: Cow<'a, str>,
}

impl Default for AlterConfigsResourceResponse<'_> {
    fn default() -> Self {
        Self {
            error_code: 0,
            error_message: Some(Cow::Borrowed("")),
            resource_type: 0,
            resource_name: Cow::Borrowed(""),
        }
    }
}

impl<'a> AlterConfigsResourceResponse<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 2;
        let value = Self {
            error_code: reader.i16()?,
            error_message: reader.nullable_string(flexible)?,
            resource_type: reader.i8()?,
            resource_name: reader.string(flexible)?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 2;
        buffer.put_i16(self.error_code);
        buffer.put_nullable_string(flexible, self.error_message.as_deref())?;
        buffer.put_i8(self.resource_type);
        buffer.put_string(flexible, &self.resource_name)?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for AlterConfigsResponse<'a> {
    const NAME: &'static str = "AlterConfigsResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
