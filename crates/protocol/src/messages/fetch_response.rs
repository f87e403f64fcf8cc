//! `FetchResponse`, versions 4-18. Generated from `schemas/fetch.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{
    DecodeError, EncodeError, GatherBuffer, Reader, RecordBytes, TaggedFields, require_default,
};
use std::borrow::Cow;
use std::ops::RangeInclusive;
use uuid::Uuid;

/// Kafka's `FetchResponse`, versions 4-18.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct FetchResponse<'a> {
    /// Kafka's `ThrottleTimeMs`.
    pub throttle_time_ms: i32,
    /// Kafka's `ErrorCode`, versions 7-18, left out of other versions.
    pub error_code: i16,
    /// Kafka's `SessionId`, versions 7-18.
    pub session_id: i32,
    /// Kafka's `Responses`.
    pub responses: Vec<FetchableTopicResponse<'a>>,
    /// Kafka's `NodeEndpoints`, versions 16-18.
    pub node_endpoints: Vec<NodeEndpoint<'a>>,
}

impl<'a> FetchResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 4..=18;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("FetchResponse", version, Self::VERSIONS)?;
        let flexible = version >= 12;
        let mut value = Self {
            throttle_time_ms: reader.i32()?,
            error_code: if version >= 7 { reader.i16()? } else { 0 },
            session_id: if version >= 7 { reader.i32()? } else { 0 },
            responses: reader.array(flexible, 3, |reader| {
                FetchableTopicResponse::decode(reader, version)
            })?,
            node_endpoints: Vec::new(),
        };
        if flexible {
            reader.tagged_fields(|tag, reader| {
                match tag {
                    0 if version >= 16 => {
                        value.node_endpoints = reader
                            .array(true, 11, |reader| NodeEndpoint::decode(reader, version))?
                    }
                    _ => return Ok(false),
                }
                Ok(true)
            })?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("FetchResponse", version, Self::VERSIONS)?;
        let flexible = version >= 12;
        buffer.put_i32(self.throttle_time_ms);
        if version >= 7 {
            buffer.put_i16(self.error_code);
        }
        if version >= 7 {
            buffer.put_i32(self.session_id);
        } else {
            require_default(self.session_id == 0, "FetchResponse.SessionId", version)?;
        }
        buffer.put_array(flexible, &self.responses, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if version < 16 {
            require_default(
                self.node_endpoints.is_empty(),
                "FetchResponse.NodeEndpoints",
                version,
            )?;
        }
        if flexible {
            let mut tagged = TaggedFields::default();
            if version >= 16 && !self.node_endpoints.is_empty() {
                tagged.put(0, |buffer| {
                    buffer.put_array(true, &self.node_endpoints, |buffer, element| {
                        element.encode(buffer, version)
                    })
                })?;
            }
            buffer.put_tagged_fields(tagged);
        }
        Ok(())
    }
}

/// Part of Kafka's `FetchResponse`: `NodeEndpoint`, versions 16-18.
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

/// Part of Kafka's `FetchResponse`: `FetchableTopicResponse`, versions 4-18.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct FetchableTopicResponse<'a> {
    /// Kafka's `Topic`, versions 4-12, left out of other versions.
    pub topic: Cow<'a, str>,
    /// Kafka's `TopicId`, versions 13-18, left out of other versions.
    pub topic_id: Uuid,
    /// Kafka's `Partitions`.
    pub partitions: Vec<PartitionData<'a>>,
}

impl<'a> FetchableTopicResponse<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 12;
        let value = Self {
            topic: if version <= 12 {
                reader.string(flexible)?
            } else {
                Cow::Borrowed("")
            },
            topic_id: if version >= 13 {
                reader.uuid()?
            } else {
                Uuid::nil()
            },
            partitions: reader.array(flexible, 30, |reader| {
                PartitionData::decode(reader, version)
            })?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 12;
        if version <= 12 {
            buffer.put_string(flexible, &self.topic)?;
        }
        if version >= 13 {
            buffer.put_uuid(self.topic_id);
        }
        buffer.put_array(flexible, &self.partitions, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `FetchResponse`: `PartitionData`, versions 4-18.
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionData<'a> {
    /// Kafka's `PartitionIndex`.
    pub partition_index: i32,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `HighWatermark`.
    pub high_watermark: i64,
    /// Kafka's `LastStableOffset`, default -1.
    pub last_stable_offset: i64,
    /// Kafka's `LogStartOffset`, versions 5-18, default -1, left out of other versions.
    pub log_start_offset: i64,
    /// Kafka's `DivergingEpoch`, versions 12-18.
    pub diverging_epoch: EpochEndOffset,
    /// Kafka's `CurrentLeader`, versions 12-18.
    pub current_leader: LeaderIdAndEpoch,
    /// Kafka's `SnapshotId`, versions 12-18.
    pub snapshot_id: SnapshotId,
    /// Kafka's `AbortedTransactions`, may be null.
    pub aborted_transactions: Option<Vec<AbortedTransaction>>,
    /// Kafka's `PreferredReadReplica`, versions 11-18, default -1.
    pub preferred_read_replica: i32,
    /// Kafka's `Records`, may be null.
    pub records: Option<RecordBytes<'a>>,
}

impl Default for PartitionData<'_> {
    fn default() -> Self {
        Self {
            partition_index: 0,
            error_code: 0,
            high_watermark: 0,
            last_stable_offset: -1,
            log_start_offset: -1,
            diverging_epoch: EpochEndOffset::default(),
            current_leader: LeaderIdAndEpoch::default(),
            snapshot_id: SnapshotId::default(),
            aborted_transactions: Some(Vec::new()),
            preferred_read_replica: -1,
            records: None,
        }
    }
}

