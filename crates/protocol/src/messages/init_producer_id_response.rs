//! `InitProducerIdResponse`, versions 0-5. Generated from `schemas/init_producer_id.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use std::ops::RangeInclusive;

/// Kafka's `InitProducerIdResponse`, versions 0-5.
#[derive(Clone, Debug, PartialEq)]
pub struct InitProducerIdResponse {
    /// Kafka's `ThrottleTimeMs`.
    pub throttle_time_ms: i32,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `ProducerId`, default -1.
    pub producer_id: i64,
    /// Kafka's `ProducerEpoch`.
    pub producer_epoch: i16,
}

impl Default for InitProducerIdResponse {
    fn default() -> Self {
        Self {
            throttle_time_ms: 0,
            error_code: 0,
            producer_id: -1,
            producer_epoch: 0,
        }
    }
}

impl InitProducerIdResponse {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=5;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("InitProducerIdResponse", version, Self::VERSIONS)?;
        let flexible = version >= 2;
        let value = Self {
            throttle_time_ms: reader.i32()?,
            error_code: reader.i16()?,
            producer_id: reader.i64()?,
            producer_epoch: reader.i16()?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("InitProducerIdResponse", version, Self::VERSIONS)?;
        let flexible = version >= 2;
        buffer.put_i32(self.throttle_time_ms);
        buffer.put_i16(self.error_code);
        buffer.put_i64(self.producer_id);
        buffer.put_i16(self.producer_epoch);
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl Message<'_> for InitProducerIdResponse {
    const NAME: &'static str = "InitProducerIdResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
