//! `FindCoordinatorResponse`, versions 0-6. Generated from `schemas/find_coordinator.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, require_default};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `FindCoordinatorResponse`, versions 0-6.
#[derive(Clone, Debug, PartialEq)]
pub struct FindCoordinatorResponse<'a> {
    /// Kafka's `ThrottleTimeMs`, versions 1-6, left out of other versions.
    pub throttle_time_ms: i32,
    /// Kafka's `ErrorCode`, versions 0-3.
    pub error_code: i16,
    /// Kafka's `ErrorMessage`, versions 1-3, may be null, left out of other versions.
    pub error_message: Option<Cow<'a, str>>,
    /// Kafka's `NodeId`, versions 0-3.
    pub node_id: i32,
    /// Kafka's `Host`, versions 0-3.
    pub host: Cow<'a, str>,
    /// Kafka's `Port`, versions 0-3.
    pub port: i32,
    /// Kafka's `Coordinators`, versions 4-6.
    pub coordinators: Vec<Coordinator<'a>>,
}

impl Default for FindCoordinatorResponse<'_> {
    fn default() -> Self {
        Self {
            throttle_time_ms: 0,
            error_code: 0,
            error_message: Some(Cow::Borrowed("")),
            node_id: 0,
            host: Cow::Borrowed(""),
            port: 0,
            coordinators: Vec::new(),
        }
    }
}

impl<'a> FindCoordinatorResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=6;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("FindCoordinatorResponse", version, Self::VERSIONS)?;
        let flexible = version >= 3;
        let value = Self {
            throttle_time_ms: if version >= 1 { reader.i32()? } else { 0 },
            error_code: if version <= 3 { reader.i16()? } else { 0 },
            error_message: if (1..=3).contains(&version) {
                reader.nullable_string(flexible)?
            } else {
                Some(Cow::Borrowed(""))
            },
            node_id: if version <= 3 { reader.i32()? } else { 0 },
            host: if version <= 3 {
                reader.string(flexible)?
            } else {
                Cow::Borrowed("")
            },
            port: if version <= 3 { reader.i32()? } else { 0 },
            coordinators: if version >= 4 {
                reader.array(flexible, 14, |reader| Coordinator::decode(reader, version))?
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
        buffer.check_version("FindCoordinatorResponse", version, Self::VERSIONS)?;
        let flexible = version >= 3;
        if version >= 1 {
            buffer.put_i32(self.throttle_time_ms);
        }
        if version <= 3 {
            buffer.put_i16(self.error_code);
        } else {
            require_default(
                self.error_code == 0,
                "FindCoordinatorResponse.ErrorCode",
                version,
            )?;
        }
        if (1..=3).contains(&version) {
            buffer.put_nullable_string(flexible, self.error_message.as_deref())?;
        }
        if version <= 3 {
            buffer.put_i32(self.node_id);
        } else {
            require_default(self.node_id == 0, "FindCoordinatorResponse.NodeId", version)?;
        }
        if version <= 3 {
            buffer.put_string(flexible, &self.host)?;
        } else {
            require_default(
                self.host.is_empty(),
                "FindCoordinatorResponse.Host",
                version,
            )?;
        }
        if version <= 3 {
            buffer.put_i32(self.port);
        } else {
            require_default(self.port == 0, "FindCoordinatorResponse.Port", version)?;
        }
        if version >= 4 {
            buffer.put_array(flexible, &self.coordinators, |buffer, element| {
                element.encode(buffer, version)
            })?;
        } else {
            require_default(
                self.coordinators.is_empty(),
                "FindCoordinatorResponse.Coordinators",
                version,
            )?;
        }
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `FindCoordinatorResponse`: `Coordinator`, versions 4-6.
#[derive(Clone, Debug, PartialEq)]
pub struct Coordinator<'a> {
    /// Kafka's `Key`.
    pub key: Cow<'a, str>,
    /// Kafka's `NodeId`.
    pub node_id: i32,
    /// Kafka's `Host`.
    pub host: Cow<'a, str>,
    /// Kafka's `Port`.
    pub port: i32,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `ErrorMessage`, may be null.
    pub error_message: Option<Cow<'a, str>>,
}

impl Default for Coordinator<'_> {
    fn default() -> Self {
        Self {
            key: Cow::Borrowed(""),
            node_id: 0,
            host: Cow::Borrowed(""),
            port: 0,
            error_code: 0,
            error_message: Some(Cow::Borrowed("")),
        }
    }
}

impl<'a> Coordinator<'a> {
    fn decode(reader: &mut Reader<'a>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            key: reader.string(true)?,
            node_id: reader.i32()?,
            host: reader.string(true)?,
            port: reader.i32()?,
            error_code: reader.i16()?,
            error_message: reader.nullable_string(true)?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_string(true, &self.key)?;
        buffer.put_i32(self.node_id);
        buffer.put_string(true, &self.host)?;
        buffer.put_i32(self.port);
        buffer.put_i16(self.error_code);
        buffer.put_nullable_string(true, self.error_message.as_deref())?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for FindCoordinatorResponse<'a> {
    const NAME: &'static str = "FindCoordinatorResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
