//! `ShareAcknowledgeRequest`, versions 1-2. Generated from `schemas/share_acknowledge.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, require_default};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;
use uuid::Uuid;

/// Kafka's `ShareAcknowledgeRequest`, versions 1-2.
#[derive(Clone, Debug, PartialEq)]
pub struct ShareAcknowledgeRequest<'a> {
    /// Kafka's `GroupId`, may be null, default null.
    pub group_id: Option<Cow<'a, str>>,
    /// Kafka's `MemberId`, may be null.
    pub member_id: Option<Cow<'a, str>>,
    /// Kafka's `ShareSessionEpoch`.
    pub share_session_epoch: i32,
    /// Kafka's `IsRenewAck`, version 2.
    pub is_renew_ack: bool,
    /// Kafka's `Topics`.
    pub topics: Vec<AcknowledgeTopic>,
}

impl Default for ShareAcknowledgeRequest<'_> {
    fn default() -> Self {
        Self {
            group_id: None,
            member_id: Some(Cow::Borrowed("")),
            share_session_epoch: 0,
            is_renew_ack: false,
            topics: Vec::new(),
        }
    }
}

impl<'a> ShareAcknowledgeRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 1..=2;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("ShareAcknowledgeRequest", version, Self::VERSIONS)?;
        let value = Self {
            group_id: reader.nullable_string(true)?,
            member_id: reader.nullable_string(true)?,
            share_session_epoch: reader.i32()?,
            is_renew_ack: if version == 2 { reader.bool()? } else { false },
            topics: reader.array(true, 18, |reader| AcknowledgeTopic::decode(reader, version))?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("ShareAcknowledgeRequest", version, Self::VERSIONS)?;
        buffer.put_nullable_string(true, self.group_id.as_deref())?;
        buffer.put_nullable_string(true, self.member_id.as_deref())?;
        buffer.put_i32(self.share_session_epoch);
        if version == 2 {
            buffer.put_bool(self.is_renew_ack);
        } else {
            require_default(
                !self.is_renew_ack,
                "ShareAcknowledgeRequest.IsRenewAck",
                version,
            )?;
        }
        buffer.put_array(true, &self.topics, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `ShareAcknowledgeRequest`: `AcknowledgeTopic`, versions 1-2.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct AcknowledgeTopic {
    /// Kafka's `TopicId`.
    pub topic_id: Uuid,
    /// Kafka's `Partitions`.
    pub partitions: Vec<AcknowledgePartition>,
}

impl AcknowledgeTopic {
    fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            topic_id: reader.uuid()?,
            partitions: reader.array(true, 6, |reader| {
                AcknowledgePartition::decode(reader, version)
            })?,
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

/// Part of Kafka's `ShareAcknowledgeRequest`: `AcknowledgePartition`, versions 1-2.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct AcknowledgePartition {
    /// Kafka's `PartitionIndex`.
    pub partition_index: i32,
    /// Kafka's `AcknowledgementBatches`.
    pub acknowledgement_batches: Vec<AcknowledgementBatch>,
}

impl AcknowledgePartition {
    fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            partition_index: reader.i32()?,
            acknowledgement_batches: reader.array(true, 18, |reader| {
                AcknowledgementBatch::decode(reader, version)
            })?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.put_i32(self.partition_index);
        buffer.put_array(true, &self.acknowledgement_batches, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `ShareAcknowledgeRequest`: `AcknowledgementBatch`, versions 1-2.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct AcknowledgementBatch {
    /// Kafka's `FirstOffset`.
    pub first_offset: i64,
    /// Kafka's `LastOffset`.
    pub last_offset: i64,
    /// Kafka's `AcknowledgeTypes`.
    pub acknowledge_types: Vec<i8>,
}

impl AcknowledgementBatch {
    fn decode(reader: &mut Reader<'_>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            first_offset: reader.i64()?,
            last_offset: reader.i64()?,
            acknowledge_types: reader.array(true, 1, Reader::i8)?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_i64(self.first_offset);
        buffer.put_i64(self.last_offset);
        buffer.put_array(true, &self.acknowledge_types, |buffer, element| {
            buffer.put_i8(*element);
            Ok(())
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for ShareAcknowledgeRequest<'a> {
    const NAME: &'static str = "ShareAcknowledgeRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for ShareAcknowledgeRequest<'a> {
    const KEY: ApiKey = ApiKey::ShareAcknowledge;
    type Response<'r> = super::ShareAcknowledgeResponse<'r>;
}
