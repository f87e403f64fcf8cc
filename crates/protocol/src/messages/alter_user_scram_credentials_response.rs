//! `AlterUserScramCredentialsResponse`, version 0. Generated from `schemas/alter_user_scram_credentials.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `AlterUserScramCredentialsResponse`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct AlterUserScramCredentialsResponse<'a> {
    /// Kafka's `ThrottleTimeMs`.
    pub throttle_time_ms: i32,
    /// Kafka's `Results`.
    pub results: Vec<AlterUserScramCredentialsResult<'a>>,
}

impl<'a> AlterUserScramCredentialsResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=0;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("AlterUserScramCredentialsResponse", version, Self::VERSIONS)?;
        let value = Self {
            throttle_time_ms: reader.i32()?,
            results: reader.array(true, 5, |reader| {
                AlterUserScramCredentialsResult::decode(reader, version)
            })?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("AlterUserScramCredentialsResponse", version, Self::VERSIONS)?;
        buffer.put_i32(self.throttle_time_ms);
        buffer.put_array(true, &self.results, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `AlterUserScramCredentialsResponse`: `AlterUserScramCredentialsResult`, version 0.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterUserScramCredentialsResult<'a> {
    /// Kafka's `User`.
    pub user: Cow<'a, str>,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `ErrorMessage`, may be null.
    pub error_message: Option<Cow<'a, str>>,
}

impl Default for AlterUserScramCredentialsResult<'_> {
    fn default() -> Self {
        Self {
            user: Cow::Borrowed(""),
            error_code: 0,
            error_message: Some(Cow::Borrowed("")),
        }
    }
}

impl<'a> AlterUserScramCredentialsResult<'a> {
    fn decode(reader: &mut Reader<'a>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            user: reader.string(true)?,
            error_code: reader.i16()?,
            error_message: reader.nullable_string(true)?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_string(true, &self.user)?;
        buffer.put_i16(self.error_code);
        buffer.put_nullable_string(true, self.error_message.as_deref())?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for AlterUserScramCredentialsResponse<'a> {
    const NAME: &'static str = "AlterUserScramCredentialsResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
