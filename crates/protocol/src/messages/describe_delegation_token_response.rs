//! `DescribeDelegationTokenResponse`, versions 1-3. Generated from `schemas/describe_delegation_token.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, require_default};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `DescribeDelegationTokenResponse`, versions 1-3.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DescribeDelegationTokenResponse<'a> {
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `Tokens`.
    pub tokens: Vec<DescribedDelegationToken<'a>>,
    /// Kafka's `ThrottleTimeMs`.
    pub throttle_time_ms: i32,
}

impl<'a> DescribeDelegationTokenResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 1..=3;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("DescribeDelegationTokenResponse", version, Self::VERSIONS)?;
        let flexible = version >= 2;
        let value = Self {
            error_code: reader.i16()?,
            tokens: reader.array(flexible, 30, |reader| {
                DescribedDelegationToken::decode(reader, version)
            })?,
            throttle_time_ms: reader.i32()?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("DescribeDelegationTokenResponse", version, Self::VERSIONS)?;
        let flexible = version >= 2;
        buffer.put_i16(self.error_code);
        buffer.put_array(flexible, &self.tokens, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_i32(self.throttle_time_ms);
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `DescribeDelegationTokenResponse`: `DescribedDelegationToken`, versions 1-3.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DescribedDelegationToken<'a> {
    /// Kafka's `PrincipalType`.
    pub principal_type: Cow<'a, str>,
    /// Kafka's `PrincipalName`.
    pub principal_name: Cow<'a, str>,
    /// Kafka's `TokenRequesterPrincipalType`, version 3.
    pub token_requester_principal_type: Cow<'a, str>,
    /// Kafka's `TokenRequesterPrincipalName`, version 3.
    pub token_requester_principal_name: Cow<'a, str>,
    /// Kafka's `IssueTimestamp`.
    pub issue_timestamp: i64,
    /// Kafka's `ExpiryTimestamp`.
    pub expiry_timestamp: i64,
    /// Kafka's `MaxTimestamp`.
    pub max_timestamp: i64,
    /// Kafka's `TokenId`.
    pub token_id: Cow<'a, str>,
    /// Kafka's `Hmac`.
    pub hmac: Cow<'a, [u8]>,
    /// Kafka's `Renewers`.
    pub renewers: Vec<DescribedDelegationTokenRenewer<'a>>,
}

impl<'a> DescribedDelegationToken<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 2;
        let value = Self {
            principal_type: reader.string(flexible)?,
            principal_name: reader.string(flexible)?,
            token_requester_principal_type: if version == 3 {
                reader.string(flexible)?
            } else {
                Cow::Borrowed("")
            },
            token_requester_principal_name: if version == 3 {
                reader.string(flexible)?
            } else {
                Cow::Borrowed("")
            },
            issue_timestamp: reader.i64()?,
            expiry_timestamp: reader.i64()?,
            max_timestamp: reader.i64()?,
            token_id: reader.string(flexible)?,
            hmac: reader.bytes(flexible)?,
            renewers: reader.array(flexible, 3, |reader| {
                DescribedDelegationTokenRenewer::decode(reader, version)
            })?,
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
        if version == 3 {
            buffer.put_string(flexible, &self.token_requester_principal_type)?;
        } else {
            require_default(
                self.token_requester_principal_type.is_empty(),
                "DescribedDelegationToken.TokenRequesterPrincipalType",
                version,
            )?;
        }
        if version == 3 {
            buffer.put_string(flexible, &self.token_requester_principal_name)?;
        } else {
            require_default(
                self.token_requester_principal_name.is_empty(),
                "DescribedDelegationToken.TokenRequesterPrincipalName",
                version,
            )?;
        }
        buffer.put_i64(self.issue_timestamp);
        buffer.put_i64(self.expiry_timestamp);
        buffer.put_i64(self.max_timestamp);
        buffer.put_string(flexible, &self.token_id)?;
        buffer.put_bytes(flexible, &self.hmac)?;
        buffer.put_array(flexible, &self.renewers, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `DescribeDelegationTokenResponse`: `DescribedDelegationTokenRenewer`, versions 1-3.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DescribedDelegationTokenRenewer<'a> {
    /// Kafka's `PrincipalType`.
    pub principal_type: Cow<'a, str>,
    /// Kafka's `PrincipalName`.
    pub principal_name: Cow<'a, str>,
}

impl<'a> DescribedDelegationTokenRenewer<'a> {
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

impl<'a> Message<'a> for DescribeDelegationTokenResponse<'a> {
    const NAME: &'static str = "DescribeDelegationTokenResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
