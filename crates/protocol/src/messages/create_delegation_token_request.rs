//! `CreateDelegationTokenRequest`, versions 1-3. Generated from `schemas/create_delegation_token.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, require_default};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `CreateDelegationTokenRequest`, versions 1-3.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateDelegationTokenRequest<'a> {
    /// Kafka's `OwnerPrincipalType`, version 3, may be null.
    pub owner_principal_type: Option<Cow<'a, str>>,
    /// Kafka's `OwnerPrincipalName`, version 3, may be null.
    pub owner_principal_name: Option<Cow<'a, str>>,
    /// Kafka's `Renewers`.
    pub renewers: Vec<CreatableRenewers<'a>>,
    /// Kafka's `MaxLifetimeMs`.
    pub max_lifetime_ms: i64,
}

impl Default for CreateDelegationTokenRequest<'_> {
    fn default() -> Self {
        Self {
            owner_principal_type: Some(Cow::Borrowed("")),
            owner_principal_name: Some(Cow::Borrowed("")),
            renewers: Vec::new(),
            max_lifetime_ms: 0,
        }
    }
}

impl<'a> CreateDelegationTokenRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 1..=3;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("CreateDelegationTokenRequest", version, Self::VERSIONS)?;
        let flexible = version >= 2;
        let value = Self {
            owner_principal_type: if version == 3 {
                reader.nullable_string(flexible)?
            } else {
                Some(Cow::Borrowed(""))
            },
            owner_principal_name: if version == 3 {
                reader.nullable_string(flexible)?
            } else {
                Some(Cow::Borrowed(""))
            },
            renewers: reader.array(flexible, 3, |reader| {
                CreatableRenewers::decode(reader, version)
            })?,
            max_lifetime_ms: reader.i64()?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("CreateDelegationTokenRequest", version, Self::VERSIONS)?;
        let flexible = version >= 2;
        if version == 3 {
            buffer.put_nullable_string(flexible, self.owner_principal_type.as_deref())?;
        } else {
            require_default(
                self.owner_principal_type
                    .as_ref()
                    .is_some_and(|value| value.is_empty()),
                "CreateDelegationTokenRequest.OwnerPrincipalType",
                version,
            )?;
        }
        if version == 3 {
            buffer.put_nullable_string(flexible, self.owner_principal_name.as_deref())?;
        } else {
            require_default(
                self.owner_principal_name
                    .as_ref()
                    .is_some_and(|value| value.is_empty()),
                "CreateDelegationTokenRequest.OwnerPrincipalName",
                version,
            )?;
        }
        buffer.put_array(flexible, &self.renewers, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_i64(self.max_lifetime_ms);
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `CreateDelegationTokenRequest`: `CreatableRenewers`, versions 1-3.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct CreatableRenewers<'a> {
    /// Kafka's `PrincipalType`.
    pub principal_type: Cow<'a, str>,
    /// Kafka's `PrincipalName`.
    pub principal_name: Cow<'a, str>,
}

impl<'a> CreatableRenewers<'a> {
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

impl<'a> Message<'a> for CreateDelegationTokenRequest<'a> {
    const NAME: &'static str = "CreateDelegationTokenRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for CreateDelegationTokenRequest<'a> {
    const KEY: ApiKey = ApiKey::CreateDelegationToken;
    type Response<'r> = super::CreateDelegationTokenResponse<'r>;
}
