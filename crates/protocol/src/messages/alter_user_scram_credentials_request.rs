//! `AlterUserScramCredentialsRequest`, version 0. Generated from `schemas/alter_user_scram_credentials.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `AlterUserScramCredentialsRequest`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct AlterUserScramCredentialsRequest<'a> {
    /// Kafka's `Deletions`.
    pub deletions: Vec<ScramCredentialDeletion<'a>>,
    /// Kafka's `Upsertions`.
    pub upsertions: Vec<ScramCredentialUpsertion<'a>>,
}

impl<'a> AlterUserScramCredentialsRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=0;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("AlterUserScramCredentialsRequest", version, Self::VERSIONS)?;
        let value = Self {
            deletions: reader.array(true, 3, |reader| {
                ScramCredentialDeletion::decode(reader, version)
            })?,
            upsertions: reader.array(true, 9, |reader| {
                ScramCredentialUpsertion::decode(reader, version)
            })?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("AlterUserScramCredentialsRequest", version, Self::VERSIONS)?;
        buffer.put_array(true, &self.deletions, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_array(true, &self.upsertions, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `AlterUserScramCredentialsRequest`: `ScramCredentialUpsertion`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ScramCredentialUpsertion<'a> {
    /// Kafka's `Name`.
    pub name: Cow<'a, str>,
    /// Kafka's `Mechanism`.
    pub mechanism: i8,
    /// Kafka's `Iterations`.
    pub iterations: i32,
    /// Kafka's `Salt`.
    pub salt: Cow<'a, [u8]>,
    /// Kafka's `SaltedPassword`.
    pub salted_password: Cow<'a, [u8]>,
}

impl<'a> ScramCredentialUpsertion<'a> {
    fn decode(reader: &mut Reader<'a>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            name: reader.string(true)?,
            mechanism: reader.i8()?,
            iterations: reader.i32()?,
            salt: reader.bytes(true)?,
            salted_password: reader.bytes(true)?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_string(true, &self.name)?;
        buffer.put_i8(self.mechanism);
        buffer.put_i32(self.iterations);
        buffer.put_bytes(true, &self.salt)?;
        buffer.put_bytes(true, &self.salted_password)?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `AlterUserScramCredentialsRequest`: `ScramCredentialDeletion`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ScramCredentialDeletion<'a> {
    /// Kafka's `Name`.
    pub name: Cow<'a, str>,
    /// Kafka's `Mechanism`.
    pub mechanism: i8,
}

impl<'a> ScramCredentialDeletion<'a> {
    fn decode(reader: &mut Reader<'a>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            name: reader.string(true)?,
            mechanism: reader.i8()?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_string(true, &self.name)?;
        buffer.put_i8(self.mechanism);
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for AlterUserScramCredentialsRequest<'a> {
    const NAME: &'static str = "AlterUserScramCredentialsRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for AlterUserScramCredentialsRequest<'a> {
    const KEY: ApiKey = ApiKey::AlterUserScramCredentials;
    type Response<'r> = super::AlterUserScramCredentialsResponse<'r>;
}
