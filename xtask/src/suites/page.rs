//! `compat/SUITES.md`: one row and one section per suite; a run replaces those of the suites that it ran.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use anyhow::Context;

use super::Suite;
use super::case::{Case, Outcome};
use super::expectations::Expectations;
use crate::shell;

const HEAD: &str = "\
# Suites by others, against Fanlog

Written by `cargo xtask suites`; do not edit. Each suite is fetched from its registry at the pinned version and run as its authors
wrote it; `compat/suites/` has what we add. A test that misses needs a line with its reason in `expectations.txt`; any other miss,
and any unexpected pass, fails the command. A test with a reason that passed races with itself: it may have run up to three times.

| suite | from | commit | date | passed | failed | skipped by itself | left out | unexpected | seconds |
|---|---|---|---|---|---|---|---|---|---|
";

/// A suite that was run.
pub(super) struct Run {
    name: &'static str,
    row: String,
    section: String,
    counts: String,
    /// What nobody expected.
    pub(super) surprises: Vec<String>,
}

impl Run {
    /// Judges the cases.
    pub(super) fn new(
        suite: &Suite,
        expectations: &Expectations,
        cases: Vec<Case>,
        took: Duration,
        build: &Build,
    ) -> Run {
        let count = |outcome| cases.iter().filter(|case| case.outcome == outcome).count();
        let [passed, failed, skipped, left_out] = [
            Outcome::Passed,
            Outcome::Failed,
            Outcome::Skipped,
            Outcome::LeftOut,
        ]
        .map(count);
        let surprises = expectations.surprises(&cases);
        let Build { commit, date } = build;
        let row = format!(
            "| {} | {} | {commit} | {date} | {passed} | {failed} | {skipped} | {left_out} | {} | {} |",
            suite.name,
            suite.source,
            surprises.len(),
            took.as_secs()
        );
        Run {
            name: suite.name,
            row,
            section: section(suite.name, expectations, &cases, &surprises),
            counts: format!(
                "{passed} passed, {failed} failed, {skipped} skipped by the suite, {left_out} left out, {} unexpected",
                surprises.len()
            ),
            surprises,
        }
    }

    /// One line for the terminal.
    pub(super) fn counts(&self) -> &str {
        &self.counts
    }
}

/// What is judged; read when the broker is built, as the tree may change while the suites run.
pub(super) struct Build {
    /// The commit, marked if the tree differs from it.
    commit: String,
    date: String,
}

impl Build {
    /// As the tree is now.
    pub(super) fn now() -> Build {
        let git =
            |args: &[&str]| shell::output(shell::command("git").args(args)).unwrap_or_default();
        let commit = git(&["rev-parse", "--short=12", "HEAD"]);
        let changed = git(&["status", "--porcelain", "--untracked-files=no"]);
        let is_changed = changed
            .lines()
            .any(|line| !line.ends_with("compat/SUITES.md"));
        let mark = if is_changed { "+changes" } else { "" };
        let mut date = shell::command("date");
        let date = shell::output(date.args(["-u", "+%Y-%m-%d"])).unwrap_or_default();
        Build {
            commit: format!("{}{mark}", commit.trim()),
            date: date.trim().to_owned(),
        }
    }
}

/// The misses, those with the same reason in one row.
fn section(
    name: &str,
    expectations: &Expectations,
    cases: &[Case],
    surprises: &[String],
) -> String {
    let mut by_reason: BTreeMap<(Outcome, &str), Vec<&str>> = BTreeMap::new();
    for case in cases {
        if let Some(reason) = expectations.reason(case) {
            let names = by_reason.entry((case.outcome, reason)).or_default();
            names.push(&case.name);
        }
    }
    let mut text = format!("## {name}\n\n");
    if !by_reason.is_empty() {
        text.push_str("| outcome | reason | tests |\n|---|---|---|\n");
    }
    for ((outcome, reason), names) in by_reason {
        let _ = writeln!(text, "| {outcome} | {reason} | {} |", names.join(", "));
    }
    for surprise in surprises {
        let _ = writeln!(text, "- **unexpected**: {surprise}");
    }
    text
}

/// Puts the run's row and section in the place of the earlier ones.
pub(super) fn update(run: &Run) -> anyhow::Result<()> {
    let path = shell::repository().join("compat/SUITES.md");
    let old = std::fs::read_to_string(&path).unwrap_or_default();
    std::fs::write(&path, merged(&old, run)).with_context(|| format!("{}", path.display()))?;
    Ok(())
}

fn merged(old: &str, run: &Run) -> String {
    let order = |name: &str| super::SUITES.iter().position(|suite| suite.name == name);
    let (table, sections) = old.split_once("\n## ").unwrap_or((old, ""));
    let mut rows: BTreeMap<usize, String> = BTreeMap::new();
    for row in table.lines().filter(|line| line.starts_with("| ")) {
        let name = row.split('|').nth(1).unwrap_or_default().trim();
        if let Some(place) = order(name) {
            rows.insert(place, row.to_owned());
        }
    }
    let mut texts: BTreeMap<usize, String> = BTreeMap::new();
    for text in sections.split("\n## ").filter(|text| !text.is_empty()) {
        let name = text.lines().next().unwrap_or_default();
        if let Some(place) = order(name) {
            texts.insert(place, format!("## {}\n", text.trim_end()));
        }
    }
    if let Some(place) = order(run.name) {
        rows.insert(place, run.row.clone());
        texts.insert(place, run.section.clone());
    }
    let rows: Vec<String> = rows.into_values().collect();
    let texts: Vec<String> = texts.into_values().collect();
    format!("{HEAD}{}\n\n{}", rows.join("\n"), texts.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::{Run, merged};

    fn run(name: &'static str, word: &str) -> Run {
        Run {
            name,
            row: format!("| {name} | {word} |"),
            section: format!("## {name}\n\n- {word}\n"),
            counts: String::new(),
            surprises: Vec::new(),
        }
    }

    #[test]
    fn a_run_replaces_its_own_row_and_section_and_keeps_the_others() {
        let [first, .., last] = super::super::SUITES else {
            unreachable!("there are several suites")
        };
        let page = merged("", &run(last.name, "one"));
        let page = merged(&page, &run(first.name, "two"));
        let page = merged(&page, &run(last.name, "three"));
        assert!(!page.contains("one"), "{page}");
        let tail = format!(
            "| {0} | two |\n| {1} | three |\n\n## {0}\n\n- two\n\n## {1}\n\n- three\n",
            first.name, last.name
        );
        assert!(page.ends_with(&tail), "{page}");
    }
}
