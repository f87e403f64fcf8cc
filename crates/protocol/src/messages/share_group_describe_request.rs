//! `ShareGroupDescribeRequest`, version 1. Generated from `schemas/share_group_describe.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `ShareGroupDescribeRequest`, version 1.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ShareGroupDescribeRequest<'a> {
    /// Kafka's `GroupIds`.
    pub group_ids: Vec<Cow<'a, str>>,
    /// Kafka's `IncludeAuthorizedOperations`.
    pub include_authorized_operations: bool,
}

impl<'a> ShareGroupDescribeRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 1..=1;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("ShareGroupDescribeRequest", version, Self::VERSIONS)?;
        let value = Self {
            group_ids: reader.array(true, 1, |reader| reader.string(true))?,
            include_authorized_operations: reader.bool()?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("ShareGroupDescribeRequest", version, Self::VERSIONS)?;
        buffer.put_array(true, &self.group_ids, |buffer, element| {
            buffer.put_string(true, element)
        })?;
        buffer.put_bool(self.include_authorized_operations);
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for ShareGroupDescribeRequest<'a> {
    const NAME: &'static str = "ShareGroupDescribeRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for ShareGroupDescribeRequest<'a> {
    const KEY: ApiKey = ApiKey::ShareGroupDescribe;
    type Response<'r> = super::ShareGroupDescribeResponse<'r>;
}
