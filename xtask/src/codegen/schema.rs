//! The notation of `schemas/`: what a message's schema says, and how it is read.
//!
//! Why it exists: Kafka describes its messages in many JSON files of which we need the facts only, in a form that a
//! person can read beside the protocol's documentation. `schemas/README.md` explains the notation.
//! Owns: nothing.   Never: Rust code; that is `emit.rs`.
//! In -> out: the text of a schema file -> `Vec<Message>`, or an error naming the line.
//! Read next: `emit.rs`.

use anyhow::{Context, Result, bail, ensure};

/// An inclusive range of versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Versions {
    pub(super) first: i16,
    pub(super) last: i16,
}

impl Versions {
    pub(super) fn contains(self, version: i16) -> bool {
        (self.first..=self.last).contains(&version)
    }

    /// The versions in both; `None` if there are none.
    pub(super) fn and(self, other: Self) -> Option<Self> {
        let first = self.first.max(other.first);
        let last = self.last.min(other.last);
        (first <= last).then_some(Self { first, last })
    }

    /// The smallest range that has both.
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            first: self.first.min(other.first),
            last: self.last.max(other.last),
        }
    }

    /// Reads `3`, `3-7` or `3+`; the last ends where `bound` does.
    fn parse(text: &str, bound: Option<Self>) -> Result<Self> {
        let number = |part: &str| {
            let parsed = part.parse::<i16>();
            parsed.with_context(|| format!("'{text}' is not a version range"))
        };
        let versions = if let Some(first) = text.strip_suffix('+') {
            let bound = bound.with_context(|| format!("'{text}' needs an end"))?;
            Self {
                first: number(first)?,
                last: bound.last,
            }
        } else if let Some((first, last)) = text.split_once('-') {
            Self {
                first: number(first)?,
                last: number(last)?,
            }
        } else {
            Self {
                first: number(text)?,
                last: number(text)?,
            }
        };
        ensure!(versions.first <= versions.last, "'{text}' holds no version");
        if let Some(bound) = bound {
            let is_inside = versions.and(bound) == Some(versions);
            ensure!(is_inside, "'{text}' reaches outside what holds it");
        }
        Ok(versions)
    }
}

/// What a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A request of the API with this key.
    Request(i16),
    /// A response of the API with this key.
    Response(i16),
    /// What stands before a request or a response.
    Header,
    /// A record's key: this number stands before it and tells what kind of key it is.
    Key(i16),
    /// A record's value: its version stands before it.
    Value,
    /// What consumers tell each other: its version stands before it, and newer versions are read as the newest known.
    Protocol,
}

/// One message.
#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) kind: Kind,
    pub(super) name: String,
    pub(super) versions: Versions,
    /// The versions with compact lengths and tagged fields.
    pub(super) flexible: Option<Versions>,
    /// Every structure, the message itself last.
    pub(super) structs: Vec<Struct>,
}

impl Message {
    pub(super) fn find(&self, name: &str) -> Option<&Struct> {
        self.structs.iter().find(|each| each.name == name)
    }
}

/// One structure and the versions that it is used in.
#[derive(Clone, Debug)]
pub(super) struct Struct {
    pub(super) name: String,
    pub(super) versions: Versions,
    pub(super) fields: Vec<Field>,
}

/// What a field holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Bool,
    Int8,
    Int16,
    Uint16,
    Int32,
    Int64,
    Float64,
    Uuid,
    String,
    Bytes,
    Records,
    Struct(String),
    Array(Box<Type>),
}

impl Type {
    fn parse(text: &str) -> Result<Self> {
        if let Some(element) = text.strip_prefix("[]") {
            return Ok(Self::Array(Box::new(Self::parse(element)?)));
        }
        Ok(match text {
            "bool" => Self::Bool,
            "int8" => Self::Int8,
            "int16" => Self::Int16,
            "uint16" => Self::Uint16,
            "int32" => Self::Int32,
            "int64" => Self::Int64,
            "float64" => Self::Float64,
            "uuid" => Self::Uuid,
            "string" => Self::String,
            "bytes" => Self::Bytes,
            "records" => Self::Records,
            _ if text.starts_with(|c: char| c.is_ascii_uppercase()) => Self::Struct(text.into()),
            _ => bail!("'{text}' is no type"),
        })
    }

