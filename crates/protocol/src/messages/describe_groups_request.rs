//! `DescribeGroupsRequest`, versions 0-6. Generated from `schemas/describe_groups.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, require_default};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `DescribeGroupsRequest`, versions 0-6.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DescribeGroupsRequest<'a> {
    /// Kafka's `Groups`.
    pub groups: Vec<Cow<'a, str>>,
    /// Kafka's `IncludeAuthorizedOperations`, versions 3-6.
    pub include_authorized_operations: bool,
}

impl<'a> DescribeGroupsRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=6;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("DescribeGroupsRequest", version, Self::VERSIONS)?;
        let flexible = version >= 5;
        let value = Self {
            groups: reader.array(flexible, 1, |reader| reader.string(flexible))?,
            include_authorized_operations: if version >= 3 { reader.bool()? } else { false },
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("DescribeGroupsRequest", version, Self::VERSIONS)?;
        let flexible = version >= 5;
        buffer.put_array(flexible, &self.groups, |buffer, element| {
            buffer.put_string(flexible, element)
        })?;
        if version >= 3 {
            buffer.put_bool(self.include_authorized_operations);
        } else {
            require_default(
                !self.include_authorized_operations,
                "DescribeGroupsRequest.IncludeAuthorizedOperations",
                version,
            )?;
        }
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for DescribeGroupsRequest<'a> {
    const NAME: &'static str = "DescribeGroupsRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for DescribeGroupsRequest<'a> {
    const KEY: ApiKey = ApiKey::DescribeGroups;
    type Response<'r> = super::DescribeGroupsResponse<'r>;
}
