//! `JoinGroupResponse`, versions 0-9. Generated from `schemas/join_group.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, require_default, require_some};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `JoinGroupResponse`, versions 0-9.
#[derive(Clone, Debug, PartialEq)]
pub struct JoinGroupResponse<'a> {
    /// Kafka's `ThrottleTimeMs`, versions 2-9, left out of other versions.
    pub throttle_time_ms: i32,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `GenerationId`, default -1.
    pub generation_id: i32,
    /// Kafka's `ProtocolType`, versions 7-9, may be null, default null, left out of other versions.
    pub protocol_type: Option<Cow<'a, str>>,
    /// Kafka's `ProtocolName`, may be null in versions 7-9.
    pub protocol_name: Option<Cow<'a, str>>,
    /// Kafka's `Leader`.
    pub leader: Cow<'a, str>,
    /// Kafka's `SkipAssignment`, version 9.
    pub skip_assignment: bool,
    /// Kafka's `MemberId`.
    pub member_id: Cow<'a, str>,
    /// Kafka's `Members`.
    pub members: Vec<JoinGroupResponseMember<'a>>,
}

impl Default for JoinGroupResponse<'_> {
    fn default() -> Self {
        Self {
            throttle_time_ms: 0,
            error_code: 0,
            generation_id: -1,
            protocol_type: None,
            protocol_name: Some(Cow::Borrowed("")),
            leader: Cow::Borrowed(""),
            skip_assignment: false,
            member_id: Cow::Borrowed(""),
            members: Vec::new(),
        }
    }
}

impl<'a> JoinGroupResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=9;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("JoinGroupResponse", version, Self::VERSIONS)?;
        let flexible = version >= 6;
        let value = Self {
            throttle_time_ms: if version >= 2 { reader.i32()? } else { 0 },
            error_code: reader.i16()?,
            generation_id: reader.i32()?,
            protocol_type: if version >= 7 {
                reader.nullable_string(flexible)?
            } else {
                None
            },
            protocol_name: if version >= 7 {
                reader.nullable_string(flexible)?
            } else {
                Some(reader.string(flexible)?)
            },
            leader: reader.string(flexible)?,
            skip_assignment: if version == 9 { reader.bool()? } else { false },
            member_id: reader.string(flexible)?,
            members: reader.array(flexible, 4, |reader| {
                JoinGroupResponseMember::decode(reader, version)
            })?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("JoinGroupResponse", version, Self::VERSIONS)?;
        let flexible = version >= 6;
        if version >= 2 {
            buffer.put_i32(self.throttle_time_ms);
        }
        buffer.put_i16(self.error_code);
        buffer.put_i32(self.generation_id);
        if version >= 7 {
            buffer.put_nullable_string(flexible, self.protocol_type.as_deref())?;
        }
        if version >= 7 {
            buffer.put_nullable_string(flexible, self.protocol_name.as_deref())?;
        } else {
            buffer.put_string(
                flexible,
                require_some(
                    &self.protocol_name,
                    "JoinGroupResponse.ProtocolName",
                    version,
                )?,
            )?;
        }
        buffer.put_string(flexible, &self.leader)?;
        if version == 9 {
            buffer.put_bool(self.skip_assignment);
        } else {
            require_default(
                !self.skip_assignment,
                "JoinGroupResponse.SkipAssignment",
                version,
            )?;
        }
        buffer.put_string(flexible, &self.member_id)?;
        buffer.put_array(flexible, &self.members, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `JoinGroupResponse`: `JoinGroupResponseMember`, versions 0-9.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct JoinGroupResponseMember<'a> {
    /// Kafka's `MemberId`.
    pub member_id: Cow<'a, str>,
    /// Kafka's `GroupInstanceId`, versions 5-9, may be null, default null, left out of other versions.
    pub group_instance_id: Option<Cow<'a, str>>,
    /// Kafka's `Metadata`.
    pub metadata: Cow<'a, [u8]>,
}

impl<'a> JoinGroupResponseMember<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 6;
        let value = Self {
            member_id: reader.string(flexible)?,
            group_instance_id: if version >= 5 {
                reader.nullable_string(flexible)?
            } else {
                None
            },
            metadata: reader.bytes(flexible)?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 6;
        buffer.put_string(flexible, &self.member_id)?;
        if version >= 5 {
            buffer.put_nullable_string(flexible, self.group_instance_id.as_deref())?;
        }
        buffer.put_bytes(flexible, &self.metadata)?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for JoinGroupResponse<'a> {
    const NAME: &'static str = "JoinGroupResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
