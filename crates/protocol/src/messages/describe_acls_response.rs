//! `DescribeAclsResponse`, versions 1-3. Generated from `schemas/describe_acls.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `DescribeAclsResponse`, versions 1-3.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeAclsResponse<'a> {
    /// Kafka's `ThrottleTimeMs`.
    pub throttle_time_ms: i32,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `ErrorMessage`, may be null.
    pub error_message: Option<Cow<'a, str>>,
    /// Kafka's `Resources`.
    pub resources: Vec<DescribeAclsResource<'a>>,
}

impl Default for DescribeAclsResponse<'_> {
    fn default() -> Self {
        Self {
            throttle_time_ms: 0,
            error_code: 0,
            error_message: Some(Cow::Borrowed("")),
            resources: Vec::new(),
        }
    }
}

impl<'a> DescribeAclsResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 1..=3;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("DescribeAclsResponse", version, Self::VERSIONS)?;
        let flexible = version >= 2;
        let value = Self {
            throttle_time_ms: reader.i32()?,
            error_code: reader.i16()?,
            error_message: reader.nullable_string(flexible)?,
            resources: reader.array(flexible, 5, |reader| {
                DescribeAclsResource::decode(reader, version)
            })?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("DescribeAclsResponse", version, Self::VERSIONS)?;
        let flexible = version >= 2;
        buffer.put_i32(self.throttle_time_ms);
        buffer.put_i16(self.error_code);
        buffer.put_nullable_string(flexible, self.error_message.as_deref())?;
        buffer.put_array(flexible, &self.resources, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `DescribeAclsResponse`: `DescribeAclsResource`, versions 1-3.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeAclsResource<'a> {
    /// Kafka's `ResourceType`.
    pub resource_type: i8,
    /// Kafka's `ResourceName`.
    pub resource_name: Cow<'a, str>,
    /// Kafka's `PatternType`, default 3.
    pub pattern_type: i8,
    /// Kafka's `Acls`.
    pub acls: Vec<AclDescription<'a>>,
}

impl Default for DescribeAclsResource<'_> {
    fn default() -> Self {
        Self {
            resource_type: 0,
            resource_name: Cow::Borrowed(""),
            pattern_type: 3,
            acls: Vec::new(),
        }
    }
}

impl<'a> DescribeAclsResource<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 2;
        let value = Self {
            resource_type: reader.i8()?,
            resource_name: reader.string(flexible)?,
            pattern_type: reader.i8()?,
            acls: reader.array(flexible, 5, |reader| {
                AclDescription::decode(reader, version)
            })?,
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
        buffer.put_i8(self.pattern_type);
        buffer.put_array(flexible, &self.acls, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `DescribeAclsResponse`: `AclDescription`, versions 1-3.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct AclDescription<'a> {
    /// Kafka's `Principal`.
    pub principal: Cow<'a, str>,
    /// Kafka's `Host`.
    pub host: Cow<'a, str>,
    /// Kafka's `Operation`.
    pub operation: i8,
    /// Kafka's `PermissionType`.
    pub permission_type: i8,
}

impl<'a> AclDescription<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 2;
        let value = Self {
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

impl<'a> Message<'a> for DescribeAclsResponse<'a> {
    const NAME: &'static str = "DescribeAclsResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
