//! `ProduceResponse`, versions 3-13. Generated from `schemas/produce.schema` by `cargo xtask codegen`: change that, not this.

use crate::Message;
use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader, TaggedFields, require_default};
use std::borrow::Cow;
use std::ops::RangeInclusive;
use uuid::Uuid;

/// Kafka's `ProduceResponse`, versions 3-13.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ProduceResponse<'a> {
    /// Kafka's `Responses`.
    pub responses: Vec<TopicProduceResponse<'a>>,
    /// Kafka's `ThrottleTimeMs`.
    pub throttle_time_ms: i32,
    /// Kafka's `NodeEndpoints`, versions 10-13.
    pub node_endpoints: Vec<NodeEndpoint<'a>>,
}

impl<'a> ProduceResponse<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 3..=13;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("ProduceResponse", version, Self::VERSIONS)?;
        let flexible = version >= 9;
        let mut value = Self {
            responses: reader.array(flexible, 3, |reader| {
                TopicProduceResponse::decode(reader, version)
            })?,
            throttle_time_ms: reader.i32()?,
            node_endpoints: Vec::new(),
        };
        if flexible {
            reader.tagged_fields(|tag, reader| {
                match tag {
                    0 if version >= 10 => {
                        value.node_endpoints = reader
                            .array(true, 11, |reader| NodeEndpoint::decode(reader, version))?
                    }
                    _ => return Ok(false),
                }
                Ok(true)
            })?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("ProduceResponse", version, Self::VERSIONS)?;
        let flexible = version >= 9;
        buffer.put_array(flexible, &self.responses, |buffer, element| {
            element.encode(buffer, version)
        })?;
        buffer.put_i32(self.throttle_time_ms);
        if version < 10 {
            require_default(
                self.node_endpoints.is_empty(),
                "ProduceResponse.NodeEndpoints",
                version,
            )?;
        }
        if flexible {
            let mut tagged = TaggedFields::default();
            if version >= 10 && !self.node_endpoints.is_empty() {
                tagged.put(0, |buffer| {
                    buffer.put_array(true, &self.node_endpoints, |buffer, element| {
                        element.encode(buffer, version)
                    })
                })?;
            }
            buffer.put_tagged_fields(tagged);
        }
        Ok(())
    }
}

/// Part of Kafka's `ProduceResponse`: `NodeEndpoint`, versions 10-13.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct NodeEndpoint<'a> {
    /// Kafka's `NodeId`.
    pub node_id: i32,
    /// Kafka's `Host`.
    pub host: Cow<'a, str>,
    /// Kafka's `Port`.
    pub port: i32,
    /// Kafka's `Rack`, may be null, default null.
    pub rack: Option<Cow<'a, str>>,
}

impl<'a> NodeEndpoint<'a> {
    fn decode(reader: &mut Reader<'a>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            node_id: reader.i32()?,
            host: reader.string(true)?,
            port: reader.i32()?,
            rack: reader.nullable_string(true)?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_i32(self.node_id);
        buffer.put_string(true, &self.host)?;
        buffer.put_i32(self.port);
        buffer.put_nullable_string(true, self.rack.as_deref())?;
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `ProduceResponse`: `TopicProduceResponse`, versions 3-13.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct TopicProduceResponse<'a> {
    /// Kafka's `Name`, versions 3-12, left out of other versions.
    pub name: Cow<'a, str>,
    /// Kafka's `TopicId`, version 13, left out of other versions.
    pub topic_id: Uuid,
    /// Kafka's `PartitionResponses`.
    pub partition_responses: Vec<PartitionProduceResponse<'a>>,
}

impl<'a> TopicProduceResponse<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 9;
        let value = Self {
            name: if version <= 12 {
                reader.string(flexible)?
            } else {
                Cow::Borrowed("")
            },
            topic_id: if version == 13 {
                reader.uuid()?
            } else {
                Uuid::nil()
            },
            partition_responses: reader.array(flexible, 22, |reader| {
                PartitionProduceResponse::decode(reader, version)
            })?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 9;
        if version <= 12 {
            buffer.put_string(flexible, &self.name)?;
        }
        if version == 13 {
            buffer.put_uuid(self.topic_id);
        }
        buffer.put_array(flexible, &self.partition_responses, |buffer, element| {
            element.encode(buffer, version)
        })?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

/// Part of Kafka's `ProduceResponse`: `PartitionProduceResponse`, versions 3-13.
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionProduceResponse<'a> {
    /// Kafka's `Index`.
    pub index: i32,
    /// Kafka's `ErrorCode`.
    pub error_code: i16,
    /// Kafka's `BaseOffset`.
    pub base_offset: i64,
    /// Kafka's `LogAppendTimeMs`, default -1.
    pub log_append_time_ms: i64,
    /// Kafka's `LogStartOffset`, versions 5-13, default -1, left out of other versions.
    pub log_start_offset: i64,
    /// Kafka's `RecordErrors`, versions 8-13, left out of other versions.
    pub record_errors: Vec<BatchIndexAndErrorMessage<'a>>,
    /// Kafka's `ErrorMessage`, versions 8-13, may be null, default null, left out of other versions.
    pub error_message: Option<Cow<'a, str>>,
    /// Kafka's `CurrentLeader`, versions 10-13.
    pub current_leader: LeaderIdAndEpoch,
}

impl Default for PartitionProduceResponse<'_> {
    fn default() -> Self {
        Self {
            index: 0,
            error_code: 0,
            base_offset: 0,
            log_append_time_ms: -1,
            log_start_offset: -1,
            record_errors: Vec::new(),
            error_message: None,
            current_leader: LeaderIdAndEpoch::default(),
        }
    }
}

