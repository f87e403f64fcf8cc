//! The expressions that read, write and compare one field.
//!
//! Why it exists: nullable, versioned, compact and tagged combine freely; each combination is decided here, once.
//! Owns: nothing.   Never: whole functions; those are `emit.rs`.
//! In -> out: `Field` -> Rust expressions.
//! Read next: `schema.rs`.

use super::emit::{condition, lifetime};
use super::names;
use super::schema::{Field, Message, Struct, Type};

/// What an expression depends on besides its field.
pub(super) struct Scope<'m> {
    pub(super) message: &'m Message,
    /// The expression that says whether lengths are compact: `true`, `false` or a variable.
    pub(super) flexible: &'static str,
}

impl Scope<'_> {
    fn flexible(&self, field: &Field) -> &'static str {
        if field.is_legacy {
            "false"
        } else {
            self.flexible
        }
    }
}

/// The field's type in Rust.
pub(super) fn rust_type(message: &Message, field: &Field) -> String {
    let plain = plain_type(message, &field.kind);
    if field.nullable.is_some() || field.kind == Type::Records {
        return format!("Option<{plain}>");
    }
    plain
}

fn plain_type(message: &Message, kind: &Type) -> String {
    match kind {
        Type::String => "Cow<'a, str>".into(),
        Type::Bytes => "Cow<'a, [u8]>".into(),
        Type::Records => "RecordBytes<'a>".into(),
        Type::Uuid => "Uuid".into(),
        Type::Struct(name) => format!("{name}{}", lifetime(message, name)),
        Type::Array(element) => format!("Vec<{}>", plain_type(message, element)),
        scalar => scalar_name(scalar).into(),
    }
}

/// The name of a scalar type, which is that of the method that reads it too.
fn scalar_name(kind: &Type) -> &'static str {
    match kind {
        Type::Bool => "bool",
        Type::Int8 => "i8",
        Type::Int16 => "i16",
        Type::Uint16 => "u16",
        Type::Int32 => "i32",
        Type::Int64 => "i64",
        Type::Float64 => "f64",
        Type::Uuid => "uuid",
        Type::String => "string",
        Type::Bytes => "bytes",
        Type::Records => "records",
        Type::Struct(_) => "struct",
        Type::Array(_) => "array",
    }
}

fn has_null_default(field: &Field) -> bool {
    field.default.as_deref() == Some("null") || field.kind == Type::Records
}

/// Whether the field's default is the one that Rust gives its type.
pub(super) fn has_plain_default(field: &Field) -> bool {
    has_null_default(field) || (field.default.is_none() && field.nullable.is_none())
}

/// The field's default as an expression.
pub(super) fn default(field: &Field) -> String {
    if has_null_default(field) {
        return "None".into();
    }
    let value = match (&field.kind, field.default.as_deref()) {
        (Type::String, _) => "Cow::Borrowed(\"\")".into(),
        (Type::Bytes, _) => "Cow::Borrowed(&[])".into(),
        (Type::Array(_), _) => "Vec::new()".into(),
        (Type::Struct(name), _) => format!("{name}::default()"),
        (Type::Uuid, _) => "Uuid::nil()".into(),
        (Type::Bool, default) => default.unwrap_or("false").into(),
        (Type::Float64, None) => "0.0".into(),
        (_, default) => default.unwrap_or("0").to_owned(),
    };
    if field.nullable.is_some() {
        return format!("Some({value})");
    }
    value
}

/// The expression that says whether the field has its default (`wanted`), or has not.
pub(super) fn default_check(field: &Field, wanted: bool) -> String {
    let name = format!("self.{}", names::field(&field.name));
    let not = if wanted { "" } else { "!" };
    let equal = if wanted { "==" } else { "!=" };
    if has_null_default(field) {
        return format!("{name}.{}()", if wanted { "is_none" } else { "is_some" });
    }
    if field.nullable.is_some() {
        return match &field.kind {
            Type::Struct(_) => format!("{name} {equal} {}", default(field)),
            _ => format!("{not}{name}.as_ref().is_some_and(|value| value.is_empty())"),
        };
    }
    match &field.kind {
        Type::String | Type::Bytes | Type::Array(_) => format!("{not}{name}.is_empty()"),
        Type::Uuid => format!("{not}{name}.is_nil()"),
        Type::Bool => {
            let is_true_by_default = field.default.as_deref() == Some("true");
            format!(
                "{}{name}",
                if is_true_by_default == wanted {
                    ""
                } else {
                    "!"
                }
            )
        }
        _ => format!("{name} {equal} {}", default(field)),
    }
}

