//! `CreatePartitionsResponse`, versions 0-3. Generated from `schemas/create_partitions.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `CreatePartitionsResponse`, versions 0-3.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct CreatePartitionsResponse<'a> {
    /// Kafka's `ThrottleTimeMs`.
    pub throttle_time_ms: i32,
    /// Kafka's `Results`.
    pub results: Vec<CreatePartitionsTopicResult<'a>>,
}

impl<'a> CreatePartitionsResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=3;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("CreatePartitionsResponse", version, Self::VERSIONS)?;
        let flexible = version >= 2;
        let value = Self {
            throttle_time_ms: reader.i32()?,
            results: reader.array(flexible, 5, |reader| {
                CreatePartitionsTopicResult::decode(reader, version)
            })?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("CreatePartitionsResponse", version, Self::VERSIONS)?;
        let flexible = version >= 2;
        buffer.put_i32(self.throttle_time_ms);
        buffer.put_array(flexible, &self.results, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `CreatePartitionsResponse`: `CreatePartitionsTopicResult`, versions 0-3.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct CreatePartitionsTopicResult<'a> {
    /// Kafka's `Name`.
    pub name: Cow<'a, str>,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `ErrorMessage`, may be null, default null.
    pub error_message: Option<Cow<'a, str>>,
}

impl<'a> CreatePartitionsTopicResult<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 2;
        let value = Self {
            name: reader.string(flexible)?,
            error_code: reader.i16()?,
            error_message: reader.nullable_string(flexible)?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 2;
        buffer.put_string(flexible, &self.name)?;
        buffer.put_i16(self.error_code);
        buffer.put_nullable_string(flexible, self.error_message.as_deref())?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for CreatePartitionsResponse<'a> {
    const NAME: &'static str = "CreatePartitionsResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
