//! Why a policy is refused.

use super::{COMBINATIONS_MAX, DEPTH_MAX, KEYS_MAX, POLICY_BYTES_MAX, WILDCARD_POINTS_MAX};
use std::borrow::Cow;
use thiserror::Error;

/// Why a policy is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FilterError {
    /// It is no JSON.
    #[error("the filter is not JSON: {reason}")]
    NotJson {
        /// What is wrong, and where.
        reason: String,
    },
    /// It is JSON, and no policy.
    #[error(
        "the filter must be an object of names, each with a list of conditions, such as {{\"kind\": [\"order\"]}}"
    )]
    NotAnObject,
    /// It is too long.
    #[error("the filter has {length} bytes; at most {POLICY_BYTES_MAX} are taken")]
    TooLong {
        /// How long it is.
        length: usize,
    },
    /// It has too many names.
    #[error("the filter has {count} names at its top; at most {KEYS_MAX} are taken")]
    TooManyKeys {
        /// How many.
        count: usize,
    },
    /// It has too many conditions.
    #[error(
        "the filter has {combinations} combinations of conditions; at most {COMBINATIONS_MAX} are taken"
    )]
    TooComplex {
        /// How many.
        combinations: usize,
    },
    /// It has too many wildcards.
    #[error(
        "the filter has too many wildcards: {points} points, of {WILDCARD_POINTS_MAX}; one with several stars counts three"
    )]
    TooManyWildcards {
        /// How many.
        points: usize,
    },
    /// It is nested too deeply.
    #[error("the filter is nested more than {DEPTH_MAX} deep at '{key}'")]
    TooDeep {
        /// Where.
        key: String,
    },
    /// Headers have nothing inside them.
    #[error(
        "'{key}' of the filter has an object: headers are flat; give it a list of conditions, or set filter-scope to body"
    )]
    Nested {
        /// The name.
        key: String,
    },
    /// There is no list of conditions.
    #[error(
        "'{key}' of the filter must have a list of conditions, such as [\"a\", {{\"prefix\": \"b\"}}]"
    )]
    NotAList {
        /// The name.
        key: String,
    },
    /// There is no condition.
    #[error("'{key}' of the filter has no condition; give it one, such as {{\"exists\": true}}")]
    Empty {
        /// The name.
        key: String,
    },
    /// A condition means nothing.
    #[error("'{key}' of the filter: {reason}")]
    Condition {
        /// The name.
        key: String,
        /// What is wrong, and what would do.
        reason: Cow<'static, str>,
    },
}
