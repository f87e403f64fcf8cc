//! `FetchRequest`, versions 4-18. Generated from `schemas/fetch.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, TaggedFields, require_default};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;
use uuid::Uuid;

/// Kafka's `FetchRequest`, versions 4-18.
#[derive(Clone, Debug, PartialEq)]
pub struct FetchRequest<'a> {
    /// Kafka's `ClusterId`, versions 12-18, may be null, default null, left out of other versions.
    pub cluster_id: Option<Cow<'a, str>>,
    /// Kafka's `ReplicaId`, versions 4-14, default -1.
    pub replica_id: i32,
    /// Kafka's `ReplicaState`, versions 15-18.
    pub replica_state: ReplicaState,
    /// Kafka's `MaxWaitMs`.
    pub max_wait_ms: i32,
    /// Kafka's `MinBytes`.
    pub min_bytes: i32,
    /// Kafka's `MaxBytes`, default 2147483647.
    pub max_bytes: i32,
    /// Kafka's `IsolationLevel`.
    pub isolation_level: i8,
    /// Kafka's `SessionId`, versions 7-18, left out of other versions.
    pub session_id: i32,
    /// Kafka's `SessionEpoch`, versions 7-18, default -1, left out of other versions.
    pub session_epoch: i32,
    /// Kafka's `Topics`.
    pub topics: Vec<FetchTopic<'a>>,
    /// Kafka's `ForgottenTopicsData`, versions 7-18.
    pub forgotten_topics_data: Vec<ForgottenTopic<'a>>,
    /// Kafka's `RackId`, versions 11-18, left out of other versions.
    pub rack_id: Cow<'a, str>,
}

impl Default for FetchRequest<'_> {
    fn default() -> Self {
        Self {
            cluster_id: None,
            replica_id: -1,
            replica_state: ReplicaState::default(),
            max_wait_ms: 0,
            min_bytes: 0,
            max_bytes: 2147483647,
            isolation_level: 0,
            session_id: 0,
            session_epoch: -1,
            topics: Vec::new(),
            forgotten_topics_data: Vec::new(),
            rack_id: Cow::Borrowed(""),
        }
    }
}

