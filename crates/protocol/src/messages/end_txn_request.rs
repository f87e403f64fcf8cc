//! `EndTxnRequest`, versions 0-5. Generated from `schemas/end_txn.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `EndTxnRequest`, versions 0-5.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct EndTxnRequest<'a> {
    /// Kafka's `TransactionalId`.
    pub transactional_id: Cow<'a, str>,
    /// Kafka's `ProducerId`.
    pub producer_id: i64,
    /// Kafka's `ProducerEpoch`.
    pub producer_epoch: i16,
    /// Kafka's `Committed`.
    pub committed: bool,
}

impl<'a> EndTxnRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=5;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("EndTxnRequest", version, Self::VERSIONS)?;
        let flexible = version >= 3;
        let value = Self {
            transactional_id: reader.string(flexible)?,
            producer_id: reader.i64()?,
            producer_epoch: reader.i16()?,
            committed: reader.bool()?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("EndTxnRequest", version, Self::VERSIONS)?;
        let flexible = version >= 3;
        buffer.put_string(flexible, &self.transactional_id)?;
        buffer.put_i64(self.producer_id);
        buffer.put_i16(self.producer_epoch);
        buffer.put_bool(self.committed);
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for EndTxnRequest<'a> {
    const NAME: &'static str = "EndTxnRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for EndTxnRequest<'a> {
    const KEY: ApiKey = ApiKey::EndTxn;
    type Response<'r> = super::EndTxnResponse;
}
