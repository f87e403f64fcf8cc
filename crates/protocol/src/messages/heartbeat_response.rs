//! `HeartbeatResponse`, versions 0-4. Generated from `schemas/heartbeat.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use std::ops::RangeInclusive;

/// Kafka's `HeartbeatResponse`, versions 0-4.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct HeartbeatResponse {
    /// Kafka's `ThrottleTimeMs`, versions 1-4, left out of other versions.
    pub throttle_time_ms: i32,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
}

impl HeartbeatResponse {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=4;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("HeartbeatResponse", version, Self::VERSIONS)?;
        let flexible = version == 4;
        let value = Self {
            throttle_time_ms: if version >= 1 { reader.i32()? } else { 0 },
            error_code: reader.i16()?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("HeartbeatResponse", version, Self::VERSIONS)?;
        let flexible = version == 4;
        if version >= 1 {
            buffer.put_i32(self.throttle_time_ms);
        }
        buffer.put_i16(self.error_code);
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl Message<'_> for HeartbeatResponse {
    const NAME: &'static str = "HeartbeatResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
