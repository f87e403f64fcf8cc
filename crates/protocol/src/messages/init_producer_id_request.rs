//! `InitProducerIdRequest`, versions 0-5. Generated from `schemas/init_producer_id.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, require_default};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `InitProducerIdRequest`, versions 0-5.
#[derive(Clone, Debug, PartialEq)]
pub struct InitProducerIdRequest<'a> {
    /// Kafka's `TransactionalId`, may be null.
    pub transactional_id: Option<Cow<'a, str>>,
    /// Kafka's `TransactionTimeoutMs`.
    pub transaction_timeout_ms: i32,
    /// Kafka's `ProducerId`, versions 3-5, default -1.
    pub producer_id: i64,
    /// Kafka's `ProducerEpoch`, versions 3-5, default -1.
    pub producer_epoch: i16,
}

impl Default for InitProducerIdRequest<'_> {
    fn default() -> Self {
        Self {
            transactional_id: Some(Cow::Borrowed("")),
            transaction_timeout_ms: 0,
            producer_id: -1,
            producer_epoch: -1,
        }
    }
}

impl<'a> InitProducerIdRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=5;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("InitProducerIdRequest", version, Self::VERSIONS)?;
        let flexible = version >= 2;
        let value = Self {
            transactional_id: reader.nullable_string(flexible)?,
            transaction_timeout_ms: reader.i32()?,
            producer_id: if version >= 3 { reader.i64()? } else { -1 },
            producer_epoch: if version >= 3 { reader.i16()? } else { -1 },
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("InitProducerIdRequest", version, Self::VERSIONS)?;
        let flexible = version >= 2;
        buffer.put_nullable_string(flexible, self.transactional_id.as_deref())?;
        buffer.put_i32(self.transaction_timeout_ms);
        if version >= 3 {
            buffer.put_i64(self.producer_id);
        } else {
            require_default(
                self.producer_id == -1,
                "InitProducerIdRequest.ProducerId",
                version,
            )?;
        }
        if version >= 3 {
            buffer.put_i16(self.producer_epoch);
        } else {
            require_default(
                self.producer_epoch == -1,
                "InitProducerIdRequest.ProducerEpoch",
                version,
            )?;
        }
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for InitProducerIdRequest<'a> {
    const NAME: &'static str = "InitProducerIdRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for InitProducerIdRequest<'a> {
    const KEY: ApiKey = ApiKey::InitProducerId;
    type Response<'r> = super::InitProducerIdResponse;
}
