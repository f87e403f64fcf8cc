//! `compat/suites/<suite>/expectations.txt`: every test that may miss, how, and why.
//!
//! Why it exists: a suite that fails in the same forty places every day hides the forty-first.
//! In -> out: the file and a suite's outcomes -> what nobody expected.
//! A line is `outcome  name  reason`; the outcome `again` means that the test must pass, but may need another run, as it
//! races with itself whatever the broker does. A name that ends in `*` stands for all that begin so; `#` opens a comment.

use std::path::Path;

use anyhow::{Context, bail};

use super::case::{Case, Outcome};

/// The word for a test that may need another run.
const AGAIN: &str = "again";

/// One line.
#[derive(Debug)]
struct Expectation {
    outcome: Outcome,
    name: String,
    reason: String,
}

impl Expectation {
    fn is_about(&self, name: &str) -> bool {
        match self.name.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => self.name == name,
        }
    }
}

/// A suite's file.
#[derive(Debug, Default)]
pub(crate) struct Expectations {
    lines: Vec<Expectation>,
}

impl Expectations {
    /// Reads the file.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Expectations> {
        let text = std::fs::read_to_string(path).with_context(|| format!("{}", path.display()))?;
        Expectations::parse(&text).with_context(|| format!("{}", path.display()))
    }

    fn parse(text: &str) -> anyhow::Result<Expectations> {
        let mut lines: Vec<Expectation> = Vec::new();
        for (number, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let mut words = line.splitn(2, char::is_whitespace);
            let outcome = words.next().and_then(|word| match word {
                AGAIN => Some(Outcome::Passed),
                _ => Outcome::of_a_miss(word),
            });
            let rest = words.next().unwrap_or_default().trim();
            let Some((outcome, (name, reason))) = outcome.zip(rest.split_once(char::is_whitespace))
            else {
                bail!(
                    "line {}: \"{line}\" is not of the form `failed|skipped|left-out|again  name  reason`",
                    number + 1
                );
            };
            if lines.iter().any(|earlier| earlier.name == name) {
                bail!("line {}: {name} is there already", number + 1);
            }
            lines.push(Expectation {
                outcome,
                name: name.to_owned(),
                reason: reason.trim().to_owned(),
            });
        }
        Ok(Expectations { lines })
    }

    /// True if the test is not to be started; the reason is in the file.
    pub(crate) fn leaves_out(&self, name: &str) -> bool {
        self.line(name)
            .is_some_and(|line| line.outcome == Outcome::LeftOut)
    }

    /// The names of the tests that are not to be started, as they stand in the file.
    pub(crate) fn left_out(&self) -> impl Iterator<Item = &str> {
        let lines = self.lines.iter();
        let left_out = lines.filter(|line| line.outcome == Outcome::LeftOut);
        left_out.map(|line| line.name.as_str())
    }

    /// True if the test may fail once and run again; the reason is in the file.
    pub(crate) fn runs_again(&self, name: &str) -> bool {
        self.line(name)
            .is_some_and(|line| line.outcome == Outcome::Passed)
    }

    /// Why this test misses, if it misses as expected, or why it may have needed another run.
    pub(crate) fn reason(&self, case: &Case) -> Option<&str> {
        self.line(&case.name)
            .filter(|line| line.outcome == case.outcome)
            .map(|line| line.reason.as_str())
    }

    /// Everything that is not as the file says, one sentence each.
    pub(crate) fn surprises(&self, cases: &[Case]) -> Vec<String> {
        let mut surprises: Vec<String> = cases
            .iter()
            .filter_map(|case| self.surprise(case))
            .collect();
        let is_met = |line: &&Expectation| !cases.iter().any(|case| line.is_about(&case.name));
        surprises.extend(self.lines.iter().filter(is_met).map(|line| {
            format!(
                "{}: the suite has no such test; take the line out",
                line.name
            )
        }));
        surprises
    }

    fn surprise(&self, case: &Case) -> Option<String> {
        let expected = self
            .line(&case.name)
            .map_or(Outcome::Passed, |line| line.outcome);
        if expected == case.outcome {
            return None;
        }
        let said = if case.said.is_empty() { "" } else { ": " };
        Some(format!(
            "{} {}, expected: {expected}{said}{}",
            case.name, case.outcome, case.said
        ))
    }

    /// The line about this test; the one that names it in full goes before one with a star.
    fn line(&self, name: &str) -> Option<&Expectation> {
        self.lines
            .iter()
            .find(|line| line.name == name)
            .or_else(|| self.lines.iter().find(|line| line.is_about(name)))
    }
}

#[cfg(test)]
mod tests {
    use super::Expectations;
    use crate::suites::case::{Case, Outcome};

    fn surprises(file: &str, cases: &[(&str, Outcome)]) -> Vec<String> {
        let cases: Vec<Case> = cases
            .iter()
            .map(|(name, outcome)| Case::new(name, *outcome, "said"))
            .collect();
        Expectations::parse(file)
            .expect("the file is well-formed")
            .surprises(&cases)
    }

    #[test]
    fn what_the_file_says_is_no_surprise() {
        let file = "# why\nfailed  a  transactions\n\nskipped  b/*  gates on share groups\nleft-out  c  three brokers\n";
        let cases = [
            ("a", Outcome::Failed),
            ("b/1", Outcome::Skipped),
            ("b/2", Outcome::Skipped),
            ("c", Outcome::LeftOut),
            ("d", Outcome::Passed),
        ];
        assert_eq!(surprises(file, &cases), Vec::<String>::new());
    }

    #[test]
    fn misses_passes_and_names_that_nobody_expected_are_surprises() {
        let file = "failed  a  why\nfailed  gone  why\n";
        let cases = [
            ("a", Outcome::Passed),
            ("b", Outcome::Failed),
            ("c", Outcome::Skipped),
        ];
        assert_eq!(
            surprises(file, &cases),
            [
                "a passed, expected: failed: said",
                "b failed, expected: passed: said",
                "c skipped, expected: passed: said",
                "gone: the suite has no such test; take the line out"
            ]
        );
    }

    #[test]
    fn a_test_that_may_run_again_must_pass_in_the_end() {
        let file = "again  a  races with itself\nfailed  b  why\n";
        let expectations = Expectations::parse(file).expect("the file is well-formed");
        assert!(expectations.runs_again("a") && !expectations.runs_again("b"));
        let b = ("b", Outcome::Failed);
        assert_eq!(surprises(file, &[("a", Outcome::Passed), b]), [""; 0]);
        assert_eq!(
            surprises(file, &[("a", Outcome::Failed), b]),
            ["a failed, expected: passed: said"]
        );
    }

    #[test]
    fn the_full_name_goes_before_the_star() {
        let file = "skipped  t*  why\nfailed  t2  why\n";
        let cases = [("t1", Outcome::Skipped), ("t2", Outcome::Failed)];
        assert_eq!(surprises(file, &cases), Vec::<String>::new());
    }

    #[test]
    fn a_line_without_a_reason_or_with_another_word_is_refused() {
        for text in [
            "failed a",
            "passed a why",
            "failed",
            "failed a x\nskipped a y",
        ] {
            assert!(Expectations::parse(text).is_err(), "{text}");
        }
    }
}
