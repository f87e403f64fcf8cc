//! `DeleteAclsRequest`, versions 1-3. Generated from `schemas/delete_acls.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `DeleteAclsRequest`, versions 1-3.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DeleteAclsRequest<'a> {
    /// Kafka's `Filters`.
    pub filters: Vec<DeleteAclsFilter<'a>>,
}

impl<'a> DeleteAclsRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 1..=3;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("DeleteAclsRequest", version, Self::VERSIONS)?;
        let flexible = version >= 2;
        let value = Self {
            filters: reader.array(flexible, 8, |reader| {
                DeleteAclsFilter::decode(reader, version)
            })?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("DeleteAclsRequest", version, Self::VERSIONS)?;
        let flexible = version >= 2;
        buffer.put_array(flexible, &self.filters, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `DeleteAclsRequest`: `DeleteAclsFilter`, versions 1-3.
#[derive(Clone, Debug, PartialEq)]
pub struct DeleteAclsFilter<'a> {
    /// Kafka's `ResourceTypeFilter`.
    pub resource_type_filter: i8,
    /// Kafka's `ResourceNameFilter`, may be null.
    pub resource_name_filter: Option<Cow<'a, str>>,
    /// Kafka's `PatternTypeFilter`, default 3.
    pub pattern_type_filter: i8,
    /// Kafka's `PrincipalFilter`, may be null.
    pub principal_filter: Option<Cow<'a, str>>,
    /// Kafka's `HostFilter`, may be null.
    pub host_filter: Option<Cow<'a, str>>,
    /// Kafka's `Operation`.
    pub operation: i8,
    /// Kafka's `PermissionType`.
    pub permission_type: i8,
}

impl Default for DeleteAclsFilter<'_> {
    fn default() -> Self {
        Self {
            resource_type_filter: 0,
            resource_name_filter: Some(Cow::Borrowed("")),
            pattern_type_filter: 3,
            principal_filter: Some(Cow::Borrowed("")),
            host_filter: Some(Cow::Borrowed("")),
            operation: 0,
            permission_type: 0,
        }
    }
}

impl<'a> DeleteAclsFilter<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 2;
        let value = Self {
            resource_type_filter: reader.i8()?,
            resource_name_filter: reader.nullable_string(flexible)?,
            pattern_type_filter: reader.i8()?,
            principal_filter: reader.nullable_string(flexible)?,
            host_filter: reader.nullable_string(flexible)?,
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
        buffer.put_i8(self.resource_type_filter);
        buffer.put_nullable_string(flexible, self.resource_name_filter.as_deref())?;
        buffer.put_i8(self.pattern_type_filter);
        buffer.put_nullable_string(flexible, self.principal_filter.as_deref())?;
        buffer.put_nullable_string(flexible, self.host_filter.as_deref())?;
        buffer.put_i8(self.operation);
        buffer.put_i8(self.permission_type);
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for DeleteAclsRequest<'a> {
    const NAME: &'static str = "DeleteAclsRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for DeleteAclsRequest<'a> {
    const KEY: ApiKey = ApiKey::DeleteAcls;
    type Response<'r> = super::DeleteAclsResponse<'r>;
}
