//! `HeartbeatRequest`, versions 0-4. Generated from `schemas/heartbeat.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, require_default};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `HeartbeatRequest`, versions 0-4.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct HeartbeatRequest<'a> {
    /// Kafka's `GroupId`.
    pub group_id: Cow<'a, str>,
    /// Kafka's `GenerationId`.
    pub generation_id: i32,
    /// Kafka's `MemberId`.
    pub member_id: Cow<'a, str>,
    /// Kafka's `GroupInstanceId`, versions 3-4, may be null, default null.
    pub group_instance_id: Option<Cow<'a, str>>,
}

impl<'a> HeartbeatRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=4;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("HeartbeatRequest", version, Self::VERSIONS)?;
        let flexible = version == 4;
        let value = Self {
            group_id: reader.string(flexible)?,
            generation_id: reader.i32()?,
            member_id: reader.string(flexible)?,
            group_instance_id: if version >= 3 {
                reader.nullable_string(flexible)?
            } else {
                None
            },
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("HeartbeatRequest", version, Self::VERSIONS)?;
        let flexible = version == 4;
        buffer.put_string(flexible, &self.group_id)?;
        buffer.put_i32(self.generation_id);
        buffer.put_string(flexible, &self.member_id)?;
        if version >= 3 {
            buffer.put_nullable_string(flexible, self.group_instance_id.as_deref())?;
        } else {
            require_default(
                self.group_instance_id.is_none(),
                "HeartbeatRequest.GroupInstanceId",
                version,
            )?;
        }
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for HeartbeatRequest<'a> {
    const NAME: &'static str = "HeartbeatRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for HeartbeatRequest<'a> {
    const KEY: ApiKey = ApiKey::Heartbeat;
    type Response<'r> = super::HeartbeatResponse;
}
