//! `OffsetForLeaderEpochRequest`, versions 2-4. Generated from `schemas/offset_for_leader_epoch.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `OffsetForLeaderEpochRequest`, versions 2-4.
#[derive(Clone, Debug, PartialEq)]
pub struct OffsetForLeaderEpochRequest<'a> {
    /// Kafka's `ReplicaId`, versions 3-4, default -2, left out of other versions.
    pub replica_id: i32,
    /// Kafka's `Topics`.
    pub topics: Vec<OffsetForLeaderTopic<'a>>,
}

impl Default for OffsetForLeaderEpochRequest<'_> {
    fn default() -> Self {
        Self {
            replica_id: -2,
            topics: Vec::new(),
        }
    }
}

impl<'a> OffsetForLeaderEpochRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 2..=4;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("OffsetForLeaderEpochRequest", version, Self::VERSIONS)?;
        let flexible = version == 4;
        let value = Self {
            replica_id: if version >= 3 { reader.i32()? } else { -2 },
            topics: reader.array(flexible, 3, |reader| {
                OffsetForLeaderTopic::decode(reader, version)
            })?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("OffsetForLeaderEpochRequest", version, Self::VERSIONS)?;
        let flexible = version == 4;
        if version >= 3 {
            buffer.put_i32(self.replica_id);
        }
        buffer.put_array(flexible, &self.topics, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `OffsetForLeaderEpochRequest`: `OffsetForLeaderTopic`, versions 2-4.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct OffsetForLeaderTopic<'a> {
    /// Kafka's `Topic`.
    pub topic: Cow<'a, str>,
    /// Kafka's `Partitions`.
    pub partitions: Vec<OffsetForLeaderPartition>,
}

impl<'a> OffsetForLeaderTopic<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 4;
        let value = Self {
            topic: reader.string(flexible)?,
            partitions: reader.array(flexible, 12, |reader| {
                OffsetForLeaderPartition::decode(reader, version)
            })?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 4;
        buffer.put_string(flexible, &self.topic)?;
        buffer.put_array(flexible, &self.partitions, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `OffsetForLeaderEpochRequest`: `OffsetForLeaderPartition`, versions 2-4.
#[derive(Clone, Debug, PartialEq)]
pub struct OffsetForLeaderPartition {
    /// Kafka's `Partition`.
    pub partition: i32,
    /// Kafka's `CurrentLeaderEpoch`, default -1.
    pub current_leader_epoch: i32,
    /// Kafka's `LeaderEpoch`.
    pub leader_epoch: i32,
}

impl Default for OffsetForLeaderPartition {
    fn default() -> Self {
        Self {
            partition: 0,
            current_leader_epoch: -1,
            leader_epoch: 0,
        }
    }
}

impl OffsetForLeaderPartition {
    fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 4;
        let value = Self {
            partition: reader.i32()?,
            current_leader_epoch: reader.i32()?,
            leader_epoch: reader.i32()?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 4;
        buffer.put_i32(self.partition);
        buffer.put_i32(self.current_leader_epoch);
        buffer.put_i32(self.leader_epoch);
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for OffsetForLeaderEpochRequest<'a> {
    const NAME: &'static str = "OffsetForLeaderEpochRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for OffsetForLeaderEpochRequest<'a> {
    const KEY: ApiKey = ApiKey::OffsetForLeaderEpoch;
    type Response<'r> = super::OffsetForLeaderEpochResponse<'r>;
}
