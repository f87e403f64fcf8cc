//! `ListGroupsRequest`, versions 0-5. Generated from `schemas/list_groups.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, require_default};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `ListGroupsRequest`, versions 0-5.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ListGroupsRequest<'a> {
    /// Kafka's `StatesFilter`, versions 4-5.
    pub states_filter: Vec<Cow<'a, str>>,
    /// Kafka's `TypesFilter`, version 5.
    pub types_filter: Vec<Cow<'a, str>>,
}

impl<'a> ListGroupsRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=5;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("ListGroupsRequest", version, Self::VERSIONS)?;
        let flexible = version >= 3;
        let value = Self {
            states_filter: if version >= 4 {
                reader.array(flexible, 1, |reader| reader.string(flexible))?
            } else {
                Vec::new()
            },
            types_filter: if version == 5 {
                reader.array(flexible, 1, |reader| reader.string(flexible))?
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
        buffer.check_version("ListGroupsRequest", version, Self::VERSIONS)?;
        let flexible = version >= 3;
        if version >= 4 {
            buffer.put_array(flexible, &self.states_filter, |buffer, element| {
                buffer.put_string(flexible, element)
            })?;
        } else {
            require_default(
                self.states_filter.is_empty(),
                "ListGroupsRequest.StatesFilter",
                version,
            )?;
        }
        if version == 5 {
            buffer.put_array(flexible, &self.types_filter, |buffer, element| {
                buffer.put_string(flexible, element)
            })?;
        } else {
            require_default(
                self.types_filter.is_empty(),
                "ListGroupsRequest.TypesFilter",
                version,
            )?;
        }
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for ListGroupsRequest<'a> {
    const NAME: &'static str = "ListGroupsRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for ListGroupsRequest<'a> {
    const KEY: ApiKey = ApiKey::ListGroups;
    type Response<'r> = super::ListGroupsResponse<'r>;
}
