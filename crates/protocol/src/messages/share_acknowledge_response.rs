//! `ShareAcknowledgeResponse`, versions 1-2. Generated from `schemas/share_acknowledge.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use std::borrow::Cow;
use std::ops::RangeInclusive;
use uuid::Uuid;

/// Kafka's `ShareAcknowledgeResponse`, versions 1-2.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ShareAcknowledgeResponse<'a> {
    /// Kafka's `ThrottleTimeMs`.
    pub throttle_time_ms: i32,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `ErrorMessage`, may be null, default null.
    pub error_message: Option<Cow<'a, str>>,
    /// Kafka's `AcquisitionLockTimeoutMs`, version 2, left out of other versions.
    pub acquisition_lock_timeout_ms: i32,
    /// Kafka's `Responses`.
    pub responses: Vec<ShareAcknowledgeTopicResponse<'a>>,
    /// Kafka's `NodeEndpoints`.
    pub node_endpoints: Vec<NodeEndpoint<'a>>,
}

impl<'a> ShareAcknowledgeResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 1..=2;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("ShareAcknowledgeResponse", version, Self::VERSIONS)?;
        let value = Self {
            throttle_time_ms: reader.i32()?,
            error_code: reader.i16()?,
            error_message: reader.nullable_string(true)?,
            acquisition_lock_timeout_ms: if version == 2 { reader.i32()? } else { 0 },
            responses: reader.array(true, 18, |reader| {
                ShareAcknowledgeTopicResponse::decode(reader, version)
            })?,
            node_endpoints: reader
                .array(true, 11, |reader| NodeEndpoint::decode(reader, version))?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("ShareAcknowledgeResponse", version, Self::VERSIONS)?;
        buffer.put_i32(self.throttle_time_ms);
        buffer.put_i16(self.error_code);
        buffer.put_nullable_string(true, self.error_message.as_deref())?;
        if version == 2 {
            buffer.put_i32(self.acquisition_lock_timeout_ms);
        }
        buffer.put_array(true, &self.responses, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_array(true, &self.node_endpoints, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `ShareAcknowledgeResponse`: `NodeEndpoint`, versions 1-2.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct NodeEndpoint<'a> {
    /// Kafka's `NodeId`.
    pub node_id: i32,
    /// Kafka's `Host`.
    pub host: Cow<'a, str>,
    /// Kafka's `Port`.
    pub port: i32,
    /// Kafka's `Rack`, may be null, default null.
    pub rack: Option<Cow<'a, str>>,
}

impl<'a> NodeEndpoint<'a> {
    fn decode(reader: &mut Reader<'a>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            node_id: reader.i32()?,
            host: reader.string(true)?,
            port: reader.i32()?,
            rack: reader.nullable_string(true)?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_i32(self.node_id);
        buffer.put_string(true, &self.host)?;
        buffer.put_i32(self.port);
        buffer.put_nullable_string(true, self.rack.as_deref())?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `ShareAcknowledgeResponse`: `ShareAcknowledgeTopicResponse`, versions 1-2.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ShareAcknowledgeTopicResponse<'a> {
    /// Kafka's `TopicId`.
    pub topic_id: Uuid,
    /// Kafka's `Partitions`.
    pub partitions: Vec<PartitionData<'a>>,
}

impl<'a> ShareAcknowledgeTopicResponse<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            topic_id: reader.uuid()?,
            partitions: reader.array(true, 17, |reader| PartitionData::decode(reader, version))?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.put_uuid(self.topic_id);
        buffer.put_array(true, &self.partitions, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `ShareAcknowledgeResponse`: `PartitionData`, versions 1-2.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct PartitionData<'a> {
    /// Kafka's `PartitionIndex`.
    pub partition_index: i32,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `ErrorMessage`, may be null, default null.
    pub error_message: Option<Cow<'a, str>>,
    /// Kafka's `CurrentLeader`.
    pub current_leader: LeaderIdAndEpoch,
}

impl<'a> PartitionData<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            partition_index: reader.i32()?,
            error_code: reader.i16()?,
            error_message: reader.nullable_string(true)?,
            current_leader: LeaderIdAndEpoch::decode(reader, version)?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.put_i32(self.partition_index);
        buffer.put_i16(self.error_code);
        buffer.put_nullable_string(true, self.error_message.as_deref())?;
        self.current_leader.encode(buffer, version)?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `ShareAcknowledgeResponse`: `LeaderIdAndEpoch`, versions 1-2.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct LeaderIdAndEpoch {
    /// Kafka's `LeaderId`.
    pub leader_id: i32,
    /// Kafka's `LeaderEpoch`.
    pub leader_epoch: i32,
}

impl LeaderIdAndEpoch {
    fn decode(reader: &mut Reader<'_>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            leader_id: reader.i32()?,
            leader_epoch: reader.i32()?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_i32(self.leader_id);
        buffer.put_i32(self.leader_epoch);
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for ShareAcknowledgeResponse<'a> {
    const NAME: &'static str = "ShareAcknowledgeResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
