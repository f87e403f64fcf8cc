//! `DeleteShareGroupOffsetsRequest`, version 0. Generated from `schemas/delete_share_group_offsets.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `DeleteShareGroupOffsetsRequest`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DeleteShareGroupOffsetsRequest<'a> {
    /// Kafka's `GroupId`.
    pub group_id: Cow<'a, str>,
    /// Kafka's `Topics`.
    pub topics: Vec<DeleteShareGroupOffsetsRequestTopic<'a>>,
}

impl<'a> DeleteShareGroupOffsetsRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=0;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("DeleteShareGroupOffsetsRequest", version, Self::VERSIONS)?;
        let value = Self {
            group_id: reader.string(true)?,
            topics: reader.array(true, 2, |reader| {
                DeleteShareGroupOffsetsRequestTopic::decode(reader, version)
            })?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("DeleteShareGroupOffsetsRequest", version, Self::VERSIONS)?;
        buffer.put_string(true, &self.group_id)?;
        buffer.put_array(true, &self.topics, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `DeleteShareGroupOffsetsRequest`: `DeleteShareGroupOffsetsRequestTopic`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DeleteShareGroupOffsetsRequestTopic<'a> {
    /// Kafka's `TopicName`.
    pub topic_name: Cow<'a, str>,
}

impl<'a> DeleteShareGroupOffsetsRequestTopic<'a> {
    fn decode(reader: &mut Reader<'a>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            topic_name: reader.string(true)?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_string(true, &self.topic_name)?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for DeleteShareGroupOffsetsRequest<'a> {
    const NAME: &'static str = "DeleteShareGroupOffsetsRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for DeleteShareGroupOffsetsRequest<'a> {
    const KEY: ApiKey = ApiKey::DeleteShareGroupOffsets;
    type Response<'r> = super::DeleteShareGroupOffsetsResponse<'r>;
}
