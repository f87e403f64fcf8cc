//! `DescribeProducersResponse`, version 0. Generated from `schemas/describe_producers.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `DescribeProducersResponse`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DescribeProducersResponse<'a> {
    /// Kafka's `ThrottleTimeMs`.
    pub throttle_time_ms: i32,
    /// Kafka's `Topics`.
    pub topics: Vec<TopicResponse<'a>>,
}

impl<'a> DescribeProducersResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=0;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("DescribeProducersResponse", version, Self::VERSIONS)?;
        let value = Self {
            throttle_time_ms: reader.i32()?,
            topics: reader.array(true, 3, |reader| TopicResponse::decode(reader, version))?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("DescribeProducersResponse", version, Self::VERSIONS)?;
        buffer.put_i32(self.throttle_time_ms);
        buffer.put_array(true, &self.topics, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `DescribeProducersResponse`: `TopicResponse`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct TopicResponse<'a> {
    /// Kafka's `Name`.
    pub name: Cow<'a, str>,
    /// Kafka's `Partitions`.
    pub partitions: Vec<PartitionResponse<'a>>,
}

impl<'a> TopicResponse<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            name: reader.string(true)?,
            partitions: reader
                .array(true, 9, |reader| PartitionResponse::decode(reader, version))?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.put_string(true, &self.name)?;
        buffer.put_array(true, &self.partitions, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `DescribeProducersResponse`: `PartitionResponse`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct PartitionResponse<'a> {
    /// Kafka's `PartitionIndex`.
    pub partition_index: i32,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `ErrorMessage`, may be null, default null.
    pub error_message: Option<Cow<'a, str>>,
    /// Kafka's `ActiveProducers`.
    pub active_producers: Vec<ProducerState>,
}

impl<'a> PartitionResponse<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            partition_index: reader.i32()?,
            error_code: reader.i16()?,
            error_message: reader.nullable_string(true)?,
            active_producers: reader
                .array(true, 37, |reader| ProducerState::decode(reader, version))?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.put_i32(self.partition_index);
        buffer.put_i16(self.error_code);
        buffer.put_nullable_string(true, self.error_message.as_deref())?;
        buffer.put_array(true, &self.active_producers, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `DescribeProducersResponse`: `ProducerState`, version 0.
#[derive(Clone, Debug, PartialEq)]
pub struct ProducerState {
    /// Kafka's `ProducerId`.
    pub producer_id: i64,
    /// Kafka's `ProducerEpoch`.
    pub producer_epoch: i32,
    /// Kafka's `LastSequence`, default -1.
    pub last_sequence: i32,
    /// Kafka's `LastTimestamp`, default -1.
    pub last_timestamp: i64,
    /// Kafka's `CoordinatorEpoch`.
    pub coordinator_epoch: i32,
    /// Kafka's `CurrentTxnStartOffset`, default -1.
    pub current_txn_start_offset: i64,
}

impl Default for ProducerState {
    fn default() -> Self {
        Self {
            producer_id: 0,
            producer_epoch: 0,
            last_sequence: -1,
            last_timestamp: -1,
            coordinator_epoch: 0,
            current_txn_start_offset: -1,
        }
    }
}

impl ProducerState {
    fn decode(reader: &mut Reader<'_>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            producer_id: reader.i64()?,
            producer_epoch: reader.i32()?,
            last_sequence: reader.i32()?,
            last_timestamp: reader.i64()?,
            coordinator_epoch: reader.i32()?,
            current_txn_start_offset: reader.i64()?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_i64(self.producer_id);
        buffer.put_i32(self.producer_epoch);
        buffer.put_i32(self.last_sequence);
        buffer.put_i64(self.last_timestamp);
        buffer.put_i32(self.coordinator_epoch);
        buffer.put_i64(self.current_txn_start_offset);
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for DescribeProducersResponse<'a> {
    const NAME: &'static str = "DescribeProducersResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
