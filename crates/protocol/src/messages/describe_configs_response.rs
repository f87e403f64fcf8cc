//! `DescribeConfigsResponse`, versions 1-4. Generated from `schemas/describe_configs.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `DescribeConfigsResponse`, versions 1-4.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DescribeConfigsResponse<'a> {
    /// Kafka's `ThrottleTimeMs`.
    pub throttle_time_ms: i32,
    /// Kafka's `Results`.
    pub results: Vec<DescribeConfigsResult<'a>>,
}

impl<'a> DescribeConfigsResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 1..=4;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("DescribeConfigsResponse", version, Self::VERSIONS)?;
        let flexible = version == 4;
        let value = Self {
            throttle_time_ms: reader.i32()?,
            results: reader.array(flexible, 7, |reader| {
                DescribeConfigsResult::decode(reader, version)
            })?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("DescribeConfigsResponse", version, Self::VERSIONS)?;
        let flexible = version == 4;
        buffer.put_i32(self.throttle_time_ms);
        buffer.put_array(flexible, &self.results, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `DescribeConfigsResponse`: `DescribeConfigsResult`, versions 1-4.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeConfigsResult<'a> {
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `ErrorMessage`, may be null.
    pub error_message: Option<Cow<'a, str>>,
    /// Kafka's `ResourceType`.
    pub resource_type: i8,
    /// Kafka's `ResourceName`.
    pub resource_name: Cow<'a, str>,
    /// Kafka's `Configs`.
    pub configs: Vec<DescribeConfigsResourceResult<'a>>,
}

impl Default for DescribeConfigsResult<'_> {
    fn default() -> Self {
        Self {
            error_code: 0,
            error_message: Some(Cow::Borrowed("")),
            resource_type: 0,
            resource_name: Cow::Borrowed(""),
            configs: Vec::new(),
        }
    }
}

impl<'a> DescribeConfigsResult<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 4;
        let value = Self {
            error_code: reader.i16()?,
            error_message: reader.nullable_string(flexible)?,
            resource_type: reader.i8()?,
            resource_name: reader.string(flexible)?,
            configs: reader.array(flexible, 9, |reader| {
                DescribeConfigsResourceResult::decode(reader, version)
            })?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 4;
        buffer.put_i16(self.error_code);
        buffer.put_nullable_string(flexible, self.error_message.as_deref())?;
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

/// Part of Kafka's `DescribeConfigsResponse`: `DescribeConfigsResourceResult`, versions 1-4.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeConfigsResourceResult<'a> {
    /// Kafka's `Name`.
    pub name: Cow<'a, str>,
    /// Kafka's `Value`, may be null.
    pub value: Option<Cow<'a, str>>,
    /// Kafka's `ReadOnly`.
    pub read_only: bool,
    /// Kafka's `ConfigSource`, default -1.
    pub config_source: i8,
    /// Kafka's `IsSensitive`.
    pub is_sensitive: bool,
    /// Kafka's `Synonyms`.
    pub synonyms: Vec<DescribeConfigsSynonym<'a>>,
    /// Kafka's `ConfigType`, versions 3-4, left out of other versions.
    pub config_type: i8,
    /// Kafka's `Documentation`, versions 3-4, may be null, left out of other versions.
    pub documentation: Option<Cow<'a, str>>,
}

impl Default for DescribeConfigsResourceResult<'_> {
    fn default() -> Self {
        Self {
            name: Cow::Borrowed(""),
            value: Some(Cow::Borrowed("")),
            read_only: false,
            config_source: -1,
            is_sensitive: false,
            synonyms: Vec::new(),
            config_type: 0,
            documentation: Some(Cow::Borrowed("")),
        }
    }
}

impl<'a> DescribeConfigsResourceResult<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 4;
        let value = Self {
            name: reader.string(flexible)?,
            value: reader.nullable_string(flexible)?,
            read_only: reader.bool()?,
            config_source: reader.i8()?,
            is_sensitive: reader.bool()?,
            synonyms: reader.array(flexible, 4, |reader| {
                DescribeConfigsSynonym::decode(reader, version)
            })?,
            config_type: if version >= 3 { reader.i8()? } else { 0 },
            documentation: if version >= 3 {
                reader.nullable_string(flexible)?
            } else {
                Some(Cow::Borrowed(""))
            },
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 4;
        buffer.put_string(flexible, &self.name)?;
        buffer.put_nullable_string(flexible, self.value.as_deref())?;
        buffer.put_bool(self.read_only);
        buffer.put_i8(self.config_source);
        buffer.put_bool(self.is_sensitive);
        buffer.put_array(flexible, &self.synonyms, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if version >= 3 {
            buffer.put_i8(self.config_type);
        }
        if version >= 3 {
            buffer.put_nullable_string(flexible, self.documentation.as_deref())?;
        }
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `DescribeConfigsResponse`: `DescribeConfigsSynonym`, versions 1-4.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeConfigsSynonym<'a> {
    /// Kafka's `Name`.
    pub name: Cow<'a, str>,
    /// Kafka's `Value`, may be null.
    pub value: Option<Cow<'a, str>>,
    /// Kafka's `Source`.
    pub source: i8,
}

impl Default for DescribeConfigsSynonym<'_> {
    fn default() -> Self {
        Self {
            name: Cow::Borrowed(""),
            value: Some(Cow::Borrowed("")),
            source: 0,
        }
    }
}

impl<'a> DescribeConfigsSynonym<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 4;
        let value = Self {
            name: reader.string(flexible)?,
            value: reader.nullable_string(flexible)?,
            source: reader.i8()?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 4;
        buffer.put_string(flexible, &self.name)?;
        buffer.put_nullable_string(flexible, self.value.as_deref())?;
        buffer.put_i8(self.source);
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for DescribeConfigsResponse<'a> {
    const NAME: &'static str = "DescribeConfigsResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
