//! `LeaveGroupRequest`, versions 0-5. Generated from `schemas/leave_group.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, require_default};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `LeaveGroupRequest`, versions 0-5.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct LeaveGroupRequest<'a> {
    /// Kafka's `GroupId`.
    pub group_id: Cow<'a, str>,
    /// Kafka's `MemberId`, versions 0-2.
    pub member_id: Cow<'a, str>,
    /// Kafka's `Members`, versions 3-5.
    pub members: Vec<MemberIdentity<'a>>,
}

impl<'a> LeaveGroupRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=5;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("LeaveGroupRequest", version, Self::VERSIONS)?;
        let flexible = version >= 4;
        let value = Self {
            group_id: reader.string(flexible)?,
            member_id: if version <= 2 {
                reader.string(flexible)?
            } else {
                Cow::Borrowed("")
            },
            members: if version >= 3 {
                reader.array(flexible, 3, |reader| {
                    MemberIdentity::decode(reader, version)
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
        buffer.check_version("LeaveGroupRequest", version, Self::VERSIONS)?;
        let flexible = version >= 4;
        buffer.put_string(flexible, &self.group_id)?;
        if version <= 2 {
            buffer.put_string(flexible, &self.member_id)?;
        } else {
            require_default(
                self.member_id.is_empty(),
                "LeaveGroupRequest.MemberId",
                version,
            )?;
        }
        if version >= 3 {
            buffer.put_array(flexible, &self.members, |buffer, element| {
                element.encode(buffer, version)
            })?;
        } else {
            require_default(
                self.members.is_empty(),
                "LeaveGroupRequest.Members",
                version,
            )?;
        }
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `LeaveGroupRequest`: `MemberIdentity`, versions 3-5.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct MemberIdentity<'a> {
    /// Kafka's `MemberId`.
    pub member_id: Cow<'a, str>,
    /// Kafka's `GroupInstanceId`, may be null, default null.
    pub group_instance_id: Option<Cow<'a, str>>,
    /// Kafka's `Reason`, version 5, may be null, default null, left out of other versions.
    pub reason: Option<Cow<'a, str>>,
}

impl<'a> MemberIdentity<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 4;
        let value = Self {
            member_id: reader.string(flexible)?,
            group_instance_id: reader.nullable_string(flexible)?,
            reason: if version == 5 {
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

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 4;
        buffer.put_string(flexible, &self.member_id)?;
        buffer.put_nullable_string(flexible, self.group_instance_id.as_deref())?;
        if version == 5 {
            buffer.put_nullable_string(flexible, self.reason.as_deref())?;
        }
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for LeaveGroupRequest<'a> {
    const NAME: &'static str = "LeaveGroupRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for LeaveGroupRequest<'a> {
    const KEY: ApiKey = ApiKey::LeaveGroup;
    type Response<'r> = super::LeaveGroupResponse<'r>;
}
