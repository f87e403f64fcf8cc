//! `MetadataResponse`, versions 0-13. Generated from `schemas/metadata.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, require_default, require_some};
use std::borrow::Cow;
use std::ops::RangeInclusive;
use uuid::Uuid;

/// Kafka's `MetadataResponse`, versions 0-13.
#[derive(Clone, Debug, PartialEq)]
pub struct MetadataResponse<'a> {
    /// Kafka's `ThrottleTimeMs`, versions 3-13, left out of other versions.
    pub throttle_time_ms: i32,
    /// Kafka's `Brokers`.
    pub brokers: Vec<MetadataResponseBroker<'a>>,
    /// Kafka's `ClusterId`, versions 2-13, may be null, default null, left out of other versions.
    pub cluster_id: Option<Cow<'a, str>>,
    /// Kafka's `ControllerId`, versions 1-13, default -1, left out of other versions.
    pub controller_id: i32,
    /// Kafka's `Topics`.
    pub topics: Vec<MetadataResponseTopic<'a>>,
    /// Kafka's `ClusterAuthorizedOperations`, versions 8-10, default -2147483648.
    pub cluster_authorized_operations: i32,
    /// Kafka's `ErrorCode`, version 13, left out of other versions.
    pub error_code: i16,
}

impl Default for MetadataResponse<'_> {
    fn default() -> Self {
        Self {
            throttle_time_ms: 0,
            brokers: Vec::new(),
            cluster_id: None,
            controller_id: -1,
            topics: Vec::new(),
            cluster_authorized_operations: -2147483648,
            error_code: 0,
        }
    }
}

