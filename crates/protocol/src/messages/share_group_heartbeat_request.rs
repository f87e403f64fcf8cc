//! `ShareGroupHeartbeatRequest`, version 1. Generated from `schemas/share_group_heartbeat.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `ShareGroupHeartbeatRequest`, version 1.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ShareGroupHeartbeatRequest<'a> {
    /// Kafka's `GroupId`.
    pub group_id: Cow<'a, str>,
    /// Kafka's `MemberId`.
    pub member_id: Cow<'a, str>,
    /// Kafka's `MemberEpoch`.
    pub member_epoch: i32,
    /// Kafka's `RackId`, may be null, default null.
    pub rack_id: Option<Cow<'a, str>>,
    /// Kafka's `SubscribedTopicNames`, may be null, default null.
    pub subscribed_topic_names: Option<Vec<Cow<'a, str>>>,
}

impl<'a> ShareGroupHeartbeatRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 1..=1;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("ShareGroupHeartbeatRequest", version, Self::VERSIONS)?;
        let value = Self {
            group_id: reader.string(true)?,
            member_id: reader.string(true)?,
            member_epoch: reader.i32()?,
            rack_id: reader.nullable_string(true)?,
            subscribed_topic_names: reader.nullable_array(true, 1, |reader| reader.string(true))?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("ShareGroupHeartbeatRequest", version, Self::VERSIONS)?;
        buffer.put_string(true, &self.group_id)?;
        buffer.put_string(true, &self.member_id)?;
        buffer.put_i32(self.member_epoch);
        buffer.put_nullable_string(true, self.rack_id.as_deref())?;
        buffer.put_nullable_array(
            true,
            self.subscribed_topic_names.as_deref(),
            |buffer, element| buffer.put_string(true, element),
        )?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for ShareGroupHeartbeatRequest<'a> {
    const NAME: &'static str = "ShareGroupHeartbeatRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for ShareGroupHeartbeatRequest<'a> {
    const KEY: ApiKey = ApiKey::ShareGroupHeartbeat;
    type Response<'r> = super::ShareGroupHeartbeatResponse<'r>;
}