impl<'a> PartitionProduceResponse<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 9;
        let mut value = Self {
            index: reader.i32()?,
            error_code: reader.i16()?,
            base_offset: reader.i64()?,
            log_append_time_ms: reader.i64()?,
            log_start_offset: if version >= 5 { reader.i64()? } else { -1 },
            record_errors: if version >= 8 {
                reader.array(flexible, 6, |reader| {
                    BatchIndexAndErrorMessage::decode(reader, version)
                })?
            } else {
                Vec::new()
            },
            error_message: if version >= 8 {
                reader.nullable_string(flexible)?
            } else {
                None
            },
            current_leader: LeaderIdAndEpoch::default(),
        };
        if flexible {
            reader.tagged_fields(|tag, reader| {
                match tag {
                    0 if version >= 10 => {
                        value.current_leader = LeaderIdAndEpoch::decode(reader, version)?
                    }
                    _ => return Ok(false),
                }
                Ok(true)
            })?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 9;
        buffer.put_i32(self.index);
        buffer.put_i16(self.error_code);
        buffer.put_i64(self.base_offset);
        buffer.put_i64(self.log_append_time_ms);
        if version >= 5 {
            buffer.put_i64(self.log_start_offset);
        }
        if version >= 8 {
            buffer.put_array(flexible, &self.record_errors, |buffer, element| {
                element.encode(buffer, version)
            })?;
        }
        if version >= 8 {
            buffer.put_nullable_string(flexible, self.error_message.as_deref())?;
        }
        if version < 10 {
            require_default(
                self.current_leader == LeaderIdAndEpoch::default(),
                "PartitionProduceResponse.CurrentLeader",
                version,
            )?;
        }
        if flexible {
            let mut tagged = TaggedFields::default();
            if version >= 10 && self.current_leader != LeaderIdAndEpoch::default() {
                tagged.put(0, |buffer| self.current_leader.encode(buffer, version))?;
            }
            buffer.put_tagged_fields(tagged);
        }
        Ok(())
    }
}

/// Part of Kafka's `ProduceResponse`: `LeaderIdAndEpoch`, versions 10-13.
#[derive(Clone, Debug, PartialEq)]
pub struct LeaderIdAndEpoch {
    /// Kafka's `LeaderId`, default -1.
    pub leader_id: i32,
    /// Kafka's `LeaderEpoch`, default -1.
    pub leader_epoch: i32,
}

impl Default for LeaderIdAndEpoch {
    fn default() -> Self {
        Self {
            leader_id: -1,
            leader_epoch: -1,
        }
    }
}

impl LeaderIdAndEpoch {
    fn decode(reader: &mut Reader<'_>, _version: i16) -> Result<Self, DecodeError> {
        let value = Self {
            leader_id: reader.i32()?,
            leader_epoch: reader.i32()?,
        };
        reader.skip_tagged_fields()?;
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, _version: i16) -> Result<(), EncodeError> {
        buffer.put_i32(self.leader_id);
        buffer.put_i32(self.leader_epoch);
        buffer.put_unsigned_varint(0);
        Ok(())
    }
}

/// Part of Kafka's `ProduceResponse`: `BatchIndexAndErrorMessage`, versions 8-13.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct BatchIndexAndErrorMessage<'a> {
    /// Kafka's `BatchIndex`.
    pub batch_index: i32,
    /// Kafka's `BatchIndexErrorMessage`, may be null, default null.
    pub batch_index_error_message: Option<Cow<'a, str>>,
}

impl<'a> BatchIndexAndErrorMessage<'a> {
    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        let flexible = version >= 9;
        let value = Self {
            batch_index: reader.i32()?,
            batch_index_error_message: reader.nullable_string(flexible)?,
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        let flexible = version >= 9;
        buffer.put_i32(self.batch_index);
        buffer.put_nullable_string(flexible, self.batch_index_error_message.as_deref())?;
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for ProduceResponse<'a> {
    const NAME: &'static str = "ProduceResponse";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}
