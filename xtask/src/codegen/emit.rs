//! Writes the Rust file of one message.
//!
//! Why it exists: two thousand fields in up to nineteen versions are too many to write by hand without a mistake.
//! Owns: nothing.   Never: formatting; rustfmt does that afterwards.
//! In -> out: `Message` -> the text of a Rust file.
//! Read next: `field.rs`.

use super::field::{self, Scope};
use super::names;
use super::schema::{Field, Kind, Message, Struct, Type, Versions};
use super::top;
use std::fmt::Write as _;

/// The condition under which `version` is one of `versions`, within `bound`; `None` if it always is.
pub(super) fn condition(versions: Versions, bound: Versions) -> Option<String> {
    if versions == bound {
        return None;
    }
    let Versions { first, last } = versions;
    Some(if first == last {
        format!("version == {first}")
    } else if last == bound.last {
        format!("version >= {first}")
    } else if first == bound.first {
        format!("version <= {last}")
    } else {
        format!("({first}..={last}).contains(&version)")
    })
}

/// The opposite of [`condition`].
fn opposite(versions: Versions, bound: Versions) -> Option<String> {
    let Versions { first, last } = versions;
    condition(versions, bound).map(|condition| {
        if first == last {
            format!("version != {first}")
        } else if last == bound.last {
            format!("version < {first}")
        } else if first == bound.first {
            format!("version > {last}")
        } else {
            format!("!{condition}")
        }
    })
}

/// The text of the file of `message`, which is described in `schema_file`; `response_lifetime` is that of what answers it.
pub(super) fn message(message: &Message, schema_file: &str, response_lifetime: &str) -> String {
    let mut body = String::new();
    for each in message.structs.iter().rev() {
        structure(message, each, &mut body);
    }
    top::traits(message, response_lifetime, &mut body);
    let mut out = format!(
        "//! `{}`, {}. Generated from `schemas/{schema_file}` by `cargo xtask codegen`: change that, not this.\n\n",
        message.name,
        range_in_words(message.versions)
    );
    let wire: Vec<&str> = [
        "DecodeError",
        "EncodeError",
        "GatherBuffer",
        "Reader",
        "RecordBytes",
        "TaggedFields",
        "decode_prefixed",
        "encode_prefixed",
        "require_default",
        "require_some",
    ]
    .into_iter()
    .filter(|name| mentions(&body, name))
    .collect();
    let wire = format!("use crate::wire::{{{}}};", wire.join(", "));
    // In rustfmt's order.
    let _ = match message.kind {
        Kind::Request(_) => writeln!(out, "{wire}\nuse crate::{{ApiKey, Message, Request}};"),
        _ => writeln!(out, "use crate::Message;\n{wire}"),
    };
    if mentions(&body, "Cow") {
        out.push_str("use std::borrow::Cow;\n");
    }
    out.push_str("use std::ops::RangeInclusive;\n");
    if mentions(&body, "Uuid") {
        out.push_str("use uuid::Uuid;\n");
    }
    out.push('\n');
    out.push_str(&body);
    out
}

/// Whether `name` stands in `text` as a word of its own.
fn mentions(text: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        !text[..at].ends_with(is_word) && !text[at + name.len()..].starts_with(is_word)
    })
}

/// The versions in words.
fn range_in_words(versions: Versions) -> String {
    let plural = if versions.first == versions.last {
        ""
    } else {
        "s"
    };
    format!("version{plural} {}", range(versions))
}

fn range(versions: Versions) -> String {
    if versions.first == versions.last {
        return versions.first.to_string();
    }
    format!("{}-{}", versions.first, versions.last)
}

/// `<'a>` where the structure borrows, else nothing.
pub(super) fn lifetime(message: &Message, name: &str) -> &'static str {
    let borrows = message.find(name).is_some_and(|each| {
        each.fields
            .iter()
            .any(|field| borrows(message, &field.kind))
    });
    if borrows { "<'a>" } else { "" }
}

fn borrows(message: &Message, kind: &Type) -> bool {
    match kind {
        Type::String | Type::Bytes | Type::Records => true,
        Type::Array(element) => borrows(message, element),
        Type::Struct(name) => !lifetime(message, name).is_empty(),
        _ => false,
    }
}

