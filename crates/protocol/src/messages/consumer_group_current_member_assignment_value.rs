//! `ConsumerGroupCurrentMemberAssignmentValue`, version 0. Generated from `schemas/consumer_group_current_member_assignment_record.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{
    DecodeError, EncodeError, GatherBuffer, Reader, TaggedFields, decode_prefixed, encode_prefixed,
};
use std::ops::RangeInclusive;
use uuid::Uuid;

/// Kafka's `ConsumerGroupCurrentMemberAssignmentValue`, version 0.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ConsumerGroupCurrentMemberAssignmentValue {
    /// Kafka's `MemberEpoch`.
    pub member_epoch: i32,
    /// Kafka's `PreviousMemberEpoch`.
    pub previous_member_epoch: i32,
    /// Kafka's `State`.
    pub state: i8,
    /// Kafka's `AssignedPartitions`.
    pub assigned_partitions: Vec<TopicPartitions>,
    /// Kafka's `PartitionsPendingRevocation`.
    pub partitions_pending_revocation: Vec<TopicPartitions>,
}

impl ConsumerGroupCurrentMemberAssignmentValue {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=0;

    /// Reads the message behind its 2-byte version.
    pub fn decode_with_version_prefix(bytes: &[u8]) -> Result<Self, DecodeError> {
        decode_prefixed(
            bytes,
            "ConsumerGroupCurrentMemberAssignmentValue",
            Self::VERSIONS,
            Self::decode,
        )
    }

    /// Writes the message behind its 2-byte version.
    pub fn encode_with_version_prefix(&self, version: i16) -> Result<Vec<u8>, EncodeError> {
        encode_prefixed(version, |buffer| self.encode(buffer, version))
    }

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version(
            "ConsumerGroupCurrentMemberAssignmentValue",
            version,
            Self::VERSIONS,
        )?;
        let value = Self {
            member_epoch: reader.i32()?,
            previous_member_epoch: reader.i32()?,
            state: reader.i8()?,
            assigned_partitions: reader
                .array(true, 18, |reader| TopicPartitions::decode(reader, version))?,
            partitions_pending_revocation: reader
                .array(true, 18, |reader| TopicPartitions::decode(reader, version))?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version(
            "ConsumerGroupCurrentMemberAssignmentValue",
            version,
            Self::VERSIONS,
        )?;
        buffer.put_i32(self.member_epoch);
        buffer.put_i32(self.previous_member_epoch);
        buffer.put_i8(self.state);
        buffer.put_array(true, &self.assigned_partitions, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_array(
            true,
            &self.partitions_pending_revocation,
            |buffer, element| element.encode(buffer, version),
        )?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `ConsumerGroupCurrentMemberAssignmentValue`: `TopicPartitions`, version 0.
#[derive(Clone, Debug, PartialEq)]
pub struct TopicPartitions {
    /// Kafka's `TopicId`.
    pub topic_id: Uuid,
    /// Kafka's `Partitions`.
    pub partitions: Vec<i32>,
    /// Kafka's `AssignmentEpochs`, may be null.
    pub assignment_epochs: Option<Vec<i32>>,
}

impl Default for TopicPartitions {
    fn default() -> Self {
        Self {
            topic_id: Uuid::nil(),
            partitions: Vec::new(),
            assignment_epochs: Some(Vec::new()),
        }
    }
}

impl TopicPartitions {
    fn decode(reader: &mut Reader<'_>, _version: i16) -> Result<Self, DecodeError> {
        let mut value = Self {
            topic_id: reader.uuid()?,
            partitions: reader.array(true, 4, Reader::i32)?,
            assignment_epochs: Some(Vec::new()),
        };
        reader.tagged_fields(|tag, reader| {
            match tag {
                0 => value.assignment_epochs = reader.nullable_array(true, 4, Reader::i32)?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_uuid(self.topic_id);
        buffer.put_array(true, &self.partitions, |buffer, element| {
            buffer.put_i32(*element);
            Ok(())
        })?;
        let mut tagged = TaggedFields::default();
        if !self
            .assignment_epochs
            .as_ref()
            .is_some_and(|value| value.is_empty())
        {
            tagged.put(0, |buffer| {
                buffer.put_nullable_array(
                    true,
                    self.assignment_epochs.as_deref(),
                    |buffer, element| {
                        buffer.put_i32(*element);
                        Ok(())
                    },
                )
            })?;
        }
        buffer.put_tagged_fields(tagged);
        Ok(())
    }
}

impl Message<'_> for ConsumerGroupCurrentMemberAssignmentValue {
    const NAME: &'static str = "ConsumerGroupCurrentMemberAssignmentValue";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
