//! One test of a suite, and what became of it.

use std::fmt;

/// What became of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// The suite says that it holds.
    Passed,
    /// The suite says that it does not hold, or the test did not end in time.
    Failed,
    /// The suite itself passed over it.
    Skipped,
    /// Our list says not to start it.
    LeftOut,
}

impl Outcome {
    /// Reads the word that an expectations file uses; a pass is never written down.
    pub(crate) fn of_a_miss(word: &str) -> Option<Outcome> {
        match word {
            "failed" => Some(Outcome::Failed),
            "skipped" => Some(Outcome::Skipped),
            "left-out" => Some(Outcome::LeftOut),
            _ => None,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Outcome::Passed => "passed",
            Outcome::Failed => "failed",
            Outcome::Skipped => "skipped",
            Outcome::LeftOut => "left-out",
        })
    }
}

/// One test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Case {
    /// The suite's own name for it.
    pub(crate) name: String,
    /// What became of it.
    pub(crate) outcome: Outcome,
    /// What the suite said, in one line; empty for a pass.
    pub(crate) said: String,
}

impl Case {
    /// A test with an outcome.
    pub(crate) fn new(name: &str, outcome: Outcome, said: &str) -> Case {
        let said = said.lines().next().unwrap_or_default();
        Case {
            name: name.to_owned(),
            outcome,
            said: said.trim().chars().take(200).collect(),
        }
    }
}
