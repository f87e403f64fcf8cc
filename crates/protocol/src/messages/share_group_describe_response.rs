//! `ShareGroupDescribeResponse`, version 1. Generated from `schemas/share_group_describe.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use std::borrow::Cow;
use std::ops::RangeInclusive;
use uuid::Uuid;

/// Kafka's `ShareGroupDescribeResponse`, version 1.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ShareGroupDescribeResponse<'a> {
    /// Kafka's `ThrottleTimeMs`.
    pub throttle_time_ms: i32,
    /// Kafka's `Groups`.
    pub groups: Vec<DescribedGroup<'a>>,
}

impl<'a> ShareGroupDescribeResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 1..=1;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("ShareGroupDescribeResponse", version, Self::VERSIONS)?;
        let value = Self {
            throttle_time_ms: reader.i32()?,
            groups: reader.array(true, 20, |reader| DescribedGroup::decode(reader, version))?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("ShareGroupDescribeResponse", version, Self::VERSIONS)?;
        buffer.put_i32(self.throttle_time_ms);
        buffer.put_array(true, &self.groups, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `ShareGroupDescribeResponse`: `DescribedGroup`, version 1.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribedGroup<'a> {
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `ErrorMessage`, may be null, default null.
    pub error_message: Option<Cow<'a, str>>,
    /// Kafka's `GroupId`.
    pub group_id: Cow<'a, str>,
    /// Kafka's `GroupState`.
    pub group_state: Cow<'a, str>,
    /// Kafka's `GroupEpoch`.
    pub group_epoch: i32,
    /// Kafka's `AssignmentEpoch`.
    pub assignment_epoch: i32,
    /// Kafka's `AssignorName`.
    pub assignor_name: Cow<'a, str>,
    /// Kafka's `Members`.
    pub members: Vec<Member<'a>>,
    /// Kafka's `AuthorizedOperations`, default -2147483648.
    pub authorized_operations: i32,
}

impl Default for DescribedGroup<'_> {
    fn default() -> Self {
        Self {
            error_code: 0,
            error_message: None,
            group_id: Cow::Borrowed(""),
            group_state: Cow::Borrowed(""),
            group_epoch: 0,
            assignment_epoch: 0,
            assignor_name: Cow::Borrowed(""),
            members: Vec::new(),
            authorized_operations: -2147483648,
        }
    }
}

impl<'a> DescribedGroup<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            error_code: reader.i16()?,
            error_message: reader.nullable_string(true)?,
            group_id: reader.string(true)?,
            group_state: reader.string(true)?,
            group_epoch: reader.i32()?,
            assignment_epoch: reader.i32()?,
            assignor_name: reader.string(true)?,
            members: reader.array(true, 12, |reader| Member::decode(reader, version))?,
            authorized_operations: reader.i32()?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.put_i16(self.error_code);
        buffer.put_nullable_string(true, self.error_message.as_deref())?;
        buffer.put_string(true, &self.group_id)?;
        buffer.put_string(true, &self.group_state)?;
        buffer.put_i32(self.group_epoch);
        buffer.put_i32(self.assignment_epoch);
        buffer.put_string(true, &self.assignor_name)?;
        buffer.put_array(true, &self.members, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_i32(self.authorized_operations);
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `ShareGroupDescribeResponse`: `Member`, version 1.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Member<'a> {
    /// Kafka's `MemberId`.
    pub member_id: Cow<'a, str>,
    /// Kafka's `RackId`, may be null, default null.
    pub rack_id: Option<Cow<'a, str>>,
    /// Kafka's `MemberEpoch`.
    pub member_epoch: i32,
    /// Kafka's `ClientId`.
    pub client_id: Cow<'a, str>,
    /// Kafka's `ClientHost`.
    pub client_host: Cow<'a, str>,
    /// Kafka's `SubscribedTopicNames`.
    pub subscribed_topic_names: Vec<Cow<'a, str>>,
    /// Kafka's `Assignment`.
    pub assignment: Assignment<'a>,
}

impl<'a> Member<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            member_id: reader.string(true)?,
            rack_id: reader.nullable_string(true)?,
            member_epoch: reader.i32()?,
            client_id: reader.string(true)?,
            client_host: reader.string(true)?,
            subscribed_topic_names: reader.array(true, 1, |reader| reader.string(true))?,
            assignment: Assignment::decode(reader, version)?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.put_string(true, &self.member_id)?;
        buffer.put_nullable_string(true, self.rack_id.as_deref())?;
        buffer.put_i32(self.member_epoch);
        buffer.put_string(true, &self.client_id)?;
        buffer.put_string(true, &self.client_host)?;
        buffer.put_array(true, &self.subscribed_topic_names, |buffer, element| {
            buffer.put_string(true, element)
        })?;
        self.assignment.encode(buffer, version)?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `ShareGroupDescribeResponse`: `Assignment`, version 1.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Assignment<'a> {
    /// Kafka's `TopicPartitions`.
    pub topic_partitions: Vec<TopicPartitions<'a>>,
}

impl<'a> Assignment<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            topic_partitions: reader
                .array(true, 19, |reader| TopicPartitions::decode(reader, version))?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.put_array(true, &self.topic_partitions, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `ShareGroupDescribeResponse`: `TopicPartitions`, version 1.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct TopicPartitions<'a> {
    /// Kafka's `TopicId`.
    pub topic_id: Uuid,
    /// Kafka's `TopicName`.
    pub topic_name: Cow<'a, str>,
    /// Kafka's `Partitions`.
    pub partitions: Vec<i32>,
}

impl<'a> TopicPartitions<'a> {
    fn decode(reader: &mut Reader<'a>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            topic_id: reader.uuid()?,
            topic_name: reader.string(true)?,
            partitions: reader.array(true, 4, Reader::i32)?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_uuid(self.topic_id);
        buffer.put_string(true, &self.topic_name)?;
        buffer.put_array(true, &self.partitions, |buffer, element| {
            buffer.put_i32(*element);
            Ok(())
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

impl<'a> Message<'a> for ShareGroupDescribeResponse<'a> {
    const NAME: &'static str = "ShareGroupDescribeResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
