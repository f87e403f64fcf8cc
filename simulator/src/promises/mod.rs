//! What the broker has promised so far, and whether it keeps it.
//!
//! Why it exists: everything that a client is told, or sees, binds the broker from then on, across every crash.
//! Owns: what was sent, acknowledged, seen and committed.   Never: the broker; it is told what the broker said.
//! In -> out: what a client did and what it was told -> nothing, or the promise that is broken.

pub(crate) mod catalog;
pub(crate) mod churn;
pub(crate) mod consumers;
pub(crate) mod groups;
pub(crate) mod queues;
pub(crate) mod records;

use std::fmt;

/// A promise that was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which one, by its name in docs/invariants.md.
    pub promise: &'static str,
    /// What happened.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.promise, self.what)
    }
}

pub(crate) type Verdict = Result<(), Violation>;

pub(crate) fn broken(promise: &'static str, what: impl Into<String>) -> Violation {
    Violation {
        promise,
        what: what.into(),
    }
}

/// A promise that must hold; the words are made only where it does not.
pub(crate) fn holds(
    is_kept: bool,
    promise: &'static str,
    what: impl FnOnce() -> String,
) -> Verdict {
    match is_kept {
        true => Ok(()),
        false => Err(broken(promise, what())),
    }
}
