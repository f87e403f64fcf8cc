//! `ApiVersionsRequest`, versions 0-5. Generated from `schemas/api_versions.schema` by `cargo xtask codegen`: change that, not this.

use crate::wire::{DecodeError, EncodeError, GatherBuffer, Reader};
use crate::{ApiKey, Message, Request};
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// Kafka's `ApiVersionsRequest`, versions 0-5.
#[derive(Clone, Debug, PartialEq)]
pub struct ApiVersionsRequest<'a> {
    /// Kafka's `ClientSoftwareName`, versions 3-5, left out of other versions.
    pub client_software_name: Cow<'a, str>,
    /// Kafka's `ClientSoftwareVersion`, versions 3-5, left out of other versions.
    pub client_software_version: Cow<'a, str>,
    /// Kafka's `ClusterId`, version 5, may be null, default null, left out of other versions.
    pub cluster_id: Option<Cow<'a, str>>,
    /// Kafka's `NodeId`, version 5, default -1, left out of other versions.
    pub node_id: i32,
}

impl Default for ApiVersionsRequest<'_> {
    fn default() -> Self {
        Self {
            client_software_name: Cow::Borrowed(""),
            client_software_version: Cow::Borrowed(""),
            cluster_id: None,
            node_id: -1,
        }
    }
}

impl<'a> ApiVersionsRequest<'a> {
    /// The versions that this message has.
    pub const VERSIONS: RangeInclusive<i16> = 0..=5;

    /// Reads the message in `version`.
    pub fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        reader.check_version("ApiVersionsRequest", version, Self::VERSIONS)?;
        let flexible = version >= 3;
        let value = Self {
            client_software_name: if version >= 3 {
                reader.string(flexible)?
            } else {
                Cow::Borrowed("")
            },
            client_software_version: if version >= 3 {
                reader.string(flexible)?
            } else {
                Cow::Borrowed("")
            },
            cluster_id: if version == 5 {
                reader.nullable_string(flexible)?
            } else {
                None
            },
            node_id: if version == 5 { reader.i32()? } else { -1 },
        };
        if flexible {
            reader.skip_tagged_fields()?;
        }
        Ok(value)
    }

    /// Writes the message in `version`.
    pub fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        buffer.check_version("ApiVersionsRequest", version, Self::VERSIONS)?;
        let flexible = version >= 3;
        if version >= 3 {
            buffer.put_string(flexible, &self.client_software_name)?;
        }
        if version >= 3 {
            buffer.put_string(flexible, &self.client_software_version)?;
        }
        if version == 5 {
            buffer.put_nullable_string(flexible, self.cluster_id.as_deref())?;
        }
        if version == 5 {
            buffer.put_i32(self.node_id);
        }
        if flexible {
            buffer.put_unsigned_varint(0);
        }
        Ok(())
    }
}

impl<'a> Message<'a> for ApiVersionsRequest<'a> {
    const NAME: &'static str = "ApiVersionsRequest";
    const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

    fn decode(reader: &mut Reader<'a>, version: i16) -> Result<Self, DecodeError> {
        Self::decode(reader, version)
    }

    fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {
        self.encode(buffer, version)
    }
}

impl<'a> Request<'a> for ApiVersionsRequest<'a> {
    const KEY: ApiKey = ApiKey::ApiVersions;
    type Response<'r> = super::ApiVersionsResponse<'r>;
}
