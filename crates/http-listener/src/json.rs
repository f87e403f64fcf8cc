//! JSON of a request as values: within a bound of memory, and with no name twice in an object.
//!
//! Why it exists: a value takes up to a hundred times the memory of its text, and of two members of one name one would be ignored.
//! Invariants: OPS-1.

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;

/// How much memory the values of one text take at most, beside their texts.
const BYTES_MAX: usize = 16 * 1024 * 1024;
/// What a value takes, roughly.
const VALUE_BYTES: usize = 100;
/// What an object takes, roughly, if it has any members.
const OBJECT_BYTES: usize = 640;

/// Reads one value.
///
/// # Errors
/// It is no JSON, a name is twice in an object, or there are too many values.
pub(crate) fn value(text: &[u8]) -> Result<Value, serde_json::Error> {
    let mut left = BYTES_MAX;
    let mut reader = serde_json::Deserializer::from_slice(text);
    let value = Reading(&mut left).deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// Reads an object.
///
/// # Errors
/// As `value`, or it is something else.
pub(crate) fn object(text: &[u8]) -> Result<Map<String, Value>, serde_json::Error> {
    match value(text)? {
        Value::Object(members) => Ok(members),
        _ => Err(serde_json::Error::custom(
            "it is no map of fields: it must be a JSON object",
        )),
    }
}

/// What is left of the memory.
struct Reading<'a>(&'a mut usize);

impl Reading<'_> {
    fn spend<E: Error>(&mut self, bytes: usize) -> Result<(), E> {
        let left = self.0.checked_sub(bytes);
        *self.0 = left.ok_or_else(|| E::custom("it has too many values; send less at once"))?;
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Reading<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(mut self, deserializer: D) -> Result<Value, D::Error> {
        self.spend(VALUE_BYTES)?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reading<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, is: bool) -> Result<Value, E> {
        Ok(is.into())
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Reading(&mut *self.0))? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<Value, A::Error> {
        self.spend(OBJECT_BYTES)?;
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if object.contains_key(&name) {
                return Err(A::Error::custom(format_args!(
                    "'{name}' is given more than once; give it once"
                )));
            }
            object.insert(name, members.next_value_seed(Reading(&mut *self.0))?);
        }
        Ok(object.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_they_are_written() {
        let text = r#"{"a":[1,-2,2.5,true,null,"x"],"b":{"a":{}},"c":[]}"#;
        assert_eq!(value(text.as_bytes()).unwrap().to_string(), text);
        assert!(value(b"{} {}").is_err());
        assert!(object(b"[]").is_err());
    }

    #[test]
    fn a_name_is_given_once_and_values_are_not_too_many() {
        let said = object(br#"{"a":[{"b":1,"b":2}]}"#).unwrap_err().to_string();
        assert!(said.contains("'b' is given more than once"), "{said}");
        for item in ["0,", "[],", "{},", r#"{"":0},"#] {
            let items = item.repeat(1024 * 1024 / item.len());
            let said = value(format!("[{items}0]").as_bytes()).unwrap_err();
            assert!(said.to_string().contains("too many values"), "{said}");
        }
    }
}
