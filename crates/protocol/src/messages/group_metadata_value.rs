//! `GroupMetadataValue`, versions 0-4. Generated from `schemas/group_metadata_record.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{
    DecodeError, EncodeError, GatherBuffer, Reader, decode_prefixed, encode_prefixed,
};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `GroupMetadataValue`, versions 0-4.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupMetadataValue<'a> {
    /// Kafka's `ProtocolType`.
    pub protocol_type: Cow<'a, str>,
    /// Kafka's `Generation`.
    pub generation: i32,
    /// Kafka's `Protocol`, may be null.
    pub protocol: Option<Cow<'a, str>>,
    /// Kafka's `Leader`, may be null.
    pub leader: Option<Cow<'a, str>>,
    /// Kafka's `CurrentStateTimestamp`, versions 2-4, default -1, left out of other versions.
    pub current_state_timestamp: i64,
    /// Kafka's `Members`.
    pub members: Vec<MemberMetadata<'a>>,
}

impl Default for GroupMetadataValue<'_> {
    fn default() -> Self {
        Self {
            protocol_type: Cow::Borrowed(""),
            generation: 0,
            protocol: Some(Cow::Borrowed("")),
            leader: Some(Cow::Borrowed("")),
            current_state_timestamp: -1,
            members: Vec::new(),
        }
    }
}

impl<'a> GroupMetadataValue<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=4;

    /// Reads the message behind its 2-byte version.
    pub fn decode_with_version_prefix(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        decode_prefixed(bytes, "GroupMetadataValue", Self::VERSIONS, Self::decode)
    }

    /// Writes the message behind its 2-byte version.
    pub fn encode_with_version_prefix(&self, version: i16) -> Result<Vec<u8>, EncodeError> {
        encode_prefixed(version, |buffer| self.encode(buffer, version))
    }

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("GroupMetadataValue", version, Self::VERSIONS)?;
        let flexible = version == 4;
        let value = Self {
            protocol_type: reader.string(flexible)?,
            generation: reader.i32()?,
            protocol: reader.nullable_string(flexible)?,
            leader: reader.nullable_string(flexible)?,
            current_state_timestamp: if version >= 2 { reader.i64()? } else { -1 },
            members: reader.array(flexible, 15, |reader| {
                MemberMetadata::decode(reader, version)
            })?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("GroupMetadataValue", version, Self::VERSIONS)?;
        let flexible = version == 4;
        buffer.put_string(flexible, &self.protocol_type)?;
        buffer.put_i32(self.generation);
        buffer.put_nullable_string(flexible, self.protocol.as_deref())?;
        buffer.put_nullable_string(flexible, self.leader.as_deref())?;
        if version >= 2 {
            buffer.put_i64(self.current_state_timestamp);
        }
        buffer.put_array(flexible, &self.members, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `GroupMetadataValue`: `MemberMetadata`, versions 0-4.
#[derive(Clone, Debug, PartialEq)]
pub struct MemberMetadata<'a> {
    /// Kafka's `MemberId`.
    pub member_id: Cow<'a, str>,
    /// Kafka's `GroupInstanceId`, versions 3-4, may be null, default null, left out of other versions.
    pub group_instance_id: Option<Cow<'a, str>>,
    /// Kafka's `ClientId`.
    pub client_id: Cow<'a, str>,
    /// Kafka's `ClientHost`.
    pub client_host: Cow<'a, str>,
    /// Kafka's `RebalanceTimeout`, versions 1-4, default -1, left out of other versions.
    pub rebalance_timeout: i32,
    /// Kafka's `SessionTimeout`.
    pub session_timeout: i32,
    /// Kafka's `Subscription`.
    pub subscription: Cow<'a, [u8]>,
    /// Kafka's `Assignment`.
    pub assignment: Cow<'a, [u8]>,
}

impl Default for MemberMetadata<'_> {
    fn default() -> Self {
        Self {
            member_id: Cow::Borrowed(""),
            group_instance_id: None,
            client_id: Cow::Borrowed(""),
            client_host: Cow::Borrowed(""),
            rebalance_timeout: -1,
            session_timeout: 0,
            subscription: Cow::Borrowed(&[]),
            assignment: Cow::Borrowed(&[]),
        }
    }
}

impl<'a> MemberMetadata<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version == 4;
        let value = Self {
            member_id: reader.string(flexible)?,
            group_instance_id: if version >= 3 {
                reader.nullable_string(flexible)?
            } else {
                None
            },
            client_id: reader.string(flexible)?,
            client_host: reader.string(flexible)?,
            rebalance_timeout: if version >= 1 { reader.i32()? } else { -1 },
            session_timeout: reader.i32()?,
            subscription: reader.bytes(flexible)?,
            assignment: reader.bytes(flexible)?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version == 4;
        buffer.put_string(flexible, &self.member_id)?;
        if version >= 3 {
            buffer.put_nullable_string(flexible, self.group_instance_id.as_deref())?;
        }
        buffer.put_string(flexible, &self.client_id)?;
        buffer.put_string(flexible, &self.client_host)?;
        if version >= 1 {
            buffer.put_i32(self.rebalance_timeout);
        }
        buffer.put_i32(self.session_timeout);
        buffer.put_bytes(flexible, &self.subscription)?;
        buffer.put_bytes(flexible, &self.assignment)?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for GroupMetadataValue<'a> {
    const NAME: &'static str = "GroupMetadataValue";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
