//! Which records a queue wants: the filter-policy language of Amazon SNS, over headers, attributes or a JSON body.
//!
//! Why it exists: a consumer that is to see one record in a thousand should not be handed the others; and this language is the one
//! that people know.
//! Owns: what a policy means.   Never: where a record comes from, or what is done with it.
//! In -> out: a policy as text -> [`Filter`], compiled once; a record's headers or body -> whether it is wanted.
//! Read next: `policy.rs`.
//!
//! ```text
//! policy   {"name": [condition, ..], ..}   all names must hold, of each one condition
//!          {"name": {policy}}              of a body: inside the object, or one of the objects, under the name
//!          {"$or": [{policy}, {policy}]}   one of two or more must hold
//! condition  "text" 12.5 true false null   exactly that
//!          {"prefix": "a"} {"suffix": "z"} {"equals-ignore-case": "Ab"} {"wildcard": "a*z"} (\* is a star)
//!          {"anything-but": "text" | 12.5 | [those] | {"prefix" | "suffix" | "wildcard" | "equals-ignore-case": "a" | ["a"]}}
//!          {"numeric": ["=" | "<" | "<=" | ">" | ">=", 1] | [">" | ">=", 1, "<" | "<=", 9]}
//!          {"cidr": "10.0.0.0/8"}   {"exists": true | false}
//! ```
//!
//! A header's value is text: it is compared with numbers as the number that it says, and with true, false as those words. A name that
//! stands several times, or has an array, holds if one of its values does. Where a header says the types (`attributes.rs`), headers are
//! attributes, and each is compared as what it is: a text is no number. Numbers agree to six digits behind the point. A body that is no JSON object is wanted by no
//! policy, nor is one above [`BODY_BYTES_MAX`]; the policy `{}` wants everything that can be looked at.

mod attributes;
mod cidr;
mod condition;
mod datum;
mod error;
mod policy;
mod wildcard;

pub use attributes::{
    ATTRIBUTE_PREFIX, TYPES_HEADER, attribute_name, is_own_header, read_types, write_types,
};
pub use datum::Attribute;
pub use error::FilterError;

use datum::{Data, Datum};
use fanlog_model::settings::FilterScope;
use policy::Node;
use serde_json::Value;
use std::collections::BTreeSet;

/// The longest policy, in bytes.
pub const POLICY_BYTES_MAX: usize = 256 * 1024;
/// The most names at the top of a policy.
pub const KEYS_MAX: usize = 5;
/// The most combinations of conditions: the product of their numbers, each times the depth at which they stand; `$or` adds.
pub const COMBINATIONS_MAX: usize = 150;
/// The most stars in one wildcard.
pub const STARS_MAX: usize = 3;
/// The most wildcards in a policy; one of several stars counts as three.
pub const WILDCARD_POINTS_MAX: usize = 100;
/// How deep policies may be nested.
pub const DEPTH_MAX: usize = 20;
/// The longest body that is looked at, in bytes: reading JSON takes many times its size.
pub const BODY_BYTES_MAX: usize = 4 * 1024 * 1024;

/// A policy, compiled.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    scope: FilterScope,
    root: Node,
    /// The names at the top of the policy, those of `$or` too: all others of a record are passed over.
    names: BTreeSet<Box<str>>,
}

impl Filter {
    /// Compiles a policy.
    ///
    /// # Errors
    /// Says what of it means nothing, or is too much.
    pub fn parse(policy: &str, scope: FilterScope) -> Result<Self, FilterError> {
        let root = Node::parse(policy, scope)?;
        let mut names = BTreeSet::new();
        root.names(&mut names);
        Ok(Self { scope, root, names })
    }

    /// What it looks at.
    pub fn scope(&self) -> FilterScope {
        self.scope
    }

    /// Whether a record with these headers and this value is wanted: it looks at those of its scope. Where a header says the types of
    /// attributes, headers are taken for attributes.
    pub fn matches<'a>(
        &self,
        headers: impl Iterator<Item = (&'a str, Option<&'a [u8]>)> + Clone,
        body: Option<&[u8]>,
    ) -> bool {
        match self.scope {
            FilterScope::Headers => {
                let mut types = headers.clone().filter(|(name, _)| *name == TYPES_HEADER);
                match types.next() {
                    Some((_, types)) => self.matches_typed(headers, types.unwrap_or_default()),
                    None => self.matches_headers(headers),
                }
            }
            FilterScope::Body => body.is_some_and(|body| self.matches_body(body)),
        }
    }

    /// Whether a record with these headers is wanted.
    pub fn matches_headers<'a>(
        &self,
        headers: impl Iterator<Item = (&'a str, Option<&'a [u8]>)>,
    ) -> bool {
        let found = headers.filter(|(name, _)| self.names.contains(*name));
        let found: Vec<_> = found
            .map(|(name, value)| (name, Datum::of_header(value)))
            .collect();
        self.root.holds(Data::Named(&found))
    }

    fn matches_typed<'a>(
        &self,
        headers: impl Iterator<Item = (&'a str, Option<&'a [u8]>)>,
        types: &[u8],
    ) -> bool {
        let types = read_types(types);
        let attribute = |(header, value): (&'a str, Option<&'a [u8]>)| {
            let name = attribute_name(header)?;
            let data_type = types.get(name).map(String::as_str);
            Some((name, attributes::typed(data_type, value?)))
        };
        self.matches_attributes(headers.filter_map(attribute))
    }

    /// Whether a message with these attributes is wanted.
    pub fn matches_attributes<'a>(
        &self,
        attributes: impl Iterator<Item = (&'a str, Attribute<'a>)>,
    ) -> bool {
        let mut found = Vec::new();
        for (name, attribute) in attributes.filter(|(name, _)| self.names.contains(*name)) {
            let data = Datum::of_attribute(attribute).into_iter();
            found.extend(data.map(|datum| (name, datum)));
        }
        self.root.holds(Data::Named(&found))
    }

    /// Whether a record with this value, which should be JSON, is wanted.
    pub fn matches_body(&self, body: &[u8]) -> bool {
        if body.len() > BODY_BYTES_MAX {
            return false;
        }
        match serde_json::from_slice(body) {
            Ok(Value::Object(object)) => self.root.holds(Data::Object(Some(&object))),
            Ok(_) | Err(_) => false,
        }
    }
}

#[cfg(test)]
mod tests;