/// The statement that refuses a field which is set.
pub(super) fn require_default(each: &Struct, field: &Field) -> String {
    let is_default = default_check(field, true);
    format!(
        "require_default({is_default}, \"{}.{}\", version)?;",
        each.name, field.name
    )
}

/// The expression that reads the field where it is present.
pub(super) fn decode(scope: &Scope<'_>, field: &Field) -> String {
    let flexible = scope.flexible(field);
    let is_tagged = field.tag.is_some();
    let nullable = format!(
        "{}?",
        decode_kind(scope.message, &field.kind, flexible, (true, is_tagged))
    );
    let plain = format!(
        "{}?",
        decode_kind(scope.message, &field.kind, flexible, (false, is_tagged))
    );
    match field.nullable {
        None => plain,
        Some(versions) => match condition(versions, field.versions) {
            None => nullable,
            Some(when) => format!("if {when} {{ {nullable} }} else {{ Some({plain}) }}"),
        },
    }
}

fn decode_kind(
    message: &Message,
    kind: &Type,
    flexible: &str,
    (nullable, is_tagged): (bool, bool),
) -> String {
    let null = if nullable { "nullable_" } else { "" };
    match kind {
        Type::String | Type::Bytes | Type::Records => {
            format!("reader.{null}{}({flexible})", scalar_name(kind))
        }
        Type::Struct(name) if nullable && is_tagged => {
            format!("reader.nullable_tagged_struct(|reader| {name}::decode(reader, version))")
        }
        Type::Struct(name) if nullable => {
            format!("reader.nullable_struct(|reader| {name}::decode(reader, version))")
        }
        Type::Struct(name) => format!("{name}::decode(reader, version)"),
        Type::Array(element) => {
            let bytes_min = wire_bytes_min(message, element);
            let read = match &**element {
                Type::String | Type::Bytes | Type::Struct(_) => {
                    format!(
                        "|reader| {}",
                        decode_kind(message, element, flexible, (false, false))
                    )
                }
                scalar => format!("Reader::{}", scalar_name(scalar)),
            };
            format!("reader.{null}array({flexible}, {bytes_min}, {read})")
        }
        scalar => format!("reader.{}()", scalar_name(scalar)),
    }
}

/// The fewest bytes that a value takes in any version.
fn wire_bytes_min(message: &Message, kind: &Type) -> usize {
    let versions = message.versions.first..=message.versions.last;
    let used = |version: &i16| match kind {
        Type::Struct(name) => message
            .find(name)
            .is_some_and(|each| each.versions.contains(*version)),
        _ => true,
    };
    let sizes = versions
        .filter(used)
        .map(|version| wire_bytes(message, kind, version));
    sizes.min().unwrap_or(1)
}

/// The fewest bytes that a value takes in `version`.
fn wire_bytes(message: &Message, kind: &Type, version: i16) -> usize {
    let is_flexible = message.flexible.is_some_and(|all| all.contains(version));
    match kind {
        Type::Bool | Type::Int8 => 1,
        Type::Int16 | Type::Uint16 => 2,
        Type::Int32 => 4,
        Type::Int64 | Type::Float64 => 8,
        Type::Uuid => 16,
        Type::String => {
            if is_flexible {
                1
            } else {
                2
            }
        }
        Type::Bytes | Type::Records | Type::Array(_) => {
            if is_flexible {
                1
            } else {
                4
            }
        }
        Type::Struct(name) => {
            let each = message
                .find(name)
                .expect("the parser checked the reference");
            let here = each
                .fields
                .iter()
                .filter(|field| field.versions.contains(version));
            let fields = here
                .filter(|field| field.tag.is_none())
                .map(|field| match field.kind {
                    Type::Struct(_) if field.nullable.is_some() => 1,
                    _ => wire_bytes(message, &field.kind, version),
                });
            fields.sum::<usize>() + usize::from(is_flexible)
        }
    }
}

