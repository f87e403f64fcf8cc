//! `DescribeLogDirsRequest`, versions 1-5. Generated from `schemas/describe_log_dirs.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `DescribeLogDirsRequest`, versions 1-5.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeLogDirsRequest<'a> {
    /// Kafka's `Topics`, may be null.
    pub topics: Option<Vec<DescribableLogDirTopic<'a>>>,
}

impl Default for DescribeLogDirsRequest<'_> {
    fn default() -> Self {
        Self {
            topics: Some(Vec::new()),
        }
    }
}

impl<'a> DescribeLogDirsRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 1..=5;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("DescribeLogDirsRequest", version, Self::VERSIONS)?;
        let flexible = version >= 2;
        let value = Self {
            topics: reader.nullable_array(flexible, 3, |reader| {
                DescribableLogDirTopic::decode(reader, version)
            })?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("DescribeLogDirsRequest", version, Self::VERSIONS)?;
        let flexible = version >= 2;
        buffer.put_nullable_array(flexible, self.topics.as_deref(), |buffer, element| {
            element.encode(buffer, version)
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `DescribeLogDirsRequest`: `DescribableLogDirTopic`, versions 1-5.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DescribableLogDirTopic<'a> {
    /// Kafka's `Topic`.
    pub topic: Cow<'a, str>,
    /// Kafka's `Partitions`.
    pub partitions: Vec<i32>,
}

impl<'a> DescribableLogDirTopic<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 2;
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
        let flexible = version >= 2;
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

impl<'a> Message<'a> for DescribeLogDirsRequest<'a> {
    const NAME: &'static str = "DescribeLogDirsRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for DescribeLogDirsRequest<'a> {
    const KEY: ApiKey = ApiKey::DescribeLogDirs;
    type Response<'r> = super::DescribeLogDirsResponse<'r>;
}
