//! `DescribeClientQuotasResponse`, versions 0-1. Generated from `schemas/describe_client_quotas.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `DescribeClientQuotasResponse`, versions 0-1.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeClientQuotasResponse<'a> {
    /// Kafka's `ThrottleTimeMs`.
    pub throttle_time_ms: i32,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `ErrorMessage`, may be null.
    pub error_message: Option<Cow<'a, str>>,
    /// Kafka's `Entries`, may be null.
    pub entries: Option<Vec<EntryData<'a>>>,
}

impl Default for DescribeClientQuotasResponse<'_> {
    fn default() -> Self {
        Self {
            throttle_time_ms: 0,
            error_code: 0,
            error_message: Some(Cow::Borrowed("")),
            entries: Some(Vec::new()),
        }
    }
}

impl<'a> DescribeClientQuotasResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=1;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("DescribeClientQuotasResponse", version, Self::VERSIONS)?;
        let flexible = version == 1;
        let value = Self {
            throttle_time_ms: reader.i32()?,
            error_code: reader.i16()?,
            error_message: reader.nullable_string(flexible)?,
            entries: reader
                .nullable_array(flexible, 3, |reader| EntryData::decode(reader, version))?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("DescribeClientQuotasResponse", version, Self::VERSIONS)?;
        let flexible = version == 1;
        buffer.put_i32(self.throttle_time_ms);
        buffer.put_i16(self.error_code);
        buffer.put_nullable_string(flexible, self.error_message.as_deref())?;
        buffer.put_nullable_array(flexible, self.entries.as_deref(), |buffer, element| {
            element.encode(buffer, version)
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `DescribeClientQuotasResponse`: `EntryData`, versions 0-1.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct EntryData<'a> {
    /// Kafka's `Entity`.
    pub entity: Vec<EntityData<'a>>,
    /// Kafka's `Values`.
    pub values: Vec<ValueData<'a>>,
}

impl<'a> EntryData<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 1;
        let value = Self {
            entity: reader.array(flexible, 3, |reader| EntityData::decode(reader, version))?,
            values: reader.array(flexible, 10, |reader| ValueData::decode(reader, version))?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 1;
        buffer.put_array(flexible, &self.entity, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_array(flexible, &self.values, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `DescribeClientQuotasResponse`: `ValueData`, versions 0-1.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ValueData<'a> {
    /// Kafka's `Key`.
    pub key: Cow<'a, str>,
    /// Kafka's `Value`.
    pub value: f64,
}

impl<'a> ValueData<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 1;
        let value = Self {
            key: reader.string(flexible)?,
            value: reader.f64()?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 1;
        buffer.put_string(flexible, &self.key)?;
        buffer.put_f64(self.value);
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `DescribeClientQuotasResponse`: `EntityData`, versions 0-1.
#[derive(Clone, Debug, PartialEq)]
pub struct EntityData<'a> {
    /// Kafka's `EntityType`.
    pub entity_type: Cow<'a, str>,
    /// Kafka's `EntityName`, may be null.
    pub entity_name: Option<Cow<'a, str>>,
}

impl Default for EntityData<'_> {
    fn default() -> Self {
        Self {
            entity_type: Cow::Borrowed(""),
            entity_name: Some(Cow::Borrowed("")),
        }
    }
}

impl<'a> EntityData<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 1;
        let value = Self {
            entity_type: reader.string(flexible)?,
            entity_name: reader.nullable_string(flexible)?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 1;
        buffer.put_string(flexible, &self.entity_type)?;
        buffer.put_nullable_string(flexible, self.entity_name.as_deref())?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for DescribeClientQuotasResponse<'a> {
    const NAME: &'static str = "DescribeClientQuotasResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
