//! `DeleteGroupsRequest`, versions 0-3. Generated from `schemas/delete_groups.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `DeleteGroupsRequest`, versions 0-3.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DeleteGroupsRequest<'a> {
    /// Kafka's `GroupsNames`.
    pub groups_names: Vec<Cow<'a, str>>,
}

impl<'a> DeleteGroupsRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=3;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("DeleteGroupsRequest", version, Self::VERSIONS)?;
        let flexible = version >= 2;
        let value = Self {
            groups_names: reader.array(flexible, 1, |reader| reader.string(flexible))?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("DeleteGroupsRequest", version, Self::VERSIONS)?;
        let flexible = version >= 2;
        buffer.put_array(flexible, &self.groups_names, |buffer, element| {
            buffer.put_string(flexible, element)
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for DeleteGroupsRequest<'a> {
    const NAME: &'static str = "DeleteGroupsRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for DeleteGroupsRequest<'a> {
    const KEY: ApiKey = ApiKey::DeleteGroups;
    type Response<'r> = super::DeleteGroupsResponse<'r>;
}
