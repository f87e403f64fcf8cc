//! `ListTransactionsRequest`, versions 0-2. Generated from `schemas/list_transactions.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, require_default};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `ListTransactionsRequest`, versions 0-2.
#[derive(Clone, Debug, PartialEq)]
pub struct ListTransactionsRequest<'a> {
    /// Kafka's `StateFilters`.
    pub state_filters: Vec<Cow<'a, str>>,
    /// Kafka's `ProducerIdFilters`.
    pub producer_id_filters: Vec<i64>,
    /// Kafka's `DurationFilter`, versions 1-2, default -1.
    pub duration_filter: i64,
    /// Kafka's `TransactionalIdPattern`, version 2, may be null, default null.
    pub transactional_id_pattern: Option<Cow<'a, str>>,
}

impl Default for ListTransactionsRequest<'_> {
    fn default() -> Self {
        Self {
            state_filters: Vec::new(),
            producer_id_filters: Vec::new(),
            duration_filter: -1,
            transactional_id_pattern: None,
        }
    }
}

impl<'a> ListTransactionsRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=2;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("ListTransactionsRequest", version, Self::VERSIONS)?;
        let value = Self {
            state_filters: reader.array(true, 1, |reader| reader.string(true))?,
            producer_id_filters: reader.array(true, 8, Reader::i64)?,
            duration_filter: if version >= 1 { reader.i64()? } else { -1 },
            transactional_id_pattern: if version == 2 {
                reader.nullable_string(true)?
            } else {
                None
            },
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("ListTransactionsRequest", version, Self::VERSIONS)?;
        buffer.put_array(true, &self.state_filters, |buffer, element| {
            buffer.put_string(true, element)
        })?;
        buffer.put_array(true, &self.producer_id_filters, |buffer, element| {
            buffer.put_i64(*element);
            Ok(())
        })?;
        if version >= 1 {
            buffer.put_i64(self.duration_filter);
        } else {
            require_default(
                self.duration_filter == -1,
                "ListTransactionsRequest.DurationFilter",
                version,
            )?;
        }
        if version == 2 {
            buffer.put_nullable_string(true, self.transactional_id_pattern.as_deref())?;
        } else {
            require_default(
                self.transactional_id_pattern.is_none(),
                "ListTransactionsRequest.TransactionalIdPattern",
                version,
            )?;
        }
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for ListTransactionsRequest<'a> {
    const NAME: &'static str = "ListTransactionsRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for ListTransactionsRequest<'a> {
    const KEY: ApiKey = ApiKey::ListTransactions;
    type Response<'r> = super::ListTransactionsResponse<'r>;
}
