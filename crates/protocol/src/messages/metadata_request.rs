//! `MetadataRequest`, versions 0-13. Generated from `schemas/metadata.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, require_default, require_some};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;
use uuid::Uuid;

/// Kafka's `MetadataRequest`, versions 0-13.
#[derive(Clone, Debug, PartialEq)]
pub struct MetadataRequest<'a> {
    /// Kafka's `Topics`, may be null in versions 1-13.
    pub topics: Option<Vec<MetadataRequestTopic<'a>>>,
    /// Kafka's `AllowAutoTopicCreation`, versions 4-13, default true.
    pub allow_auto_topic_creation: bool,
    /// Kafka's `IncludeClusterAuthorizedOperations`, versions 8-10.
    pub include_cluster_authorized_operations: bool,
    /// Kafka's `IncludeTopicAuthorizedOperations`, versions 8-13.
    pub include_topic_authorized_operations: bool,
}

impl Default for MetadataRequest<'_> {
    fn default() -> Self {
        Self {
            topics: Some(Vec::new()),
            allow_auto_topic_creation: true,
            include_cluster_authorized_operations: false,
            include_topic_authorized_operations: false,
        }
    }
}

impl<'a> MetadataRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=13;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("MetadataRequest", version, Self::VERSIONS)?;
        let flexible = version >= 9;
        let value = Self {
            topics: if version >= 1 {
                reader.nullable_array(flexible, 2, |reader| {
                    MetadataRequestTopic::decode(reader, version)
                })?
            } else {
                Some(reader.array(flexible, 2, |reader| {
                    MetadataRequestTopic::decode(reader, version)
                })?)
            },
            allow_auto_topic_creation: if version >= 4 { reader.bool()? } else { true },
            include_cluster_authorized_operations: if (8..=10).contains(&version) {
                reader.bool()?
            } else {
                false
            },
            include_topic_authorized_operations: if version >= 8 { reader.bool()? } else { false },
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("MetadataRequest", version, Self::VERSIONS)?;
        let flexible = version >= 9;
        if version >= 1 {
            buffer.put_nullable_array(flexible, self.topics.as_deref(), |buffer, element| {
                element.encode(buffer, version)
            })?;
        } else {
            buffer.put_array(
                flexible,
                require_some(&self.topics, "MetadataRequest.Topics", version)?,
                |buffer, element| element.encode(buffer, version),
            )?;
        }
        if version >= 4 {
            buffer.put_bool(self.allow_auto_topic_creation);
        } else {
            require_default(
                self.allow_auto_topic_creation,
                "MetadataRequest.AllowAutoTopicCreation",
                version,
            )?;
        }
        if (8..=10).contains(&version) {
            buffer.put_bool(self.include_cluster_authorized_operations);
        } else {
            require_default(
                !self.include_cluster_authorized_operations,
                "MetadataRequest.IncludeClusterAuthorizedOperations",
                version,
            )?;
        }
        if version >= 8 {
            buffer.put_bool(self.include_topic_authorized_operations);
        } else {
            require_default(
                !self.include_topic_authorized_operations,
                "MetadataRequest.IncludeTopicAuthorizedOperations",
                version,
            )?;
        }
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `MetadataRequest`: `MetadataRequestTopic`, versions 0-13.
#[derive(Clone, Debug, PartialEq)]
pub struct MetadataRequestTopic<'a> {
    /// Kafka's `TopicId`, versions 10-13, left out of other versions.
    pub topic_id: Uuid,
    /// Kafka's `Name`, may be null in versions 10-13.
    pub name: Option<Cow<'a, str>>,
}

impl Default for MetadataRequestTopic<'_> {
    fn default() -> Self {
        Self {
            topic_id: Uuid::nil(),
            name: Some(Cow::Borrowed("")),
        }
    }
}

impl<'a> MetadataRequestTopic<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 9;
        let value = Self {
            topic_id: if version >= 10 {
                reader.uuid()?
            } else {
                Uuid::nil()
            },
            name: if version >= 10 {
                reader.nullable_string(flexible)?
            } else {
                Some(reader.string(flexible)?)
            },
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 9;
        if version >= 10 {
            buffer.put_uuid(self.topic_id);
        }
        if version >= 10 {
            buffer.put_nullable_string(flexible, self.name.as_deref())?;
        } else {
            buffer.put_string(
                flexible,
                require_some(&self.name, "MetadataRequestTopic.Name", version)?,
            )?;
        }
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for MetadataRequest<'a> {
    const NAME: &'static str = "MetadataRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for MetadataRequest<'a> {
    const KEY: ApiKey = ApiKey::Metadata;
    type Response<'r> = super::MetadataResponse<'r>;
}
