//! `DescribeProducersRequest`, version 0. Generated from `schemas/describe_producers.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `DescribeProducersRequest`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DescribeProducersRequest<'a> {
    /// Kafka's `Topics`.
    pub topics: Vec<TopicRequest<'a>>,
}

impl<'a> DescribeProducersRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=0;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("DescribeProducersRequest", version, Self::VERSIONS)?;
        let value = Self {
            topics: reader.array(true, 3, |reader| TopicRequest::decode(reader, version))?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("DescribeProducersRequest", version, Self::VERSIONS)?;
        buffer.put_array(true, &self.topics, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `DescribeProducersRequest`: `TopicRequest`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct TopicRequest<'a> {
    /// Kafka's `Name`.
    pub name: Cow<'a, str>,
    /// Kafka's `PartitionIndexes`.
    pub partition_indexes: Vec<i32>,
}

impl<'a> TopicRequest<'a> {
    fn decode(reader: &mut Reader<'a>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            name: reader.string(true)?,
            partition_indexes: reader.array(true, 4, Reader::i32)?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_string(true, &self.name)?;
        buffer.put_array(true, &self.partition_indexes, |buffer, element| {
            buffer.put_i32(*element);
            Ok(())
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for DescribeProducersRequest<'a> {
    const NAME: &'static str = "DescribeProducersRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for DescribeProducersRequest<'a> {
    const KEY: ApiKey = ApiKey::DescribeProducers;
    type Response<'r> = super::DescribeProducersResponse<'r>;
}
