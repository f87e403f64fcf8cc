//! `ListGroupsResponse`, versions 0-5. Generated from `schemas/list_groups.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `ListGroupsResponse`, versions 0-5.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ListGroupsResponse<'a> {
    /// Kafka's `ThrottleTimeMs`, versions 1-5, left out of other versions.
    pub throttle_time_ms: i32,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `Groups`.
    pub groups: Vec<ListedGroup<'a>>,
}

impl<'a> ListGroupsResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=5;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("ListGroupsResponse", version, Self::VERSIONS)?;
        let flexible = version >= 3;
        let value = Self {
            throttle_time_ms: if version >= 1 { reader.i32()? } else { 0 },
            error_code: reader.i16()?,
            groups: reader.array(flexible, 3, |reader| ListedGroup::decode(reader, version))?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("ListGroupsResponse", version, Self::VERSIONS)?;
        let flexible = version >= 3;
        if version >= 1 {
            buffer.put_i32(self.throttle_time_ms);
        }
        buffer.put_i16(self.error_code);
        buffer.put_array(flexible, &self.groups, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `ListGroupsResponse`: `ListedGroup`, versions 0-5.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ListedGroup<'a> {
    /// Kafka's `GroupId`.
    pub group_id: Cow<'a, str>,
    /// Kafka's `ProtocolType`.
    pub protocol_type: Cow<'a, str>,
    /// Kafka's `GroupState`, versions 4-5, left out of other versions.
    pub group_state: Cow<'a, str>,
    /// Kafka's `GroupType`, version 5, left out of other versions.
    pub group_type: Cow<'a, str>,
}

impl<'a> ListedGroup<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 3;
        let value = Self {
            group_id: reader.string(flexible)?,
            protocol_type: reader.string(flexible)?,
            group_state: if version >= 4 {
                reader.string(flexible)?
            } else {
                Cow::Borrowed("")
            },
            group_type: if version == 5 {
                reader.string(flexible)?
            } else {
                Cow::Borrowed("")
            },
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 3;
        buffer.put_string(flexible, &self.group_id)?;
        buffer.put_string(flexible, &self.protocol_type)?;
        if version >= 4 {
            buffer.put_string(flexible, &self.group_state)?;
        }
        if version == 5 {
            buffer.put_string(flexible, &self.group_type)?;
        }
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for ListGroupsResponse<'a> {
    const NAME: &'static str = "ListGroupsResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