/// The type, the defaults and the codec of one structure.
fn structure(message: &Message, each: &Struct, out: &mut String) {
    let is_top = each.name == message.name;
    let name = &each.name;
    let generic = lifetime(message, name);
    let has_plain_defaults = each.fields.iter().all(field::has_plain_default);
    let part = if is_top { "" } else { "Part of " };
    let _ = writeln!(
        out,
        "/// {part}Kafka's `{}`{}, {}.",
        message.name,
        if is_top {
            String::new()
        } else {
            format!(": `{name}`")
        },
        range_in_words(each.versions)
    );
    let default = if has_plain_defaults { ", Default" } else { "" };
    let _ = writeln!(out, "#[derive(Clone, Debug, PartialEq{default})]");
    let _ = writeln!(out, "pub struct {name}{generic} {{");
    for field in &each.fields {
        let _ = writeln!(out, "/// {}", field_doc(field, each.versions));
        let kind = field::rust_type(message, field);
        let _ = writeln!(out, "pub {}: {kind},", names::field(&field.name));
    }
    out.push_str("}\n\n");
    if !has_plain_defaults {
        let anonymous = if generic.is_empty() { "" } else { "<'_>" };
        let _ = writeln!(
            out,
            "impl Default for {name}{anonymous} {{ fn default() -> Self {{ Self {{"
        );
        for field in &each.fields {
            let _ = writeln!(
                out,
                "{}: {},",
                names::field(&field.name),
                field::default(field)
            );
        }
        out.push_str("} } }\n\n");
    }
    let _ = writeln!(out, "impl{generic} {name}{generic} {{");
    if is_top {
        top::constants(message, out);
    }
    let decode = decode(message, each);
    let encode = encode(message, each);
    let _ = writeln!(out, "{decode}\n{encode}}}\n");
}

fn field_doc(field: &Field, bound: Versions) -> String {
    let mut doc = format!("Kafka's `{}`", field.name);
    if field.versions != bound {
        let _ = write!(doc, ", {}", range_in_words(field.versions));
    }
    match field.nullable {
        Some(nullable) if nullable == field.versions => doc.push_str(", may be null"),
        Some(nullable) => {
            let _ = write!(doc, ", may be null in {}", range_in_words(nullable));
        }
        None => {}
    }
    if let Some(default) = &field.default {
        let _ = write!(doc, ", default {default}");
    }
    if field.versions != bound && field.is_ignorable {
        doc.push_str(", left out of other versions");
    }
    doc.push('.');
    doc
}

/// The flexible versions as an expression, and the line that it needs before it.
fn flexible(message: &Message, each: &Struct) -> (&'static str, String) {
    let Some(flexible) = message.flexible.and_then(|all| all.and(each.versions)) else {
        return ("false", String::new());
    };
    match condition(flexible, each.versions) {
        None => ("true", String::new()),
        Some(condition) => ("flexible", format!("let flexible = {condition};\n")),
    }
}

/// The head and end of a function around `body`.
fn function(
    message: &Message,
    each: &Struct,
    signature: &str,
    body: &str,
    encodes: bool,
) -> String {
    let is_top = each.name == message.name;
    let (visible, check) = if is_top {
        let on = if encodes { "buffer" } else { "reader" };
        let check = format!(
            "{on}.check_version(\"{}\", version, Self::VERSIONS)?;\n",
            each.name
        );
        let doc = if encodes { "Writes" } else { "Reads" };
        (format!("/// {doc} the message in `version`.\npub "), check)
    } else {
        (String::new(), String::new())
    };
    let flexible_line = match flexible(message, each) {
        ("flexible", line) if mentions(body, "flexible") => line,
        _ => String::new(),
    };
    let text = format!("{check}{flexible_line}{body}");
    let version = if mentions(&text, "version") {
        "version"
    } else {
        "_version"
    };
    format!(
        "{visible}fn {} {{\n{text}}}\n",
        signature.replace("VERSION", version)
    )
}

