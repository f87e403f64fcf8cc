//! `ListTransactionsResponse`, versions 0-2. Generated from `schemas/list_transactions.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `ListTransactionsResponse`, versions 0-2.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ListTransactionsResponse<'a> {
    /// Kafka's `ThrottleTimeMs`.
    pub throttle_time_ms: i32,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `UnknownStateFilters`.
    pub unknown_state_filters: Vec<Cow<'a, str>>,
    /// Kafka's `TransactionStates`.
    pub transaction_states: Vec<TransactionState<'a>>,
}

impl<'a> ListTransactionsResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=2;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("ListTransactionsResponse", version, Self::VERSIONS)?;
        let value = Self {
            throttle_time_ms: reader.i32()?,
            error_code: reader.i16()?,
            unknown_state_filters: reader.array(true, 1, |reader| reader.string(true))?,
            transaction_states: reader
                .array(true, 11, |reader| TransactionState::decode(reader, version))?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("ListTransactionsResponse", version, Self::VERSIONS)?;
        buffer.put_i32(self.throttle_time_ms);
        buffer.put_i16(self.error_code);
        buffer.put_array(true, &self.unknown_state_filters, |buffer, element| {
            buffer.put_string(true, element)
        })?;
        buffer.put_array(true, &self.transaction_states, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `ListTransactionsResponse`: `TransactionState`, versions 0-2.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct TransactionState<'a> {
    /// Kafka's `TransactionalId`.
    pub transactional_id: Cow<'a, str>,
    /// Kafka's `ProducerId`.
    pub producer_id: i64,
    /// Kafka's `TransactionState`.
    pub transaction_state: Cow<'a, str>,
}

impl<'a> TransactionState<'a> {
    fn decode(reader: &mut Reader<'a>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            transactional_id: reader.string(true)?,
            producer_id: reader.i64()?,
            transaction_state: reader.string(true)?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_string(true, &self.transactional_id)?;
        buffer.put_i64(self.producer_id);
        buffer.put_string(true, &self.transaction_state)?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for ListTransactionsResponse<'a> {
    const NAME: &'static str = "ListTransactionsResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
