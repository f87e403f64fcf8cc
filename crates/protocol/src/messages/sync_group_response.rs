//! `SyncGroupResponse`, versions 0-5. Generated from `schemas/sync_group.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `SyncGroupResponse`, versions 0-5.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct SyncGroupResponse<'a> {
    /// Kafka's `ThrottleTimeMs`, versions 1-5, left out of other versions.
    pub throttle_time_ms: i32,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `ProtocolType`, version 5, may be null, default null, left out of other versions.
    pub protocol_type: Option<Cow<'a, str>>,
    /// Kafka's `ProtocolName`, version 5, may be null, default null, left out of other versions.
    pub protocol_name: Option<Cow<'a, str>>,
    /// Kafka's `Assignment`.
    pub assignment: Cow<'a, [u8]>,
}

impl<'a> SyncGroupResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=5;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("SyncGroupResponse", version, Self::VERSIONS)?;
        let flexible = version >= 4;
        let value = Self {
            throttle_time_ms: if version >= 1 { reader.i32()? } else { 0 },
            error_code: reader.i16()?,
            protocol_type: if version == 5 {
                reader.nullable_string(flexible)?
            } else {
                None
            },
            protocol_name: if version == 5 {
                reader.nullable_string(flexible)?
            } else {
                None
            },
            assignment: reader.bytes(flexible)?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("SyncGroupResponse", version, Self::VERSIONS)?;
        let flexible = version >= 4;
        if version >= 1 {
            buffer.put_i32(self.throttle_time_ms);
        }
        buffer.put_i16(self.error_code);
        if version == 5 {
            buffer.put_nullable_string(flexible, self.protocol_type.as_deref())?;
        }
        if version == 5 {
            buffer.put_nullable_string(flexible, self.protocol_name.as_deref())?;
        }
        buffer.put_bytes(flexible, &self.assignment)?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for SyncGroupResponse<'a> {
    const NAME: &'static str = "SyncGroupResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