    /// The structure that this is, or is an array of.
    pub(super) fn struct_name(&self) -> Option<&str> {
        match self {
            Self::Struct(name) => Some(name),
            Self::Array(element) => element.struct_name(),
            _ => None,
        }
    }
}

/// One field of a structure.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) kind: Type,
    pub(super) versions: Versions,
    /// The versions in which it may be null.
    pub(super) nullable: Option<Versions>,
    /// `null`, a number, `true`; `None` for 0, false, empty.
    pub(super) default: Option<String>,
    /// Whether versions without it may be written although it is set.
    pub(super) is_ignorable: bool,
    pub(super) tag: Option<u32>,
    /// Whether its length is never compact.
    pub(super) is_legacy: bool,
}

/// Reads a schema file.
pub(super) fn parse(text: &str) -> Result<Vec<Message>> {
    let mut lines = Lines {
        lines: text.lines().enumerate(),
        number: 0,
    };
    let mut messages = Vec::new();
    while let Some(words) = lines.next_words() {
        let message = parse_message(&words, &mut lines);
        messages.push(message.with_context(|| format!("line {}", lines.number))?);
    }
    Ok(messages)
}

/// The lines that say something, cut into words.
struct Lines<'a> {
    lines: std::iter::Enumerate<std::str::Lines<'a>>,
    number: usize,
}

impl<'a> Lines<'a> {
    fn next_words(&mut self) -> Option<Vec<&'a str>> {
        for (index, line) in self.lines.by_ref() {
            let content = line.split('#').next().unwrap_or_default();
            let words: Vec<&str> = content.split_whitespace().collect();
            if !words.is_empty() {
                self.number = index + 1;
                return Some(words);
            }
        }
        None
    }
}

fn parse_message(words: &[&str], lines: &mut Lines<'_>) -> Result<Message> {
    let mut words = words.iter().copied();
    let mut next = |what: &str| words.next().with_context(|| format!("{what} is missing"));
    let kind = match next("the kind of message")? {
        "request" => Kind::Request(next("the API key")?.parse()?),
        "response" => Kind::Response(next("the API key")?.parse()?),
        "key" => Kind::Key(next("the key's number")?.parse()?),
        "header" => Kind::Header,
        "value" => Kind::Value,
        "protocol" => Kind::Protocol,
        other => bail!("'{other}' is no kind of message"),
    };
    let name = next("the name")?.to_owned();
    let versions = Versions::parse(next("the versions")?, None)?;
    let mut flexible = None;
    let mut word = next("'{'")?;
    if word == "flexible" {
        word = next("'{'")?;
        flexible = Some(versions);
        if word != "{" {
            flexible = Some(Versions::parse(word, Some(versions))?);
            word = next("'{'")?;
        }
    }
    ensure!(word == "{", "'{word}' stands where '{{' should");
    let mut structs = Vec::new();
    let fields = parse_fields(versions, lines, &mut structs)?;
    structs.push(Struct {
        name: name.clone(),
        versions,
        fields,
    });
    let mut message = Message {
        kind,
        name,
        versions,
        flexible,
        structs,
    };
    narrow_structs(&mut message)?;
    Ok(message)
}

