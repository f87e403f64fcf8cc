//! Fields in JSON, with bounds that are checked before anything is built of the bytes.

use serde_json::{Map, Value};

use super::FieldError;
use crate::limits::{JSON_DEPTH_MAX, JSON_VALUES_MAX, LIST_LENGTH_MAX};

/// The object that a body is; an empty body is an empty object, as some SDKs send it.
pub(crate) fn object_of(body: &[u8]) -> Result<Map<String, Value>, String> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Ok(Map::new());
    }
    check_bounds(body)?;
    match serde_json::from_slice(body) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err("the body must be a JSON object".to_owned()),
        Err(error) => Err(format!("the body is not JSON: {error}")),
    }
}

/// Counts levels and values without building them: a value costs far more memory than its bytes.
fn check_bounds(body: &[u8]) -> Result<(), String> {
    let (mut depth, mut values) = (0_usize, 1_usize);
    let (mut is_in_text, mut is_escaped) = (false, false);
    for byte in body {
        if is_in_text {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => is_in_text = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => is_in_text = true,
            b'{' | b'[' => {
                depth += 1;
                values += 1;
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' => values += 1,
            _ => {}
        }
        if depth > JSON_DEPTH_MAX {
            return Err(format!(
                "the body nests deeper than {JSON_DEPTH_MAX} levels"
            ));
        }
        if values > JSON_VALUES_MAX {
            return Err(format!("the body has more than {JSON_VALUES_MAX} values"));
        }
    }
    Ok(())
}

pub(super) fn wrong_kind(name: &str, wanted: &'static str) -> FieldError {
    FieldError::WrongKind {
        name: name.to_owned(),
        wanted,
    }
}

pub(super) fn text(name: &str, value: Value) -> Result<String, FieldError> {
    match value {
        Value::String(text) => Ok(text),
        _ => Err(wrong_kind(name, "a string")),
    }
}

pub(super) fn integer(name: &str, value: &Value) -> Result<i64, FieldError> {
    value.as_i64().ok_or_else(|| wrong_kind(name, "an integer"))
}

pub(super) fn list(name: &str, value: Option<Value>) -> Result<Option<Vec<Value>>, FieldError> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Array(values)) if values.len() > LIST_LENGTH_MAX => {
            Err(FieldError::TooMany(name.to_owned()))
        }
        Some(Value::Array(values)) => Ok(Some(values)),
        Some(_) => Err(wrong_kind(name, "a list")),
    }
}

pub(super) fn object(name: &str, value: Value) -> Result<Map<String, Value>, FieldError> {
    match value {
        Value::Object(object) => Ok(object),
        _ => Err(wrong_kind(name, "an object")),
    }
}

pub(super) fn map(
    name: &str,
    value: Option<Value>,
) -> Result<Option<Map<String, Value>>, FieldError> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match object(name, value)? {
            entries if entries.len() > LIST_LENGTH_MAX => Err(FieldError::TooMany(name.to_owned())),
            entries => Ok(Some(entries)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::object_of;
    use crate::limits::JSON_VALUES_MAX;

    #[test]
    fn deep_and_wide_bodies_are_refused_before_they_are_built() {
        let deep = "[".repeat(100_000);
        assert!(object_of(deep.as_bytes()).is_err_and(|said| said.contains("deeper")));
        let wide = format!("{{\"a\":[{}1]}}", "1,".repeat(JSON_VALUES_MAX));
        assert!(object_of(wide.as_bytes()).is_err_and(|said| said.contains("more than")));
        let text = format!("{{\"a\":\"{}\\\"[\"}}", "[,{".repeat(JSON_VALUES_MAX));
        assert!(
            object_of(text.as_bytes()).is_ok(),
            "a text may hold anything"
        );
    }

    #[test]
    fn only_an_object_is_a_request() {
        assert!(object_of(b"").is_ok_and(|object| object.is_empty()));
        assert!(object_of(b"[]").is_err());
        assert!(object_of(b"{\"a\":\"\\ud800\"}").is_err(), "half a pair");
        assert!(object_of(b"{\"a\":\"\xff\"}").is_err(), "no UTF-8");
    }
}
