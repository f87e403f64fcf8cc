//! `RenewDelegationTokenRequest`, versions 1-2. Generated from `schemas/renew_delegation_token.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `RenewDelegationTokenRequest`, versions 1-2.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct RenewDelegationTokenRequest<'a> {
    /// Kafka's `Hmac`.
    pub hmac: Cow<'a, [u8]>,
    /// Kafka's `RenewPeriodMs`.
    pub renew_period_ms: i64,
}

impl<'a> RenewDelegationTokenRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 1..=2;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("RenewDelegationTokenRequest", version, Self::VERSIONS)?;
        let flexible = version == 2;
        let value = Self {
            hmac: reader.bytes(flexible)?,
            renew_period_ms: reader.i64()?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("RenewDelegationTokenRequest", version, Self::VERSIONS)?;
        let flexible = version == 2;
        buffer.put_bytes(flexible, &self.hmac)?;
        buffer.put_i64(self.renew_period_ms);
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for RenewDelegationTokenRequest<'a> {
    const NAME: &'static str = "RenewDelegationTokenRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for RenewDelegationTokenRequest<'a> {
    const KEY: ApiKey = ApiKey::RenewDelegationToken;
    type Response<'r> = super::RenewDelegationTokenResponse;
}
