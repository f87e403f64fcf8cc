//! `DeleteAclsResponse`, versions 1-3. Generated from `schemas/delete_acls.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `DeleteAclsResponse`, versions 1-3.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DeleteAclsResponse<'a> {
    /// Kafka's `ThrottleTimeMs`.
    pub throttle_time_ms: i32,
    /// Kafka's `FilterResults`.
    pub filter_results: Vec<DeleteAclsFilterResult<'a>>,
}

impl<'a> DeleteAclsResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 1..=3;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("DeleteAclsResponse", version, Self::VERSIONS)?;
        let flexible = version >= 2;
        let value = Self {
            throttle_time_ms: reader.i32()?,
            filter_results: reader.array(flexible, 5, |reader| {
                DeleteAclsFilterResult::decode(reader, version)
            })?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("DeleteAclsResponse", version, Self::VERSIONS)?;
        let flexible = version >= 2;
        buffer.put_i32(self.throttle_time_ms);
        buffer.put_array(flexible, &self.filter_results, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `DeleteAclsResponse`: `DeleteAclsFilterResult`, versions 1-3.
#[derive(Clone, Debug, PartialEq)]
pub struct DeleteAclsFilterResult<'a> {
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `ErrorMessage`, may be null.
    pub error_message: Option<Cow<'a, str>>,
    /// Kafka's `MatchingAcls`.
    pub matching_acls: Vec<DeleteAclsMatchingAcl<'a>>,
}

impl Default for DeleteAclsFilterResult<'_> {
    fn default() -> Self {
        Self {
            error_code: 0,
            error_message: Some(Cow::Borrowed("")),
            matching_acls: Vec::new(),
        }
    }
}

impl<'a> DeleteAclsFilterResult<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 2;
        let value = Self {
            error_code: reader.i16()?,
            error_message: reader.nullable_string(flexible)?,
            matching_acls: reader.array(flexible, 11, |reader| {
                DeleteAclsMatchingAcl::decode(reader, version)
            })?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 2;
        buffer.put_i16(self.error_code);
        buffer.put_nullable_string(flexible, self.error_message.as_deref())?;
        buffer.put_array(flexible, &self.matching_acls, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `DeleteAclsResponse`: `DeleteAclsMatchingAcl`, versions 1-3.
#[derive(Clone, Debug, PartialEq)]
pub struct DeleteAclsMatchingAcl<'a> {
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `ErrorMessage`, may be null.
    pub error_message: Option<Cow<'a, str>>,
    /// Kafka's `ResourceType`.
    pub resource_type: i8,
    /// Kafka's `ResourceName`.
    pub resource_name: Cow<'a, str>,
    /// Kafka's `PatternType`, default 3.
    pub pattern_type: i8,
    /// Kafka's `Principal`.
    pub principal: Cow<'a, str>,
    /// Kafka's `Host`.
    pub host: Cow<'a, str>,
    /// Kafka's `Operation`.
    pub operation: i8,
    /// Kafka's `PermissionType`.
    pub permission_type: i8,
}

impl Default for DeleteAclsMatchingAcl<'_> {
    fn default() -> Self {
        Self {
            error_code: 0,
            error_message: Some(Cow::Borrowed("")),
            resource_type: 0,
            resource_name: Cow::Borrowed(""),
            pattern_type: 3,
            principal: Cow::Borrowed(""),
            host: Cow::Borrowed(""),
            operation: 0,
            permission_type: 0,
        }
    }
}

impl<'a> DeleteAclsMatchingAcl<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 2;
        let value = Self {
            error_code: reader.i16()?,
            error_message: reader.nullable_string(flexible)?,
            resource_type: reader.i8()?,
            resource_name: reader.string(flexible)?,
            pattern_type: reader.i8()?,
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
        buffer.put_i16(self.error_code);
        buffer.put_nullable_string(flexible, self.error_message.as_deref())?;
        buffer.put_i8(self.resource_type);
        buffer.put_string(flexible, &self.resource_name)?;
        buffer.put_i8(self.pattern_type);
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

impl<'a> Message<'a> for DeleteAclsResponse<'a> {
    const NAME: &'static str = "DeleteAclsResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
