//! Writes what the messages have in common: the table of APIs, and the list of modules.

use super::emit::lifetime;
use super::names;
use super::schema::{Kind, Message, Versions};
use std::fmt::Write as _;

const GENERATED: &str =
    "Generated from `schemas/` by `cargo xtask codegen`: change that, not this.";

/// The requests, by key.
fn requests(messages: &[Message]) -> Vec<(i16, &Message)> {
    let mut requests: Vec<_> = messages
        .iter()
        .filter_map(|message| match message.kind {
            Kind::Request(key) => Some((key, message)),
            _ => None,
        })
        .collect();
    requests.sort_by_key(|(key, _)| *key);
    requests
}

fn api_name(request: &Message) -> &str {
    request.name.trim_end_matches("Request")
}

/// The text of `api_key.rs`.
pub(super) fn api_key(messages: &[Message]) -> String {
    let requests = requests(messages);
    let mut variants = String::new();
    let (mut all, mut names, mut versions, mut flexible) =
        (String::new(), String::new(), String::new(), String::new());
    for (key, request) in &requests {
        let name = api_name(request);
        let Versions { first, last } = request.versions;
        let _ = writeln!(
            variants,
            "/// `{name}`, versions {first} to {last}.\n{name} = {key},"
        );
        let _ = writeln!(all, "Self::{name},");
        let _ = writeln!(names, "Self::{name} => \"{name}\",");
        let _ = writeln!(versions, "Self::{name} => {first}..={last},");
        let from = match request.flexible {
            Some(from) => format!("Some({})", from.first),
            None => "None".to_owned(),
        };
        let _ = writeln!(flexible, "Self::{name} => {from},");
    }
    format!(
        "//! The APIs that we know. {GENERATED}

use std::ops::RangeInclusive;

/// One API of Kafka's protocol: the number in a request's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(i16)]
pub enum ApiKey {{
{variants}}}

impl ApiKey {{
/// Every API, by number.
pub const ALL: [Self; {count}] = [
{all}];

/// The API with this number, if we know it.
pub fn from_i16(key: i16) -> Option<Self> {{
    Self::ALL.into_iter().find(|api| *api as i16 == key)
}}

/// The API's number.
pub const fn to_i16(self) -> i16 {{
    self as i16
}}

/// Kafka's name for the API.
pub const fn name(self) -> &'static str {{
    match self {{ {names} }}
}}

/// The versions that we can read and write.
pub const fn valid_versions(self) -> RangeInclusive<i16> {{
    match self {{ {versions} }}
}}

/// The first version with compact lengths and tagged fields.
const fn flexible_from(self) -> Option<i16> {{
    match self {{ {flexible} }}
}}

/// Whether `version` has compact lengths and tagged fields.
pub const fn is_flexible(self, version: i16) -> bool {{
    match self.flexible_from() {{
        Some(first) => version >= first,
        None => false,
    }}
}}

/// The version of the header before a request of `version`.
pub const fn request_header_version(self, version: i16) -> i16 {{
    if self.is_flexible(version) {{ 2 }} else {{ 1 }}
}}

/// The version of the header before a response of `version`. That of ApiVersions is always 0: a client that asks in a
/// version which the broker lacks must be able to read the answer.
pub const fn response_header_version(self, version: i16) -> i16 {{
    if self.is_flexible(version) && !matches!(self, Self::ApiVersions) {{ 1 }} else {{ 0 }}
}}
}}
",
        count = requests.len()
    )
}

/// The text of `mod.rs`.
pub(super) fn module(messages: &[Message]) -> String {
    let mut named: Vec<(String, &str)> = messages
        .iter()
        .map(|each| (names::snake(&each.name), each.name.as_str()))
        .collect();
    named.push(("api_key".into(), "ApiKey"));
    named.sort();
    let mut out = format!(
        "//! Kafka's messages, one module each with the message and its parts. {GENERATED}\n\n"
    );
    for (module, name) in &named {
        let visible = if *name == "ApiKey" { "" } else { "pub " };
        let _ = writeln!(out, "{visible}mod {module};");
    }
    out.push('\n');
    for (module, name) in &named {
        let _ = writeln!(out, "pub use {module}::{name};");
    }
    out.push_str(
        "\n/// Calls a macro with the names of all messages, for tests that hold for each.
#[doc(hidden)]
#[macro_export]
macro_rules! with_every_message {
    ($callback:ident) => {
        $callback! {\n",
    );
    for (_, name) in named.iter().filter(|(_, name)| *name != "ApiKey") {
        let _ = writeln!(out, "            {name}");
    }
    out.push_str("        }\n    };\n}\n");
    out
}

/// `<'r>` where the response to `request` borrows.
pub(super) fn response_lifetime(messages: &[Message], request: &Message) -> &'static str {
    let wanted = format!("{}Response", api_name(request));
    let response = messages.iter().find(|message| message.name == wanted);
    match response.map(|response| lifetime(response, &response.name)) {
        Some("") | None => "",
        Some(_) => "<'r>",
    }
}
