//! `ListConfigResourcesRequest`, versions 0-1. Generated from `schemas/list_config_resources.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, require_default};
use crate::{ApiKey, Message, Request};
use std::ops::RangeInclusive;

/// Kafka's `ListConfigResourcesRequest`, versions 0-1.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ListConfigResourcesRequest {
    /// Kafka's `ResourceTypes`, version 1.
    pub resource_types: Vec<i8>,
}

impl ListConfigResourcesRequest {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=1;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("ListConfigResourcesRequest", version, Self::VERSIONS)?;
        let value = Self {
            resource_types: if version == 1 {
                reader.array(true, 1, Reader::i8)?
            } else {
                Vec::new()
            },
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("ListConfigResourcesRequest", version, Self::VERSIONS)?;
        if version == 1 {
            buffer.put_array(true, &self.resource_types, |buffer, element| {
                buffer.put_i8(*element);
                Ok(())
            })?;
        } else {
            require_default(
                self.resource_types.is_empty(),
                "ListConfigResourcesRequest.ResourceTypes",
                version,
            )?;
        }
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl Message<'_> for ListConfigResourcesRequest {
    const NAME: &'static str = "ListConfigResourcesRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl Request<'_> for ListConfigResourcesRequest {
    const KEY: ApiKey = ApiKey::ListConfigResources;
    type Response<'r> = super::ListConfigResourcesResponse<'r>;
}
