//! `FindCoordinatorRequest`, versions 0-6. Generated from `schemas/find_coordinator.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, require_default};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `FindCoordinatorRequest`, versions 0-6.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct FindCoordinatorRequest<'a> {
    /// Kafka's `Key`, versions 0-3.
    pub key: Cow<'a, str>,
    /// Kafka's `KeyType`, versions 1-6.
    pub key_type: i8,
    /// Kafka's `CoordinatorKeys`, versions 4-6.
    pub coordinator_keys: Vec<Cow<'a, str>>,
}

impl<'a> FindCoordinatorRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=6;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("FindCoordinatorRequest", version, Self::VERSIONS)?;
        let flexible = version >= 3;
        let value = Self {
            key: if version <= 3 {
                reader.string(flexible)?
            } else {
                Cow::Borrowed("")
            },
            key_type: if version >= 1 { reader.i8()? } else { 0 },
            coordinator_keys: if version >= 4 {
                reader.array(flexible, 1, |reader| reader.string(flexible))?
            } else {
                Vec::new()
            },
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("FindCoordinatorRequest", version, Self::VERSIONS)?;
        let flexible = version >= 3;
        if version <= 3 {
            buffer.put_string(flexible, &self.key)?;
        } else {
            require_default(self.key.is_empty(), "FindCoordinatorRequest.Key", version)?;
        }
        if version >= 1 {
            buffer.put_i8(self.key_type);
        } else {
            require_default(
                self.key_type == 0,
                "FindCoordinatorRequest.KeyType",
                version,
            )?;
        }
        if version >= 4 {
            buffer.put_array(flexible, &self.coordinator_keys, |buffer, element| {
                buffer.put_string(flexible, element)
            })?;
        } else {
            require_default(
                self.coordinator_keys.is_empty(),
                "FindCoordinatorRequest.CoordinatorKeys",
                version,
            )?;
        }
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for FindCoordinatorRequest<'a> {
    const NAME: &'static str = "FindCoordinatorRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for FindCoordinatorRequest<'a> {
    const KEY: ApiKey = ApiKey::FindCoordinator;
    type Response<'r> = super::FindCoordinatorResponse<'r>;
}
