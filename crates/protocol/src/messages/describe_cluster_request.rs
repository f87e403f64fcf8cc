//! `DescribeClusterRequest`, versions 0-2. Generated from `schemas/describe_cluster.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, require_default};
use crate::{ApiKey, Message, Request};
use std::ops::RangeInclusive;

/// Kafka's `DescribeClusterRequest`, versions 0-2.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeClusterRequest {
    /// Kafka's `IncludeClusterAuthorizedOperations`.
    pub include_cluster_authorized_operations: bool,
    /// Kafka's `EndpointType`, versions 1-2, default 1.
    pub endpoint_type: i8,
    /// Kafka's `IncludeFencedBrokers`, version 2.
    pub include_fenced_brokers: bool,
}

impl Default for DescribeClusterRequest {
    fn default() -> Self {
        Self {
            include_cluster_authorized_operations: false,
            endpoint_type: 1,
            include_fenced_brokers: false,
        }
    }
}

impl DescribeClusterRequest {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=2;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("DescribeClusterRequest", version, Self::VERSIONS)?;
        let value = Self {
            include_cluster_authorized_operations: reader.bool()?,
            endpoint_type: if version >= 1 { reader.i8()? } else { 1 },
            include_fenced_brokers: if version == 2 { reader.bool()? } else { false },
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("DescribeClusterRequest", version, Self::VERSIONS)?;
        buffer.put_bool(self.include_cluster_authorized_operations);
        if version >= 1 {
            buffer.put_i8(self.endpoint_type);
        } else {
            require_default(
                self.endpoint_type == 1,
                "DescribeClusterRequest.EndpointType",
                version,
            )?;
        }
        if version == 2 {
            buffer.put_bool(self.include_fenced_brokers);
        } else {
            require_default(
                !self.include_fenced_brokers,
                "DescribeClusterRequest.IncludeFencedBrokers",
                version,
            )?;
        }
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl Message<'_> for DescribeClusterRequest {
    const NAME: &'static str = "DescribeClusterRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl Request<'_> for DescribeClusterRequest {
    const KEY: ApiKey = ApiKey::DescribeCluster;
    type Response<'r> = super::DescribeClusterResponse<'r>;
}
