//! `DescribeTopicPartitionsRequest`, version 0. Generated from `schemas/describe_topic_partitions.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `DescribeTopicPartitionsRequest`, version 0.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeTopicPartitionsRequest<'a> {
    /// Kafka's `Topics`.
    pub topics: Vec<TopicRequest<'a>>,
    /// Kafka's `ResponsePartitionLimit`, default 2000.
    pub response_partition_limit: i32,
    /// Kafka's `Cursor`, may be null, default null.
    pub cursor: Option<Cursor<'a>>,
}

impl Default for DescribeTopicPartitionsRequest<'_> {
    fn default() -> Self {
        Self {
            topics: Vec::new(),
            response_partition_limit: 2000,
            cursor: None,
        }
    }
}

impl<'a> DescribeTopicPartitionsRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=0;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("DescribeTopicPartitionsRequest", version, Self::VERSIONS)?;
        let value = Self {
            topics: reader.array(true, 2, |reader| TopicRequest::decode(reader, version))?,
            response_partition_limit: reader.i32()?,
            cursor: reader.nullable_struct(|reader| Cursor::decode(reader, version))?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("DescribeTopicPartitionsRequest", version, Self::VERSIONS)?;
        buffer.put_array(true, &self.topics, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_i32(self.response_partition_limit);
        buffer.put_nullable_struct(self.cursor.as_ref(), |buffer, value| {
            value.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `DescribeTopicPartitionsRequest`: `Cursor`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Cursor<'a> {
    /// Kafka's `TopicName`.
    pub topic_name: Cow<'a, str>,
    /// Kafka's `PartitionIndex`.
    pub partition_index: i32,
}

impl<'a> Cursor<'a> {
    fn decode(reader: &mut Reader<'a>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            topic_name: reader.string(true)?,
            partition_index: reader.i32()?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_string(true, &self.topic_name)?;
        buffer.put_i32(self.partition_index);
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `DescribeTopicPartitionsRequest`: `TopicRequest`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct TopicRequest<'a> {
    /// Kafka's `Name`.
    pub name: Cow<'a, str>,
}

impl<'a> TopicRequest<'a> {
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

impl<'a> Message<'a> for DescribeTopicPartitionsRequest<'a> {
    const NAME: &'static str = "DescribeTopicPartitionsRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for DescribeTopicPartitionsRequest<'a> {
    const KEY: ApiKey = ApiKey::DescribeTopicPartitions;
    type Response<'r> = super::DescribeTopicPartitionsResponse<'r>;
}
