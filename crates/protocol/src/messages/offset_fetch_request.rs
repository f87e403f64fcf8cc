//! `OffsetFetchRequest`, versions 1-10. Generated from `schemas/offset_fetch.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, require_default, require_some};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;
use uuid::Uuid;

/// Kafka's `OffsetFetchRequest`, versions 1-10.
#[derive(Clone, Debug, PartialEq)]
pub struct OffsetFetchRequest<'a> {
    /// Kafka's `GroupId`, versions 1-7.
    pub group_id: Cow<'a, str>,
    /// Kafka's `Topics`, versions 1-7, may be null in versions 2-7.
    pub topics: Option<Vec<OffsetFetchRequestTopic<'a>>>,
    /// Kafka's `Groups`, versions 8-10.
    pub groups: Vec<OffsetFetchRequestGroup<'a>>,
    /// Kafka's `RequireStable`, versions 7-10.
    pub require_stable: bool,
}

impl Default for OffsetFetchRequest<'_> {
    fn default() -> Self {
        Self {
            group_id: Cow::Borrowed(""),
            topics: Some(Vec::new()),
            groups: Vec::new(),
            require_stable: false,
        }
    }
}

impl<'a> OffsetFetchRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 1..=10;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("OffsetFetchRequest", version, Self::VERSIONS)?;
        let flexible = version >= 6;
        let value = Self {
            group_id: if version <= 7 {
                reader.string(flexible)?
            } else {
                Cow::Borrowed("")
            },
            topics: if version <= 7 {
                if version >= 2 {
                    reader.nullable_array(flexible, 3, |reader| {
                        OffsetFetchRequestTopic::decode(reader, version)
                    })?
                } else {
                    Some(reader.array(flexible, 3, |reader| {
                        OffsetFetchRequestTopic::decode(reader, version)
                    })?)
                }
            } else {
                Some(Vec::new())
            },
            groups: if version >= 8 {
                reader.array(flexible, 3, |reader| {
                    OffsetFetchRequestGroup::decode(reader, version)
                })?
            } else {
                Vec::new()
            },
            require_stable: if version >= 7 { reader.bool()? } else { false },
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("OffsetFetchRequest", version, Self::VERSIONS)?;
        let flexible = version >= 6;
        if version <= 7 {
            buffer.put_string(flexible, &self.group_id)?;
        } else {
            require_default(
                self.group_id.is_empty(),
                "OffsetFetchRequest.GroupId",
                version,
            )?;
        }
        if version <= 7 {
            if version >= 2 {
                buffer.put_nullable_array(
                    flexible,
                    self.topics.as_deref(),
                    |buffer, element| element.encode(buffer, version),
                )?;
            } else {
                buffer.put_array(
                    flexible,
                    require_some(&self.topics, "OffsetFetchRequest.Topics", version)?,
                    |buffer, element| element.encode(buffer, version),
                )?;
            }
        } else {
            require_default(
                self.topics.as_ref().is_some_and(|value| value.is_empty()),
                "OffsetFetchRequest.Topics",
                version,
            )?;
        }
        if version >= 8 {
            buffer.put_array(flexible, &self.groups, |buffer, element| {
                element.encode(buffer, version)
            })?;
        } else {
            require_default(self.groups.is_empty(), "OffsetFetchRequest.Groups", version)?;
        }
        if version >= 7 {
            buffer.put_bool(self.require_stable);
        } else {
            require_default(
                !self.require_stable,
                "OffsetFetchRequest.RequireStable",
                version,
            )?;
        }
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `OffsetFetchRequest`: `OffsetFetchRequestGroup`, versions 8-10.
#[derive(Clone, Debug, PartialEq)]
pub struct OffsetFetchRequestGroup<'a> {
    /// Kafka's `GroupId`.
    pub group_id: Cow<'a, str>,
    /// Kafka's `MemberId`, versions 9-10, may be null, default null, left out of other versions.
    pub member_id: Option<Cow<'a, str>>,
    /// Kafka's `MemberEpoch`, versions 9-10, default -1, left out of other versions.
    pub member_epoch: i32,
    /// Kafka's `Topics`, may be null.
    pub topics: Option<Vec<OffsetFetchRequestTopics<'a>>>,
}

impl Default for OffsetFetchRequestGroup<'_> {
    fn default() -> Self {
        Self {
            group_id: Cow::Borrowed(""),
            member_id: None,
            member_epoch: -1,
            topics: Some(Vec::new()),
        }
    }
}

impl<'a> OffsetFetchRequestGroup<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            group_id: reader.string(true)?,
            member_id: if version >= 9 {
                reader.nullable_string(true)?
            } else {
                None
            },
            member_epoch: if version >= 9 { reader.i32()? } else { -1 },
            topics: reader.nullable_array(true, 3, |reader| {
                OffsetFetchRequestTopics::decode(reader, version)
            })?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.put_string(true, &self.group_id)?;
        if version >= 9 {
            buffer.put_nullable_string(true, self.member_id.as_deref())?;
        }
        if version >= 9 {
            buffer.put_i32(self.member_epoch);
        }
        buffer.put_nullable_array(true, self.topics.as_deref(), |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `OffsetFetchRequest`: `OffsetFetchRequestTopics`, versions 8-10.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct OffsetFetchRequestTopics<'a> {
    /// Kafka's `Name`, versions 8-9, left out of other versions.
    pub name: Cow<'a, str>,
    /// Kafka's `TopicId`, version 10, left out of other versions.
    pub topic_id: Uuid,
    /// Kafka's `PartitionIndexes`.
    pub partition_indexes: Vec<i32>,
}

impl<'a> OffsetFetchRequestTopics<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            name: if version <= 9 {
                reader.string(true)?
            } else {
                Cow::Borrowed("")
            },
            topic_id: if version == 10 {
                reader.uuid()?
            } else {
                Uuid::nil()
            },
            partition_indexes: reader.array(true, 4, Reader::i32)?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        if version <= 9 {
            buffer.put_string(true, &self.name)?;
        }
        if version == 10 {
            buffer.put_uuid(self.topic_id);
        }
        buffer.put_array(true, &self.partition_indexes, |buffer, element| {
            buffer.put_i32(*element);
            Ok(())
        })?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `OffsetFetchRequest`: `OffsetFetchRequestTopic`, versions 1-7.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct OffsetFetchRequestTopic<'a> {
    /// Kafka's `Name`.
    pub name: Cow<'a, str>,
    /// Kafka's `PartitionIndexes`.
    pub partition_indexes: Vec<i32>,
}

impl<'a> OffsetFetchRequestTopic<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 6;
        let value = Self {
            name: reader.string(flexible)?,
            partition_indexes: reader.array(flexible, 4, Reader::i32)?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 6;
        buffer.put_string(flexible, &self.name)?;
        buffer.put_array(flexible, &self.partition_indexes, |buffer, element| {
            buffer.put_i32(*element);
            Ok(())
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for OffsetFetchRequest<'a> {
    const NAME: &'static str = "OffsetFetchRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for OffsetFetchRequest<'a> {
    const KEY: ApiKey = ApiKey::OffsetFetch;
    type Response<'r> = super::OffsetFetchResponse<'r>;
}
