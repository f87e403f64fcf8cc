//! The fields of a request: a JSON object, parameters of the query, or both, each taken by its name.
//!
//! Why it exists: `curl -X POST '.../receive?wait=20s'` and a body with `{"wait": "20s"}` mean the same; and a field that nobody knows, or
//! that is out of range, is named instead of ignored.

use crate::body::{self, MediaType, SMALL_BYTES_MAX};
use crate::context::Context;
use crate::json;
use crate::problem::{Kind, Problem};
use axum::extract::Request;
use axum::http::Uri;
use fanlog_model::TimestampMs;
use fanlog_model::times::{format_duration, parse_duration, parse_timestamp};
use serde_json::{Map, Value};
use std::fmt::Write;
use std::ops::RangeInclusive;
use std::time::Duration;

/// The fields that are left, and the names of those that were asked for.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    left: Map<String, Value>,
    known: Vec<&'static str>,
}

impl Fields {
    /// Those of the query.
    ///
    /// # Errors
    /// A parameter is given twice, or is not text.
    pub(crate) fn of_query(uri: &Uri) -> Result<Self, Problem> {
        let mut fields = Self::default();
        let pairs = uri.query().unwrap_or_default().split('&');
        for pair in pairs.filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (name, value) = (decoded(name)?, decoded(value)?);
            if fields.left.insert(name.clone(), value.into()).is_some() {
                return Err(given_twice(&name));
            }
        }
        Ok(fields)
    }

    /// Those of the body and of the query. No body is one without fields.
    ///
    /// # Errors
    /// The body is no JSON object, or a field is given twice.
    pub(crate) async fn of_request(context: &Context, request: Request) -> Result<Self, Problem> {
        let (head, body) = request.into_parts();
        let whole = body::read(context, &head.headers, body, SMALL_BYTES_MAX).await?;
        let mut fields = Self::of_query(&head.uri)?;
        if whole.bytes.iter().all(u8::is_ascii_whitespace) {
            return Ok(fields);
        }
        if MediaType::of(&head.headers) == MediaType::Other {
            return Err(Problem::new(
                Kind::UnsupportedMediaType,
                "the body must be JSON: send it with 'content-type: application/json'",
            ));
        }
        let given = json::object(&whole.bytes).map_err(|error| invalid_json(&error))?;
        for (name, value) in given {
            if fields.left.contains_key(&name) {
                return Err(given_twice(&name));
            }
            fields.left.insert(name, value);
        }
        Ok(fields)
    }

    fn take(&mut self, name: &'static str) -> Option<Value> {
        self.known.push(name);
        self.left.remove(name).filter(|value| !value.is_null())
    }

    /// A text. Numbers and truth values are taken for the text that says them.
    pub(crate) fn text(&mut self, name: &'static str) -> Result<Option<String>, Problem> {
        self.take(name)
            .map(|value| as_text(name, value))
            .transpose()
    }

    /// A text that must be given.
    pub(crate) fn needed_text(&mut self, name: &'static str) -> Result<String, Problem> {
        self.text(name)?.ok_or_else(|| missing(name))
    }

    /// A whole number in a range.
    pub(crate) fn whole(
        &mut self,
        name: &'static str,
        range: RangeInclusive<i64>,
    ) -> Result<Option<i64>, Problem> {
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        let number = text.parse().ok().filter(|number| range.contains(number));
        let (least, most) = (range.start(), range.end());
        number.map(Some).ok_or_else(|| {
            Problem::of_field(
                name,
                format!("{name} is '{text}'; give a whole number from {least} to {most}"),
            )
        })
    }

    /// Yes or no; no if it isn't given.
    pub(crate) fn flag(&mut self, name: &'static str) -> Result<bool, Problem> {
        match self.text(name)?.as_deref() {
            None | Some("false") => Ok(false),
            Some("true" | "") => Ok(true),
            Some(other) => Err(Problem::of_field(
                name,
                format!("{name} is '{other}'; give true or false"),
            )),
        }
    }

    /// A length of time.
    pub(crate) fn duration(
        &mut self,
        name: &'static str,
        max: Duration,
    ) -> Result<Option<Duration>, Problem> {
        let text = self.text(name)?;
        text.map(|text| duration(name, &text, max)).transpose()
    }

    /// A point in time.
    pub(crate) fn time(&mut self, name: &'static str) -> Result<Option<TimestampMs>, Problem> {
        let text = self.text(name)?;
        text.map(|text| time(name, &text)).transpose()
    }

    /// A list of no more than so many.
    pub(crate) fn list(
        &mut self,
        name: &'static str,
        items_max: usize,
    ) -> Result<Option<Vec<Value>>, Problem> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Array(items)) if items.len() <= items_max => Ok(Some(items)),
            Some(Value::Array(items)) => Err(Problem::of_field(
                name,
                format!(
                    "{name} has {} items; at most {items_max} are taken at once",
                    items.len()
                ),
            )
            .with("limit", items_max)),
            Some(_) => Err(Problem::of_field(name, format!("{name} must be a list"))),
        }
    }

    /// An object.
    pub(crate) fn object(
        &mut self,
        name: &'static str,
    ) -> Result<Option<Map<String, Value>>, Problem> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Object(object)) => Ok(Some(object)),
            Some(_) => Err(Problem::of_field(name, format!("{name} must be an object"))),
        }
    }

    /// Anything that is JSON, as text: a text as it is.
    pub(crate) fn json_text(&mut self, name: &'static str) -> Option<String> {
        self.take(name).map(|value| match value {
            Value::String(text) => text,
            other => other.to_string(),
        })
    }

    /// All that is left: names that this program does not know itself.
    pub(crate) fn rest(self) -> Map<String, Value> {
        self.left
    }

    /// Those of an item in a list.
    ///
    /// # Errors
    /// It is no object.
    pub(crate) fn of_item(list: &'static str, item: Value) -> Result<Self, Problem> {
        match item {
            Value::Object(left) => Ok(Self {
                left,
                known: Vec::new(),
            }),
            other => Err(Problem::of_field(
                list,
                format!("an item of {list} is {other}; it must be an object"),
            )),
        }
    }

    /// Nothing may be left.
    ///
    /// # Errors
    /// Names the first field that nobody asked for.
    pub(crate) fn done(self) -> Result<(), Problem> {
        match self.left.keys().next() {
            None => Ok(()),
            Some(name) => {
                let mut known = String::new();
                for (number, name) in self.known.iter().enumerate() {
                    let comma = if number == 0 { "" } else { ", " };
                    write!(known, "{comma}{name}").expect("writing to a string cannot fail");
                }
                let known = match known.is_empty() {
                    true => "none is taken here".to_owned(),
                    false => format!("those there are: {known}"),
                };
                Err(Problem::of_field(
                    name,
                    format!("unknown field '{name}'; {known}"),
                ))
            }
        }
    }
}