/// Reads the fields up to the closing brace; structures found among them go to `structs`.
fn parse_fields(
    bound: Versions,
    lines: &mut Lines<'_>,
    structs: &mut Vec<Struct>,
) -> Result<Vec<Field>> {
    let mut fields = Vec::new();
    loop {
        let words = lines.next_words().context("the closing '}' is missing")?;
        if words == ["}"] {
            return Ok(fields);
        }
        if let ["struct", name, "{"] = words[..] {
            let inner = parse_fields(bound, lines, structs)?;
            structs.push(Struct {
                name: name.to_owned(),
                versions: bound,
                fields: inner,
            });
            continue;
        }
        let (words, opens) = match words.split_last() {
            Some((&"{", before)) => (before, true),
            _ => (&words[..], false),
        };
        let field = parse_field(words, bound)?;
        if opens {
            let name = field.kind.struct_name();
            let name = name.context("only a structure has fields")?.to_owned();
            let versions = field.versions;
            let inner = parse_fields(versions, lines, structs)?;
            structs.push(Struct {
                name,
                versions,
                fields: inner,
            });
        }
        fields.push(field);
    }
}

fn parse_field(words: &[&str], bound: Versions) -> Result<Field> {
    let [name, kind, rest @ ..] = words else {
        bail!("a field has a name and a type: {words:?}");
    };
    let (kind, nullable) = match kind.split_once('?') {
        None => (*kind, None),
        Some((kind, versions)) => (kind, Some(versions)),
    };
    let (versions, mut rest) = match rest {
        [first, rest @ ..] if first.starts_with(|c: char| c.is_ascii_digit()) => {
            (Versions::parse(first, Some(bound))?, rest)
        }
        _ => (bound, rest),
    };
    let nullable = match nullable {
        None => None,
        Some("") => Some(versions),
        Some(text) => Some(Versions::parse(text, Some(versions))?),
    };
    let mut field = Field {
        name: (*name).to_owned(),
        kind: Type::parse(kind)?,
        versions,
        nullable,
        default: None,
        is_ignorable: false,
        tag: None,
        is_legacy: false,
    };
    loop {
        rest = match rest {
            [] => break,
            ["=", value, rest @ ..] => {
                field.default = Some((*value).to_owned());
                rest
            }
            ["tag", tag, rest @ ..] => {
                field.tag = Some(tag.parse()?);
                rest
            }
            ["ignorable", rest @ ..] => {
                field.is_ignorable = true;
                rest
            }
            ["legacy", rest @ ..] => {
                field.is_legacy = true;
                rest
            }
            [other, ..] => bail!("'{other}' says nothing about field {name}"),
        };
    }
    Ok(field)
}

/// Narrows each structure's versions to those in which a field holds it, and checks the references.
fn narrow_structs(message: &mut Message) -> Result<()> {
    // Structures stand before what holds them, so going backwards meets the holder first.
    for index in (0..message.structs.len()).rev() {
        let name = message.structs[index].name.clone();
        let same = message.structs.iter().filter(|each| each.name == name);
        ensure!(same.count() == 1, "structure {name} is described twice");
        let holders = message.structs.iter().flat_map(|each| &each.fields);
        let uses = holders.filter(|field| field.kind.struct_name() == Some(&name));
        let used = uses.map(|field| field.versions).reduce(Versions::or);
        let own = &mut message.structs[index];
        match used {
            Some(used) => own.versions = own.versions.and(used).unwrap_or(used),
            None => ensure!(name == message.name, "no field holds structure {name}"),
        }
        let versions = own.versions;
        for field in &mut own.fields {
            field.versions = field.versions.and(versions).unwrap_or(field.versions);
        }
    }
    for field in message.structs.iter().flat_map(|each| &each.fields) {
        if let Some(name) = field.kind.struct_name() {
            let is_known = message.find(name).is_some();
            ensure!(is_known, "field {} has the unknown type {name}", field.name);
        }
        let is_flexible = |flexible: Versions| flexible.and(field.versions) == Some(field.versions);
        let may_be_tagged = field.tag.is_none() || message.flexible.is_some_and(is_flexible);
        ensure!(
            may_be_tagged,
            "field {} is tagged before the flexible versions",
            field.name
        );
    }
    Ok(())
}
