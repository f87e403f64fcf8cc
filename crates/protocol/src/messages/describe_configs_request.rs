//! `DescribeConfigsRequest`, versions 1-4. Generated from `schemas/describe_configs.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, require_default};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `DescribeConfigsRequest`, versions 1-4.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DescribeConfigsRequest<'a> {
    /// Kafka's `Resources`.
    pub resources: Vec<DescribeConfigsResource<'a>>,
    /// Kafka's `IncludeSynonyms`.
    pub include_synonyms: bool,
    /// Kafka's `IncludeDocumentation`, versions 3-4.
    pub include_documentation: bool,
}

impl<'a> DescribeConfigsRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 1..=4;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("DescribeConfigsRequest", version, Self::VERSIONS)?;
        let flexible = version == 4;
        let value = Self {
            resources: reader.array(flexible, 4, |reader| {
                DescribeConfigsResource::decode(reader, version)
            })?,
            include_synonyms: reader.bool()?,
            include_documentation: if version >= 3 { reader.bool()? } else { false },
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("DescribeConfigsRequest", version, Self::VERSIONS)?;
        let flexible = version == 4;
        buffer.put_array(flexible, &self.resources, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_bool(self.include_synonyms);
        if version >= 3 {
            buffer.put_bool(self.include_documentation);
        } else {
            require_default(
                !self.include_documentation,
                "DescribeConfigsRequest.IncludeDocumentation",
                version,
            )?;
        }
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `DescribeConfigsRequest`: `DescribeConfigsResource`, versions 1-4.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeConfigsResource<'a> {
    /// Kafka's `ResourceType`.
    pub resource_type: i8,
    /// Kafka's `ResourceName`.
    pub resource_name: Cow<'a, str>,
    /// Kafka's `ConfigurationKeys`, may be null.
    pub configuration_keys: Option<Vec<Cow<'a, str>>>,
}

impl Default for DescribeConfigsResource<'_> {
    fn default() -> Self {
        Self {
            resource_type: 0,
            resource_name: Cow::Borrowed(""),
            configuration_keys: Some(Vec::new()),
        }
    }
}

impl<'a> DescribeConfigsResource<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 4;
        let value = Self {
            resource_type: reader.i8()?,
            resource_name: reader.string(flexible)?,
            configuration_keys: reader
                .nullable_array(flexible, 1, |reader| reader.string(flexible))?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 4;
        buffer.put_i8(self.resource_type);
        buffer.put_string(flexible, &self.resource_name)?;
        buffer.put_nullable_array(
            flexible,
            self.configuration_keys.as_deref(),
            |buffer, element| buffer.put_string(flexible, element),
        )?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for DescribeConfigsRequest<'a> {
    const NAME: &'static str = "DescribeConfigsRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for DescribeConfigsRequest<'a> {
    const KEY: ApiKey = ApiKey::DescribeConfigs;
    type Response<'r> = super::DescribeConfigsResponse<'r>;
}
