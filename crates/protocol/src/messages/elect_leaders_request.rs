//! `ElectLeadersRequest`, versions 0-2. Generated from `schemas/elect_leaders.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, require_default};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `ElectLeadersRequest`, versions 0-2.
#[derive(Clone, Debug, PartialEq)]
pub struct ElectLeadersRequest<'a> {
    /// Kafka's `ElectionType`, versions 1-2.
    pub election_type: i8,
    /// Kafka's `TopicPartitions`, may be null.
    pub topic_partitions: Option<Vec<TopicPartitions<'a>>>,
    /// Kafka's `TimeoutMs`, default 60000.
    pub timeout_ms: i32,
}

impl Default for ElectLeadersRequest<'_> {
    fn default() -> Self {
        Self {
            election_type: 0,
            topic_partitions: Some(Vec::new()),
            timeout_ms: 60000,
        }
    }
}

impl<'a> ElectLeadersRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=2;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("ElectLeadersRequest", version, Self::VERSIONS)?;
        let flexible = version == 2;
        let value = Self {
            election_type: if version >= 1 { reader.i8()? } else { 0 },
            topic_partitions: reader.nullable_array(flexible, 3, |reader| {
                TopicPartitions::decode(reader, version)
            })?,
            timeout_ms: reader.i32()?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("ElectLeadersRequest", version, Self::VERSIONS)?;
        let flexible = version == 2;
        if version >= 1 {
            buffer.put_i8(self.election_type);
        } else {
            require_default(
                self.election_type == 0,
                "ElectLeadersRequest.ElectionType",
                version,
            )?;
        }
        buffer.put_nullable_array(
            flexible,
            self.topic_partitions.as_deref(),
            |buffer, element| element.encode(buffer, version),
        )?;
        buffer.put_i32(self.timeout_ms);
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `ElectLeadersRequest`: `TopicPartitions`, versions 0-2.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct TopicPartitions<'a> {
    /// Kafka's `Topic`.
    pub topic: Cow<'a, str>,
    /// Kafka's `Partitions`.
    pub partitions: Vec<i32>,
}

impl<'a> TopicPartitions<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 2;
        let value = Self {
            topic: reader.string(flexible)?,
            partitions: reader.array(flexible, 4, Reader::i32)?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 2;
        buffer.put_string(flexible, &self.topic)?;
        buffer.put_array(flexible, &self.partitions, |buffer, element| {
            buffer.put_i32(*element);
            Ok(())
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for ElectLeadersRequest<'a> {
    const NAME: &'static str = "ElectLeadersRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for ElectLeadersRequest<'a> {
    const KEY: ApiKey = ApiKey::ElectLeaders;
    type Response<'r> = super::ElectLeadersResponse<'r>;
}
