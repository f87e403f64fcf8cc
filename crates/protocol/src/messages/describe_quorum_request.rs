//! `DescribeQuorumRequest`, versions 0-2. Generated from `schemas/describe_quorum.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `DescribeQuorumRequest`, versions 0-2.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DescribeQuorumRequest<'a> {
    /// Kafka's `Topics`.
    pub topics: Vec<TopicData<'a>>,
}

impl<'a> DescribeQuorumRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=2;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("DescribeQuorumRequest", version, Self::VERSIONS)?;
        let value = Self {
            topics: reader.array(true, 3, |reader| TopicData::decode(reader, version))?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("DescribeQuorumRequest", version, Self::VERSIONS)?;
        buffer.put_array(true, &self.topics, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `DescribeQuorumRequest`: `TopicData`, versions 0-2.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct TopicData<'a> {
    /// Kafka's `TopicName`.
    pub topic_name: Cow<'a, str>,
    /// Kafka's `Partitions`.
    pub partitions: Vec<PartitionData>,
}

impl<'a> TopicData<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            topic_name: reader.string(true)?,
            partitions: reader.array(true, 5, |reader| PartitionData::decode(reader, version))?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.put_string(true, &self.topic_name)?;
        buffer.put_array(true, &self.partitions, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `DescribeQuorumRequest`: `PartitionData`, versions 0-2.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct PartitionData {
    /// Kafka's `PartitionIndex`.
    pub partition_index: i32,
}

impl PartitionData {
    fn decode(reader: &mut Reader<'_>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            partition_index: reader.i32()?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_i32(self.partition_index);
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for DescribeQuorumRequest<'a> {
    const NAME: &'static str = "DescribeQuorumRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for DescribeQuorumRequest<'a> {
    const KEY: ApiKey = ApiKey::DescribeQuorum;
    type Response<'r> = super::DescribeQuorumResponse<'r>;
}