fn decode(message: &Message, each: &Struct) -> String {
    let (flexible, _) = flexible(message, each);
    let scope = Scope { message, flexible };
    let is_tagged = |field: &&Field| field.tag.is_some();
    let mut fields = String::new();
    for field in &each.fields {
        let value = if field.tag.is_some() {
            field::default(field)
        } else {
            let read = field::decode(&scope, field);
            match condition(field.versions, each.versions) {
                None => read,
                Some(when) => format!(
                    "if {when} {{ {read} }} else {{ {} }}",
                    field::default(field)
                ),
            }
        };
        let _ = writeln!(fields, "{}: {value},", names::field(&field.name));
    }
    let literal = format!("Self {{ {fields} }}");
    let mut arms = String::new();
    for field in each.fields.iter().filter(is_tagged) {
        let flexible_part = message.flexible.and_then(|all| all.and(each.versions));
        let when = condition(field.versions, flexible_part.unwrap_or(each.versions));
        let guard = when.map(|when| format!(" if {when}")).unwrap_or_default();
        let read = field::decode(
            &Scope {
                message,
                flexible: "true",
            },
            field,
        );
        let tag = field.tag.expect("filtered for it");
        let _ = writeln!(
            arms,
            "{tag}{guard} => value.{} = {read},",
            names::field(&field.name)
        );
    }
    let (let_value, tags) = if arms.is_empty() {
        ("let value", "reader.skip_tagged_fields()?;".to_owned())
    } else {
        let read = format!(
            "reader.tagged_fields(|tag, reader| {{ match tag {{ {arms} _ => return Ok(false), }} Ok(true) }})?;"
        );
        ("let mut value", read)
    };
    let body = match flexible {
        "false" => format!("Ok({literal})"),
        "true" => format!("{let_value} = {literal};\n{tags}\nOk(value)"),
        _ => format!("{let_value} = {literal};\nif flexible {{ {tags} }}\nOk(value)"),
    };
    let reader = if lifetime(message, &each.name).is_empty() {
        "'_"
    } else {
        "'a"
    };
    let signature =
        format!("decode(reader: &mut Reader<{reader}>, VERSION: i16) -> Result<Self, DecodeError>");
    function(message, each, &signature, &body, false)
}

fn encode(message: &Message, each: &Struct) -> String {
    let (flexible, _) = flexible(message, each);
    let scope = Scope { message, flexible };
    let mut body = String::new();
    for field in each.fields.iter().filter(|field| field.tag.is_none()) {
        let write = field::encode(&scope, each, field);
        let Some(when) = condition(field.versions, each.versions) else {
            body.push_str(&write);
            continue;
        };
        let _ = write!(body, "if {when} {{ {write} }}");
        if !field.is_ignorable {
            let _ = write!(body, " else {{ {} }}", field::require_default(each, field));
        }
        body.push('\n');
    }
    let mut tags = String::new();
    for field in tagged(each) {
        if let Some(unless) = opposite(field.versions, each.versions)
            && !field.is_ignorable
        {
            let _ = writeln!(
                body,
                "if {unless} {{ {} }}",
                field::require_default(each, field)
            );
        }
        let flexible_part = message.flexible.and_then(|all| all.and(each.versions));
        let when = condition(field.versions, flexible_part.unwrap_or(each.versions));
        let when = when.map(|when| format!("{when} && ")).unwrap_or_default();
        let put = field::encode_tagged(
            &Scope {
                message,
                flexible: "true",
            },
            each,
            field,
        );
        let is_set = field::default_check(field, false);
        let _ = writeln!(tags, "if {when}{is_set} {{ {put} }}");
    }
    let tags = if tags.is_empty() {
        "buffer.put_unsigned_varint(0);".to_owned()
    } else {
        format!(
            "let mut tagged = TaggedFields::default();\n{tags}buffer.put_tagged_fields(tagged);"
        )
    };
    match flexible {
        "false" => {}
        "true" => body.push_str(&tags),
        _ => {
            let _ = writeln!(body, "if flexible {{ {tags} }}");
        }
    }
    body.push_str("Ok(())");
    let buffer = if mentions(&body, "buffer") || each.name == message.name {
        "buffer"
    } else {
        "_buffer"
    };
    let signature = format!(
        "encode(&self, {buffer}: &mut GatherBuffer, VERSION: i16) -> Result<(), EncodeError>"
    );
    function(message, each, &signature, &body, true)
}

/// The tagged fields in the order of their tags.
fn tagged(each: &Struct) -> Vec<&Field> {
    let mut tagged: Vec<&Field> = each
        .fields
        .iter()
        .filter(|field| field.tag.is_some())
        .collect();
    tagged.sort_by_key(|field| field.tag);
    tagged
}
