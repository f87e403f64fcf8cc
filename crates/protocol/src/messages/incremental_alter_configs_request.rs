//! `IncrementalAlterConfigsRequest`, versions 0-1. Generated from `schemas/incremental_alter_configs.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `IncrementalAlterConfigsRequest`, versions 0-1.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct IncrementalAlterConfigsRequest<'a> {
    /// Kafka's `Resources`.
    pub resources: Vec<AlterConfigsResource<'a>>,
    /// Kafka's `ValidateOnly`.
    pub validate_only: bool,
}

impl<'a> IncrementalAlterConfigsRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=1;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("IncrementalAlterConfigsRequest", version, Self::VERSIONS)?;
        let flexible = version == 1;
        let value = Self {
            resources: reader.array(flexible, 4, |reader| {
                AlterConfigsResource::decode(reader, version)
            })?,
            validate_only: reader.bool()?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("IncrementalAlterConfigsRequest", version, Self::VERSIONS)?;
        let flexible = version == 1;
        buffer.put_array(flexible, &self.resources, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_bool(self.validate_only);
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `IncrementalAlterConfigsRequest`: `AlterConfigsResource`, versions 0-1.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct AlterConfigsResource<'a> {
    /// Kafka's `ResourceType`.
    pub resource_type: i8,
    /// Kafka's `ResourceName`.
    pub resource_name: Cow<'a, str>,
    /// Kafka's `Configs`.
    pub configs: Vec<AlterableConfig<'a>>,
}

impl<'a> AlterConfigsResource<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 1;
        let value = Self {
            resource_type: reader.i8()?,
            resource_name: reader.string(flexible)?,
            configs: reader.array(flexible, 4, |reader| {
                AlterableConfig::decode(reader, version)
            })?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 1;
        buffer.put_i8(self.resource_type);
        buffer.put_string(flexible, &self.resource_name)?;
        buffer.put_array(flexible, &self.configs, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `IncrementalAlterConfigsRequest`: `AlterableConfig`, versions 0-1.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterableConfig<'a> {
    /// Kafka's `Name`.
    pub name: Cow<'a, str>,
    /// Kafka's `ConfigOperation`.
    pub config_operation: i8,
    /// Kafka's `Value`, may be null.
    pub value: Option<Cow<'a, str>>,
}

impl Default for AlterableConfig<'_> {
    fn default() -> Self {
        Self {
            name: Cow::Borrowed(""),
            config_operation: 0,
            value: Some(Cow::Borrowed("")),
        }
    }
}

impl<'a> AlterableConfig<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 1;
        let value = Self {
            name: reader.string(flexible)?,
            config_operation: reader.i8()?,
            value: reader.nullable_string(flexible)?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 1;
        buffer.put_string(flexible, &self.name)?;
        buffer.put_i8(self.config_operation);
        buffer.put_nullable_string(flexible, self.value.as_deref())?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for IncrementalAlterConfigsRequest<'a> {
    const NAME: &'static str = "IncrementalAlterConfigsRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for IncrementalAlterConfigsRequest<'a> {
    const KEY: ApiKey = ApiKey::IncrementalAlterConfigs;
    type Response<'r> = super::IncrementalAlterConfigsResponse<'r>;
}