impl<'a> PartitionData<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 12;
        let mut value = Self {
            partition_index: reader.i32()?,
            error_code: reader.i16()?,
            high_watermark: reader.i64()?,
            last_stable_offset: reader.i64()?,
            log_start_offset: if version >= 5 { reader.i64()? } else { -1 },
            diverging_epoch: EpochEndOffset::default(),
            current_leader: LeaderIdAndEpoch::default(),
            snapshot_id: SnapshotId::default(),
            aborted_transactions: reader.nullable_array(flexible, 16, |reader| {
                AbortedTransaction::decode(reader, version)
            })?,
            preferred_read_replica: if version >= 11 { reader.i32()? } else { -1 },
            records: reader.nullable_records(flexible)?,
        };
        if flexible {
            reader.tagged_fields(|tag, reader| {
                match tag {
                    0 => value.diverging_epoch = EpochEndOffset::decode(reader, version)?,
                    1 => value.current_leader = LeaderIdAndEpoch::decode(reader, version)?,
                    2 => value.snapshot_id = SnapshotId::decode(reader, version)?,
                    _ => return Ok(false),
                }
                Ok(true)
            })?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 12;
        buffer.put_i32(self.partition_index);
        buffer.put_i16(self.error_code);
        buffer.put_i64(self.high_watermark);
        buffer.put_i64(self.last_stable_offset);
        if version >= 5 {
            buffer.put_i64(self.log_start_offset);
        }
        buffer.put_nullable_array(
            flexible,
            self.aborted_transactions.as_deref(),
            |buffer, element| element.encode(buffer, version),
        )?;
        if version >= 11 {
            buffer.put_i32(self.preferred_read_replica);
        } else {
            require_default(
                self.preferred_read_replica == -1,
                "PartitionData.PreferredReadReplica",
                version,
            )?;
        }
        buffer.put_nullable_records(flexible, self.records.as_ref())?;
        if version < 12 {
            require_default(
                self.diverging_epoch == EpochEndOffset::default(),
                "PartitionData.DivergingEpoch",
                version,
            )?;
        }
        if version < 12 {
            require_default(
                self.current_leader == LeaderIdAndEpoch::default(),
                "PartitionData.CurrentLeader",
                version,
            )?;
        }
        if version < 12 {
            require_default(
                self.snapshot_id == SnapshotId::default(),
                "PartitionData.SnapshotId",
                version,
            )?;
        }
        if flexible {
            let mut tagged = TaggedFields::default();
            if self.diverging_epoch != EpochEndOffset::default() {
                tagged.put(0, |buffer| self.diverging_epoch.encode(buffer, version))?;
            }
            if self.current_leader != LeaderIdAndEpoch::default() {
                tagged.put(1, |buffer| self.current_leader.encode(buffer, version))?;
            }
            if self.snapshot_id != SnapshotId::default() {
                tagged.put(2, |buffer| self.snapshot_id.encode(buffer, version))?;
            }
            buffer.put_tagged_fields(tagged);
        }
        Ok(())
    }
}

/// Part of Kafka's `FetchResponse`: `AbortedTransaction`, versions 4-18.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct AbortedTransaction {
    /// Kafka's `ProducerId`.
    pub producer_id: i64,
    /// Kafka's `FirstOffset`.
    pub first_offset: i64,
}

impl AbortedTransaction {
    fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 12;
        let value = Self {
            producer_id: reader.i64()?,
            first_offset: reader.i64()?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 12;
        buffer.put_i64(self.producer_id);
        buffer.put_i64(self.first_offset);
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `FetchResponse`: `SnapshotId`, versions 12-18.
#[derive(Clone, Debug, PartialEq)]
pub struct SnapshotId {
    /// Kafka's `EndOffset`, default -1.
    pub end_offset: i64,
    /// Kafka's `Epoch`, default -1.
    pub epoch: i32,
}

impl Default for SnapshotId {
    fn default() -> Self {
        Self {
            end_offset: -1,
            epoch: -1,
        }
    }
}

impl SnapshotId {
    fn decode(reader: &mut Reader<'_>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            end_offset: reader.i64()?,
            epoch: reader.i32()?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_i64(self.end_offset);
        buffer.put_i32(self.epoch);
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `FetchResponse`: `LeaderIdAndEpoch`, versions 12-18.
#[derive(Clone, Debug, PartialEq)]
pub struct LeaderIdAndEpoch {
    /// Kafka's `LeaderId`, default -1.
    pub leader_id: i32,
    /// Kafka's `LeaderEpoch`, default -1.
    pub leader_epoch: i32,
}

impl Default for LeaderIdAndEpoch {
    fn default() -> Self {
        Self {
            leader_id: -1,
            leader_epoch: -1,
        }
    }
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

/// Part of Kafka's `FetchResponse`: `EpochEndOffset`, versions 12-18.
#[derive(Clone, Debug, PartialEq)]
pub struct EpochEndOffset {
    /// Kafka's `Epoch`, default -1.
    pub epoch: i32,
    /// Kafka's `EndOffset`, default -1.
    pub end_offset: i64,
}

impl Default for EpochEndOffset {
    fn default() -> Self {
        Self {
            epoch: -1,
            end_offset: -1,
        }
    }
}

impl EpochEndOffset {
    fn decode(reader: &mut Reader<'_>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            epoch: reader.i32()?,
            end_offset: reader.i64()?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_i32(self.epoch);
        buffer.put_i64(self.end_offset);
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for FetchResponse<'a> {
    const NAME: &'static str = "FetchResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
