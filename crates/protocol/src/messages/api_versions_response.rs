//! `ApiVersionsResponse`, versions 0-5. Generated from `schemas/api_versions.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, TaggedFields};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `ApiVersionsResponse`, versions 0-5.
#[derive(Clone, Debug, PartialEq)]
pub struct ApiVersionsResponse<'a> {
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `ApiKeys`.
    pub api_keys: Vec<ApiVersion>,
    /// Kafka's `ThrottleTimeMs`, versions 1-5, left out of other versions.
    pub throttle_time_ms: i32,
    /// Kafka's `SupportedFeatures`, versions 3-5, left out of other versions.
    pub supported_features: Vec<SupportedFeatureKey<'a>>,
    /// Kafka's `FinalizedFeaturesEpoch`, versions 3-5, default -1, left out of other versions.
    pub finalized_features_epoch: i64,
    /// Kafka's `FinalizedFeatures`, versions 3-5, left out of other versions.
    pub finalized_features: Vec<FinalizedFeatureKey<'a>>,
    /// Kafka's `ZkMigrationReady`, versions 3-5, left out of other versions.
    pub zk_migration_ready: bool,
}

impl Default for ApiVersionsResponse<'_> {
    fn default() -> Self {
        Self {
            error_code: 0,
            api_keys: Vec::new(),
            throttle_time_ms: 0,
            supported_features: Vec::new(),
            finalized_features_epoch: -1,
            finalized_features: Vec::new(),
            zk_migration_ready: false,
        }
    }
}

impl<'a> ApiVersionsResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=5;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("ApiVersionsResponse", version, Self::VERSIONS)?;
        let flexible = version >= 3;
        let mut value = Self {
            error_code: reader.i16()?,
            api_keys: reader.array(flexible, 6, |reader| ApiVersion::decode(reader, version))?,
            throttle_time_ms: if version >= 1 { reader.i32()? } else { 0 },
            supported_features: Vec::new(),
            finalized_features_epoch: -1,
            finalized_features: Vec::new(),
            zk_migration_ready: false,
        };
        if flexible {
            reader.tagged_fields(|tag, reader| {
                match tag {
                    0 => {
                        value.supported_features = reader.array(true, 6, |reader| {
                            SupportedFeatureKey::decode(reader, version)
                        })?
                    }
                    1 => value.finalized_features_epoch = reader.i64()?,
                    2 => {
                        value.finalized_features = reader.array(true, 6, |reader| {
                            FinalizedFeatureKey::decode(reader, version)
                        })?
                    }
                    3 => value.zk_migration_ready = reader.bool()?,
                    _ => return Ok(false),
                }
                Ok(true)
            })?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("ApiVersionsResponse", version, Self::VERSIONS)?;
        let flexible = version >= 3;
        buffer.put_i16(self.error_code);
        buffer.put_array(flexible, &self.api_keys, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if version >= 1 {
            buffer.put_i32(self.throttle_time_ms);
        }
        if flexible {
            let mut tagged = TaggedFields::default();
            if !self.supported_features.is_empty() {
                tagged.put(0, |buffer| {
                    buffer.put_array(true, &self.supported_features, |buffer, element| {
                        element.encode(buffer, version)
                    })
                })?;
            }
            if self.finalized_features_epoch != -1 {
                tagged.put(1, |buffer| {
                    buffer.put_i64(self.finalized_features_epoch);
                    Ok(())
                })?;
            }
            if !self.finalized_features.is_empty() {
                tagged.put(2, |buffer| {
                    buffer.put_array(true, &self.finalized_features, |buffer, element| {
                        element.encode(buffer, version)
                    })
                })?;
            }
            if self.zk_migration_ready {
                tagged.put(3, |buffer| {
                    buffer.put_bool(self.zk_migration_ready);
                    Ok(())
                })?;
            }
            buffer.put_tagged_fields(tagged);
        }
        Ok(())
    }
}

/// Part of Kafka's `ApiVersionsResponse`: `FinalizedFeatureKey`, versions 3-5.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct FinalizedFeatureKey<'a> {
    /// Kafka's `Name`.
    pub name: Cow<'a, str>,
    /// Kafka's `MaxVersionLevel`.
    pub max_version_level: i16,
    /// Kafka's `MinVersionLevel`.
    pub min_version_level: i16,
}

impl<'a> FinalizedFeatureKey<'a> {
    fn decode(reader: &mut Reader<'a>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            name: reader.string(true)?,
            max_version_level: reader.i16()?,
            min_version_level: reader.i16()?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_string(true, &self.name)?;
        buffer.put_i16(self.max_version_level);
        buffer.put_i16(self.min_version_level);
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `ApiVersionsResponse`: `SupportedFeatureKey`, versions 3-5.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct SupportedFeatureKey<'a> {
    /// Kafka's `Name`.
    pub name: Cow<'a, str>,
    /// Kafka's `MinVersion`.
    pub min_version: i16,
    /// Kafka's `MaxVersion`.
    pub max_version: i16,
}

impl<'a> SupportedFeatureKey<'a> {
    fn decode(reader: &mut Reader<'a>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            name: reader.string(true)?,
            min_version: reader.i16()?,
            max_version: reader.i16()?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_string(true, &self.name)?;
        buffer.put_i16(self.min_version);
        buffer.put_i16(self.max_version);
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `ApiVersionsResponse`: `ApiVersion`, versions 0-5.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ApiVersion {
    /// Kafka's `ApiKey`.
    pub api_key: i16,
    /// Kafka's `MinVersion`.
    pub min_version: i16,
    /// Kafka's `MaxVersion`.
    pub max_version: i16,
}

impl ApiVersion {
    fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 3;
        let value = Self {
            api_key: reader.i16()?,
            min_version: reader.i16()?,
            max_version: reader.i16()?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 3;
        buffer.put_i16(self.api_key);
        buffer.put_i16(self.min_version);
        buffer.put_i16(self.max_version);
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for ApiVersionsResponse<'a> {
    const NAME: &'static str = "ApiVersionsResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