impl<'a> FetchRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 4..=18;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("FetchRequest", version, Self::VERSIONS)?;
        let flexible = version >= 12;
        let mut value = Self {
            cluster_id: None,
            replica_id: if version <= 14 { reader.i32()? } else { -1 },
            replica_state: ReplicaState::default(),
            max_wait_ms: reader.i32()?,
            min_bytes: reader.i32()?,
            max_bytes: reader.i32()?,
            isolation_level: reader.i8()?,
            session_id: if version >= 7 { reader.i32()? } else { 0 },
            session_epoch: if version >= 7 { reader.i32()? } else { -1 },
            topics: reader.array(flexible, 3, |reader| FetchTopic::decode(reader, version))?,
            forgotten_topics_data: if version >= 7 {
                reader.array(flexible, 3, |reader| {
                    ForgottenTopic::decode(reader, version)
                })?
            } else {
                Vec::new()
            },
            rack_id: if version >= 11 {
                reader.string(flexible)?
            } else {
                Cow::Borrowed("")
            },
        };
        if flexible {
            reader.tagged_fields(|tag, reader| {
                match tag {
                    0 => value.cluster_id = reader.nullable_string(true)?,
                    1 if version >= 15 => {
                        value.replica_state = ReplicaState::decode(reader, version)?
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
        buffer.check_version("FetchRequest", version, Self::VERSIONS)?;
        let flexible = version >= 12;
        if version <= 14 {
            buffer.put_i32(self.replica_id);
        } else {
            require_default(self.replica_id == -1, "FetchRequest.ReplicaId", version)?;
        }
        buffer.put_i32(self.max_wait_ms);
        buffer.put_i32(self.min_bytes);
        buffer.put_i32(self.max_bytes);
        buffer.put_i8(self.isolation_level);
        if version >= 7 {
            buffer.put_i32(self.session_id);
        }
        if version >= 7 {
            buffer.put_i32(self.session_epoch);
        }
        buffer.put_array(flexible, &self.topics, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if version >= 7 {
            buffer.put_array(flexible, &self.forgotten_topics_data, |buffer, element| {
                element.encode(buffer, version)
            })?;
        } else {
            require_default(
                self.forgotten_topics_data.is_empty(),
                "FetchRequest.ForgottenTopicsData",
                version,
            )?;
        }
        if version >= 11 {
            buffer.put_string(flexible, &self.rack_id)?;
        }
        if version < 15 {
            require_default(
                self.replica_state == ReplicaState::default(),
                "FetchRequest.ReplicaState",
                version,
            )?;
        }
        if flexible {
            let mut tagged = TaggedFields::default();
            if self.cluster_id.is_some() {
                tagged.put(0, |buffer| {
                    buffer.put_nullable_string(true, self.cluster_id.as_deref())
                })?;
            }
            if version >= 15 && self.replica_state != ReplicaState::default() {
                tagged.put(1, |buffer| self.replica_state.encode(buffer, version))?;
            }
            buffer.put_tagged_fields(tagged);
        }
        Ok(())
    }
}

/// Part of Kafka's `FetchRequest`: `ForgottenTopic`, versions 7-18.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ForgottenTopic<'a> {
    /// Kafka's `Topic`, versions 7-12, left out of other versions.
    pub topic: Cow<'a, str>,
    /// Kafka's `TopicId`, versions 13-18, left out of other versions.
    pub topic_id: Uuid,
    /// Kafka's `Partitions`.
    pub partitions: Vec<i32>,
}

impl<'a> ForgottenTopic<'a> {
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
            partitions: reader.array(flexible, 4, Reader::i32)?,
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
            buffer.put_i32(*element);
            Ok(())
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `FetchRequest`: `FetchTopic`, versions 4-18.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct FetchTopic<'a> {
    /// Kafka's `Topic`, versions 4-12, left out of other versions.
    pub topic: Cow<'a, str>,
    /// Kafka's `TopicId`, versions 13-18, left out of other versions.
    pub topic_id: Uuid,
    /// Kafka's `Partitions`.
    pub partitions: Vec<FetchPartition>,
}

impl<'a> FetchTopic<'a> {
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
            partitions: reader.array(flexible, 16, |reader| {
                FetchPartition::decode(reader, version)
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

/// Part of Kafka's `FetchRequest`: `FetchPartition`, versions 4-18.
#[derive(Clone, Debug, PartialEq)]
pub struct FetchPartition {
    /// Kafka's `Partition`.
    pub partition: i32,
    /// Kafka's `CurrentLeaderEpoch`, versions 9-18, default -1, left out of other versions.
    pub current_leader_epoch: i32,
    /// Kafka's `FetchOffset`.
    pub fetch_offset: i64,
    /// Kafka's `LastFetchedEpoch`, versions 12-18, default -1.
    pub last_fetched_epoch: i32,
    /// Kafka's `LogStartOffset`, versions 5-18, default -1, left out of other versions.
    pub log_start_offset: i64,
    /// Kafka's `PartitionMaxBytes`.
    pub partition_max_bytes: i32,
    /// Kafka's `ReplicaDirectoryId`, versions 17-18, left out of other versions.
    pub replica_directory_id: Uuid,
    /// Kafka's `HighWatermark`, version 18, default 9223372036854775807, left out of other versions.
    pub high_watermark: i64,
}

impl Default for FetchPartition {
    fn default() -> Self {
        Self {
            partition: 0,
            current_leader_epoch: -1,
            fetch_offset: 0,
            last_fetched_epoch: -1,
            log_start_offset: -1,
            partition_max_bytes: 0,
            replica_directory_id: Uuid::nil(),
            high_watermark: 9223372036854775807,
        }
    }
}

impl FetchPartition {
    fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 12;
        let mut value = Self {
            partition: reader.i32()?,
            current_leader_epoch: if version >= 9 { reader.i32()? } else { -1 },
            fetch_offset: reader.i64()?,
            last_fetched_epoch: if version >= 12 { reader.i32()? } else { -1 },
            log_start_offset: if version >= 5 { reader.i64()? } else { -1 },
            partition_max_bytes: reader.i32()?,
            replica_directory_id: Uuid::nil(),
            high_watermark: 9223372036854775807,
        };
        if flexible {
            reader.tagged_fields(|tag, reader| {
                match tag {
                    0 if version >= 17 => value.replica_directory_id = reader.uuid()?,
                    1 if version == 18 => value.high_watermark = reader.i64()?,
                    _ => return Ok(false),
                }
                Ok(true)
            })?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 12;
        buffer.put_i32(self.partition);
        if version >= 9 {
            buffer.put_i32(self.current_leader_epoch);
        }
        buffer.put_i64(self.fetch_offset);
        if version >= 12 {
            buffer.put_i32(self.last_fetched_epoch);
        } else {
            require_default(
                self.last_fetched_epoch == -1,
                "FetchPartition.LastFetchedEpoch",
                version,
            )?;
        }
        if version >= 5 {
            buffer.put_i64(self.log_start_offset);
        }
        buffer.put_i32(self.partition_max_bytes);
        if flexible {
            let mut tagged = TaggedFields::default();
            if version >= 17 && !self.replica_directory_id.is_nil() {
                tagged.put(0, |buffer| {
                    buffer.put_uuid(self.replica_directory_id);
                    Ok(())
                })?;
            }
            if version == 18 && self.high_watermark != 9223372036854775807 {
                tagged.put(1, |buffer| {
                    buffer.put_i64(self.high_watermark);
                    Ok(())
                })?;
            }
            buffer.put_tagged_fields(tagged);
        }
        Ok(())
    }
}

/// Part of Kafka's `FetchRequest`: `ReplicaState`, versions 15-18.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplicaState {
    /// Kafka's `ReplicaId`, default -1.
    pub replica_id: i32,
    /// Kafka's `ReplicaEpoch`, default -1.
    pub replica_epoch: i64,
}

impl Default for ReplicaState {
    fn default() -> Self {
        Self {
            replica_id: -1,
            replica_epoch: -1,
        }
    }
}

impl ReplicaState {
    fn decode(reader: &mut Reader<'_>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            replica_id: reader.i32()?,
            replica_epoch: reader.i64()?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_i32(self.replica_id);
        buffer.put_i64(self.replica_epoch);
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for FetchRequest<'a> {
    const NAME: &'static str = "FetchRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for FetchRequest<'a> {
    const KEY: ApiKey = ApiKey::Fetch;
    type Response<'r> = super::FetchResponse<'r>;
}
