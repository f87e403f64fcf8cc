//! `JoinGroupRequest`, versions 0-9. Generated from `schemas/join_group.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, require_default};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `JoinGroupRequest`, versions 0-9.
#[derive(Clone, Debug, PartialEq)]
pub struct JoinGroupRequest<'a> {
    /// Kafka's `GroupId`.
    pub group_id: Cow<'a, str>,
    /// Kafka's `SessionTimeoutMs`.
    pub session_timeout_ms: i32,
    /// Kafka's `RebalanceTimeoutMs`, versions 1-9, default -1, left out of other versions.
    pub rebalance_timeout_ms: i32,
    /// Kafka's `MemberId`.
    pub member_id: Cow<'a, str>,
    /// Kafka's `GroupInstanceId`, versions 5-9, may be null, default null.
    pub group_instance_id: Option<Cow<'a, str>>,
    /// Kafka's `ProtocolType`.
    pub protocol_type: Cow<'a, str>,
    /// Kafka's `Protocols`.
    pub protocols: Vec<JoinGroupRequestProtocol<'a>>,
    /// Kafka's `Reason`, versions 8-9, may be null, default null, left out of other versions.
    pub reason: Option<Cow<'a, str>>,
}

impl Default for JoinGroupRequest<'_> {
    fn default() -> Self {
        Self {
            group_id: Cow::Borrowed(""),
            session_timeout_ms: 0,
            rebalance_timeout_ms: -1,
            member_id: Cow::Borrowed(""),
            group_instance_id: None,
            protocol_type: Cow::Borrowed(""),
            protocols: Vec::new(),
            reason: None,
        }
    }
}

impl<'a> JoinGroupRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=9;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("JoinGroupRequest", version, Self::VERSIONS)?;
        let flexible = version >= 6;
        let value = Self {
            group_id: reader.string(flexible)?,
            session_timeout_ms: reader.i32()?,
            rebalance_timeout_ms: if version >= 1 { reader.i32()? } else { -1 },
            member_id: reader.string(flexible)?,
            group_instance_id: if version >= 5 {
                reader.nullable_string(flexible)?
            } else {
                None
            },
            protocol_type: reader.string(flexible)?,
            protocols: reader.array(flexible, 3, |reader| {
                JoinGroupRequestProtocol::decode(reader, version)
            })?,
            reason: if version >= 8 {
                reader.nullable_string(flexible)?
            } else {
                None
            },
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("JoinGroupRequest", version, Self::VERSIONS)?;
        let flexible = version >= 6;
        buffer.put_string(flexible, &self.group_id)?;
        buffer.put_i32(self.session_timeout_ms);
        if version >= 1 {
            buffer.put_i32(self.rebalance_timeout_ms);
        }
        buffer.put_string(flexible, &self.member_id)?;
        if version >= 5 {
            buffer.put_nullable_string(flexible, self.group_instance_id.as_deref())?;
        } else {
            require_default(
                self.group_instance_id.is_none(),
                "JoinGroupRequest.GroupInstanceId",
                version,
            )?;
        }
        buffer.put_string(flexible, &self.protocol_type)?;
        buffer.put_array(flexible, &self.protocols, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if version >= 8 {
            buffer.put_nullable_string(flexible, self.reason.as_deref())?;
        }
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `JoinGroupRequest`: `JoinGroupRequestProtocol`, versions 0-9.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct JoinGroupRequestProtocol<'a> {
    /// Kafka's `Name`.
    pub name: Cow<'a, str>,
    /// Kafka's `Metadata`.
    pub metadata: Cow<'a, [u8]>,
}

impl<'a> JoinGroupRequestProtocol<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 6;
        let value = Self {
            name: reader.string(flexible)?,
            metadata: reader.bytes(flexible)?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 6;
        buffer.put_string(flexible, &self.name)?;
        buffer.put_bytes(flexible, &self.metadata)?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for JoinGroupRequest<'a> {
    const NAME: &'static str = "JoinGroupRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for JoinGroupRequest<'a> {
    const KEY: ApiKey = ApiKey::JoinGroup;
    type Response<'r> = super::JoinGroupResponse<'r>;
}
