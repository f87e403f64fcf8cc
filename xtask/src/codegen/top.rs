//! Writes what only a message itself has, and its parts have not: constants, version prefixes, traits.

use super::emit::lifetime;
use super::schema::{Kind, Message, Versions};
use std::fmt::Write as _;

/// The constants and helpers that only a message itself has.
pub(super) fn constants(message: &Message, out: &mut String) {
    let name = &message.name;
    let Versions { first, last } = message.versions;
    let _ = writeln!(out, "/// The versions that this message has.");
    let _ = writeln!(
        out,
        "pub const VERSIONS: RangeInclusive<i16> = {first}..={last};\n"
    );
    let reader = if lifetime(message, name).is_empty() {
        ""
    } else {
        "'a "
    };
    let prefixed_doc = "/// Reads the message behind its 2-byte version.";
    match message.kind {
        Kind::Request(_) | Kind::Response(_) | Kind::Header => {}
        Kind::Key(number) => {
            let _ = writeln!(
                out,
                "/// The number that stands before a key of this kind.
                pub const KEY_VERSION: i16 = {number};

                /// Reads the key behind its 2-byte number.
                pub fn decode_with_version_prefix(bytes: &{reader}[u8]) -> Result<Self, DecodeError> {{
                    decode_prefixed(bytes, \"{name}\", {number}..={number}, |reader, _| Self::decode(reader, {last}))
                }}

                /// Writes the key behind its 2-byte number.
                pub fn encode_with_version_prefix(&self) -> Result<Vec<u8>, EncodeError> {{
                    encode_prefixed(Self::KEY_VERSION, |buffer| self.encode(buffer, {last}))
                }}\n"
            );
        }
        Kind::Value => {
            let _ = writeln!(
                out,
                "{prefixed_doc}
                pub fn decode_with_version_prefix(bytes: &{reader}[u8]) -> Result<Self, DecodeError> {{
                    decode_prefixed(bytes, \"{name}\", Self::VERSIONS, Self::decode)
                }}\n"
            );
        }
        Kind::Protocol => {
            let _ = writeln!(
                out,
                "{prefixed_doc} A version newer than we know is read as the newest that we know, and what it adds is left.
                pub fn decode_with_version_prefix(bytes: &{reader}[u8]) -> Result<Self, DecodeError> {{
                    let mut reader = Reader::new(bytes);
                    let version = reader.i16()?.min({last});
                    Self::decode(&mut reader, version)
                }}\n"
            );
        }
    }
    if matches!(message.kind, Kind::Value | Kind::Protocol) {
        let _ = writeln!(
            out,
            "/// Writes the message behind its 2-byte version.
            pub fn encode_with_version_prefix(&self, version: i16) -> Result<Vec<u8>, EncodeError> {{
                encode_prefixed(version, |buffer| self.encode(buffer, version))
            }}\n"
        );
    }
}

/// The traits by which code that serves any message knows this one.
pub(super) fn traits(message: &Message, response_lifetime: &str, out: &mut String) {
    let name = &message.name;
    let generic = lifetime(message, name);
    let (head, of, reader) = if generic.is_empty() {
        ("impl", "<'_>", "'_")
    } else {
        ("impl<'a>", "<'a>", "'a")
    };
    let _ = writeln!(
        out,
        "{head} Message{of} for {name}{generic} {{
            const NAME: &'static str = \"{name}\";
            const VERSIONS: RangeInclusive<i16> = Self::VERSIONS;

            fn decode(reader: &mut Reader<{reader}>, version: i16) -> Result<Self, DecodeError> {{
                Self::decode(reader, version)
            }}

            fn encode(&self, buffer: &mut GatherBuffer, version: i16) -> Result<(), EncodeError> {{
                self.encode(buffer, version)
            }}
        }}\n"
    );
    if let Kind::Request(_) = message.kind {
        let api = name.trim_end_matches("Request");
        let _ = writeln!(
            out,
            "{head} Request{of} for {name}{generic} {{
                const KEY: ApiKey = ApiKey::{api};
                type Response<'r> = super::{api}Response{response_lifetime};
            }}"
        );
    }
}
