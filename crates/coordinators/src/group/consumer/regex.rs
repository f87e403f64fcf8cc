//! The regular expressions by which members subscribe to topics: RE2's syntax, matched against the whole name, in linear time.
//!
//! Why it exists: an expression comes from a client; it must not cost more than its length allows (OPS-1).
//! In -> out: expression, names -> the names that it stands for.
//! Never: called within a decision; the runtime resolves, because many names take time.

use regex::{Regex, RegexBuilder};
use std::sync::Arc;
use thiserror::Error;

/// The longest expression.
pub const REGEX_BYTES_MAX: usize = 8 * 1024;
/// The most memory that a compiled expression may take.
const COMPILED_BYTES_MAX: usize = 1024 * 1024;

/// Why an expression is none.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InvalidRegex {
    /// It is too long.
    #[error("regular expression of {given} bytes; at most {max}")]
    TooLong {
        /// The bytes given.
        given: usize,
        /// The most allowed.
        max: usize,
    },
    /// It can't be compiled, or would take too much memory.
    #[error("invalid regular expression: {reason}")]
    Invalid {
        /// What is wrong with it.
        reason: String,
    },
}

/// A compiled expression.
#[derive(Clone, Debug)]
pub struct TopicRegex(Regex);

impl TopicRegex {
    /// Compiles an expression.
    ///
    /// # Errors
    /// It is too long, none, or takes too much memory.
    pub fn new(pattern: &str) -> Result<Self, InvalidRegex> {
        let given = pattern.len();
        if given > REGEX_BYTES_MAX {
            return Err(InvalidRegex::TooLong {
                given,
                max: REGEX_BYTES_MAX,
            });
        }
        let build = |pattern: &str| {
            RegexBuilder::new(pattern)
                .size_limit(COMPILED_BYTES_MAX)
                .dfa_size_limit(COMPILED_BYTES_MAX)
                .build()
        };
        let invalid = |error: regex::Error| InvalidRegex::Invalid {
            reason: error.to_string(),
        };
        // By itself first: parentheses that don't match must not be completed by ours.
        build(pattern).map_err(invalid)?;
        build(&format!(r"\A(?:{pattern})\z"))
            .map(Self)
            .map_err(invalid)
    }

    /// The names that it stands for, in the order given.
    pub fn matching(&self, names: impl Iterator<Item = Arc<str>>) -> Arc<[Arc<str>]> {
        names.filter(|name| self.0.is_match(name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matching(pattern: &str) -> Vec<String> {
        let names = ["a", "ab", "b-1", "order.placed", "orders"];
        let regex = TopicRegex::new(pattern).unwrap();
        let matching = regex.matching(names.into_iter().map(Arc::from));
        matching.iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn the_whole_name_must_match() {
        let check =
            |pattern: &str, expected: &[&str]| assert_eq!(matching(pattern), expected, "{pattern}");
        check("a", &["a"]);
        check("a|orders", &["a", "orders"]);
        check("^a.*$", &["a", "ab"]);
        check("order.*", &["order.placed", "orders"]);
        check("(?i)ORDERS", &["orders"]);
        check(r"\w-\d", &["b-1"]);
        check(".*", &["a", "ab", "b-1", "order.placed", "orders"]);
        check("", &[]);
    }

    #[test]
    fn what_is_no_expression_or_too_large_is_refused() {
        let check = |pattern: &str| assert!(TopicRegex::new(pattern).is_err(), "{pattern:.60}");
        check("(");
        check(")|(");
        check("[");
        check("*");
        check("a{1000}{1000}{1000}");
        check(r"(a)\1");
        check("(?=a)");
        check(&"a".repeat(REGEX_BYTES_MAX + 1));
    }
}
