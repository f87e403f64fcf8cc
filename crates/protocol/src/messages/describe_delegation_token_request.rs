//! `DescribeDelegationTokenRequest`, versions 1-3. Generated from `schemas/describe_delegation_token.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `DescribeDelegationTokenRequest`, versions 1-3.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeDelegationTokenRequest<'a> {
    /// Kafka's `Owners`, may be null.
    pub owners: Option<Vec<DescribeDelegationTokenOwner<'a>>>,
}

impl Default for DescribeDelegationTokenRequest<'_> {
    fn default() -> Self {
        Self {
            owners: Some(Vec::new()),
        }
    }
}

impl<'a> DescribeDelegationTokenRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 1..=3;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("DescribeDelegationTokenRequest", version, Self::VERSIONS)?;
        let flexible = version >= 2;
        let value = Self {
            owners: reader.nullable_array(flexible, 3, |reader| {
                DescribeDelegationTokenOwner::decode(reader, version)
            })?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("DescribeDelegationTokenRequest", version, Self::VERSIONS)?;
        let flexible = version >= 2;
        buffer.put_nullable_array(flexible, self.owners.as_deref(), |buffer, element| {
            element.encode(buffer, version)
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `DescribeDelegationTokenRequest`: `DescribeDelegationTokenOwner`, versions 1-3.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DescribeDelegationTokenOwner<'a> {
    /// Kafka's `PrincipalType`.
    pub principal_type: Cow<'a, str>,
    /// Kafka's `PrincipalName`.
    pub principal_name: Cow<'a, str>,
}

impl<'a> DescribeDelegationTokenOwner<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 2;
        let value = Self {
            principal_type: reader.string(flexible)?,
            principal_name: reader.string(flexible)?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 2;
        buffer.put_string(flexible, &self.principal_type)?;
        buffer.put_string(flexible, &self.principal_name)?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for DescribeDelegationTokenRequest<'a> {
    const NAME: &'static str = "DescribeDelegationTokenRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for DescribeDelegationTokenRequest<'a> {
    const KEY: ApiKey = ApiKey::DescribeDelegationToken;
    type Response<'r> = super::DescribeDelegationTokenResponse<'r>;
}
