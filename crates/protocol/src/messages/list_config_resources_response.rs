//! `ListConfigResourcesResponse`, versions 0-1. Generated from `schemas/list_config_resources.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `ListConfigResourcesResponse`, versions 0-1.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ListConfigResourcesResponse<'a> {
    /// Kafka's `ThrottleTimeMs`.
    pub throttle_time_ms: i32,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `ConfigResources`.
    pub config_resources: Vec<ConfigResource<'a>>,
}

impl<'a> ListConfigResourcesResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=1;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("ListConfigResourcesResponse", version, Self::VERSIONS)?;
        let value = Self {
            throttle_time_ms: reader.i32()?,
            error_code: reader.i16()?,
            config_resources: reader
                .array(true, 2, |reader| ConfigResource::decode(reader, version))?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("ListConfigResourcesResponse", version, Self::VERSIONS)?;
        buffer.put_i32(self.throttle_time_ms);
        buffer.put_i16(self.error_code);
        buffer.put_array(true, &self.config_resources, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `ListConfigResourcesResponse`: `ConfigResource`, versions 0-1.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigResource<'a> {
    /// Kafka's `ResourceName`.
    pub resource_name: Cow<'a, str>,
    /// Kafka's `ResourceType`, version 1, default 16, left out of other versions.
    pub resource_type: i8,
}

impl Default for ConfigResource<'_> {
    fn default() -> Self {
        Self {
            resource_name: Cow::Borrowed(""),
            resource_type: 16,
        }
    }
}

impl<'a> ConfigResource<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            resource_name: reader.string(true)?,
            resource_type: if version == 1 { reader.i8()? } else { 16 },
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.put_string(true, &self.resource_name)?;
        if version == 1 {
            buffer.put_i8(self.resource_type);
        }
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for ListConfigResourcesResponse<'a> {
    const NAME: &'static str = "ListConfigResourcesResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
