//! `CreateTopicsRequest`, versions 2-7. Generated from `schemas/create_topics.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `CreateTopicsRequest`, versions 2-7.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateTopicsRequest<'a> {
    /// Kafka's `Topics`.
    pub topics: Vec<CreatableTopic<'a>>,
    /// Kafka's `TimeoutMs`, default 60000.
    pub timeout_ms: i32,
    /// Kafka's `ValidateOnly`.
    pub validate_only: bool,
}

impl Default for CreateTopicsRequest<'_> {
    fn default() -> Self {
        Self {
            topics: Vec::new(),
            timeout_ms: 60000,
            validate_only: false,
        }
    }
}

impl<'a> CreateTopicsRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 2..=7;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("CreateTopicsRequest", version, Self::VERSIONS)?;
        let flexible = version >= 5;
        let value = Self {
            topics: reader.array(flexible, 10, |reader| {
                CreatableTopic::decode(reader, version)
            })?,
            timeout_ms: reader.i32()?,
            validate_only: reader.bool()?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("CreateTopicsRequest", version, Self::VERSIONS)?;
        let flexible = version >= 5;
        buffer.put_array(flexible, &self.topics, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_i32(self.timeout_ms);
        buffer.put_bool(self.validate_only);
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `CreateTopicsRequest`: `CreatableTopic`, versions 2-7.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct CreatableTopic<'a> {
    /// Kafka's `Name`.
    pub name: Cow<'a, str>,
    /// Kafka's `NumPartitions`.
    pub num_partitions: i32,
    /// Kafka's `ReplicationFactor`.
    pub replication_factor: i16,
    /// Kafka's `Assignments`.
    pub assignments: Vec<CreatableReplicaAssignment>,
    /// Kafka's `Configs`.
    pub configs: Vec<CreatableTopicConfig<'a>>,
}

impl<'a> CreatableTopic<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 5;
        let value = Self {
            name: reader.string(flexible)?,
            num_partitions: reader.i32()?,
            replication_factor: reader.i16()?,
            assignments: reader.array(flexible, 6, |reader| {
                CreatableReplicaAssignment::decode(reader, version)
            })?,
            configs: reader.array(flexible, 3, |reader| {
                CreatableTopicConfig::decode(reader, version)
            })?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 5;
        buffer.put_string(flexible, &self.name)?;
        buffer.put_i32(self.num_partitions);
        buffer.put_i16(self.replication_factor);
        buffer.put_array(flexible, &self.assignments, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_array(flexible, &self.configs, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `CreateTopicsRequest`: `CreatableTopicConfig`, versions 2-7.
#[derive(Clone, Debug, PartialEq)]
pub struct CreatableTopicConfig<'a> {
    /// Kafka's `Name`.
    pub name: Cow<'a, str>,
    /// Kafka's `Value`, may be null.
    pub value: Option<Cow<'a, str>>,
}

impl Default for CreatableTopicConfig<'_> {
    fn default() -> Self {
        Self {
            name: Cow::Borrowed(""),
            value: Some(Cow::Borrowed("")),
        }
    }
}

impl<'a> CreatableTopicConfig<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 5;
        let value = Self {
            name: reader.string(flexible)?,
            value: reader.nullable_string(flexible)?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 5;
        buffer.put_string(flexible, &self.name)?;
        buffer.put_nullable_string(flexible, self.value.as_deref())?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `CreateTopicsRequest`: `CreatableReplicaAssignment`, versions 2-7.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct CreatableReplicaAssignment {
    /// Kafka's `PartitionIndex`.
    pub partition_index: i32,
    /// Kafka's `BrokerIds`.
    pub broker_ids: Vec<i32>,
}

impl CreatableReplicaAssignment {
    fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 5;
        let value = Self {
            partition_index: reader.i32()?,
            broker_ids: reader.array(flexible, 4, Reader::i32)?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 5;
        buffer.put_i32(self.partition_index);
        buffer.put_array(flexible, &self.broker_ids, |buffer, element| {
            buffer.put_i32(*element);
            Ok(())
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for CreateTopicsRequest<'a> {
    const NAME: &'static str = "CreateTopicsRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for CreateTopicsRequest<'a> {
    const KEY: ApiKey = ApiKey::CreateTopics;
    type Response<'r> = super::CreateTopicsResponse<'r>;
}
