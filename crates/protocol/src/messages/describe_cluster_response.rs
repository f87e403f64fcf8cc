//! `DescribeClusterResponse`, versions 0-2. Generated from `schemas/describe_cluster.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, require_default};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `DescribeClusterResponse`, versions 0-2.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeClusterResponse<'a> {
    /// Kafka's `ThrottleTimeMs`.
    pub throttle_time_ms: i32,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `ErrorMessage`, may be null, default null.
    pub error_message: Option<Cow<'a, str>>,
    /// Kafka's `EndpointType`, versions 1-2, default 1.
    pub endpoint_type: i8,
    /// Kafka's `ClusterId`.
    pub cluster_id: Cow<'a, str>,
    /// Kafka's `ControllerId`, default -1.
    pub controller_id: i32,
    /// Kafka's `Brokers`.
    pub brokers: Vec<DescribeClusterBroker<'a>>,
    /// Kafka's `ClusterAuthorizedOperations`, default -2147483648.
    pub cluster_authorized_operations: i32,
}

impl Default for DescribeClusterResponse<'_> {
    fn default() -> Self {
        Self {
            throttle_time_ms: 0,
            error_code: 0,
            error_message: None,
            endpoint_type: 1,
            cluster_id: Cow::Borrowed(""),
            controller_id: -1,
            brokers: Vec::new(),
            cluster_authorized_operations: -2147483648,
        }
    }
}

impl<'a> DescribeClusterResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=2;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("DescribeClusterResponse", version, Self::VERSIONS)?;
        let value = Self {
            throttle_time_ms: reader.i32()?,
            error_code: reader.i16()?,
            error_message: reader.nullable_string(true)?,
            endpoint_type: if version >= 1 { reader.i8()? } else { 1 },
            cluster_id: reader.string(true)?,
            controller_id: reader.i32()?,
            brokers: reader.array(true, 11, |reader| {
                DescribeClusterBroker::decode(reader, version)
            })?,
            cluster_authorized_operations: reader.i32()?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("DescribeClusterResponse", version, Self::VERSIONS)?;
        buffer.put_i32(self.throttle_time_ms);
        buffer.put_i16(self.error_code);
        buffer.put_nullable_string(true, self.error_message.as_deref())?;
        if version >= 1 {
            buffer.put_i8(self.endpoint_type);
        } else {
            require_default(
                self.endpoint_type == 1,
                "DescribeClusterResponse.EndpointType",
                version,
            )?;
        }
        buffer.put_string(true, &self.cluster_id)?;
        buffer.put_i32(self.controller_id);
        buffer.put_array(true, &self.brokers, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_i32(self.cluster_authorized_operations);
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `DescribeClusterResponse`: `DescribeClusterBroker`, versions 0-2.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DescribeClusterBroker<'a> {
    /// Kafka's `BrokerId`.
    pub broker_id: i32,
    /// Kafka's `Host`.
    pub host: Cow<'a, str>,
    /// Kafka's `Port`.
    pub port: i32,
    /// Kafka's `Rack`, may be null, default null.
    pub rack: Option<Cow<'a, str>>,
    /// Kafka's `IsFenced`, version 2.
    pub is_fenced: bool,
}

impl<'a> DescribeClusterBroker<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            broker_id: reader.i32()?,
            host: reader.string(true)?,
            port: reader.i32()?,
            rack: reader.nullable_string(true)?,
            is_fenced: if version == 2 { reader.bool()? } else { false },
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.put_i32(self.broker_id);
        buffer.put_string(true, &self.host)?;
        buffer.put_i32(self.port);
        buffer.put_nullable_string(true, self.rack.as_deref())?;
        if version == 2 {
            buffer.put_bool(self.is_fenced);
        } else {
            require_default(!self.is_fenced, "DescribeClusterBroker.IsFenced", version)?;
        }
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for DescribeClusterResponse<'a> {
    const NAME: &'static str = "DescribeClusterResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
