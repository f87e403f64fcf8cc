//! `ConsumerGroupPartitionMetadataValue`, version 0. Generated from `schemas/consumer_group_partition_metadata_record.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{
    DecodeError, EncodeError, GatherBuffer, Reader, decode_prefixed, encode_prefixed,
};
use std::borrow::Cow;
use std::ops::RangeInclusive;
use uuid::Uuid;

/// Kafka's `ConsumerGroupPartitionMetadataValue`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ConsumerGroupPartitionMetadataValue<'a> {
    /// Kafka's `Topics`.
    pub topics: Vec<TopicMetadata<'a>>,
}

impl<'a> ConsumerGroupPartitionMetadataValue<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=0;

    /// Reads the message behind its 2-byte version.
    pub fn decode_with_version_prefix(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        decode_prefixed(
            bytes,
            "ConsumerGroupPartitionMetadataValue",
            Self::VERSIONS,
            Self::decode,
        )
    }

    /// Writes the message behind its 2-byte version.
    pub fn encode_with_version_prefix(&self, version: i16) -> Result<Vec<u8>, EncodeError> {
        encode_prefixed(version, |buffer| self.encode(buffer, version))
    }

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version(
            "ConsumerGroupPartitionMetadataValue",
            version,
            Self::VERSIONS,
        )?;
        let value = Self {
            topics: reader.array(true, 23, |reader| TopicMetadata::decode(reader, version))?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version(
            "ConsumerGroupPartitionMetadataValue",
            version,
            Self::VERSIONS,
        )?;
        buffer.put_array(true, &self.topics, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `ConsumerGroupPartitionMetadataValue`: `TopicMetadata`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct TopicMetadata<'a> {
    /// Kafka's `TopicId`.
    pub topic_id: Uuid,
    /// Kafka's `TopicName`.
    pub topic_name: Cow<'a, str>,
    /// Kafka's `NumPartitions`.
    pub num_partitions: i32,
    /// Kafka's `PartitionMetadata`.
    pub partition_metadata: Vec<PartitionMetadata<'a>>,
}

impl<'a> TopicMetadata<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            topic_id: reader.uuid()?,
            topic_name: reader.string(true)?,
            num_partitions: reader.i32()?,
            partition_metadata: reader
                .array(true, 6, |reader| PartitionMetadata::decode(reader, version))?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.put_uuid(self.topic_id);
        buffer.put_string(true, &self.topic_name)?;
        buffer.put_i32(self.num_partitions);
        buffer.put_array(true, &self.partition_metadata, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `ConsumerGroupPartitionMetadataValue`: `PartitionMetadata`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct PartitionMetadata<'a> {
    /// Kafka's `Partition`.
    pub partition: i32,
    /// Kafka's `Racks`.
    pub racks: Vec<Cow<'a, str>>,
}

impl<'a> PartitionMetadata<'a> {
    fn decode(reader: &mut Reader<'a>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            partition: reader.i32()?,
            racks: reader.array(true, 1, |reader| reader.string(true))?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_i32(self.partition);
        buffer.put_array(true, &self.racks, |buffer, element| {
            buffer.put_string(true, element)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for ConsumerGroupPartitionMetadataValue<'a> {
    const NAME: &'static str = "ConsumerGroupPartitionMetadataValue";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
