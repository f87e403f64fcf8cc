//! `DescribeTopicPartitionsResponse`, version 0. Generated from `schemas/describe_topic_partitions.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use std::borrow::Cow;
use std::ops::RangeInclusive;
use uuid::Uuid;

/// Kafka's `DescribeTopicPartitionsResponse`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DescribeTopicPartitionsResponse<'a> {
    /// Kafka's `ThrottleTimeMs`.
    pub throttle_time_ms: i32,
    /// Kafka's `Topics`.
    pub topics: Vec<DescribeTopicPartitionsResponseTopic<'a>>,
    /// Kafka's `NextCursor`, may be null, default null.
    pub next_cursor: Option<Cursor<'a>>,
}

impl<'a> DescribeTopicPartitionsResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=0;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("DescribeTopicPartitionsResponse", version, Self::VERSIONS)?;
        let value = Self {
            throttle_time_ms: reader.i32()?,
            topics: reader.array(true, 26, |reader| {
                DescribeTopicPartitionsResponseTopic::decode(reader, version)
            })?,
            next_cursor: reader.nullable_struct(|reader| Cursor::decode(reader, version))?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("DescribeTopicPartitionsResponse", version, Self::VERSIONS)?;
        buffer.put_i32(self.throttle_time_ms);
        buffer.put_array(true, &self.topics, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_nullable_struct(self.next_cursor.as_ref(), |buffer, value| {
            value.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `DescribeTopicPartitionsResponse`: `Cursor`, version 0.
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

/// Part of Kafka's `DescribeTopicPartitionsResponse`: `DescribeTopicPartitionsResponseTopic`, version 0.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeTopicPartitionsResponseTopic<'a> {
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `Name`, may be null.
    pub name: Option<Cow<'a, str>>,
    /// Kafka's `TopicId`.
    pub topic_id: Uuid,
    /// Kafka's `IsInternal`.
    pub is_internal: bool,
    /// Kafka's `Partitions`.
    pub partitions: Vec<DescribeTopicPartitionsResponsePartition>,
    /// Kafka's `TopicAuthorizedOperations`, default -2147483648.
    pub topic_authorized_operations: i32,
}

impl Default for DescribeTopicPartitionsResponseTopic<'_> {
    fn default() -> Self {
        Self {
            error_code: 0,
            name: Some(Cow::Borrowed("")),
            topic_id: Uuid::nil(),
            is_internal: false,
            partitions: Vec::new(),
            topic_authorized_operations: -2147483648,
        }
    }
}

impl<'a> DescribeTopicPartitionsResponseTopic<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            error_code: reader.i16()?,
            name: reader.nullable_string(true)?,
            topic_id: reader.uuid()?,
            is_internal: reader.bool()?,
            partitions: reader.array(true, 20, |reader| {
                DescribeTopicPartitionsResponsePartition::decode(reader, version)
            })?,
            topic_authorized_operations: reader.i32()?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.put_i16(self.error_code);
        buffer.put_nullable_string(true, self.name.as_deref())?;
        buffer.put_uuid(self.topic_id);
        buffer.put_bool(self.is_internal);
        buffer.put_array(true, &self.partitions, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_i32(self.topic_authorized_operations);
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `DescribeTopicPartitionsResponse`: `DescribeTopicPartitionsResponsePartition`, version 0.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeTopicPartitionsResponsePartition {
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `PartitionIndex`.
    pub partition_index: i32,
    /// Kafka's `LeaderId`.
    pub leader_id: i32,
    /// Kafka's `LeaderEpoch`, default -1.
    pub leader_epoch: i32,
    /// Kafka's `ReplicaNodes`.
    pub replica_nodes: Vec<i32>,
    /// Kafka's `IsrNodes`.
    pub isr_nodes: Vec<i32>,
    /// Kafka's `EligibleLeaderReplicas`, may be null, default null.
    pub eligible_leader_replicas: Option<Vec<i32>>,
    /// Kafka's `LastKnownElr`, may be null, default null.
    pub last_known_elr: Option<Vec<i32>>,
    /// Kafka's `OfflineReplicas`.
    pub offline_replicas: Vec<i32>,
}

impl Default for DescribeTopicPartitionsResponsePartition {
    fn default() -> Self {
        Self {
            error_code: 0,
            partition_index: 0,
            leader_id: 0,
            leader_epoch: -1,
            replica_nodes: Vec::new(),
            isr_nodes: Vec::new(),
            eligible_leader_replicas: None,
            last_known_elr: None,
            offline_replicas: Vec::new(),
        }
    }
}

impl DescribeTopicPartitionsResponsePartition {
    fn decode(reader: &mut Reader<'_>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            error_code: reader.i16()?,
            partition_index: reader.i32()?,
            leader_id: reader.i32()?,
            leader_epoch: reader.i32()?,
            replica_nodes: reader.array(true, 4, Reader::i32)?,
            isr_nodes: reader.array(true, 4, Reader::i32)?,
            eligible_leader_replicas: reader.nullable_array(true, 4, Reader::i32)?,
            last_known_elr: reader.nullable_array(true, 4, Reader::i32)?,
            offline_replicas: reader.array(true, 4, Reader::i32)?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_i16(self.error_code);
        buffer.put_i32(self.partition_index);
        buffer.put_i32(self.leader_id);
        buffer.put_i32(self.leader_epoch);
        buffer.put_array(true, &self.replica_nodes, |buffer, element| {
            buffer.put_i32(*element);
            Ok(())
        })?;
        buffer.put_array(true, &self.isr_nodes, |buffer, element| {
            buffer.put_i32(*element);
            Ok(())
        })?;
        buffer.put_nullable_array(
            true,
            self.eligible_leader_replicas.as_deref(),
            |buffer, element| {
                buffer.put_i32(*element);
                Ok(())
            },
        )?;
        buffer.put_nullable_array(true, self.last_known_elr.as_deref(), |buffer, element| {
            buffer.put_i32(*element);
            Ok(())
        })?;
        buffer.put_array(true, &self.offline_replicas, |buffer, element| {
            buffer.put_i32(*element);
            Ok(())
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for DescribeTopicPartitionsResponse<'a> {
    const NAME: &'static str = "DescribeTopicPartitionsResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
