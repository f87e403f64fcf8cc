//! `DescribeTransactionsResponse`, version 0. Generated from `schemas/describe_transactions.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `DescribeTransactionsResponse`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DescribeTransactionsResponse<'a> {
    /// Kafka's `ThrottleTimeMs`.
    pub throttle_time_ms: i32,
    /// Kafka's `TransactionStates`.
    pub transaction_states: Vec<TransactionState<'a>>,
}

impl<'a> DescribeTransactionsResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=0;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("DescribeTransactionsResponse", version, Self::VERSIONS)?;
        let value = Self {
            throttle_time_ms: reader.i32()?,
            transaction_states: reader
                .array(true, 28, |reader| TransactionState::decode(reader, version))?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("DescribeTransactionsResponse", version, Self::VERSIONS)?;
        buffer.put_i32(self.throttle_time_ms);
        buffer.put_array(true, &self.transaction_states, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `DescribeTransactionsResponse`: `TransactionState`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct TransactionState<'a> {
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `TransactionalId`.
    pub transactional_id: Cow<'a, str>,
    /// Kafka's `TransactionState`.
    pub transaction_state: Cow<'a, str>,
    /// Kafka's `TransactionTimeoutMs`.
    pub transaction_timeout_ms: i32,
    /// Kafka's `TransactionStartTimeMs`.
    pub transaction_start_time_ms: i64,
    /// Kafka's `ProducerId`.
    pub producer_id: i64,
    /// Kafka's `ProducerEpoch`.
    pub producer_epoch: i16,
    /// Kafka's `Topics`.
    pub topics: Vec<TopicData<'a>>,
}

impl<'a> TransactionState<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            error_code: reader.i16()?,
            transactional_id: reader.string(true)?,
            transaction_state: reader.string(true)?,
            transaction_timeout_ms: reader.i32()?,
            transaction_start_time_ms: reader.i64()?,
            producer_id: reader.i64()?,
            producer_epoch: reader.i16()?,
            topics: reader.array(true, 3, |reader| TopicData::decode(reader, version))?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.put_i16(self.error_code);
        buffer.put_string(true, &self.transactional_id)?;
        buffer.put_string(true, &self.transaction_state)?;
        buffer.put_i32(self.transaction_timeout_ms);
        buffer.put_i64(self.transaction_start_time_ms);
        buffer.put_i64(self.producer_id);
        buffer.put_i16(self.producer_epoch);
        buffer.put_array(true, &self.topics, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `DescribeTransactionsResponse`: `TopicData`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct TopicData<'a> {
    /// Kafka's `Topic`.
    pub topic: Cow<'a, str>,
    /// Kafka's `Partitions`.
    pub partitions: Vec<i32>,
}

impl<'a> TopicData<'a> {
    fn decode(reader: &mut Reader<'a>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            topic: reader.string(true)?,
            partitions: reader.array(true, 4, Reader::i32)?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_string(true, &self.topic)?;
        buffer.put_array(true, &self.partitions, |buffer, element| {
            buffer.put_i32(*element);
            Ok(())
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for DescribeTransactionsResponse<'a> {
    const NAME: &'static str = "DescribeTransactionsResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
