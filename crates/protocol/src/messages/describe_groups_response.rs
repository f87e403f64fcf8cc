//! `DescribeGroupsResponse`, versions 0-6. Generated from `schemas/describe_groups.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, require_default};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `DescribeGroupsResponse`, versions 0-6.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DescribeGroupsResponse<'a> {
    /// Kafka's `ThrottleTimeMs`, versions 1-6, left out of other versions.
    pub throttle_time_ms: i32,
    /// Kafka's `Groups`.
    pub groups: Vec<DescribedGroup<'a>>,
}

impl<'a> DescribeGroupsResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=6;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("DescribeGroupsResponse", version, Self::VERSIONS)?;
        let flexible = version >= 5;
        let value = Self {
            throttle_time_ms: if version >= 1 { reader.i32()? } else { 0 },
            groups: reader.array(flexible, 12, |reader| {
                DescribedGroup::decode(reader, version)
            })?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("DescribeGroupsResponse", version, Self::VERSIONS)?;
        let flexible = version >= 5;
        if version >= 1 {
            buffer.put_i32(self.throttle_time_ms);
        }
        buffer.put_array(flexible, &self.groups, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `DescribeGroupsResponse`: `DescribedGroup`, versions 0-6.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribedGroup<'a> {
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `ErrorMessage`, version 6, may be null, default null.
    pub error_message: Option<Cow<'a, str>>,
    /// Kafka's `GroupId`.
    pub group_id: Cow<'a, str>,
    /// Kafka's `GroupState`.
    pub group_state: Cow<'a, str>,
    /// Kafka's `ProtocolType`.
    pub protocol_type: Cow<'a, str>,
    /// Kafka's `ProtocolData`.
    pub protocol_data: Cow<'a, str>,
    /// Kafka's `Members`.
    pub members: Vec<DescribedGroupMember<'a>>,
    /// Kafka's `AuthorizedOperations`, versions 3-6, default -2147483648.
    pub authorized_operations: i32,
}

impl Default for DescribedGroup<'_> {
    fn default() -> Self {
        Self {
            error_code: 0,
            error_message: None,
            group_id: Cow::Borrowed(""),
            group_state: Cow::Borrowed(""),
            protocol_type: Cow::Borrowed(""),
            protocol_data: Cow::Borrowed(""),
            members: Vec::new(),
            authorized_operations: -2147483648,
        }
    }
}

impl<'a> DescribedGroup<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 5;
        let value = Self {
            error_code: reader.i16()?,
            error_message: if version == 6 {
                reader.nullable_string(flexible)?
            } else {
                None
            },
            group_id: reader.string(flexible)?,
            group_state: reader.string(flexible)?,
            protocol_type: reader.string(flexible)?,
            protocol_data: reader.string(flexible)?,
            members: reader.array(flexible, 7, |reader| {
                DescribedGroupMember::decode(reader, version)
            })?,
            authorized_operations: if version >= 3 {
                reader.i32()?
            } else {
                -2147483648
            },
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 5;
        buffer.put_i16(self.error_code);
        if version == 6 {
            buffer.put_nullable_string(flexible, self.error_message.as_deref())?;
        } else {
            require_default(
                self.error_message.is_none(),
                "DescribedGroup.ErrorMessage",
                version,
            )?;
        }
        buffer.put_string(flexible, &self.group_id)?;
        buffer.put_string(flexible, &self.group_state)?;
        buffer.put_string(flexible, &self.protocol_type)?;
        buffer.put_string(flexible, &self.protocol_data)?;
        buffer.put_array(flexible, &self.members, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if version >= 3 {
            buffer.put_i32(self.authorized_operations);
        } else {
            require_default(
                self.authorized_operations == -2147483648,
                "DescribedGroup.AuthorizedOperations",
                version,
            )?;
        }
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `DescribeGroupsResponse`: `DescribedGroupMember`, versions 0-6.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DescribedGroupMember<'a> {
    /// Kafka's `MemberId`.
    pub member_id: Cow<'a, str>,
    /// Kafka's `GroupInstanceId`, versions 4-6, may be null, default null, left out of other versions.
    pub group_instance_id: Option<Cow<'a, str>>,
    /// Kafka's `ClientId`.
    pub client_id: Cow<'a, str>,
    /// Kafka's `ClientHost`.
    pub client_host: Cow<'a, str>,
    /// Kafka's `MemberMetadata`.
    pub member_metadata: Cow<'a, [u8]>,
    /// Kafka's `MemberAssignment`.
    pub member_assignment: Cow<'a, [u8]>,
}

impl<'a> DescribedGroupMember<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 5;
        let value = Self {
            member_id: reader.string(flexible)?,
            group_instance_id: if version >= 4 {
                reader.nullable_string(flexible)?
            } else {
                None
            },
            client_id: reader.string(flexible)?,
            client_host: reader.string(flexible)?,
            member_metadata: reader.bytes(flexible)?,
            member_assignment: reader.bytes(flexible)?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 5;
        buffer.put_string(flexible, &self.member_id)?;
        if version >= 4 {
            buffer.put_nullable_string(flexible, self.group_instance_id.as_deref())?;
        }
        buffer.put_string(flexible, &self.client_id)?;
        buffer.put_string(flexible, &self.client_host)?;
        buffer.put_bytes(flexible, &self.member_metadata)?;
        buffer.put_bytes(flexible, &self.member_assignment)?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for DescribeGroupsResponse<'a> {
    const NAME: &'static str = "DescribeGroupsResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
