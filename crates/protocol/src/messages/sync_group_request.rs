//! `SyncGroupRequest`, versions 0-5. Generated from `schemas/sync_group.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, require_default};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `SyncGroupRequest`, versions 0-5.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct SyncGroupRequest<'a> {
    /// Kafka's `GroupId`.
    pub group_id: Cow<'a, str>,
    /// Kafka's `GenerationId`.
    pub generation_id: i32,
    /// Kafka's `MemberId`.
    pub member_id: Cow<'a, str>,
    /// Kafka's `GroupInstanceId`, versions 3-5, may be null, default null.
    pub group_instance_id: Option<Cow<'a, str>>,
    /// Kafka's `ProtocolType`, version 5, may be null, default null, left out of other versions.
    pub protocol_type: Option<Cow<'a, str>>,
    /// Kafka's `ProtocolName`, version 5, may be null, default null, left out of other versions.
    pub protocol_name: Option<Cow<'a, str>>,
    /// Kafka's `Assignments`.
    pub assignments: Vec<SyncGroupRequestAssignment<'a>>,
}

impl<'a> SyncGroupRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=5;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("SyncGroupRequest", version, Self::VERSIONS)?;
        let flexible = version >= 4;
        let value = Self {
            group_id: reader.string(flexible)?,
            generation_id: reader.i32()?,
            member_id: reader.string(flexible)?,
            group_instance_id: if version >= 3 {
                reader.nullable_string(flexible)?
            } else {
                None
            },
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
            assignments: reader.array(flexible, 3, |reader| {
                SyncGroupRequestAssignment::decode(reader, version)
            })?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("SyncGroupRequest", version, Self::VERSIONS)?;
        let flexible = version >= 4;
        buffer.put_string(flexible, &self.group_id)?;
        buffer.put_i32(self.generation_id);
        buffer.put_string(flexible, &self.member_id)?;
        if version >= 3 {
            buffer.put_nullable_string(flexible, self.group_instance_id.as_deref())?;
        } else {
            require_default(
                self.group_instance_id.is_none(),
                "SyncGroupRequest.GroupInstanceId",
                version,
            )?;
        }
        if version == 5 {
            buffer.put_nullable_string(flexible, self.protocol_type.as_deref())?;
        }
        if version == 5 {
            buffer.put_nullable_string(flexible, self.protocol_name.as_deref())?;
        }
        buffer.put_array(flexible, &self.assignments, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `SyncGroupRequest`: `SyncGroupRequestAssignment`, versions 0-5.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct SyncGroupRequestAssignment<'a> {
    /// Kafka's `MemberId`.
    pub member_id: Cow<'a, str>,
    /// Kafka's `Assignment`.
    pub assignment: Cow<'a, [u8]>,
}

impl<'a> SyncGroupRequestAssignment<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 4;
        let value = Self {
            member_id: reader.string(flexible)?,
            assignment: reader.bytes(flexible)?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 4;
        buffer.put_string(flexible, &self.member_id)?;
        buffer.put_bytes(flexible, &self.assignment)?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for SyncGroupRequest<'a> {
    const NAME: &'static str = "SyncGroupRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for SyncGroupRequest<'a> {
    const KEY: ApiKey = ApiKey::SyncGroup;
    type Response<'r> = super::SyncGroupResponse<'r>;
}
