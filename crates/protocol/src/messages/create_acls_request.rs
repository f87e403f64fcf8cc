//! `CreateAclsRequest`, versions 1-3. Generated from `schemas/create_acls.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `CreateAclsRequest`, versions 1-3.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct CreateAclsRequest<'a> {
    /// Kafka's `Creations`.
    pub creations: Vec<AclCreation<'a>>,
}

impl<'a> CreateAclsRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 1..=3;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("CreateAclsRequest", version, Self::VERSIONS)?;
        let flexible = version >= 2;
        let value = Self {
            creations: reader.array(flexible, 8, |reader| AclCreation::decode(reader, version))?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("CreateAclsRequest", version, Self::VERSIONS)?;
        let flexible = version >= 2;
        buffer.put_array(flexible, &self.creations, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `CreateAclsRequest`: `AclCreation`, versions 1-3.
#[derive(Clone, Debug, PartialEq)]
pub struct AclCreation<'a> {
    /// Kafka's `ResourceType`.
    pub resource_type: i8,
    /// Kafka's `ResourceName`.
    pub resource_name: Cow<'a, str>,
    /// Kafka's `ResourcePatternType`, default 3.
    pub resource_pattern_type: i8,
    /// Kafka's `Principal`.
    pub principal: Cow<'a, str>,
    /// Kafka's `Host`.
    pub host: Cow<'a, str>,
    /// Kafka's `Operation`.
    pub operation: i8,
    /// Kafka's `PermissionType`.
    pub permission_type: i8,
}

impl Default for AclCreation<'_> {
    fn default() -> Self {
        Self {
            resource_type: 0,
            resource_name: Cow::Borrowed(""),
            resource_pattern_type: 3,
            principal: Cow::Borrowed(""),
            host: Cow::Borrowed(""),
            operation: 0,
            permission_type: 0,
        }
    }
}

impl<'a> AclCreation<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 2;
        let value = Self {
            resource_type: reader.i8()?,
            resource_name: reader.string(flexible)?,
            resource_pattern_type: reader.i8()?,
            principal: reader.string(flexible)?,
            host: reader.string(flexible)?,
            operation: reader.i8()?,
            permission_type: reader.i8()?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 2;
        buffer.put_i8(self.resource_type);
        buffer.put_string(flexible, &self.resource_name)?;
        buffer.put_i8(self.resource_pattern_type);
        buffer.put_string(flexible, &self.principal)?;
        buffer.put_string(flexible, &self.host)?;
        buffer.put_i8(self.operation);
        buffer.put_i8(self.permission_type);
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for CreateAclsRequest<'a> {
    const NAME: &'static str = "CreateAclsRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for CreateAclsRequest<'a> {
    const KEY: ApiKey = ApiKey::CreateAcls;
    type Response<'r> = super::CreateAclsResponse<'r>;
}
