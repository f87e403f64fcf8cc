//! One condition on the values under a name.

use super::cidr::Cidr;
use super::datum::Datum;
use super::wildcard::Wildcard;
use super::{FilterError, STARS_MAX};
use serde_json::Value;

/// Numbers of a policy lie between this and its opposite.
const NUMBER_MAX: f64 = 1e9;

/// What may be said of values.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Condition {
    Exactly(Exact),
    Prefix(Box<str>),
    Suffix(Box<str>),
    EqualsIgnoreCase(Box<str>),
    Wildcard(Wildcard),
    Cidr(Cidr),
    Numeric(Vec<(Comparison, f64)>),
    /// None of these.
    AnythingBut(Vec<Condition>),
    Exists(bool),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Exact {
    Text(Box<str>),
    Number(f64),
    Boolean(bool),
    Null,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

impl Condition {
    /// Whether it holds of what stands under the name; of several values one is enough.
    pub(super) fn holds(&self, values: &[Datum<'_>]) -> bool {
        match self {
            Self::Exists(should) => values.is_empty() != *should,
            condition => values.iter().any(|value| condition.is_met_by(value)),
        }
    }

    fn is_met_by(&self, value: &Datum<'_>) -> bool {
        let text = || value.text();
        match self {
            Self::Exactly(exact) => exact.is(value),
            Self::Prefix(prefix) => text().is_some_and(|text| text.starts_with(&**prefix)),
            Self::Suffix(suffix) => text().is_some_and(|text| text.ends_with(&**suffix)),
            Self::EqualsIgnoreCase(word) => text().is_some_and(|text| {
                let lower = |text: &str| {
                    text.chars()
                        .flat_map(char::to_lowercase)
                        .collect::<Vec<_>>()
                };
                text.eq_ignore_ascii_case(word) || lower(text) == lower(word)
            }),
            Self::Wildcard(pattern) => text().is_some_and(|text| pattern.matches(text)),
            Self::Cidr(range) => text().is_some_and(|text| range.contains(text)),
            Self::Numeric(bounds) => value.number().is_some_and(|number| {
                bounds
                    .iter()
                    .all(|(comparison, bound)| comparison.holds(number, *bound))
            }),
            Self::AnythingBut(excluded) => !excluded.iter().any(|e| e.is_met_by(value)),
            Self::Exists(should) => *should,
        }
    }

    /// What it counts against the limit of wildcards.
    pub(super) fn wildcard_points(&self) -> usize {
        match self {
            Self::Wildcard(pattern) if pattern.stars() > 1 => 3,
            Self::Wildcard(_) => 1,
            Self::AnythingBut(excluded) => excluded.iter().map(Self::wildcard_points).sum(),
            _ => 0,
        }
    }

    /// Reads one element of a list of conditions.
    pub(super) fn parse(key: &str, value: &Value) -> Result<Self, FilterError> {
        match value {
            Value::Array(_) => Err(wrong(
                key,
                "a condition is a text, a number, true, false, null or an object, not a list",
            )),
            Value::Object(object) => {
                let mut entries = object.iter();
                let (Some((keyword, operand)), None) = (entries.next(), entries.next()) else {
                    let what = "a condition's object has one keyword, such as {\"prefix\": \"a\"}";
                    return Err(wrong(key, what));
                };
                Self::of_keyword(key, keyword, operand)
            }
            scalar => Exact::parse(key, scalar).map(Self::Exactly),
        }
    }

    fn of_keyword(key: &str, keyword: &str, operand: &Value) -> Result<Self, FilterError> {
        match keyword {
            "prefix" | "suffix" | "equals-ignore-case" | "wildcard" => {
                Self::of_text(key, keyword, operand)
            }
            "cidr" => {
                let range = operand.as_str().and_then(Cidr::of);
                let expected = "cidr takes a range of addresses, such as \"10.0.0.0/8\"";
                range.map(Self::Cidr).ok_or_else(|| wrong(key, expected))
            }
            "numeric" => numeric(key, operand).map(Self::Numeric),
            "anything-but" => anything_but(key, operand).map(Self::AnythingBut),
            "exists" => {
                let should = operand.as_bool();
                let expected = "exists takes true or false";
                should.map(Self::Exists).ok_or_else(|| wrong(key, expected))
            }
            other => {
                let shown: String = other.chars().take(50).collect();
                let reason = format!(
                    "unknown keyword '{shown}'; there are prefix, suffix, equals-ignore-case, wildcard, anything-but, numeric, cidr and exists"
                );
                Err(FilterError::Condition {
                    key: key.to_owned(),
                    reason: reason.into(),
                })
            }
        }
    }

    fn of_text(key: &str, keyword: &str, operand: &Value) -> Result<Self, FilterError> {
        let text = operand.as_str().ok_or_else(|| {
            wrong(
                key,
                "prefix, suffix, equals-ignore-case and wildcard take a text",
            )
        })?;
        Ok(match keyword {
            "prefix" => Self::Prefix(text.into()),
            "suffix" => Self::Suffix(text.into()),
            "equals-ignore-case" => Self::EqualsIgnoreCase(text.into()),
            _ => {
                let pattern = Wildcard::of(text).ok_or_else(|| {
                    wrong(
                        key,
                        "in a wildcard, \\ stands before * or \\ only; write \\\\ for itself",
                    )
                })?;
                if pattern.stars() > STARS_MAX {
                    return Err(wrong(key, "a wildcard has at most three stars"));
                }
                Self::Wildcard(pattern)
            }
        })
    }
}

impl Exact {
    fn is(&self, value: &Datum<'_>) -> bool {
        match self {
            Self::Text(text) => value.text() == Some(text),
            Self::Number(number) => value.number().map(micros) == Some(micros(*number)),
            Self::Boolean(expected) => value.boolean() == Some(*expected),
            Self::Null => *value == Datum::Null,
        }
    }

    fn parse(key: &str, value: &Value) -> Result<Self, FilterError> {
        Ok(match value {
            Value::String(text) => Self::Text(text.as_str().into()),
            Value::Number(_) => Self::Number(number(key, value)?),
            Value::Bool(value) => Self::Boolean(*value),
            Value::Null => Self::Null,
            Value::Array(_) | Value::Object(_) => {
                return Err(wrong(
                    key,
                    "a text, a number, true, false or null is expected",
                ));
            }
        })
    }
}

impl Comparison {
    fn of(text: &str) -> Option<Self> {
        Some(match text {
            "=" => Self::Equal,
            "<" => Self::Less,
            "<=" => Self::AtMost,
            ">" => Self::Greater,
            ">=" => Self::AtLeast,
            _ => return None,
        })
    }

    fn holds(self, number: f64, bound: f64) -> bool {
        let (number, bound) = (micros(number), micros(bound));
        match self {
            Self::Equal => number == bound,
            Self::Less => number < bound,
            Self::AtMost => number <= bound,
            Self::Greater => number > bound,
            Self::AtLeast => number >= bound,
        }
    }
}

/// Numbers are compared to six digits behind the point, as SNS does it.
fn micros(number: f64) -> f64 {
    (number * 1e6).trunc()
}

fn numeric(key: &str, operand: &Value) -> Result<Vec<(Comparison, f64)>, FilterError> {
    const EXPECTED: &str = "numeric takes a comparison and a number, or a lower and an upper one, such as [\">\", 0, \"<=\", 150]";
    let items = operand.as_array().map_or(&[][..], Vec::as_slice);
    let bound = |comparison: &Value, value: &Value| {
        let comparison = comparison.as_str().and_then(Comparison::of);
        let comparison = comparison.ok_or_else(|| wrong(key, EXPECTED))?;
        Ok((comparison, number(key, value)?))
    };
    match items {
        [comparison, value] => Ok(vec![bound(comparison, value)?]),
        [lower, least, upper, most] => {
            let bounds = [bound(lower, least)?, bound(upper, most)?];
            let [(lower, least), (upper, most)] = bounds;
            let is_range = matches!(lower, Comparison::Greater | Comparison::AtLeast)
                && matches!(upper, Comparison::Less | Comparison::AtMost);
            if !is_range {
                return Err(wrong(key, EXPECTED));
            }
            if least >= most {
                return Err(wrong(
                    key,
                    "the lower bound of numeric must be below the upper one",
                ));
            }
            Ok(bounds.to_vec())
        }
        _ => Err(wrong(key, EXPECTED)),
    }
}

fn anything_but(key: &str, operand: &Value) -> Result<Vec<Condition>, FilterError> {
    const EXPECTED: &str = "anything-but takes a text, a number, a list of those, or {\"prefix\": ..}, {\"suffix\": ..}, {\"wildcard\": ..} or {\"equals-ignore-case\": ..}";
    let exact = |value: &Value| match value {
        Value::String(_) | Value::Number(_) => Exact::parse(key, value).map(Condition::Exactly),
        _ => Err(wrong(key, EXPECTED)),
    };
    match operand {
        Value::Array(items) if !items.is_empty() => items.iter().map(exact).collect(),
        Value::Object(object) => {
            let mut entries = object.iter();
            let (Some((keyword, operand)), None) = (entries.next(), entries.next()) else {
                return Err(wrong(key, EXPECTED));
            };
            let keywords = ["prefix", "suffix", "wildcard", "equals-ignore-case"];
            if !keywords.contains(&keyword.as_str()) {
                return Err(wrong(key, EXPECTED));
            }
            match operand {
                Value::Array(items) if !items.is_empty() => items
                    .iter()
                    .map(|item| Condition::of_text(key, keyword, item))
                    .collect(),
                operand => Ok(vec![Condition::of_text(key, keyword, operand)?]),
            }
        }
        scalar => Ok(vec![exact(scalar)?]),
    }
}

fn number(key: &str, value: &Value) -> Result<f64, FilterError> {
    let number = value
        .as_f64()
        .filter(|number| (-NUMBER_MAX..=NUMBER_MAX).contains(number));
    number.ok_or_else(|| wrong(key, "a number from -1000000000 to 1000000000 is expected"))
}

fn wrong(key: &str, reason: &'static str) -> FilterError {
    FilterError::Condition {
        key: key.to_owned(),
        reason: reason.into(),
    }
}
