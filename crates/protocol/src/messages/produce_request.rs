//! `ProduceRequest`, versions 3-13. Generated from `schemas/produce.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, RecordBytes};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;
use uuid::Uuid;

/// Kafka's `ProduceRequest`, versions 3-13.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ProduceRequest<'a> {
    /// Kafka's `TransactionalId`, may be null, default null.
    pub transactional_id: Option<Cow<'a, str>>,
    /// Kafka's `Acks`.
    pub acks: i16,
    /// Kafka's `TimeoutMs`.
    pub timeout_ms: i32,
    /// Kafka's `TopicData`.
    pub topic_data: Vec<TopicProduceData<'a>>,
}

impl<'a> ProduceRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 3..=13;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("ProduceRequest", version, Self::VERSIONS)?;
        let flexible = version >= 9;
        let value = Self {
            transactional_id: reader.nullable_string(flexible)?,
            acks: reader.i16()?,
            timeout_ms: reader.i32()?,
            topic_data: reader.array(flexible, 3, |reader| {
                TopicProduceData::decode(reader, version)
            })?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("ProduceRequest", version, Self::VERSIONS)?;
        let flexible = version >= 9;
        buffer.put_nullable_string(flexible, self.transactional_id.as_deref())?;
        buffer.put_i16(self.acks);
        buffer.put_i32(self.timeout_ms);
        buffer.put_array(flexible, &self.topic_data, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `ProduceRequest`: `TopicProduceData`, versions 3-13.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct TopicProduceData<'a> {
    /// Kafka's `Name`, versions 3-12, left out of other versions.
    pub name: Cow<'a, str>,
    /// Kafka's `TopicId`, version 13, left out of other versions.
    pub topic_id: Uuid,
    /// Kafka's `PartitionData`.
    pub partition_data: Vec<PartitionProduceData<'a>>,
}

impl<'a> TopicProduceData<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 9;
        let value = Self {
            name: if version <= 12 {
                reader.string(flexible)?
            } else {
                Cow::Borrowed("")
            },
            topic_id: if version == 13 {
                reader.uuid()?
            } else {
                Uuid::nil()
            },
            partition_data: reader.array(flexible, 6, |reader| {
                PartitionProduceData::decode(reader, version)
            })?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 9;
        if version <= 12 {
            buffer.put_string(flexible, &self.name)?;
        }
        if version == 13 {
            buffer.put_uuid(self.topic_id);
        }
        buffer.put_array(flexible, &self.partition_data, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `ProduceRequest`: `PartitionProduceData`, versions 3-13.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct PartitionProduceData<'a> {
    /// Kafka's `Index`.
    pub index: i32,
    /// Kafka's `Records`, may be null.
    pub records: Option<RecordBytes<'a>>,
}

impl<'a> PartitionProduceData<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 9;
        let value = Self {
            index: reader.i32()?,
            records: reader.nullable_records(flexible)?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 9;
        buffer.put_i32(self.index);
        buffer.put_nullable_records(flexible, self.records.as_ref())?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for ProduceRequest<'a> {
    const NAME: &'static str = "ProduceRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for ProduceRequest<'a> {
    const KEY: ApiKey = ApiKey::Produce;
    type Response<'r> = super::ProduceResponse<'r>;
}
