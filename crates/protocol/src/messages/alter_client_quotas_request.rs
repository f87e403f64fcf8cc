//! `AlterClientQuotasRequest`, versions 0-1. Generated from `schemas/alter_client_quotas.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `AlterClientQuotasRequest`, versions 0-1.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct AlterClientQuotasRequest<'a> {
    /// Kafka's `Entries`.
    pub entries: Vec<EntryData<'a>>,
    /// Kafka's `ValidateOnly`.
    pub validate_only: bool,
}

impl<'a> AlterClientQuotasRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=1;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("AlterClientQuotasRequest", version, Self::VERSIONS)?;
        let flexible = version == 1;
        let value = Self {
            entries: reader.array(flexible, 3, |reader| EntryData::decode(reader, version))?,
            validate_only: reader.bool()?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("AlterClientQuotasRequest", version, Self::VERSIONS)?;
        let flexible = version == 1;
        buffer.put_array(flexible, &self.entries, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_bool(self.validate_only);
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `AlterClientQuotasRequest`: `EntryData`, versions 0-1.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct EntryData<'a> {
    /// Kafka's `Entity`.
    pub entity: Vec<EntityData<'a>>,
    /// Kafka's `Ops`.
    pub ops: Vec<OpData<'a>>,
}

impl<'a> EntryData<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 1;
        let value = Self {
            entity: reader.array(flexible, 3, |reader| EntityData::decode(reader, version))?,
            ops: reader.array(flexible, 11, |reader| OpData::decode(reader, version))?,
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
        buffer.put_array(flexible, &self.ops, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `AlterClientQuotasRequest`: `OpData`, versions 0-1.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct OpData<'a> {
    /// Kafka's `Key`.
    pub key: Cow<'a, str>,
    /// Kafka's `Value`.
    pub value: f64,
    /// Kafka's `Remove`.
    pub remove: bool,
}

impl<'a> OpData<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 1;
        let value = Self {
            key: reader.string(flexible)?,
            value: reader.f64()?,
            remove: reader.bool()?,
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
        buffer.put_bool(self.remove);
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `AlterClientQuotasRequest`: `EntityData`, versions 0-1.
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

impl<'a> Message<'a> for AlterClientQuotasRequest<'a> {
    const NAME: &'static str = "AlterClientQuotasRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for AlterClientQuotasRequest<'a> {
    const KEY: ApiKey = ApiKey::AlterClientQuotas;
    type Response<'r> = super::AlterClientQuotasResponse<'r>;
}