/// What a setting's value is as text.
pub(crate) fn as_text(name: &str, value: Value) -> Result<String, Problem> {
    match value {
        Value::String(text) => Ok(text),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(is) => Ok(is.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => Err(Problem::of_field(
            name,
            format!("{name} must be a text, a number or a truth value"),
        )),
    }
}

/// Reads a length of time: a number is milliseconds.
pub(crate) fn duration(name: &str, text: &str, max: Duration) -> Result<Duration, Problem> {
    let wrong = |why: String| Problem::of_field(name, format!("{name} is '{text}'; {why}"));
    let read = match text.parse::<u64>() {
        Ok(ms) => Some(Duration::from_millis(ms)),
        Err(_) => parse_duration(text),
    };
    let read = read.ok_or_else(|| {
        wrong("write it as 500ms, 20s, 5m, 2h or 7d, or as a number of milliseconds".to_owned())
    })?;
    match read <= max {
        true => Ok(read),
        false => Err(
            wrong(format!("at most {} are possible", format_duration(max)))
                .with("limit", format_duration(max)),
        ),
    }
}

/// Reads a point in time: a number is milliseconds since 1970.
pub(crate) fn time(name: &str, text: &str) -> Result<TimestampMs, Problem> {
    let ms = text.parse::<i64>().ok().filter(|ms| *ms >= 0);
    let read = ms.map(TimestampMs).or_else(|| parse_timestamp(text).ok());
    read.ok_or_else(|| {
        Problem::of_field(
            name,
            format!(
                "{name} is '{text}'; write it as 2026-11-30T18:00:00Z, or as milliseconds since 1970"
            ),
        )
    })
}

pub(crate) fn missing(name: &str) -> Problem {
    Problem::of_field(name, format!("{name} is missing; give it"))
}

pub(crate) fn invalid_json(error: &serde_json::Error) -> Problem {
    Problem::new(
        Kind::InvalidJson,
        format!("the body can't be read: {error}"),
    )
}

fn given_twice(name: &str) -> Problem {
    Problem::of_field(
        name,
        format!("{name} is given more than once; give it once"),
    )
}

/// Undoes the coding of a query's part.
fn decoded(text: &str) -> Result<String, Problem> {
    let wrong = || {
        Problem::of_field(
            text,
            format!("'{text}' in the query is not well coded text"),
        )
    };
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [rest.next(), rest.next()].map(|digit| {
                    let digit = char::from(digit?).to_digit(16)?;
                    u8::try_from(digit).ok()
                });
                match digits {
                    [Some(high), Some(low)] => high << 4 | low,
                    _ => return Err(wrong()),
                }
            }
            other => other,
        });
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn query(text: &str) -> Result<Fields, Problem> {
        Fields::of_query(&format!("/x?{text}").parse().unwrap())
    }

    #[test]
    fn parameters_are_decoded_and_named() {
        let mut fields = query("wait=20s&max=5&consumer=a%20b+%C3%A4&flag").unwrap();
        let minute = Duration::from_secs(60);
        assert_eq!(
            fields.duration("wait", minute).unwrap(),
            Some(Duration::from_secs(20))
        );
        assert_eq!(fields.whole("max", 1..=10).unwrap(), Some(5));
        assert_eq!(fields.text("consumer").unwrap().as_deref(), Some("a b ä"));
        assert!(fields.flag("flag").unwrap());
        assert!(!fields.flag("other").unwrap());
        fields.done().unwrap();
    }

    #[test]
    fn what_is_wrong_is_named_with_its_value_and_the_way_out() {
        let detail = |problem: Problem| problem.to_json()["detail"].as_str().unwrap().to_owned();
        let said = detail(query("max=11").unwrap().whole("max", 1..=10).unwrap_err());
        assert_eq!(said, "max is '11'; give a whole number from 1 to 10");
        let max = Duration::from_secs(30);
        let said = detail(query("wait=1h").unwrap().duration("wait", max).unwrap_err());
        assert_eq!(said, "wait is '1h'; at most 30s are possible");
        let mut fields = query("waits=1").unwrap();
        assert_eq!(fields.text("wait").unwrap(), None);
        assert_eq!(
            detail(fields.done().unwrap_err()),
            "unknown field 'waits'; those there are: wait"
        );
        assert!(query("a=1&a=2").is_err());
        assert!(query("a=%zz").is_err());
        assert!(query("a=%ff").is_err());
    }

    proptest! {
        #[test]
        fn any_query_is_read_without_harm(text in "[!-~]{0,40}") {
            if let Ok(uri) = format!("/x?{text}").parse()
                && let Ok(mut fields) = Fields::of_query(&uri)
            {
                let _ = fields.duration("wait", Duration::MAX);
                let _ = fields.time("at");
                let _ = fields.whole("max", 0..=5);
                let _ = fields.done();
            }
        }

        #[test]
        fn a_text_comes_through_a_query(text: String) {
            let coded: String = text.bytes().map(|byte| format!("%{byte:02x}")).collect();
            let mut fields = query(&format!("a={coded}")).unwrap();
            prop_assert_eq!(fields.text("a").unwrap(), Some(text));
        }
    }
}
