//! `AddPartitionsToTxnResponse`, versions 0-5. Generated from `schemas/add_partitions_to_txn.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, require_default};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `AddPartitionsToTxnResponse`, versions 0-5.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct AddPartitionsToTxnResponse<'a> {
    /// Kafka's `ThrottleTimeMs`.
    pub throttle_time_ms: i32,
    /// Kafka's `ErrorCode`, versions 4-5, left out of other versions.
    pub error_code: i16,
    /// Kafka's `ResultsByTransaction`, versions 4-5.
    pub results_by_transaction: Vec<AddPartitionsToTxnResult<'a>>,
    /// Kafka's `ResultsByTopicV3AndBelow`, versions 0-3.
    pub results_by_topic_v3_and_below: Vec<AddPartitionsToTxnTopicResult<'a>>,
}

impl<'a> AddPartitionsToTxnResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=5;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("AddPartitionsToTxnResponse", version, Self::VERSIONS)?;
        let flexible = version >= 3;
        let value = Self {
            throttle_time_ms: reader.i32()?,
            error_code: if version >= 4 { reader.i16()? } else { 0 },
            results_by_transaction: if version >= 4 {
                reader.array(flexible, 3, |reader| {
                    AddPartitionsToTxnResult::decode(reader, version)
                })?
            } else {
                Vec::new()
            },
            results_by_topic_v3_and_below: if version <= 3 {
                reader.array(flexible, 3, |reader| {
                    AddPartitionsToTxnTopicResult::decode(reader, version)
                })?
            } else {
                Vec::new()
            },
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("AddPartitionsToTxnResponse", version, Self::VERSIONS)?;
        let flexible = version >= 3;
        buffer.put_i32(self.throttle_time_ms);
        if version >= 4 {
            buffer.put_i16(self.error_code);
        }
        if version >= 4 {
            buffer.put_array(flexible, &self.results_by_transaction, |buffer, element| {
                element.encode(buffer, version)
            })?;
        } else {
            require_default(
                self.results_by_transaction.is_empty(),
                "AddPartitionsToTxnResponse.ResultsByTransaction",
                version,
            )?;
        }
        if version <= 3 {
            buffer.put_array(
                flexible,
                &self.results_by_topic_v3_and_below,
                |buffer, element| element.encode(buffer, version),
            )?;
        } else {
            require_default(
                self.results_by_topic_v3_and_below.is_empty(),
                "AddPartitionsToTxnResponse.ResultsByTopicV3AndBelow",
                version,
            )?;
        }
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `AddPartitionsToTxnResponse`: `AddPartitionsToTxnResult`, versions 4-5.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct AddPartitionsToTxnResult<'a> {
    /// Kafka's `TransactionalId`.
    pub transactional_id: Cow<'a, str>,
    /// Kafka's `TopicResults`.
    pub topic_results: Vec<AddPartitionsToTxnTopicResult<'a>>,
}

impl<'a> AddPartitionsToTxnResult<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            transactional_id: reader.string(true)?,
            topic_results: reader.array(true, 3, |reader| {
                AddPartitionsToTxnTopicResult::decode(reader, version)
            })?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.put_string(true, &self.transactional_id)?;
        buffer.put_array(true, &self.topic_results, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `AddPartitionsToTxnResponse`: `AddPartitionsToTxnPartitionResult`, versions 0-5.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct AddPartitionsToTxnPartitionResult {
    /// Kafka's `PartitionIndex`.
    pub partition_index: i32,
    /// Kafka's `PartitionErrorCode`.
    pub partition_error_code: i16,
}

impl AddPartitionsToTxnPartitionResult {
    fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 3;
        let value = Self {
            partition_index: reader.i32()?,
            partition_error_code: reader.i16()?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 3;
        buffer.put_i32(self.partition_index);
        buffer.put_i16(self.partition_error_code);
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `AddPartitionsToTxnResponse`: `AddPartitionsToTxnTopicResult`, versions 0-5.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct AddPartitionsToTxnTopicResult<'a> {
    /// Kafka's `Name`.
    pub name: Cow<'a, str>,
    /// Kafka's `ResultsByPartition`.
    pub results_by_partition: Vec<AddPartitionsToTxnPartitionResult>,
}

impl<'a> AddPartitionsToTxnTopicResult<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 3;
        let value = Self {
            name: reader.string(flexible)?,
            results_by_partition: reader.array(flexible, 6, |reader| {
                AddPartitionsToTxnPartitionResult::decode(reader, version)
            })?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 3;
        buffer.put_string(flexible, &self.name)?;
        buffer.put_array(flexible, &self.results_by_partition, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for AddPartitionsToTxnResponse<'a> {
    const NAME: &'static str = "AddPartitionsToTxnResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
