//! `DescribeLogDirsResponse`, versions 1-5. Generated from `schemas/describe_log_dirs.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `DescribeLogDirsResponse`, versions 1-5.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DescribeLogDirsResponse<'a> {
    /// Kafka's `ThrottleTimeMs`.
    pub throttle_time_ms: i32,
    /// Kafka's `ErrorCode`, versions 3-5, left out of other versions.
    pub error_code: i16,
    /// Kafka's `Results`.
    pub results: Vec<DescribeLogDirsResult<'a>>,
}

impl<'a> DescribeLogDirsResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 1..=5;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("DescribeLogDirsResponse", version, Self::VERSIONS)?;
        let flexible = version >= 2;
        let value = Self {
            throttle_time_ms: reader.i32()?,
            error_code: if version >= 3 { reader.i16()? } else { 0 },
            results: reader.array(flexible, 5, |reader| {
                DescribeLogDirsResult::decode(reader, version)
            })?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("DescribeLogDirsResponse", version, Self::VERSIONS)?;
        let flexible = version >= 2;
        buffer.put_i32(self.throttle_time_ms);
        if version >= 3 {
            buffer.put_i16(self.error_code);
        }
        buffer.put_array(flexible, &self.results, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `DescribeLogDirsResponse`: `DescribeLogDirsResult`, versions 1-5.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeLogDirsResult<'a> {
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `LogDir`.
    pub log_dir: Cow<'a, str>,
    /// Kafka's `Topics`.
    pub topics: Vec<DescribeLogDirsTopic<'a>>,
    /// Kafka's `TotalBytes`, versions 4-5, default -1, left out of other versions.
    pub total_bytes: i64,
    /// Kafka's `UsableBytes`, versions 4-5, default -1, left out of other versions.
    pub usable_bytes: i64,
    /// Kafka's `IsCordoned`, version 5, left out of other versions.
    pub is_cordoned: bool,
}

impl Default for DescribeLogDirsResult<'_> {
    fn default() -> Self {
        Self {
            error_code: 0,
            log_dir: Cow::Borrowed(""),
            topics: Vec::new(),
            total_bytes: -1,
            usable_bytes: -1,
            is_cordoned: false,
        }
    }
}

impl<'a> DescribeLogDirsResult<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 2;
        let value = Self {
            error_code: reader.i16()?,
            log_dir: reader.string(flexible)?,
            topics: reader.array(flexible, 3, |reader| {
                DescribeLogDirsTopic::decode(reader, version)
            })?,
            total_bytes: if version >= 4 { reader.i64()? } else { -1 },
            usable_bytes: if version >= 4 { reader.i64()? } else { -1 },
            is_cordoned: if version == 5 { reader.bool()? } else { false },
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 2;
        buffer.put_i16(self.error_code);
        buffer.put_string(flexible, &self.log_dir)?;
        buffer.put_array(flexible, &self.topics, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if version >= 4 {
            buffer.put_i64(self.total_bytes);
        }
        if version >= 4 {
            buffer.put_i64(self.usable_bytes);
        }
        if version == 5 {
            buffer.put_bool(self.is_cordoned);
        }
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `DescribeLogDirsResponse`: `DescribeLogDirsTopic`, versions 1-5.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DescribeLogDirsTopic<'a> {
    /// Kafka's `Name`.
    pub name: Cow<'a, str>,
    /// Kafka's `Partitions`.
    pub partitions: Vec<DescribeLogDirsPartition>,
}

impl<'a> DescribeLogDirsTopic<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 2;
        let value = Self {
            name: reader.string(flexible)?,
            partitions: reader.array(flexible, 21, |reader| {
                DescribeLogDirsPartition::decode(reader, version)
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
        buffer.put_array(flexible, &self.partitions, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `DescribeLogDirsResponse`: `DescribeLogDirsPartition`, versions 1-5.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DescribeLogDirsPartition {
    /// Kafka's `PartitionIndex`.
    pub partition_index: i32,
    /// Kafka's `PartitionSize`.
    pub partition_size: i64,
    /// Kafka's `OffsetLag`.
    pub offset_lag: i64,
    /// Kafka's `IsFutureKey`.
    pub is_future_key: bool,
}

impl DescribeLogDirsPartition {
    fn decode(reader: &mut Reader<'_>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 2;
        let value = Self {
            partition_index: reader.i32()?,
            partition_size: reader.i64()?,
            offset_lag: reader.i64()?,
            is_future_key: reader.bool()?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 2;
        buffer.put_i32(self.partition_index);
        buffer.put_i64(self.partition_size);
        buffer.put_i64(self.offset_lag);
        buffer.put_bool(self.is_future_key);
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for DescribeLogDirsResponse<'a> {
    const NAME: &'static str = "DescribeLogDirsResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
