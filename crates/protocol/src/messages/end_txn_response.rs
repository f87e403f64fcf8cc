//! `EndTxnResponse`, versions 0-5. Generated from `schemas/end_txn.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use std::ops::RangeInclusive;

/// Kafka's `EndTxnResponse`, versions 0-5.
#[derive(Clone, Debug, PartialEq)]
pub struct EndTxnResponse {
    /// Kafka's `ThrottleTimeMs`.
    pub throttle_time_ms: i32,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `ProducerId`, version 5, default -1, left out of other versions.
    pub producer_id: i64,
    /// Kafka's `ProducerEpoch`, version 5, default -1, left out of other versions.
    pub producer_epoch: i16,
}

impl Default for EndTxnResponse {
    fn default() -> Self {
        Self {
            throttle_time_ms: 0,
            error_code: 0,
            producer_id: -1,
            producer_epoch: -1,
        }
    }
}

impl EndTxnResponse {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=5;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("EndTxnResponse", version, Self::VERSIONS)?;
        let flexible = version >= 3;
        let value = Self {
            throttle_time_ms: reader.i32()?,
            error_code: reader.i16()?,
            producer_id: if version == 5 { reader.i64()? } else { -1 },
            producer_epoch: if version == 5 { reader.i16()? } else { -1 },
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("EndTxnResponse", version, Self::VERSIONS)?;
        let flexible = version >= 3;
        buffer.put_i32(self.throttle_time_ms);
        buffer.put_i16(self.error_code);
        if version == 5 {
            buffer.put_i64(self.producer_id);
        }
        if version == 5 {
            buffer.put_i16(self.producer_epoch);
        }
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl Message<'_> for EndTxnResponse {
    const NAME: &'static str = "EndTxnResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
