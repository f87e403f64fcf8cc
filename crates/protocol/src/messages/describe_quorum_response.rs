//! `DescribeQuorumResponse`, versions 0-2. Generated from `schemas/describe_quorum.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, require_default};
use std::borrow::Cow;
use std::ops::RangeInclusive;
use uuid::Uuid;

/// Kafka's `DescribeQuorumResponse`, versions 0-2.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeQuorumResponse<'a> {
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `ErrorMessage`, version 2, may be null, left out of other versions.
    pub error_message: Option<Cow<'a, str>>,
    /// Kafka's `Topics`.
    pub topics: Vec<TopicData<'a>>,
    /// Kafka's `Nodes`, version 2.
    pub nodes: Vec<Node<'a>>,
}

impl Default for DescribeQuorumResponse<'_> {
    fn default() -> Self {
        Self {
            error_code: 0,
            error_message: Some(Cow::Borrowed("")),
            topics: Vec::new(),
            nodes: Vec::new(),
        }
    }
}

impl<'a> DescribeQuorumResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=2;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("DescribeQuorumResponse", version, Self::VERSIONS)?;
        let value = Self {
            error_code: reader.i16()?,
            error_message: if version == 2 {
                reader.nullable_string(true)?
            } else {
                Some(Cow::Borrowed(""))
            },
            topics: reader.array(true, 3, |reader| TopicData::decode(reader, version))?,
            nodes: if version == 2 {
                reader.array(true, 6, |reader| Node::decode(reader, version))?
            } else {
                Vec::new()
            },
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("DescribeQuorumResponse", version, Self::VERSIONS)?;
        buffer.put_i16(self.error_code);
        if version == 2 {
            buffer.put_nullable_string(true, self.error_message.as_deref())?;
        }
        buffer.put_array(true, &self.topics, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if version == 2 {
            buffer.put_array(true, &self.nodes, |buffer, element| {
                element.encode(buffer, version)
            })?;
        } else {
            require_default(
                self.nodes.is_empty(),
                "DescribeQuorumResponse.Nodes",
                version,
            )?;
        }
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `DescribeQuorumResponse`: `Node`, version 2.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Node<'a> {
    /// Kafka's `NodeId`.
    pub node_id: i32,
    /// Kafka's `Listeners`.
    pub listeners: Vec<Listener<'a>>,
}

impl<'a> Node<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            node_id: reader.i32()?,
            listeners: reader.array(true, 5, |reader| Listener::decode(reader, version))?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.put_i32(self.node_id);
        buffer.put_array(true, &self.listeners, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `DescribeQuorumResponse`: `Listener`, version 2.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Listener<'a> {
    /// Kafka's `Name`.
    pub name: Cow<'a, str>,
    /// Kafka's `Host`.
    pub host: Cow<'a, str>,
    /// Kafka's `Port`.
    pub port: u16,
}

impl<'a> Listener<'a> {
    fn decode(reader: &mut Reader<'a>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            name: reader.string(true)?,
            host: reader.string(true)?,
            port: reader.u16()?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_string(true, &self.name)?;
        buffer.put_string(true, &self.host)?;
        buffer.put_u16(self.port);
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `DescribeQuorumResponse`: `TopicData`, versions 0-2.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct TopicData<'a> {
    /// Kafka's `TopicName`.
    pub topic_name: Cow<'a, str>,
    /// Kafka's `Partitions`.
    pub partitions: Vec<PartitionData<'a>>,
}

impl<'a> TopicData<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            topic_name: reader.string(true)?,
            partitions: reader.array(true, 25, |reader| PartitionData::decode(reader, version))?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.put_string(true, &self.topic_name)?;
        buffer.put_array(true, &self.partitions, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `DescribeQuorumResponse`: `PartitionData`, versions 0-2.
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionData<'a> {
    /// Kafka's `PartitionIndex`.
    pub partition_index: i32,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `ErrorMessage`, version 2, may be null, left out of other versions.
    pub error_message: Option<Cow<'a, str>>,
    /// Kafka's `LeaderId`.
    pub leader_id: i32,
    /// Kafka's `LeaderEpoch`.
    pub leader_epoch: i32,
    /// Kafka's `HighWatermark`.
    pub high_watermark: i64,
    /// Kafka's `CurrentVoters`.
    pub current_voters: Vec<ReplicaState>,
    /// Kafka's `Observers`.
    pub observers: Vec<ReplicaState>,
}

impl Default for PartitionData<'_> {
    fn default() -> Self {
        Self {
            partition_index: 0,
            error_code: 0,
            error_message: Some(Cow::Borrowed("")),
            leader_id: 0,
            leader_epoch: 0,
            high_watermark: 0,
            current_voters: Vec::new(),
            observers: Vec::new(),
        }
    }
}

impl<'a> PartitionData<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            partition_index: reader.i32()?,
            error_code: reader.i16()?,
            error_message: if version == 2 {
                reader.nullable_string(true)?
            } else {
                Some(Cow::Borrowed(""))
            },
            leader_id: reader.i32()?,
            leader_epoch: reader.i32()?,
            high_watermark: reader.i64()?,
            current_voters: reader
                .array(true, 13, |reader| ReplicaState::decode(reader, version))?,
            observers: reader.array(true, 13, |reader| ReplicaState::decode(reader, version))?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.put_i32(self.partition_index);
        buffer.put_i16(self.error_code);
        if version == 2 {
            buffer.put_nullable_string(true, self.error_message.as_deref())?;
        }
        buffer.put_i32(self.leader_id);
        buffer.put_i32(self.leader_epoch);
        buffer.put_i64(self.high_watermark);
        buffer.put_array(true, &self.current_voters, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_array(true, &self.observers, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `DescribeQuorumResponse`: `ReplicaState`, versions 0-2.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplicaState {
    /// Kafka's `ReplicaId`.
    pub replica_id: i32,
    /// Kafka's `ReplicaDirectoryId`, version 2.
    pub replica_directory_id: Uuid,
    /// Kafka's `LogEndOffset`.
    pub log_end_offset: i64,
    /// Kafka's `LastFetchTimestamp`, versions 1-2, default -1, left out of other versions.
    pub last_fetch_timestamp: i64,
    /// Kafka's `LastCaughtUpTimestamp`, versions 1-2, default -1, left out of other versions.
    pub last_caught_up_timestamp: i64,
}

impl Default for ReplicaState {
    fn default() -> Self {
        Self {
            replica_id: 0,
            replica_directory_id: Uuid::nil(),
            log_end_offset: 0,
            last_fetch_timestamp: -1,
            last_caught_up_timestamp: -1,
        }
    }
}

impl ReplicaState {
    fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            replica_id: reader.i32()?,
            replica_directory_id: if version == 2 {
                reader.uuid()?
            } else {
                Uuid::nil()
            },
            log_end_offset: reader.i64()?,
            last_fetch_timestamp: if version >= 1 { reader.i64()? } else { -1 },
            last_caught_up_timestamp: if version >= 1 { reader.i64()? } else { -1 },
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.put_i32(self.replica_id);
        if version == 2 {
            buffer.put_uuid(self.replica_directory_id);
        } else {
            require_default(
                self.replica_directory_id.is_nil(),
                "ReplicaState.ReplicaDirectoryId",
                version,
            )?;
        }
        buffer.put_i64(self.log_end_offset);
        if version >= 1 {
            buffer.put_i64(self.last_fetch_timestamp);
        }
        if version >= 1 {
            buffer.put_i64(self.last_caught_up_timestamp);
        }
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for DescribeQuorumResponse<'a> {
    const NAME: &'static str = "DescribeQuorumResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
