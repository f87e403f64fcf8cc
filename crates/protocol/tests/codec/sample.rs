//! Draws random messages from the schemas, as the bytes that a correct writer would write.

use super::schema::{self, Field, Message, Struct, Type};
use std::fs;
use std::path::Path;

/// Random numbers that a seed repeats (xorshift64*).
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

/// Every message that the schemas describe.
#[allow(
    clippy::disallowed_methods,
    reason = "a test may read the repository's own files"
)]
pub(crate) fn all_messages() -> Vec<Message> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas");
    let mut messages = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_some_and(|extension| extension == "schema")
        {
            let text = fs::read_to_string(&path).unwrap();
            messages.extend(schema::parse(&text).unwrap());
        }
    }
    assert!(messages.len() > 60, "the schemas were not found");
    messages.sort_by(|a, b| a.name.cmp(&b.name));
    messages
}

/// What kind of message to draw.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Exactly as a correct writer writes.
    Canonical,
    /// With tagged fields that nobody knows, which a reader must skip.
    UnknownTags,
}

/// A random message of `version`.
pub(crate) fn draw(message: &Message, version: i16, style: Style, dice: &mut Dice) -> Vec<u8> {
    let mut sampler = Sampler {
        message,
        version,
        style,
        dice,
    };
    let mut out = Vec::new();
    let top = message.find(&message.name).unwrap();
    sampler.structure(top, &mut out);
    out
}

struct Sampler<'s> {
    message: &'s Message,
    version: i16,
    style: Style,
    dice: &'s mut Dice,
}

impl Sampler<'_> {
    fn is_flexible(&self) -> bool {
        self.message
            .flexible
            .is_some_and(|all| all.contains(self.version))
    }

    fn structure(&mut self, each: &Struct, out: &mut Vec<u8>) {
        let here = each
            .fields
            .iter()
            .filter(|field| field.versions.contains(self.version));
        let (tagged, plain): (Vec<&Field>, Vec<&Field>) =
            here.partition(|field| field.tag.is_some());
        for field in plain {
            self.field(field, out);
        }
        if self.is_flexible() {
            self.tagged(tagged, out);
        }
    }

    fn tagged(&mut self, mut fields: Vec<&Field>, out: &mut Vec<u8>) {
        fields.sort_by_key(|field| field.tag);
        let mut written: Vec<(u32, Vec<u8>)> = Vec::new();
        for field in fields {
            let mut value = Vec::new();
            self.field(field, &mut value);
            let mut default = Vec::new();
            self.default(field, &mut default);
            if self.dice.below(2) == 0 && value != default {
                written.push((field.tag.unwrap(), value));
            }
        }
        if self.style == Style::UnknownTags && self.dice.below(2) == 0 {
            let size = self.dice.below(9) as usize;
            written.push((1000, vec![0xff; size]));
        }
        varint(written.len() as u32, out);
        for (tag, value) in written {
            varint(tag, out);
            varint(value.len() as u32, out);
            out.extend(value);
        }
    }

    fn field(&mut self, field: &Field, out: &mut Vec<u8>) {
        let is_compact = self.is_flexible() && !field.is_legacy;
        let may_be_null = field.nullable.is_some_and(|all| all.contains(self.version));
        if may_be_null && self.dice.below(4) == 0 {
            match (field.tag, &field.kind) {
                (Some(_), Type::Struct(_)) => out.push(0),
                _ => null(&field.kind, is_compact, out),
            }
            return;
        }
        if may_be_null && matches!(field.kind, Type::Struct(_)) {
            out.push(1);
        }
        self.value(&field.kind, is_compact, out);
    }

    fn value(&mut self, kind: &Type, is_compact: bool, out: &mut Vec<u8>) {
        match kind {
            Type::Bool => out.push(self.dice.below(2) as u8),
            Type::Int8 => self.number(1, out),
            Type::Int16 | Type::Uint16 => self.number(2, out),
            Type::Int32 => self.number(4, out),
            Type::Int64 => self.number(8, out),
            Type::Float64 => out.extend(1.5f64.to_be_bytes()),
            Type::Uuid => {
                self.number(8, out);
                self.number(8, out);
            }
            Type::String => {
                let length = self.length(20);
                let text: String = (0..length).map(|_| self.character()).collect();
                self.put_length(text.len(), is_compact, 2, out);
                out.extend(text.as_bytes());
            }
            Type::Bytes | Type::Records => {
                let length = self.length(40);
                self.put_length(length, is_compact, 4, out);
                out.extend((0..length).map(|_| self.dice.next() as u8));
            }
            Type::Struct(name) => {
                let message = self.message;
                self.structure(message.find(name).unwrap(), out);
            }
            Type::Array(element) => {
                let length = self.dice.below(4) as usize;
                self.put_length(length, is_compact, 4, out);
                for _ in 0..length {
                    self.value(element, is_compact, out);
                }
            }
        }
    }

    /// A number that is often small, and sometimes the smallest or largest.
    fn number(&mut self, width: usize, out: &mut Vec<u8>) {
        let value = match self.dice.below(6) {
            0 => 0,
            1 => -1,
            2 => i64::MAX >> (64 - 8 * width),
            3 => i64::MIN >> (64 - 8 * width),
            _ => self.dice.next() as i64,
        };
        out.extend(&value.to_be_bytes()[8 - width..]);
    }

    /// Mostly short, now and then past the 127 that one byte of a varint holds.
    fn length(&mut self, bound: u64) -> usize {
        let bound = if self.dice.below(10) == 0 { 300 } else { bound };
        self.dice.below(bound) as usize
    }

    fn character(&mut self) -> char {
        ['a', 'Z', '0', '.', 'é', '€', '🦀'][self.dice.below(7) as usize]
    }

    fn put_length(&self, length: usize, is_compact: bool, width: usize, out: &mut Vec<u8>) {
        if is_compact {
            varint(length as u32 + 1, out);
        } else {
            out.extend(&(length as u64).to_be_bytes()[8 - width..]);
        }
    }

    /// What a tagged field's default would be written as.
    fn default(&self, field: &Field, out: &mut Vec<u8>) {
        match (&field.kind, field.default.as_deref()) {
            (kind, Some("null")) => null(kind, true, out),
            (Type::Struct(name), _) => {
                let inner = self.message.find(name).unwrap();
                out.extend(field.nullable.map(|_| 1));
                for field in inner.fields.iter().filter(|field| field.tag.is_none()) {
                    self.default(field, out);
                }
                out.push(0);
            }
            (Type::String | Type::Bytes | Type::Array(_), _) => out.push(1),
            (Type::Uuid, _) => out.extend([0; 16]),
            (Type::Bool, default) => out.push(u8::from(default == Some("true"))),
            (kind, default) => {
                let value: i64 = default.unwrap_or("0").parse().unwrap();
                let width = match kind {
                    Type::Int8 => 1,
                    Type::Int16 => 2,
                    Type::Int32 => 4,
                    _ => 8,
                };
                out.extend(&value.to_be_bytes()[8 - width..]);
            }
        }
    }
}

fn null(kind: &Type, is_compact: bool, out: &mut Vec<u8>) {
    match kind {
        Type::Struct(_) => out.push(0xff),
        _ if is_compact => out.push(0),
        Type::String => out.extend([0xff; 2]),
        _ => out.extend([0xff; 4]),
    }
}

pub(crate) fn varint(mut value: u32, out: &mut Vec<u8>) {
    while value > 0x7f {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
