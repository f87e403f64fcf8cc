//! `ConsumerGroupHeartbeatRequest`, versions 0-1. Generated from `schemas/consumer_group_heartbeat.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, require_default};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;
use uuid::Uuid;

/// Kafka's `ConsumerGroupHeartbeatRequest`, versions 0-1.
#[derive(Clone, Debug, PartialEq)]
pub struct ConsumerGroupHeartbeatRequest<'a> {
    /// Kafka's `GroupId`.
    pub group_id: Cow<'a, str>,
    /// Kafka's `MemberId`.
    pub member_id: Cow<'a, str>,
    /// Kafka's `MemberEpoch`.
    pub member_epoch: i32,
    /// Kafka's `InstanceId`, may be null, default null.
    pub instance_id: Option<Cow<'a, str>>,
    /// Kafka's `RackId`, may be null, default null.
    pub rack_id: Option<Cow<'a, str>>,
    /// Kafka's `RebalanceTimeoutMs`, default -1.
    pub rebalance_timeout_ms: i32,
    /// Kafka's `SubscribedTopicNames`, may be null, default null.
    pub subscribed_topic_names: Option<Vec<Cow<'a, str>>>,
    /// Kafka's `SubscribedTopicRegex`, version 1, may be null, default null.
    pub subscribed_topic_regex: Option<Cow<'a, str>>,
    /// Kafka's `ServerAssignor`, may be null, default null.
    pub server_assignor: Option<Cow<'a, str>>,
    /// Kafka's `TopicPartitions`, may be null, default null.
    pub topic_partitions: Option<Vec<TopicPartitions>>,
}

impl Default for ConsumerGroupHeartbeatRequest<'_> {
    fn default() -> Self {
        Self {
            group_id: Cow::Borrowed(""),
            member_id: Cow::Borrowed(""),
            member_epoch: 0,
            instance_id: None,
            rack_id: None,
            rebalance_timeout_ms: -1,
            subscribed_topic_names: None,
            subscribed_topic_regex: None,
            server_assignor: None,
            topic_partitions: None,
        }
    }
}

impl<'a> ConsumerGroupHeartbeatRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=1;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("ConsumerGroupHeartbeatRequest", version, Self::VERSIONS)?;
        let value = Self {
            group_id: reader.string(true)?,
            member_id: reader.string(true)?,
            member_epoch: reader.i32()?,
            instance_id: reader.nullable_string(true)?,
            rack_id: reader.nullable_string(true)?,
            rebalance_timeout_ms: reader.i32()?,
            subscribed_topic_names: reader.nullable_array(true, 1, |reader| reader.string(true))?,
            subscribed_topic_regex: if version == 1 {
                reader.nullable_string(true)?
            } else {
                None
            },
            server_assignor: reader.nullable_string(true)?,
            topic_partitions: reader
                .nullable_array(true, 18, |reader| TopicPartitions::decode(reader, version))?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("ConsumerGroupHeartbeatRequest", version, Self::VERSIONS)?;
        buffer.put_string(true, &self.group_id)?;
        buffer.put_string(true, &self.member_id)?;
        buffer.put_i32(self.member_epoch);
        buffer.put_nullable_string(true, self.instance_id.as_deref())?;
        buffer.put_nullable_string(true, self.rack_id.as_deref())?;
        buffer.put_i32(self.rebalance_timeout_ms);
        buffer.put_nullable_array(
            true,
            self.subscribed_topic_names.as_deref(),
            |buffer, element| buffer.put_string(true, element),
        )?;
        if version == 1 {
            buffer.put_nullable_string(true, self.subscribed_topic_regex.as_deref())?;
        } else {
            require_default(
                self.subscribed_topic_regex.is_none(),
                "ConsumerGroupHeartbeatRequest.SubscribedTopicRegex",
                version,
            )?;
        }
        buffer.put_nullable_string(true, self.server_assignor.as_deref())?;
        buffer.put_nullable_array(true, self.topic_partitions.as_deref(), |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `ConsumerGroupHeartbeatRequest`: `TopicPartitions`, versions 0-1.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct TopicPartitions {
    /// Kafka's `TopicId`.
    pub topic_id: Uuid,
    /// Kafka's `Partitions`.
    pub partitions: Vec<i32>,
}

impl TopicPartitions {
    fn decode(reader: &mut Reader<'_>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            topic_id: reader.uuid()?,
            partitions: reader.array(true, 4, Reader::i32)?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_uuid(self.topic_id);
        buffer.put_array(true, &self.partitions, |buffer, element| {
            buffer.put_i32(*element);
            Ok(())
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for ConsumerGroupHeartbeatRequest<'a> {
    const NAME: &'static str = "ConsumerGroupHeartbeatRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for ConsumerGroupHeartbeatRequest<'a> {
    const KEY: ApiKey = ApiKey::ConsumerGroupHeartbeat;
    type Response<'r> = super::ConsumerGroupHeartbeatResponse<'r>;
}
