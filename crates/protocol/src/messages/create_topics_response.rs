//! `CreateTopicsResponse`, versions 2-7. Generated from `schemas/create_topics.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, TaggedFields};
use std::borrow::Cow;
use std::ops::RangeInclusive;
use uuid::Uuid;

/// Kafka's `CreateTopicsResponse`, versions 2-7.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct CreateTopicsResponse<'a> {
    /// Kafka's `ThrottleTimeMs`.
    pub throttle_time_ms: i32,
    /// Kafka's `Topics`.
    pub topics: Vec<CreatableTopicResult<'a>>,
}

impl<'a> CreateTopicsResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 2..=7;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("CreateTopicsResponse", version, Self::VERSIONS)?;
        let flexible = version >= 5;
        let value = Self {
            throttle_time_ms: reader.i32()?,
            topics: reader.array(flexible, 6, |reader| {
                CreatableTopicResult::decode(reader, version)
            })?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("CreateTopicsResponse", version, Self::VERSIONS)?;
        let flexible = version >= 5;
        buffer.put_i32(self.throttle_time_ms);
        buffer.put_array(flexible, &self.topics, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `CreateTopicsResponse`: `CreatableTopicResult`, versions 2-7.
#[derive(Clone, Debug, PartialEq)]
pub struct CreatableTopicResult<'a> {
    /// Kafka's `Name`.
    pub name: Cow<'a, str>,
    /// Kafka's `TopicId`, version 7, left out of other versions.
    pub topic_id: Uuid,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `ErrorMessage`, may be null.
    pub error_message: Option<Cow<'a, str>>,
    /// Kafka's `TopicConfigErrorCode`, versions 5-7, left out of other versions.
    pub topic_config_error_code: i16,
    /// Kafka's `NumPartitions`, versions 5-7, default -1, left out of other versions.
    pub num_partitions: i32,
    /// Kafka's `ReplicationFactor`, versions 5-7, default -1, left out of other versions.
    pub replication_factor: i16,
    /// Kafka's `Configs`, versions 5-7, may be null, left out of other versions.
    pub configs: Option<Vec<CreatableTopicConfigs<'a>>>,
}

impl Default for CreatableTopicResult<'_> {
    fn default() -> Self {
        Self {
            name: Cow::Borrowed(""),
            topic_id: Uuid::nil(),
            error_code: 0,
            error_message: Some(Cow::Borrowed("")),
            topic_config_error_code: 0,
            num_partitions: -1,
            replication_factor: -1,
            configs: Some(Vec::new()),
        }
    }
}

impl<'a> CreatableTopicResult<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 5;
        let mut value = Self {
            name: reader.string(flexible)?,
            topic_id: if version == 7 {
                reader.uuid()?
            } else {
                Uuid::nil()
            },
            error_code: reader.i16()?,
            error_message: reader.nullable_string(flexible)?,
            topic_config_error_code: 0,
            num_partitions: if version >= 5 { reader.i32()? } else { -1 },
            replication_factor: if version >= 5 { reader.i16()? } else { -1 },
            configs: if version >= 5 {
                reader.nullable_array(flexible, 6, |reader| {
                    CreatableTopicConfigs::decode(reader, version)
                })?
            } else {
                Some(Vec::new())
            },
        };
        if flexible {
            reader.tagged_fields(|tag, reader| {
                match tag {
                    0 => value.topic_config_error_code = reader.i16()?,
                    _ => return Ok(false),
                }
                Ok(true)
            })?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 5;
        buffer.put_string(flexible, &self.name)?;
        if version == 7 {
            buffer.put_uuid(self.topic_id);
        }
        buffer.put_i16(self.error_code);
        buffer.put_nullable_string(flexible, self.error_message.as_deref())?;
        if version >= 5 {
            buffer.put_i32(self.num_partitions);
        }
        if version >= 5 {
            buffer.put_i16(self.replication_factor);
        }
        if version >= 5 {
            buffer.put_nullable_array(flexible, self.configs.as_deref(), |buffer, element| {
                element.encode(buffer, version)
            })?;
        }
        if flexible {
            let mut tagged = TaggedFields::default();
            if self.topic_config_error_code != 0 {
                tagged.put(0, |buffer| {
                    buffer.put_i16(self.topic_config_error_code);
                    Ok(())
                })?;
            }
            buffer.put_tagged_fields(tagged);
        }
        Ok(())
    }
}

/// Part of Kafka's `CreateTopicsResponse`: `CreatableTopicConfigs`, versions 5-7.
#[derive(Clone, Debug, PartialEq)]
pub struct CreatableTopicConfigs<'a> {
    /// Kafka's `Name`.
    pub name: Cow<'a, str>,
    /// Kafka's `Value`, may be null.
    pub value: Option<Cow<'a, str>>,
    /// Kafka's `ReadOnly`.
    pub read_only: bool,
    /// Kafka's `ConfigSource`, default -1.
    pub config_source: i8,
    /// Kafka's `IsSensitive`.
    pub is_sensitive: bool,
}

impl Default for CreatableTopicConfigs<'_> {
    fn default() -> Self {
        Self {
            name: Cow::Borrowed(""),
            value: Some(Cow::Borrowed("")),
            read_only: false,
            config_source: -1,
            is_sensitive: false,
        }
    }
}

impl<'a> CreatableTopicConfigs<'a> {
    fn decode(reader: &mut Reader<'a>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            name: reader.string(true)?,
            value: reader.nullable_string(true)?,
            read_only: reader.bool()?,
            config_source: reader.i8()?,
            is_sensitive: reader.bool()?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_string(true, &self.name)?;
        buffer.put_nullable_string(true, self.value.as_deref())?;
        buffer.put_bool(self.read_only);
        buffer.put_i8(self.config_source);
        buffer.put_bool(self.is_sensitive);
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for CreateTopicsResponse<'a> {
    const NAME: &'static str = "CreateTopicsResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
