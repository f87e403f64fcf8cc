//! `DescribeTransactionsRequest`, version 0. Generated from `schemas/describe_transactions.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `DescribeTransactionsRequest`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DescribeTransactionsRequest<'a> {
    /// Kafka's `TransactionalIds`.
    pub transactional_ids: Vec<Cow<'a, str>>,
}

impl<'a> DescribeTransactionsRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=0;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("DescribeTransactionsRequest", version, Self::VERSIONS)?;
        let value = Self {
            transactional_ids: reader.array(true, 1, |reader| reader.string(true))?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("DescribeTransactionsRequest", version, Self::VERSIONS)?;
        buffer.put_array(true, &self.transactional_ids, |buffer, element| {
            buffer.put_string(true, element)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for DescribeTransactionsRequest<'a> {
    const NAME: &'static str = "DescribeTransactionsRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for DescribeTransactionsRequest<'a> {
    const KEY: ApiKey = ApiKey::DescribeTransactions;
    type Response<'r> = super::DescribeTransactionsResponse<'r>;
}
