//! `AddPartitionsToTxnRequest`, versions 0-5. Generated from `schemas/add_partitions_to_txn.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, require_default};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `AddPartitionsToTxnRequest`, versions 0-5.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct AddPartitionsToTxnRequest<'a> {
    /// Kafka's `Transactions`, versions 4-5.
    pub transactions: Vec<AddPartitionsToTxnTransaction<'a>>,
    /// Kafka's `V3AndBelowTransactionalId`, versions 0-3.
    pub v3_and_below_transactional_id: Cow<'a, str>,
    /// Kafka's `V3AndBelowProducerId`, versions 0-3.
    pub v3_and_below_producer_id: i64,
    /// Kafka's `V3AndBelowProducerEpoch`, versions 0-3.
    pub v3_and_below_producer_epoch: i16,
    /// Kafka's `V3AndBelowTopics`, versions 0-3.
    pub v3_and_below_topics: Vec<AddPartitionsToTxnTopic<'a>>,
}

impl<'a> AddPartitionsToTxnRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=5;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("AddPartitionsToTxnRequest", version, Self::VERSIONS)?;
        let flexible = version >= 3;
        let value = Self {
            transactions: if version >= 4 {
                reader.array(flexible, 14, |reader| {
                    AddPartitionsToTxnTransaction::decode(reader, version)
                })?
            } else {
                Vec::new()
            },
            v3_and_below_transactional_id: if version <= 3 {
                reader.string(flexible)?
            } else {
                Cow::Borrowed("")
            },
            v3_and_below_producer_id: if version <= 3 { reader.i64()? } else { 0 },
            v3_and_below_producer_epoch: if version <= 3 { reader.i16()? } else { 0 },
            v3_and_below_topics: if version <= 3 {
                reader.array(flexible, 3, |reader| {
                    AddPartitionsToTxnTopic::decode(reader, version)
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
        buffer.check_version("AddPartitionsToTxnRequest", version, Self::VERSIONS)?;
        let flexible = version >= 3;
        if version >= 4 {
            buffer.put_array(flexible, &self.transactions, |buffer, element| {
                element.encode(buffer, version)
            })?;
        } else {
            require_default(
                self.transactions.is_empty(),
                "AddPartitionsToTxnRequest.Transactions",
                version,
            )?;
        }
        if version <= 3 {
            buffer.put_string(flexible, &self.v3_and_below_transactional_id)?;
        } else {
            require_default(
                self.v3_and_below_transactional_id.is_empty(),
                "AddPartitionsToTxnRequest.V3AndBelowTransactionalId",
                version,
            )?;
        }
        if version <= 3 {
            buffer.put_i64(self.v3_and_below_producer_id);
        } else {
            require_default(
                self.v3_and_below_producer_id == 0,
                "AddPartitionsToTxnRequest.V3AndBelowProducerId",
                version,
            )?;
        }
        if version <= 3 {
            buffer.put_i16(self.v3_and_below_producer_epoch);
        } else {
            require_default(
                self.v3_and_below_producer_epoch == 0,
                "AddPartitionsToTxnRequest.V3AndBelowProducerEpoch",
                version,
            )?;
        }
        if version <= 3 {
            buffer.put_array(flexible, &self.v3_and_below_topics, |buffer, element| {
                element.encode(buffer, version)
            })?;
        } else {
            require_default(
                self.v3_and_below_topics.is_empty(),
                "AddPartitionsToTxnRequest.V3AndBelowTopics",
                version,
            )?;
        }
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `AddPartitionsToTxnRequest`: `AddPartitionsToTxnTransaction`, versions 4-5.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct AddPartitionsToTxnTransaction<'a> {
    /// Kafka's `TransactionalId`.
    pub transactional_id: Cow<'a, str>,
    /// Kafka's `ProducerId`.
    pub producer_id: i64,
    /// Kafka's `ProducerEpoch`.
    pub producer_epoch: i16,
    /// Kafka's `VerifyOnly`.
    pub verify_only: bool,
    /// Kafka's `Topics`.
    pub topics: Vec<AddPartitionsToTxnTopic<'a>>,
}

impl<'a> AddPartitionsToTxnTransaction<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            transactional_id: reader.string(true)?,
            producer_id: reader.i64()?,
            producer_epoch: reader.i16()?,
            verify_only: reader.bool()?,
            topics: reader.array(true, 3, |reader| {
                AddPartitionsToTxnTopic::decode(reader, version)
            })?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.put_string(true, &self.transactional_id)?;
        buffer.put_i64(self.producer_id);
        buffer.put_i16(self.producer_epoch);
        buffer.put_bool(self.verify_only);
        buffer.put_array(true, &self.topics, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `AddPartitionsToTxnRequest`: `AddPartitionsToTxnTopic`, versions 0-5.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct AddPartitionsToTxnTopic<'a> {
    /// Kafka's `Name`.
    pub name: Cow<'a, str>,
    /// Kafka's `Partitions`.
    pub partitions: Vec<i32>,
}

impl<'a> AddPartitionsToTxnTopic<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 3;
        let value = Self {
            name: reader.string(flexible)?,
            partitions: reader.array(flexible, 4, Reader::i32)?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 3;
        buffer.put_string(flexible, &self.name)?;
        buffer.put_array(flexible, &self.partitions, |buffer, element| {
            buffer.put_i32(*element);
            Ok(())
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for AddPartitionsToTxnRequest<'a> {
    const NAME: &'static str = "AddPartitionsToTxnRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for AddPartitionsToTxnRequest<'a> {
    const KEY: ApiKey = ApiKey::AddPartitionsToTxn;
    type Response<'r> = super::AddPartitionsToTxnResponse<'r>;
}
