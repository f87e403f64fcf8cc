//! `RenewDelegationTokenResponse`, versions 1-2. Generated from `schemas/renew_delegation_token.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use std::ops::RangeInclusive;

/// Kafka's `RenewDelegationTokenResponse`, versions 1-2.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct RenewDelegationTokenResponse {
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `ExpiryTimestampMs`.
    pub expiry_timestamp_ms: i64,
    /// Kafka's `ThrottleTimeMs`.
    pub throttle_time_ms: i32,
}

impl RenewDelegationTokenResponse {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 1..=2;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("RenewDelegationTokenResponse", version, Self::VERSIONS)?;
        let flexible = version == 2;
        let value = Self {
            error_code: reader.i16()?,
            expiry_timestamp_ms: reader.i64()?,
            throttle_time_ms: reader.i32()?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("RenewDelegationTokenResponse", version, Self::VERSIONS)?;
        let flexible = version == 2;
        buffer.put_i16(self.error_code);
        buffer.put_i64(self.expiry_timestamp_ms);
        buffer.put_i32(self.throttle_time_ms);
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl Message<'_> for RenewDelegationTokenResponse {
    const NAME: &'static str = "RenewDelegationTokenResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
