//! `LeaveGroupResponse`, versions 0-5. Generated from `schemas/leave_group.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, require_default};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `LeaveGroupResponse`, versions 0-5.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct LeaveGroupResponse<'a> {
    /// Kafka's `ThrottleTimeMs`, versions 1-5, left out of other versions.
    pub throttle_time_ms: i32,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `Members`, versions 3-5.
    pub members: Vec<MemberResponse<'a>>,
}

impl<'a> LeaveGroupResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=5;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("LeaveGroupResponse", version, Self::VERSIONS)?;
        let flexible = version >= 4;
        let value = Self {
            throttle_time_ms: if version >= 1 { reader.i32()? } else { 0 },
            error_code: reader.i16()?,
            members: if version >= 3 {
                reader.array(flexible, 5, |reader| {
                    MemberResponse::decode(reader, version)
                })?
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
        buffer.check_version("LeaveGroupResponse", version, Self::VERSIONS)?;
        let flexible = version >= 4;
        if version >= 1 {
            buffer.put_i32(self.throttle_time_ms);
        }
        buffer.put_i16(self.error_code);
        if version >= 3 {
            buffer.put_array(flexible, &self.members, |buffer, element| {
                element.encode(buffer, version)
            })?;
        } else {
            require_default(
                self.members.is_empty(),
                "LeaveGroupResponse.Members",
                version,
            )?;
        }
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `LeaveGroupResponse`: `MemberResponse`, versions 3-5.
#[derive(Clone, Debug, PartialEq)]
pub struct MemberResponse<'a> {
    /// Kafka's `MemberId`.
    pub member_id: Cow<'a, str>,
    /// Kafka's `GroupInstanceId`, may be null.
    pub group_instance_id: Option<Cow<'a, str>>,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
}

impl Default for MemberResponse<'_> {
    fn default() -> Self {
        Self {
            member_id: Cow::Borrowed(""),
            group_instance_id: Some(Cow::Borrowed("")),
            error_code: 0,
        }
    }
}

impl<'a> MemberResponse<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 4;
        let value = Self {
            member_id: reader.string(flexible)?,
            group_instance_id: reader.nullable_string(flexible)?,
            error_code: reader.i16()?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 4;
        buffer.put_string(flexible, &self.member_id)?;
        buffer.put_nullable_string(flexible, self.group_instance_id.as_deref())?;
        buffer.put_i16(self.error_code);
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for LeaveGroupResponse<'a> {
    const NAME: &'static str = "LeaveGroupResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
