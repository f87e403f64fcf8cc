//! `DeleteTopicsResponse`, versions 1-6. Generated from `schemas/delete_topics.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, require_some};
use std::borrow::Cow;
use std::ops::RangeInclusive;
use uuid::Uuid;

/// Kafka's `DeleteTopicsResponse`, versions 1-6.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DeleteTopicsResponse<'a> {
    /// Kafka's `ThrottleTimeMs`.
    pub throttle_time_ms: i32,
    /// Kafka's `Responses`.
    pub responses: Vec<DeletableTopicResult<'a>>,
}

impl<'a> DeleteTopicsResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 1..=6;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("DeleteTopicsResponse", version, Self::VERSIONS)?;
        let flexible = version >= 4;
        let value = Self {
            throttle_time_ms: reader.i32()?,
            responses: reader.array(flexible, 4, |reader| {
                DeletableTopicResult::decode(reader, version)
            })?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("DeleteTopicsResponse", version, Self::VERSIONS)?;
        let flexible = version >= 4;
        buffer.put_i32(self.throttle_time_ms);
        buffer.put_array(flexible, &self.responses, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `DeleteTopicsResponse`: `DeletableTopicResult`, versions 1-6.
#[derive(Clone, Debug, PartialEq)]
pub struct DeletableTopicResult<'a> {
    /// Kafka's `Name`, may be null in version 6.
    pub name: Option<Cow<'a, str>>,
    /// Kafka's `TopicId`, version 6, left out of other versions.
    pub topic_id: Uuid,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `ErrorMessage`, versions 5-6, may be null, default null, left out of other versions.
    pub error_message: Option<Cow<'a, str>>,
}

impl Default for DeletableTopicResult<'_> {
    fn default() -> Self {
        Self {
            name: Some(Cow::Borrowed("")),
            topic_id: Uuid::nil(),
            error_code: 0,
            error_message: None,
        }
    }
}

impl<'a> DeletableTopicResult<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 4;
        let value = Self {
            name: if version == 6 {
                reader.nullable_string(flexible)?
            } else {
                Some(reader.string(flexible)?)
            },
            topic_id: if version == 6 {
                reader.uuid()?
            } else {
                Uuid::nil()
            },
            error_code: reader.i16()?,
            error_message: if version >= 5 {
                reader.nullable_string(flexible)?
            } else {
                None
            },
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 4;
        if version == 6 {
            buffer.put_nullable_string(flexible, self.name.as_deref())?;
        } else {
            buffer.put_string(
                flexible,
                require_some(&self.name, "DeletableTopicResult.Name", version)?,
            )?;
        }
        if version == 6 {
            buffer.put_uuid(self.topic_id);
        }
        buffer.put_i16(self.error_code);
        if version >= 5 {
            buffer.put_nullable_string(flexible, self.error_message.as_deref())?;
        }
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for DeleteTopicsResponse<'a> {
    const NAME: &'static str = "DeleteTopicsResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
