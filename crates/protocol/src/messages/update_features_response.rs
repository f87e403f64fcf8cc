//! `UpdateFeaturesResponse`, versions 0-2. Generated from `schemas/update_features.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `UpdateFeaturesResponse`, versions 0-2.
#[derive(Clone, Debug, PartialEq)]
pub struct UpdateFeaturesResponse<'a> {
    /// Kafka's `ThrottleTimeMs`.
    pub throttle_time_ms: i32,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `ErrorMessage`, may be null.
    pub error_message: Option<Cow<'a, str>>,
    /// Kafka's `Results`, versions 0-1, left out of other versions.
    pub results: Vec<UpdatableFeatureResult<'a>>,
}

impl Default for UpdateFeaturesResponse<'_> {
    fn default() -> Self {
        Self {
            throttle_time_ms: 0,
            error_code: 0,
            error_message: Some(Cow::Borrowed("")),
            results: Vec::new(),
        }
    }
}

impl<'a> UpdateFeaturesResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=2;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("UpdateFeaturesResponse", version, Self::VERSIONS)?;
        let value = Self {
            throttle_time_ms: reader.i32()?,
            error_code: reader.i16()?,
            error_message: reader.nullable_string(true)?,
            results: if version <= 1 {
                reader.array(true, 5, |reader| {
                    UpdatableFeatureResult::decode(reader, version)
                })?
            } else {
                Vec::new()
            },
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("UpdateFeaturesResponse", version, Self::VERSIONS)?;
        buffer.put_i32(self.throttle_time_ms);
        buffer.put_i16(self.error_code);
        buffer.put_nullable_string(true, self.error_message.as_deref())?;
        if version <= 1 {
            buffer.put_array(true, &self.results, |buffer, element| {
                element.encode(buffer, version)
            })?;
        }
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `UpdateFeaturesResponse`: `UpdatableFeatureResult`, versions 0-1.
#[derive(Clone, Debug, PartialEq)]
pub struct UpdatableFeatureResult<'a> {
    /// Kafka's `Feature`.
    pub feature: Cow<'a, str>,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `ErrorMessage`, may be null.
    pub error_message: Option<Cow<'a, str>>,
}

impl Default for UpdatableFeatureResult<'_> {
    fn default() -> Self {
        Self {
            feature: Cow::Borrowed(""),
            error_code: 0,
            error_message: Some(Cow::Borrowed("")),
        }
    }
}

impl<'a> UpdatableFeatureResult<'a> {
    fn decode(reader: &mut Reader<'a>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            feature: reader.string(true)?,
            error_code: reader.i16()?,
            error_message: reader.nullable_string(true)?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_string(true, &self.feature)?;
        buffer.put_i16(self.error_code);
        buffer.put_nullable_string(true, self.error_message.as_deref())?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for UpdateFeaturesResponse<'a> {
    const NAME: &'static str = "UpdateFeaturesResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