impl<'a> MetadataResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=13;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("MetadataResponse", version, Self::VERSIONS)?;
        let flexible = version >= 9;
        let value = Self {
            throttle_time_ms: if version >= 3 { reader.i32()? } else { 0 },
            brokers: reader.array(flexible, 10, |reader| {
                MetadataResponseBroker::decode(reader, version)
            })?,
            cluster_id: if version >= 2 {
                reader.nullable_string(flexible)?
            } else {
                None
            },
            controller_id: if version >= 1 { reader.i32()? } else { -1 },
            topics: reader.array(flexible, 8, |reader| {
                MetadataResponseTopic::decode(reader, version)
            })?,
            cluster_authorized_operations: if (8..=10).contains(&version) {
                reader.i32()?
            } else {
                -2147483648
            },
            error_code: if version == 13 { reader.i16()? } else { 0 },
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("MetadataResponse", version, Self::VERSIONS)?;
        let flexible = version >= 9;
        if version >= 3 {
            buffer.put_i32(self.throttle_time_ms);
        }
        buffer.put_array(flexible, &self.brokers, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if version >= 2 {
            buffer.put_nullable_string(flexible, self.cluster_id.as_deref())?;
        }
        if version >= 1 {
            buffer.put_i32(self.controller_id);
        }
        buffer.put_array(flexible, &self.topics, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if (8..=10).contains(&version) {
            buffer.put_i32(self.cluster_authorized_operations);
        } else {
            require_default(
                self.cluster_authorized_operations == -2147483648,
                "MetadataResponse.ClusterAuthorizedOperations",
                version,
            )?;
        }
        if version == 13 {
            buffer.put_i16(self.error_code);
        }
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `MetadataResponse`: `MetadataResponseTopic`, versions 0-13.
#[derive(Clone, Debug, PartialEq)]
pub struct MetadataResponseTopic<'a> {
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `Name`, may be null in versions 12-13.
    pub name: Option<Cow<'a, str>>,
    /// Kafka's `TopicId`, versions 10-13, left out of other versions.
    pub topic_id: Uuid,
    /// Kafka's `IsInternal`, versions 1-13, left out of other versions.
    pub is_internal: bool,
    /// Kafka's `Partitions`.
    pub partitions: Vec<MetadataResponsePartition>,
    /// Kafka's `TopicAuthorizedOperations`, versions 8-13, default -2147483648.
    pub topic_authorized_operations: i32,
}

impl Default for MetadataResponseTopic<'_> {
    fn default() -> Self {
        Self {
            error_code: 0,
            name: Some(Cow::Borrowed("")),
            topic_id: Uuid::nil(),
            is_internal: false,
            partitions: Vec::new(),
            topic_authorized_operations: -2147483648,
        }
    }
}

impl<'a> MetadataResponseTopic<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 9;
        let value = Self {
            error_code: reader.i16()?,
            name: if version >= 12 {
                reader.nullable_string(flexible)?
            } else {
                Some(reader.string(flexible)?)
            },
            topic_id: if version >= 10 {
                reader.uuid()?
            } else {
                Uuid::nil()
            },
            is_internal: if version >= 1 { reader.bool()? } else { false },
            partitions: reader.array(flexible, 18, |reader| {
                MetadataResponsePartition::decode(reader, version)
            })?,
            topic_authorized_operations: if version >= 8 {
                reader.i32()?
            } else {
                -2147483648
            },
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 9;
        buffer.put_i16(self.error_code);
        if version >= 12 {
            buffer.put_nullable_string(flexible, self.name.as_deref())?;
        } else {
            buffer.put_string(
                flexible,
                require_some(&self.name, "MetadataResponseTopic.Name", version)?,
            )?;
        }
        if version >= 10 {
            buffer.put_uuid(self.topic_id);
        }
        if version >= 1 {
            buffer.put_bool(self.is_internal);
        }
        buffer.put_array(flexible, &self.partitions, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if version >= 8 {
            buffer.put_i32(self.topic_authorized_operations);
        } else {
            require_default(
                self.topic_authorized_operations == -2147483648,
                "MetadataResponseTopic.TopicAuthorizedOperations",
                version,
            )?;
        }
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `MetadataResponse`: `MetadataResponsePartition`, versions 0-13.
#[derive(Clone, Debug, PartialEq)]
pub struct MetadataResponsePartition {
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `PartitionIndex`.
    pub partition_index: i32,
    /// Kafka's `LeaderId`.
    pub leader_id: i32,
    /// Kafka's `LeaderEpoch`, versions 7-13, default -1, left out of other versions.
    pub leader_epoch: i32,
    /// Kafka's `ReplicaNodes`.
    pub replica_nodes: Vec<i32>,
    /// Kafka's `IsrNodes`.
    pub isr_nodes: Vec<i32>,
    /// Kafka's `OfflineReplicas`, versions 5-13, left out of other versions.
    pub offline_replicas: Vec<i32>,
}

impl Default for MetadataResponsePartition {
    fn default() -> Self {
        Self {
            error_code: 0,
            partition_index: 0,
            leader_id: 0,
            leader_epoch: -1,
            replica_nodes: Vec::new(),
            isr_nodes: Vec::new(),
            offline_replicas: Vec::new(),
        }
    }
}

impl MetadataResponsePartition {
    fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 9;
        let value = Self {
            error_code: reader.i16()?,
            partition_index: reader.i32()?,
            leader_id: reader.i32()?,
            leader_epoch: if version >= 7 { reader.i32()? } else { -1 },
            replica_nodes: reader.array(flexible, 4, Reader::i32)?,
            isr_nodes: reader.array(flexible, 4, Reader::i32)?,
            offline_replicas: if version >= 5 {
                reader.array(flexible, 4, Reader::i32)?
            } else {
                Vec::new()
            },
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 9;
        buffer.put_i16(self.error_code);
        buffer.put_i32(self.partition_index);
        buffer.put_i32(self.leader_id);
        if version >= 7 {
            buffer.put_i32(self.leader_epoch);
        }
        buffer.put_array(flexible, &self.replica_nodes, |buffer, element| {
            buffer.put_i32(*element);
            Ok(())
        })?;
        buffer.put_array(flexible, &self.isr_nodes, |buffer, element| {
            buffer.put_i32(*element);
            Ok(())
        })?;
        if version >= 5 {
            buffer.put_array(flexible, &self.offline_replicas, |buffer, element| {
                buffer.put_i32(*element);
                Ok(())
            })?;
        }
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `MetadataResponse`: `MetadataResponseBroker`, versions 0-13.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct MetadataResponseBroker<'a> {
    /// Kafka's `NodeId`.
    pub node_id: i32,
    /// Kafka's `Host`.
    pub host: Cow<'a, str>,
    /// Kafka's `Port`.
    pub port: i32,
    /// Kafka's `Rack`, versions 1-13, may be null, default null, left out of other versions.
    pub rack: Option<Cow<'a, str>>,
}

impl<'a> MetadataResponseBroker<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 9;
        let value = Self {
            node_id: reader.i32()?,
            host: reader.string(flexible)?,
            port: reader.i32()?,
            rack: if version >= 1 {
                reader.nullable_string(flexible)?
            } else {
                None
            },
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 9;
        buffer.put_i32(self.node_id);
        buffer.put_string(flexible, &self.host)?;
        buffer.put_i32(self.port);
        if version >= 1 {
            buffer.put_nullable_string(flexible, self.rack.as_deref())?;
        }
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for MetadataResponse<'a> {
    const NAME: &'static str = "MetadataResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
