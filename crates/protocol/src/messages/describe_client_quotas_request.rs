//! `DescribeClientQuotasRequest`, versions 0-1. Generated from `schemas/describe_client_quotas.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `DescribeClientQuotasRequest`, versions 0-1.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DescribeClientQuotasRequest<'a> {
    /// Kafka's `Components`.
    pub components: Vec<ComponentData<'a>>,
    /// Kafka's `Strict`.
    pub strict: bool,
}

impl<'a> DescribeClientQuotasRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=1;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("DescribeClientQuotasRequest", version, Self::VERSIONS)?;
        let flexible = version == 1;
        let value = Self {
            components: reader
                .array(flexible, 4, |reader| ComponentData::decode(reader, version))?,
            strict: reader.bool()?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("DescribeClientQuotasRequest", version, Self::VERSIONS)?;
        let flexible = version == 1;
        buffer.put_array(flexible, &self.components, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_bool(self.strict);
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `DescribeClientQuotasRequest`: `ComponentData`, versions 0-1.
#[derive(Clone, Debug, PartialEq)]
pub struct ComponentData<'a> {
    /// Kafka's `EntityType`.
    pub entity_type: Cow<'a, str>,
    /// Kafka's `MatchType`.
    pub match_type: i8,
    /// Kafka's `Match`, may be null.
    pub r#match: Option<Cow<'a, str>>,
}

impl Default for ComponentData<'_> {
    fn default() -> Self {
        Self {
            entity_type: Cow::Borrowed(""),
            match_type: 0,
            r#match: Some(Cow::Borrowed("")),
        }
    }
}

impl<'a> ComponentData<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 1;
        let value = Self {
            entity_type: reader.string(flexible)?,
            match_type: reader.i8()?,
            r#match: reader.nullable_string(flexible)?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 1;
        buffer.put_string(flexible, &self.entity_type)?;
        buffer.put_i8(self.match_type);
        buffer.put_nullable_string(flexible, self.r#match.as_deref())?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for DescribeClientQuotasRequest<'a> {
    const NAME: &'static str = "DescribeClientQuotasRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for DescribeClientQuotasRequest<'a> {
    const KEY: ApiKey = ApiKey::DescribeClientQuotas;
    type Response<'r> = super::DescribeClientQuotasResponse<'r>;
}
