//! `TransactionLogValue`, versions 0-1. Generated from `schemas/transaction_log_record.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{
    DecodeError, EncodeError, GatherBuffer, Reader, TaggedFields, decode_prefixed, encode_prefixed,
    require_default,
};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `TransactionLogValue`, versions 0-1.
#[derive(Clone, Debug, PartialEq)]
pub struct TransactionLogValue<'a> {
    /// Kafka's `ProducerId`.
    pub producer_id: i64,
    /// Kafka's `PreviousProducerId`, version 1, default -1.
    pub previous_producer_id: i64,
    /// Kafka's `NextProducerId`, version 1, default -1.
    pub next_producer_id: i64,
    /// Kafka's `ProducerEpoch`.
    pub producer_epoch: i16,
    /// Kafka's `NextProducerEpoch`, version 1, default -1.
    pub next_producer_epoch: i16,
    /// Kafka's `TransactionTimeoutMs`.
    pub transaction_timeout_ms: i32,
    /// Kafka's `TransactionStatus`.
    pub transaction_status: i8,
    /// Kafka's `TransactionPartitions`, may be null.
    pub transaction_partitions: Option<Vec<PartitionsSchema<'a>>>,
    /// Kafka's `TransactionLastUpdateTimestampMs`.
    pub transaction_last_update_timestamp_ms: i64,
    /// Kafka's `TransactionStartTimestampMs`.
    pub transaction_start_timestamp_ms: i64,
    /// Kafka's `ClientTransactionVersion`, version 1.
    pub client_transaction_version: i16,
}

impl Default for TransactionLogValue<'_> {
    fn default() -> Self {
        Self {
            producer_id: 0,
            previous_producer_id: -1,
            next_producer_id: -1,
            producer_epoch: 0,
            next_producer_epoch: -1,
            transaction_timeout_ms: 0,
            transaction_status: 0,
            transaction_partitions: Some(Vec::new()),
            transaction_last_update_timestamp_ms: 0,
            transaction_start_timestamp_ms: 0,
            client_transaction_version: 0,
        }
    }
}

impl<'a> TransactionLogValue<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=1;

    /// Reads the message behind its 2-byte version.
    pub fn decode_with_version_prefix(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        decode_prefixed(bytes, "TransactionLogValue", Self::VERSIONS, Self::decode)
    }

    /// Writes the message behind its 2-byte version.
    pub fn encode_with_version_prefix(&self, version: i16) -> Result<Vec<u8>, EncodeError> {
        encode_prefixed(version, |buffer| self.encode(buffer, version))
    }

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("TransactionLogValue", version, Self::VERSIONS)?;
        let flexible = version == 1;
        let mut value = Self {
            producer_id: reader.i64()?,
            previous_producer_id: -1,
            next_producer_id: -1,
            producer_epoch: reader.i16()?,
            next_producer_epoch: -1,
            transaction_timeout_ms: reader.i32()?,
            transaction_status: reader.i8()?,
            transaction_partitions: reader.nullable_array(flexible, 3, |reader| {
                PartitionsSchema::decode(reader, version)
            })?,
            transaction_last_update_timestamp_ms: reader.i64()?,
            transaction_start_timestamp_ms: reader.i64()?,
            client_transaction_version: 0,
        };
        if flexible {
            reader.tagged_fields(|tag, reader| {
                match tag {
                    0 => value.previous_producer_id = reader.i64()?,
                    1 => value.next_producer_id = reader.i64()?,
                    3 => value.next_producer_epoch = reader.i16()?,
                    2 => value.client_transaction_version = reader.i16()?,
                    _ => return Ok(false),
                }
                Ok(true)
            })?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("TransactionLogValue", version, Self::VERSIONS)?;
        let flexible = version == 1;
        buffer.put_i64(self.producer_id);
        buffer.put_i16(self.producer_epoch);
        buffer.put_i32(self.transaction_timeout_ms);
        buffer.put_i8(self.transaction_status);
        buffer.put_nullable_array(
            flexible,
            self.transaction_partitions.as_deref(),
            |buffer, element| element.encode(buffer, version),
        )?;
        buffer.put_i64(self.transaction_last_update_timestamp_ms);
        buffer.put_i64(self.transaction_start_timestamp_ms);
        if version != 1 {
            require_default(
                self.previous_producer_id == -1,
                "TransactionLogValue.PreviousProducerId",
                version,
            )?;
        }
        if version != 1 {
            require_default(
                self.next_producer_id == -1,
                "TransactionLogValue.NextProducerId",
                version,
            )?;
        }
        if version != 1 {
            require_default(
                self.client_transaction_version == 0,
                "TransactionLogValue.ClientTransactionVersion",
                version,
            )?;
        }
        if version != 1 {
            require_default(
                self.next_producer_epoch == -1,
                "TransactionLogValue.NextProducerEpoch",
                version,
            )?;
        }
        if flexible {
            let mut tagged = TaggedFields::default();
            if self.previous_producer_id != -1 {
                tagged.put(0, |buffer| {
                    buffer.put_i64(self.previous_producer_id);
                    Ok(())
                })?;
            }
            if self.next_producer_id != -1 {
                tagged.put(1, |buffer| {
                    buffer.put_i64(self.next_producer_id);
                    Ok(())
                })?;
            }
            if self.client_transaction_version != 0 {
                tagged.put(2, |buffer| {
                    buffer.put_i16(self.client_transaction_version);
                    Ok(())
                })?;
            }
            if self.next_producer_epoch != -1 {
                tagged.put(3, |buffer| {
                    buffer.put_i16(self.next_producer_epoch);
                    Ok(())
                })?;
            }
            buffer.put_tagged_fields(tagged);
        }
        Ok(())
    }
}

/// Part of Kafka's `TransactionLogValue`: `PartitionsSchema`, versions 0-1.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct PartitionsSchema<'a> {
    /// Kafka's `Topic`.
    pub topic: Cow<'a, str>,
    /// Kafka's `PartitionIds`.
    pub partition_ids: Vec<i32>,
}

impl<'a> PartitionsSchema<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 1;
        let value = Self {
            topic: reader.string(flexible)?,
            partition_ids: reader.array(flexible, 4, Reader::i32)?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 1;
        buffer.put_string(flexible, &self.topic)?;
        buffer.put_array(flexible, &self.partition_ids, |buffer, element| {
            buffer.put_i32(*element);
            Ok(())
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for TransactionLogValue<'a> {
    const NAME: &'static str = "TransactionLogValue";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
