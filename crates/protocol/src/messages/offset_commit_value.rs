//! `OffsetCommitValue`, versions 0-4. Generated from `schemas/offset_commit_record.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{
    DecodeError, EncodeError, GatherBuffer, Reader, TaggedFields, decode_prefixed, encode_prefixed,
};
use std::borrow::Cow;
use std::ops::RangeInclusive;
use uuid::Uuid;

/// Kafka's `OffsetCommitValue`, versions 0-4.
#[derive(Clone, Debug, PartialEq)]
pub struct OffsetCommitValue<'a> {
    /// Kafka's `Offset`.
    pub offset: i64,
    /// Kafka's `LeaderEpoch`, versions 3-4, default -1, left out of other versions.
    pub leader_epoch: i32,
    /// Kafka's `Metadata`.
    pub metadata: Cow<'a, str>,
    /// Kafka's `CommitTimestamp`.
    pub commit_timestamp: i64,
    /// Kafka's `ExpireTimestamp`, version 1, default -1, left out of other versions.
    pub expire_timestamp: i64,
    /// Kafka's `TopicId`, version 4, left out of other versions.
    pub topic_id: Uuid,
}

impl Default for OffsetCommitValue<'_> {
    fn default() -> Self {
        Self {
            offset: 0,
            leader_epoch: -1,
            metadata: Cow::Borrowed(""),
            commit_timestamp: 0,
            expire_timestamp: -1,
            topic_id: Uuid::nil(),
        }
    }
}

impl<'a> OffsetCommitValue<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=4;

    /// Reads the message behind its 2-byte version.
    pub fn decode_with_version_prefix(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        decode_prefixed(bytes, "OffsetCommitValue", Self::VERSIONS, Self::decode)
    }

    /// Writes the message behind its 2-byte version.
    pub fn encode_with_version_prefix(&self, version: i16) -> Result<Vec<u8>, EncodeError> {
        encode_prefixed(version, |buffer| self.encode(buffer, version))
    }

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("OffsetCommitValue", version, Self::VERSIONS)?;
        let flexible = version == 4;
        let mut value = Self {
            offset: reader.i64()?,
            leader_epoch: if version >= 3 { reader.i32()? } else { -1 },
            metadata: reader.string(flexible)?,
            commit_timestamp: reader.i64()?,
            expire_timestamp: if version == 1 { reader.i64()? } else { -1 },
            topic_id: Uuid::nil(),
        };
        if flexible {
            reader.tagged_fields(|tag, reader| {
                match tag {
                    0 => value.topic_id = reader.uuid()?,
                    _ => return Ok(false),
                }
                Ok(true)
            })?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("OffsetCommitValue", version, Self::VERSIONS)?;
        let flexible = version == 4;
        buffer.put_i64(self.offset);
        if version >= 3 {
            buffer.put_i32(self.leader_epoch);
        }
        buffer.put_string(flexible, &self.metadata)?;
        buffer.put_i64(self.commit_timestamp);
        if version == 1 {
            buffer.put_i64(self.expire_timestamp);
        }
        if flexible {
            let mut tagged = TaggedFields::default();
            if !self.topic_id.is_nil() {
                tagged.put(0, |buffer| {
                    buffer.put_uuid(self.topic_id);
                    Ok(())
                })?;
            }
            buffer.put_tagged_fields(tagged);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for OffsetCommitValue<'a> {
    const NAME: &'static str = "OffsetCommitValue";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
