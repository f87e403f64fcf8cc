//! `DeleteTopicsRequest`, versions 1-6. Generated from `schemas/delete_topics.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, require_default};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;
use uuid::Uuid;

/// Kafka's `DeleteTopicsRequest`, versions 1-6.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DeleteTopicsRequest<'a> {
    /// Kafka's `Topics`, version 6.
    pub topics: Vec<DeleteTopicState<'a>>,
    /// Kafka's `TopicNames`, versions 1-5, left out of other versions.
    pub topic_names: Vec<Cow<'a, str>>,
    /// Kafka's `TimeoutMs`.
    pub timeout_ms: i32,
}

impl<'a> DeleteTopicsRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 1..=6;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("DeleteTopicsRequest", version, Self::VERSIONS)?;
        let flexible = version >= 4;
        let value = Self {
            topics: if version == 6 {
                reader.array(flexible, 18, |reader| {
                    DeleteTopicState::decode(reader, version)
                })?
            } else {
                Vec::new()
            },
            topic_names: if version <= 5 {
                reader.array(flexible, 1, |reader| reader.string(flexible))?
            } else {
                Vec::new()
            },
            timeout_ms: reader.i32()?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("DeleteTopicsRequest", version, Self::VERSIONS)?;
        let flexible = version >= 4;
        if version == 6 {
            buffer.put_array(flexible, &self.topics, |buffer, element| {
                element.encode(buffer, version)
            })?;
        } else {
            require_default(
                self.topics.is_empty(),
                "DeleteTopicsRequest.Topics",
                version,
            )?;
        }
        if version <= 5 {
            buffer.put_array(flexible, &self.topic_names, |buffer, element| {
                buffer.put_string(flexible, element)
            })?;
        }
        buffer.put_i32(self.timeout_ms);
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `DeleteTopicsRequest`: `DeleteTopicState`, version 6.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DeleteTopicState<'a> {
    /// Kafka's `Name`, may be null, default null.
    pub name: Option<Cow<'a, str>>,
    /// Kafka's `TopicId`.
    pub topic_id: Uuid,
}

impl<'a> DeleteTopicState<'a> {
    fn decode(reader: &mut Reader<'a>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            name: reader.nullable_string(true)?,
            topic_id: reader.uuid()?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_nullable_string(true, self.name.as_deref())?;
        buffer.put_uuid(self.topic_id);
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for DeleteTopicsRequest<'a> {
    const NAME: &'static str = "DeleteTopicsRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for DeleteTopicsRequest<'a> {
    const KEY: ApiKey = ApiKey::DeleteTopics;
    type Response<'r> = super::DeleteTopicsResponse<'r>;
}
