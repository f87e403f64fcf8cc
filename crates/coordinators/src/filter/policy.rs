//! A policy as a tree: names that must all hold, and alternatives of which one must.

use super::condition::Condition;
use super::datum::Data;
use super::{
    COMBINATIONS_MAX, DEPTH_MAX, FilterError, KEYS_MAX, POLICY_BYTES_MAX, WILDCARD_POINTS_MAX,
};
use fanlog_model::settings::FilterScope;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

const OR: &str = "$or";
/// A `$or` whose objects have one of these as a name is a name itself, not a choice.
const KEYWORDS: [&str; 8] = [
    "prefix",
    "suffix",
    "equals-ignore-case",
    "wildcard",
    "anything-but",
    "numeric",
    "cidr",
    "exists",
];

/// Names that must all hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Node {
    fields: Vec<(Box<str>, Field)>,
    /// Of each of these, one must hold.
    choices: Vec<Vec<Node>>,
}

#[derive(Clone, Debug, PartialEq)]
enum Field {
    /// One of these must hold of the values.
    Conditions(Vec<Condition>),
    /// It must hold of an object.
    Nested(Node),
}

impl Node {
    pub(super) fn parse(policy: &str, scope: FilterScope) -> Result<Self, FilterError> {
        if policy.len() > POLICY_BYTES_MAX {
            let length = policy.len();
            return Err(FilterError::TooLong { length });
        }
        let policy: Value = serde_json::from_str(policy).map_err(|error| FilterError::NotJson {
            reason: error.to_string(),
        })?;
        let policy = policy.as_object().ok_or(FilterError::NotAnObject)?;
        if policy.len() > KEYS_MAX {
            let count = policy.len();
            return Err(FilterError::TooManyKeys { count });
        }
        let node = Self::of(policy, scope, 1)?;
        let combinations = node.combinations(1);
        if combinations > COMBINATIONS_MAX {
            return Err(FilterError::TooComplex { combinations });
        }
        let points = node.wildcard_points();
        if points > WILDCARD_POINTS_MAX {
            return Err(FilterError::TooManyWildcards { points });
        }
        Ok(node)
    }

    fn of(
        object: &Map<String, Value>,
        scope: FilterScope,
        depth: usize,
    ) -> Result<Self, FilterError> {
        let mut node = Self::default();
        for (key, value) in object {
            if depth > DEPTH_MAX {
                return Err(FilterError::TooDeep { key: key.clone() });
            }
            match value {
                Value::Array(items) => match choice(key, items) {
                    Some(objects) => {
                        let of = |object| Self::of(object, scope, depth + 1);
                        let branches = objects.into_iter().map(of);
                        node.choices.push(branches.collect::<Result<_, _>>()?);
                    }
                    None => {
                        let field = Field::Conditions(conditions(key, items)?);
                        node.fields.push((key.as_str().into(), field));
                    }
                },
                Value::Object(_) if scope == FilterScope::Headers => {
                    return Err(FilterError::Nested { key: key.clone() });
                }
                Value::Object(object) if object.is_empty() => {
                    return Err(FilterError::Empty { key: key.clone() });
                }
                Value::Object(object) => {
                    let field = Field::Nested(Self::of(object, scope, depth + 1)?);
                    node.fields.push((key.as_str().into(), field));
                }
                _ => return Err(FilterError::NotAList { key: key.clone() }),
            }
        }
        Ok(node)
    }

    pub(super) fn holds(&self, data: Data<'_>) -> bool {
        let fields = self.fields.iter().all(|(key, field)| match field {
            Field::Conditions(conditions) => {
                let values = data.values(key);
                conditions.iter().any(|condition| condition.holds(&values))
            }
            Field::Nested(node) => {
                let objects = data.objects(key).into_iter();
                objects.map(Data::Object).any(|object| node.holds(object))
            }
        });
        let one_of = |branches: &Vec<Self>| branches.iter().any(|branch| branch.holds(data));
        fields && self.choices.iter().all(one_of)
    }

    pub(super) fn names(&self, names: &mut BTreeSet<Box<str>>) {
        names.extend(self.fields.iter().map(|(key, _)| key.clone()));
        for branch in self.choices.iter().flatten() {
            branch.names(names);
        }
    }

    fn combinations(&self, depth: usize) -> usize {
        let fields = self.fields.iter().map(|(_, field)| match field {
            Field::Conditions(conditions) => conditions.len().saturating_mul(depth),
            Field::Nested(node) => node.combinations(depth + 1),
        });
        let choices = self.choices.iter().map(|branches| {
            let each = branches.iter().map(|branch| branch.combinations(depth));
            each.fold(0, usize::saturating_add)
        });
        fields.chain(choices).fold(1, usize::saturating_mul)
    }

    fn wildcard_points(&self) -> usize {
        let fields = self.fields.iter().map(|(_, field)| match field {
            Field::Conditions(conditions) => {
                conditions.iter().map(Condition::wildcard_points).sum()
            }
            Field::Nested(node) => node.wildcard_points(),
        });
        let choices = self.choices.iter().flatten().map(Self::wildcard_points);
        fields.chain(choices).sum()
    }
}

/// The objects between which `$or` chooses.
fn choice<'a>(key: &str, items: &'a [Value]) -> Option<Vec<&'a Map<String, Value>>> {
    if key != OR || items.len() < 2 {
        return None;
    }
    let objects = items.iter().map(Value::as_object);
    let objects: Vec<_> = objects.collect::<Option<_>>()?;
    let is_policy = |object: &&Map<String, Value>| {
        !object.is_empty() && !object.keys().any(|key| KEYWORDS.contains(&key.as_str()))
    };
    objects.iter().all(is_policy).then_some(objects)
}

fn conditions(key: &str, items: &[Value]) -> Result<Vec<Condition>, FilterError> {
    if items.is_empty() {
        let key = key.to_owned();
        return Err(FilterError::Empty { key });
    }
    items
        .iter()
        .map(|item| Condition::parse(key, item))
        .collect()
}
