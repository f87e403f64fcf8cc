//! `CreateDelegationTokenResponse`, versions 1-3. Generated from `schemas/create_delegation_token.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, require_default};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `CreateDelegationTokenResponse`, versions 1-3.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct CreateDelegationTokenResponse<'a> {
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `PrincipalType`.
    pub principal_type: Cow<'a, str>,
    /// Kafka's `PrincipalName`.
    pub principal_name: Cow<'a, str>,
    /// Kafka's `TokenRequesterPrincipalType`, version 3.
    pub token_requester_principal_type: Cow<'a, str>,
    /// Kafka's `TokenRequesterPrincipalName`, version 3.
    pub token_requester_principal_name: Cow<'a, str>,
    /// Kafka's `IssueTimestampMs`.
    pub issue_timestamp_ms: i64,
    /// Kafka's `ExpiryTimestampMs`.
    pub expiry_timestamp_ms: i64,
    /// Kafka's `MaxTimestampMs`.
    pub max_timestamp_ms: i64,
    /// Kafka's `TokenId`.
    pub token_id: Cow<'a, str>,
    /// Kafka's `Hmac`.
    pub hmac: Cow<'a, [u8]>,
    /// Kafka's `ThrottleTimeMs`.
    pub throttle_time_ms: i32,
}

impl<'a> CreateDelegationTokenResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 1..=3;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("CreateDelegationTokenResponse", version, Self::VERSIONS)?;
        let flexible = version >= 2;
        let value = Self {
            error_code: reader.i16()?,
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
            issue_timestamp_ms: reader.i64()?,
            expiry_timestamp_ms: reader.i64()?,
            max_timestamp_ms: reader.i64()?,
            token_id: reader.string(flexible)?,
            hmac: reader.bytes(flexible)?,
            throttle_time_ms: reader.i32()?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("CreateDelegationTokenResponse", version, Self::VERSIONS)?;
        let flexible = version >= 2;
        buffer.put_i16(self.error_code);
        buffer.put_string(flexible, &self.principal_type)?;
        buffer.put_string(flexible, &self.principal_name)?;
        if version == 3 {
            buffer.put_string(flexible, &self.token_requester_principal_type)?;
        } else {
            require_default(
                self.token_requester_principal_type.is_empty(),
                "CreateDelegationTokenResponse.TokenRequesterPrincipalType",
                version,
            )?;
        }
        if version == 3 {
            buffer.put_string(flexible, &self.token_requester_principal_name)?;
        } else {
            require_default(
                self.token_requester_principal_name.is_empty(),
                "CreateDelegationTokenResponse.TokenRequesterPrincipalName",
                version,
            )?;
        }
        buffer.put_i64(self.issue_timestamp_ms);
        buffer.put_i64(self.expiry_timestamp_ms);
        buffer.put_i64(self.max_timestamp_ms);
        buffer.put_string(flexible, &self.token_id)?;
        buffer.put_bytes(flexible, &self.hmac)?;
        buffer.put_i32(self.throttle_time_ms);
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for CreateDelegationTokenResponse<'a> {
    const NAME: &'static str = "CreateDelegationTokenResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