/// The statement that writes the field where it is present.
pub(super) fn encode(scope: &Scope<'_>, each: &Struct, field: &Field) -> String {
    let flexible = scope.flexible(field);
    let name = format!("self.{}", names::field(&field.name));
    let Some(nullable) = field.nullable else {
        return statement(encode_kind(&field.kind, flexible, &name, true));
    };
    let put = statement(encode_nullable(&field.kind, flexible, &name));
    let Some(when) = condition(nullable, field.versions) else {
        return put;
    };
    let present = format!(
        "require_some(&{name}, \"{}.{}\", version)?",
        each.name, field.name
    );
    let plain = statement(encode_kind(&field.kind, flexible, &present, false));
    format!("if {when} {{ {put} }} else {{ {plain} }}\n")
}

/// The statement that adds the field, which is set, to the tagged ones.
pub(super) fn encode_tagged(scope: &Scope<'_>, each: &Struct, field: &Field) -> String {
    let name = format!("self.{}", names::field(&field.name));
    let tag = field.tag.expect("only tagged fields come here");
    let flexible = scope.flexible(field);
    let put = match field.nullable {
        None => encode_kind(&field.kind, flexible, &name, true),
        Some(nullable) => {
            let is_always = condition(nullable, field.versions).is_none();
            assert!(
                is_always,
                "{}.{} is tagged and null in some versions",
                each.name, field.name
            );
            let (call, can_fail) = encode_nullable(&field.kind, flexible, &name);
            // What tells a null structure from one that is there differs in a tagged field.
            let call = call.replace("put_nullable_struct", "put_nullable_tagged_struct");
            (call, can_fail)
        }
    };
    format!("tagged.put({tag}, {})?;\n", closure("buffer", put))
}

/// A call, and whether it can fail.
type Call = (String, bool);

fn statement((call, can_fail): Call) -> String {
    format!("{call}{};\n", if can_fail { "?" } else { "" })
}

fn closure(arguments: &str, (call, can_fail): Call) -> String {
    if can_fail {
        return format!("|{arguments}| {call}");
    }
    format!("|{arguments}| {{ {call}; Ok(()) }}")
}

/// Writes `value`: a place (`is_place`), or a reference.
fn encode_kind(kind: &Type, flexible: &str, value: &str, is_place: bool) -> Call {
    let by_reference = if is_place { "&" } else { "" };
    let by_value = if is_place { "" } else { "*" };
    match kind {
        Type::String | Type::Bytes => {
            let put = format!(
                "buffer.put_{}({flexible}, {by_reference}{value})",
                scalar_name(kind)
            );
            (put, true)
        }
        Type::Records => encode_nullable(kind, flexible, value),
        Type::Struct(_) => (format!("{value}.encode(buffer, version)"), true),
        Type::Array(element) => {
            let put = closure(
                "buffer, element",
                encode_kind(element, flexible, "element", false),
            );
            (
                format!("buffer.put_array({flexible}, {by_reference}{value}, {put})"),
                true,
            )
        }
        scalar => (
            format!("buffer.put_{}({by_value}{value})", scalar_name(scalar)),
            false,
        ),
    }
}

fn encode_nullable(kind: &Type, flexible: &str, value: &str) -> Call {
    let call = match kind {
        Type::Records => format!("buffer.put_nullable_records({flexible}, {value}.as_ref())"),
        Type::Struct(_) => format!(
            "buffer.put_nullable_struct({value}.as_ref(), |buffer, value| value.encode(buffer, version))"
        ),
        Type::Array(element) => {
            let put = closure(
                "buffer, element",
                encode_kind(element, flexible, "element", false),
            );
            format!("buffer.put_nullable_array({flexible}, {value}.as_deref(), {put})")
        }
        _ => format!(
            "buffer.put_nullable_{}({flexible}, {value}.as_deref())",
            scalar_name(kind)
        ),
    };
    (call, true)
}
