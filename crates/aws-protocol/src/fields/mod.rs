//! The fields of a request, whichever protocol they came in.
//!
//! Why it exists: an action's file says once which fields it has; JSON and forms differ in how lists, maps and nested
//! structures are written, and in nothing else.
//! In -> out: `Fields` and the names of a field -> a typed value, taken out of the fields.
//! Read next: `form.rs`, where lists are numbered names.

mod attributes;
mod form;
mod json;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::limits::LIST_LENGTH_MAX;

pub(crate) use form::Form;
pub(crate) use json::object_of;

/// Why a field could not be read; who knows the service makes an `AwsError` of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FieldError {
    /// It must be there.
    #[error("{0} is missing")]
    Missing(&'static str),
    /// JSON has another kind of value there.
    #[error("{name} must be {wanted}")]
    WrongKind { name: String, wanted: &'static str },
    /// A form has something else there.
    #[error("{name} must be {wanted}, not \"{value}\"")]
    WrongText {
        name: String,
        wanted: &'static str,
        value: String,
    },
    /// More elements than any action takes.
    #[error("{0} has more than {LIST_LENGTH_MAX} elements")]
    TooMany(String),
}

/// How a list is called: in JSON, and before the number in a form (`Tags.member` gives `Tags.member.1`).
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListName {
    pub(crate) json: &'static str,
    /// Some forms have a second spelling of it.
    pub(crate) form: &'static [&'static str],
}

/// How a map is called: a list in a form, of structures with these two names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MapName {
    pub(crate) list: ListName,
    pub(crate) key: &'static str,
    pub(crate) value: &'static str,
}

/// The fields of a structure that were not taken yet.
#[derive(Debug)]
pub(crate) enum Fields {
    Json(serde_json::Map<String, Value>),
    Form(Form),
}

impl Fields {
    /// A text, if it is there.
    pub(crate) fn text(&mut self, name: &'static str) -> Result<Option<String>, FieldError> {
        match self {
            Fields::Json(object) => match object.remove(name) {
                None | Some(Value::Null) => Ok(None),
                Some(value) => json::text(name, value).map(Some),
            },
            Fields::Form(form) => Ok(form.take(name)),
        }
    }

    /// A text that must be there; it may be empty.
    pub(crate) fn required_text(&mut self, name: &'static str) -> Result<String, FieldError> {
        self.text(name)?.ok_or(FieldError::Missing(name))
    }

    /// An integer, if it is there.
    pub(crate) fn integer(&mut self, name: &'static str) -> Result<Option<i64>, FieldError> {
        match self {
            Fields::Json(object) => match object.remove(name) {
                None | Some(Value::Null) => Ok(None),
                Some(value) => json::integer(name, &value).map(Some),
            },
            Fields::Form(form) => form.integer(name),
        }
    }

    /// A truth value, if it is there.
    pub(crate) fn boolean(&mut self, name: &'static str) -> Result<Option<bool>, FieldError> {
        match self {
            Fields::Json(object) => match object.remove(name) {
                None | Some(Value::Null) => Ok(None),
                Some(Value::Bool(value)) => Ok(Some(value)),
                Some(_) => Err(json::wrong_kind(name, "true or false")),
            },
            Fields::Form(form) => form.boolean(name),
        }
    }

    /// A list of texts; nothing if it is not there, which is not the same as empty.
    pub(crate) fn texts(&mut self, name: ListName) -> Result<Option<Vec<String>>, FieldError> {
        match self {
            Fields::Json(object) => {
                let Some(values) = json::list(name.json, object.remove(name.json))? else {
                    return Ok(None);
                };
                let texts = values.into_iter().map(|value| json::text(name.json, value));
                texts.collect::<Result<_, _>>().map(Some)
            }
            Fields::Form(form) => form.texts(name),
        }
    }

    /// A list of structures; nothing if it is not there.
    pub(crate) fn structures(&mut self, name: ListName) -> Result<Option<Vec<Fields>>, FieldError> {
        match self {
            Fields::Json(object) => {
                let Some(values) = json::list(name.json, object.remove(name.json))? else {
                    return Ok(None);
                };
                let objects = values
                    .into_iter()
                    .map(|value| json::object(name.json, value).map(Fields::Json));
                objects.collect::<Result<_, _>>().map(Some)
            }
            Fields::Form(form) => {
                let structures = form.structures(name)?;
                Ok(structures.map(|list| list.into_iter().map(Fields::Form).collect()))
            }
        }
    }

    /// A map of texts; nothing if it is not there.
    pub(crate) fn text_map(
        &mut self,
        name: MapName,
    ) -> Result<Option<BTreeMap<String, String>>, FieldError> {
        match self {
            Fields::Json(object) => {
                let Some(entries) = json::map(name.list.json, object.remove(name.list.json))?
                else {
                    return Ok(None);
                };
                let texts = entries.into_iter().map(|(key, value)| {
                    let value = json::text(&key, value)?;
                    Ok((key, value))
                });
                texts.collect::<Result<_, _>>().map(Some)
            }
            Fields::Form(form) => form.text_map(name),
        }
    }
}
