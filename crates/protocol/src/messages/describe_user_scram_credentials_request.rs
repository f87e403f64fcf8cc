//! `DescribeUserScramCredentialsRequest`, version 0. Generated from `schemas/describe_user_scram_credentials.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `DescribeUserScramCredentialsRequest`, version 0.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeUserScramCredentialsRequest<'a> {
    /// Kafka's `Users`, may be null.
    pub users: Option<Vec<UserName<'a>>>,
}

impl Default for DescribeUserScramCredentialsRequest<'_> {
    fn default() -> Self {
        Self {
            users: Some(Vec::new()),
        }
    }
}

impl<'a> DescribeUserScramCredentialsRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=0;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version(
            "DescribeUserScramCredentialsRequest",
            version,
            Self::VERSIONS,
        )?;
        let value = Self {
            users: reader.nullable_array(true, 2, |reader| UserName::decode(reader, version))?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version(
            "DescribeUserScramCredentialsRequest",
            version,
            Self::VERSIONS,
        )?;
        buffer.put_nullable_array(true, self.users.as_deref(), |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `DescribeUserScramCredentialsRequest`: `UserName`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct UserName<'a> {
    /// Kafka's `Name`.
    pub name: Cow<'a, str>,
}

impl<'a> UserName<'a> {
    fn decode(reader: &mut Reader<'a>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            name: reader.string(true)?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_string(true, &self.name)?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for DescribeUserScramCredentialsRequest<'a> {
    const NAME: &'static str = "DescribeUserScramCredentialsRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for DescribeUserScramCredentialsRequest<'a> {
    const KEY: ApiKey = ApiKey::DescribeUserScramCredentials;
    type Response<'r> = super::DescribeUserScramCredentialsResponse<'r>;
}
