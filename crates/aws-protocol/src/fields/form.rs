//! Fields in a form: `Attribute.1.Name=a&Attribute.1.Value=b` is a list of one structure with two fields.

use std::collections::BTreeMap;

use super::{FieldError, ListName, MapName};
use crate::limits::{FORM_FIELDS_MAX, LIST_LENGTH_MAX};
use crate::percent;

/// Names and values, decoded; of a name that is given twice the first counts.
#[derive(Debug, Default, Clone)]
pub(crate) struct Form {
    fields: BTreeMap<String, String>,
}

impl Form {
    /// Adds the fields of a query or a body.
    pub(crate) fn add(&mut self, encoded: &[u8]) -> Result<(), String> {
        for pair in encoded.split(|byte| *byte == b'&') {
            if pair.is_empty() {
                continue;
            }
            let at = pair.iter().position(|byte| *byte == b'=');
            let (name, value) = pair.split_at(at.unwrap_or(pair.len()));
            let value = value.get(1..).unwrap_or_default();
            let (Some(name), Some(value)) =
                (percent::decode(name, true), percent::decode(value, true))
            else {
                return Err("a field is not percent-encoded UTF-8".to_owned());
            };
            self.fields.entry(name).or_insert(value);
            if self.fields.len() > FORM_FIELDS_MAX {
                return Err(format!("there are more than {FORM_FIELDS_MAX} fields"));
            }
        }
        Ok(())
    }

    /// Looks at a field.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.fields.get(name).map(String::as_str)
    }

    /// Sets a field that is not there.
    pub(crate) fn set_default(&mut self, name: &str, value: &str) {
        self.fields
            .entry(name.to_owned())
            .or_insert_with(|| value.to_owned());
    }

    /// Takes a field out.
    pub(crate) fn take(&mut self, name: &str) -> Option<String> {
        self.fields.remove(name)
    }

    pub(super) fn integer(&mut self, name: &str) -> Result<Option<i64>, FieldError> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        let parsed = value.trim().parse();
        parsed
            .map(Some)
            .map_err(|_| wrong_text(name, "an integer", value))
    }

    pub(super) fn boolean(&mut self, name: &str) -> Result<Option<bool>, FieldError> {
        match self.take(name) {
            None => Ok(None),
            Some(value) if value.eq_ignore_ascii_case("true") => Ok(Some(true)),
            Some(value) if value.eq_ignore_ascii_case("false") => Ok(Some(false)),
            Some(value) => Err(wrong_text(name, "true or false", value)),
        }
    }

    /// The elements of a list in the order of their numbers; gaps are passed over, as the services do.
    fn elements(&mut self, name: &str) -> Result<Option<BTreeMap<u32, Form>>, FieldError> {
        let start = format!("{name}.");
        let names: Vec<String> = self
            .fields
            .range(start.clone()..)
            .map(|(name, _)| name)
            .take_while(|name| name.starts_with(&start))
            .cloned()
            .collect();
        let mut elements: BTreeMap<u32, Form> = BTreeMap::new();
        for full_name in names {
            let rest = full_name.get(start.len()..).unwrap_or_default();
            let (number, field) = rest.split_once('.').unwrap_or((rest, ""));
            let Ok(number) = number.parse() else {
                continue;
            };
            let field = field.to_owned();
            if let Some(value) = self.take(&full_name) {
                elements
                    .entry(number)
                    .or_default()
                    .fields
                    .insert(field, value);
            }
        }
        if elements.len() > LIST_LENGTH_MAX {
            return Err(FieldError::TooMany(name.to_owned()));
        }
        // An SDK writes an empty list as `Tags=`.
        let is_empty_list = self.take(name.trim_end_matches(".member").trim_end_matches(".entry"));
        let is_there = !elements.is_empty() || is_empty_list.is_some_and(|value| value.is_empty());
        Ok(is_there.then_some(elements))
    }

    /// The structures of a list.
    pub(super) fn structures(&mut self, name: ListName) -> Result<Option<Vec<Form>>, FieldError> {
        for spelling in name.form {
            if let Some(elements) = self.elements(spelling)? {
                return Ok(Some(elements.into_values().collect()));
            }
        }
        Ok(None)
    }

    pub(super) fn texts(&mut self, name: ListName) -> Result<Option<Vec<String>>, FieldError> {
        let Some(elements) = self.structures(name)? else {
            return Ok(None);
        };
        // A text is a structure of one field without a name.
        let texts = elements.into_iter().filter_map(|mut form| form.take(""));
        Ok(Some(texts.collect()))
    }

    pub(super) fn text_map(
        &mut self,
        name: MapName,
    ) -> Result<Option<BTreeMap<String, String>>, FieldError> {
        let Some(elements) = self.structures(name.list)? else {
            return Ok(None);
        };
        let mut map = BTreeMap::new();
        for mut element in elements {
            let key = element.take(name.key);
            let key = key.ok_or(FieldError::Missing(name.key))?;
            map.insert(key, element.take(name.value).unwrap_or_default());
        }
        Ok(Some(map))
    }
}

fn wrong_text(name: &str, wanted: &'static str, value: String) -> FieldError {
    FieldError::WrongText {
        name: name.to_owned(),
        wanted,
        value,
    }
}

#[cfg(test)]
mod tests {
    use super::super::ListName;
    use super::Form;
    use crate::limits::FORM_FIELDS_MAX;

    const NAMES: ListName = ListName {
        json: "Names",
        form: &["Name", "Names.member"],
    };

    fn form(text: &str) -> Form {
        let mut form = Form::default();
        form.add(text.as_bytes()).expect("a form");
        form
    }

    #[test]
    fn lists_are_read_in_the_order_of_their_numbers() {
        let mut given = form("Name.10=c&Name.2=b&Name.1=a&Name.x=y&Namely.1=z");
        let texts = given.texts(NAMES).expect("a list");
        assert_eq!(texts, Some(vec!["a".to_owned(), "b".into(), "c".into()]));
        assert_eq!(given.texts(NAMES), Ok(None), "it was taken");
    }

    #[test]
    fn an_empty_list_is_not_an_absent_one() {
        assert_eq!(form("Name=").texts(NAMES), Ok(Some(vec![])));
        assert_eq!(form("Names=").texts(NAMES), Ok(Some(vec![])));
        assert_eq!(form("Other=").texts(NAMES), Ok(None));
    }

    #[test]
    fn forms_are_bounded_and_strict() {
        let many: String = (0..=FORM_FIELDS_MAX).map(|n| format!("f{n}=&")).collect();
        assert!(Form::default().add(many.as_bytes()).is_err());
        assert!(Form::default().add(b"a=%zz").is_err());
    }
}
