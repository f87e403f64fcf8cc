//! `DescribeShareGroupOffsetsRequest`, versions 0-1. Generated from `schemas/describe_share_group_offsets.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `DescribeShareGroupOffsetsRequest`, versions 0-1.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DescribeShareGroupOffsetsRequest<'a> {
    /// Kafka's `Groups`.
    pub groups: Vec<DescribeShareGroupOffsetsRequestGroup<'a>>,
}

impl<'a> DescribeShareGroupOffsetsRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=1;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("DescribeShareGroupOffsetsRequest", version, Self::VERSIONS)?;
        let value = Self {
            groups: reader.array(true, 3, |reader| {
                DescribeShareGroupOffsetsRequestGroup::decode(reader, version)
            })?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("DescribeShareGroupOffsetsRequest", version, Self::VERSIONS)?;
        buffer.put_array(true, &self.groups, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `DescribeShareGroupOffsetsRequest`: `DescribeShareGroupOffsetsRequestGroup`, versions 0-1.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeShareGroupOffsetsRequestGroup<'a> {
    /// Kafka's `GroupId`.
    pub group_id: Cow<'a, str>,
    /// Kafka's `Topics`, may be null.
    pub topics: Option<Vec<DescribeShareGroupOffsetsRequestTopic<'a>>>,
}

impl Default for DescribeShareGroupOffsetsRequestGroup<'_> {
    fn default() -> Self {
        Self {
            group_id: Cow::Borrowed(""),
            topics: Some(Vec::new()),
        }
    }
}

impl<'a> DescribeShareGroupOffsetsRequestGroup<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            group_id: reader.string(true)?,
            topics: reader.nullable_array(true, 3, |reader| {
                DescribeShareGroupOffsetsRequestTopic::decode(reader, version)
            })?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.put_string(true, &self.group_id)?;
        buffer.put_nullable_array(true, self.topics.as_deref(), |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `DescribeShareGroupOffsetsRequest`: `DescribeShareGroupOffsetsRequestTopic`, versions 0-1.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DescribeShareGroupOffsetsRequestTopic<'a> {
    /// Kafka's `TopicName`.
    pub topic_name: Cow<'a, str>,
    /// Kafka's `Partitions`.
    pub partitions: Vec<i32>,
}

impl<'a> DescribeShareGroupOffsetsRequestTopic<'a> {
    fn decode(reader: &mut Reader<'a>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            topic_name: reader.string(true)?,
            partitions: reader.array(true, 4, Reader::i32)?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_string(true, &self.topic_name)?;
        buffer.put_array(true, &self.partitions, |buffer, element| {
            buffer.put_i32(*element);
            Ok(())
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for DescribeShareGroupOffsetsRequest<'a> {
    const NAME: &'static str = "DescribeShareGroupOffsetsRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for DescribeShareGroupOffsetsRequest<'a> {
    const KEY: ApiKey = ApiKey::DescribeShareGroupOffsets;
    type Response<'r> = super::DescribeShareGroupOffsetsResponse<'r>;
}
