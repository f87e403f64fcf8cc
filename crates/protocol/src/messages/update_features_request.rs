//! `UpdateFeaturesRequest`, versions 0-2. Generated from `schemas/update_features.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, require_default};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `UpdateFeaturesRequest`, versions 0-2.
#[derive(Clone, Debug, PartialEq)]
pub struct UpdateFeaturesRequest<'a> {
    /// Kafka's `timeoutMs`, default 60000.
    pub timeout_ms: i32,
    /// Kafka's `FeatureUpdates`.
    pub feature_updates: Vec<FeatureUpdateKey<'a>>,
    /// Kafka's `ValidateOnly`, versions 1-2.
    pub validate_only: bool,
}

impl Default for UpdateFeaturesRequest<'_> {
    fn default() -> Self {
        Self {
            timeout_ms: 60000,
            feature_updates: Vec::new(),
            validate_only: false,
        }
    }
}

impl<'a> UpdateFeaturesRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=2;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("UpdateFeaturesRequest", version, Self::VERSIONS)?;
        let value = Self {
            timeout_ms: reader.i32()?,
            feature_updates: reader
                .array(true, 5, |reader| FeatureUpdateKey::decode(reader, version))?,
            validate_only: if version >= 1 { reader.bool()? } else { false },
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("UpdateFeaturesRequest", version, Self::VERSIONS)?;
        buffer.put_i32(self.timeout_ms);
        buffer.put_array(true, &self.feature_updates, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if version >= 1 {
            buffer.put_bool(self.validate_only);
        } else {
            require_default(
                !self.validate_only,
                "UpdateFeaturesRequest.ValidateOnly",
                version,
            )?;
        }
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `UpdateFeaturesRequest`: `FeatureUpdateKey`, versions 0-2.
#[derive(Clone, Debug, PartialEq)]
pub struct FeatureUpdateKey<'a> {
    /// Kafka's `Feature`.
    pub feature: Cow<'a, str>,
    /// Kafka's `MaxVersionLevel`.
    pub max_version_level: i16,
    /// Kafka's `AllowDowngrade`, version 0.
    pub allow_downgrade: bool,
    /// Kafka's `UpgradeType`, versions 1-2, default 1.
    pub upgrade_type: i8,
}

impl Default for FeatureUpdateKey<'_> {
    fn default() -> Self {
        Self {
            feature: Cow::Borrowed(""),
            max_version_level: 0,
            allow_downgrade: false,
            upgrade_type: 1,
        }
    }
}

impl<'a> FeatureUpdateKey<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            feature: reader.string(true)?,
            max_version_level: reader.i16()?,
            allow_downgrade: if version == 0 { reader.bool()? } else { false },
            upgrade_type: if version >= 1 { reader.i8()? } else { 1 },
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.put_string(true, &self.feature)?;
        buffer.put_i16(self.max_version_level);
        if version == 0 {
            buffer.put_bool(self.allow_downgrade);
        } else {
            require_default(
                !self.allow_downgrade,
                "FeatureUpdateKey.AllowDowngrade",
                version,
            )?;
        }
        if version >= 1 {
            buffer.put_i8(self.upgrade_type);
        } else {
            require_default(
                self.upgrade_type == 1,
                "FeatureUpdateKey.UpgradeType",
                version,
            )?;
        }
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for UpdateFeaturesRequest<'a> {
    const NAME: &'static str = "UpdateFeaturesRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for UpdateFeaturesRequest<'a> {
    const KEY: ApiKey = ApiKey::UpdateFeatures;
    type Response<'r> = super::UpdateFeaturesResponse<'r>;
}
