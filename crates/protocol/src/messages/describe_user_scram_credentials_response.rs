//! `DescribeUserScramCredentialsResponse`, version 0. Generated from `schemas/describe_user_scram_credentials.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `DescribeUserScramCredentialsResponse`, version 0.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeUserScramCredentialsResponse<'a> {
    /// Kafka's `ThrottleTimeMs`.
    pub throttle_time_ms: i32,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `ErrorMessage`, may be null.
    pub error_message: Option<Cow<'a, str>>,
    /// Kafka's `Results`.
    pub results: Vec<DescribeUserScramCredentialsResult<'a>>,
}

impl Default for DescribeUserScramCredentialsResponse<'_> {
    fn default() -> Self {
        Self {
            throttle_time_ms: 0,
            error_code: 0,
            error_message: Some(Cow::Borrowed("")),
            results: Vec::new(),
        }
    }
}

impl<'a> DescribeUserScramCredentialsResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=0;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version(
            "DescribeUserScramCredentialsResponse",
            version,
            Self::VERSIONS,
        )?;
        let value = Self {
            throttle_time_ms: reader.i32()?,
            error_code: reader.i16()?,
            error_message: reader.nullable_string(true)?,
            results: reader.array(true, 6, |reader| {
                DescribeUserScramCredentialsResult::decode(reader, version)
            })?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version(
            "DescribeUserScramCredentialsResponse",
            version,
            Self::VERSIONS,
        )?;
        buffer.put_i32(self.throttle_time_ms);
        buffer.put_i16(self.error_code);
        buffer.put_nullable_string(true, self.error_message.as_deref())?;
        buffer.put_array(true, &self.results, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `DescribeUserScramCredentialsResponse`: `DescribeUserScramCredentialsResult`, version 0.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeUserScramCredentialsResult<'a> {
    /// Kafka's `User`.
    pub user: Cow<'a, str>,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `ErrorMessage`, may be null.
    pub error_message: Option<Cow<'a, str>>,
    /// Kafka's `CredentialInfos`.
    pub credential_infos: Vec<CredentialInfo>,
}

impl Default for DescribeUserScramCredentialsResult<'_> {
    fn default() -> Self {
        Self {
            user: Cow::Borrowed(""),
            error_code: 0,
            error_message: Some(Cow::Borrowed("")),
            credential_infos: Vec::new(),
        }
    }
}

impl<'a> DescribeUserScramCredentialsResult<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            user: reader.string(true)?,
            error_code: reader.i16()?,
            error_message: reader.nullable_string(true)?,
            credential_infos: reader
                .array(true, 6, |reader| CredentialInfo::decode(reader, version))?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.put_string(true, &self.user)?;
        buffer.put_i16(self.error_code);
        buffer.put_nullable_string(true, self.error_message.as_deref())?;
        buffer.put_array(true, &self.credential_infos, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `DescribeUserScramCredentialsResponse`: `CredentialInfo`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct CredentialInfo {
    /// Kafka's `Mechanism`.
    pub mechanism: i8,
    /// Kafka's `Iterations`.
    pub iterations: i32,
}

impl CredentialInfo {
    fn decode(reader: &mut Reader<'_>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            mechanism: reader.i8()?,
            iterations: reader.i32()?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_i8(self.mechanism);
        buffer.put_i32(self.iterations);
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for DescribeUserScramCredentialsResponse<'a> {
    const NAME: &'static str = "DescribeUserScramCredentialsResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
