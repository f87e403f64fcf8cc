//! `CreatePartitionsRequest`, versions 0-3. Generated from `schemas/create_partitions.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `CreatePartitionsRequest`, versions 0-3.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct CreatePartitionsRequest<'a> {
    /// Kafka's `Topics`.
    pub topics: Vec<CreatePartitionsTopic<'a>>,
    /// Kafka's `TimeoutMs`.
    pub timeout_ms: i32,
    /// Kafka's `ValidateOnly`.
    pub validate_only: bool,
}

impl<'a> CreatePartitionsRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=3;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("CreatePartitionsRequest", version, Self::VERSIONS)?;
        let flexible = version >= 2;
        let value = Self {
            topics: reader.array(flexible, 7, |reader| {
                CreatePartitionsTopic::decode(reader, version)
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
        buffer.check_version("CreatePartitionsRequest", version, Self::VERSIONS)?;
        let flexible = version >= 2;
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

/// Part of Kafka's `CreatePartitionsRequest`: `CreatePartitionsTopic`, versions 0-3.
#[derive(Clone, Debug, PartialEq)]
pub struct CreatePartitionsTopic<'a> {
    /// Kafka's `Name`.
    pub name: Cow<'a, str>,
    /// Kafka's `Count`.
    pub count: i32,
    /// Kafka's `Assignments`, may be null.
    pub assignments: Option<Vec<CreatePartitionsAssignment>>,
}

impl Default for CreatePartitionsTopic<'_> {
    fn default() -> Self {
        Self {
            name: Cow::Borrowed(""),
            count: 0,
            assignments: Some(Vec::new()),
        }
    }
}

impl<'a> CreatePartitionsTopic<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 2;
        let value = Self {
            name: reader.string(flexible)?,
            count: reader.i32()?,
            assignments: reader.nullable_array(flexible, 2, |reader| {
                CreatePartitionsAssignment::decode(reader, version)
            })?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 2;
        buffer.put_string(flexible, &self.name)?;
        buffer.put_i32(self.count);
        buffer.put_nullable_array(flexible, self.assignments.as_deref(), |buffer, element| {
            element.encode(buffer, version)
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `CreatePartitionsRequest`: `CreatePartitionsAssignment`, versions 0-3.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct CreatePartitionsAssignment {
    /// Kafka's `BrokerIds`.
    pub broker_ids: Vec<i32>,
}

impl CreatePartitionsAssignment {
    fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 2;
        let value = Self {
            broker_ids: reader.array(flexible, 4, Reader::i32)?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 2;
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

impl<'a> Message<'a> for CreatePartitionsRequest<'a> {
    const NAME: &'static str = "CreatePartitionsRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for CreatePartitionsRequest<'a> {
    const KEY: ApiKey = ApiKey::CreatePartitions;
    type Response<'r> = super::CreatePartitionsResponse<'r>;
}
