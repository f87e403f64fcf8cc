//! `ShareGroupStatePartitionMetadataValue`, version 0. Generated from `schemas/share_group_state_partition_metadata_record.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{
    DecodeError, EncodeError, GatherBuffer, Reader, decode_prefixed, encode_prefixed,
};
use std::borrow::Cow;
use std::ops::RangeInclusive;
use uuid::Uuid;

/// Kafka's `ShareGroupStatePartitionMetadataValue`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ShareGroupStatePartitionMetadataValue<'a> {
    /// Kafka's `InitializingTopics`.
    pub initializing_topics: Vec<TopicPartitionsInfo<'a>>,
    /// Kafka's `InitializedTopics`.
    pub initialized_topics: Vec<TopicPartitionsInfo<'a>>,
    /// Kafka's `DeletingTopics`.
    pub deleting_topics: Vec<TopicInfo<'a>>,
}

impl<'a> ShareGroupStatePartitionMetadataValue<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=0;

    /// Reads the message behind its 2-byte version.
    pub fn decode_with_version_prefix(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        decode_prefixed(
            bytes,
            "ShareGroupStatePartitionMetadataValue",
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
            "ShareGroupStatePartitionMetadataValue",
            version,
            Self::VERSIONS,
        )?;
        let value = Self {
            initializing_topics: reader.array(true, 19, |reader| {
                TopicPartitionsInfo::decode(reader, version)
            })?,
            initialized_topics: reader.array(true, 19, |reader| {
                TopicPartitionsInfo::decode(reader, version)
            })?,
            deleting_topics: reader.array(true, 18, |reader| TopicInfo::decode(reader, version))?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version(
            "ShareGroupStatePartitionMetadataValue",
            version,
            Self::VERSIONS,
        )?;
        buffer.put_array(true, &self.initializing_topics, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_array(true, &self.initialized_topics, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_array(true, &self.deleting_topics, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `ShareGroupStatePartitionMetadataValue`: `TopicInfo`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct TopicInfo<'a> {
    /// Kafka's `TopicId`.
    pub topic_id: Uuid,
    /// Kafka's `TopicName`.
    pub topic_name: Cow<'a, str>,
}

impl<'a> TopicInfo<'a> {
    fn decode(reader: &mut Reader<'a>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            topic_id: reader.uuid()?,
            topic_name: reader.string(true)?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_uuid(self.topic_id);
        buffer.put_string(true, &self.topic_name)?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `ShareGroupStatePartitionMetadataValue`: `TopicPartitionsInfo`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct TopicPartitionsInfo<'a> {
    /// Kafka's `TopicId`.
    pub topic_id: Uuid,
    /// Kafka's `TopicName`.
    pub topic_name: Cow<'a, str>,
    /// Kafka's `Partitions`.
    pub partitions: Vec<i32>,
}

impl<'a> TopicPartitionsInfo<'a> {
    fn decode(reader: &mut Reader<'a>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            topic_id: reader.uuid()?,
            topic_name: reader.string(true)?,
            partitions: reader.array(true, 4, Reader::i32)?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_uuid(self.topic_id);
        buffer.put_string(true, &self.topic_name)?;
        buffer.put_array(true, &self.partitions, |buffer, element| {
            buffer.put_i32(*element);
            Ok(())
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for ShareGroupStatePartitionMetadataValue<'a> {
    const NAME: &'static str = "ShareGroupStatePartitionMetadataValue";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
