//! What was measured, round by round: `bench/results.jsonl`, from which the pages and pictures are drawn.
//!
//! A line is a JSON object: the values of a figure (`rounds`), why a load could not be measured (`failed`), or with what a load was
//! measured (`run`).

use std::collections::BTreeMap;

use anyhow::Context;
use serde_json::{Value, json};

/// What a load belongs to: the comparison, the matrix of the journal, the worked example.
pub(super) type Kind = &'static str;

pub(super) const BESIDE: Kind = "beside";
pub(super) const JOURNAL: Kind = "journal";
pub(super) const EXAMPLE: Kind = "example";
const KINDS: [Kind; 3] = [BESIDE, JOURNAL, EXAMPLE];

/// With what a load was measured.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Run {
    pub(super) commit: String,
    pub(super) date: String,
    /// How often and how long.
    pub(super) what: String,
    pub(super) machine: String,
}

/// Kind and load.
type Load = (Kind, String);

/// Everything.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Results {
    runs: BTreeMap<Load, Run>,
    /// Every value of a figure, by load, system and name.
    values: BTreeMap<(Load, String, String), Vec<f64>>,
    failed: BTreeMap<(Load, String), String>,
}

/// A figure over all rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    pub(super) median: f64,
    pub(super) least: f64,
    pub(super) most: f64,
}

impl Spread {
    pub(super) fn of(values: &[f64]) -> Option<Spread> {
        let mut values = values.to_vec();
        values.sort_by(f64::total_cmp);
        let middle = values.len() / 2;
        let median = match values.len() % 2 {
            1 => values[middle],
            _ => f64::midpoint(*values.get(middle.checked_sub(1)?)?, values[middle]),
        };
        Some(Spread {
            median,
            least: *values.first()?,
            most: *values.last()?,
        })
    }
}

impl Results {
    /// Forgets a kind.
    pub(super) fn clear(&mut self, kind: Kind) {
        self.runs.retain(|load, _| load.0 != kind);
        self.values.retain(|(load, ..), _| load.0 != kind);
        self.failed.retain(|(load, _), _| load.0 != kind);
    }

    /// Forgets a load, which is about to be measured.
    pub(super) fn begin(&mut self, kind: Kind, load: &str, run: &Run) {
        let key = (kind, load.to_owned());
        self.values.retain(|(load, ..), _| *load != key);
        self.failed.retain(|(load, _), _| *load != key);
        self.runs.insert(key, run.clone());
    }

    /// Forgets one column of a load, which is about to be measured alone.
    pub(super) fn begin_alone(&mut self, kind: Kind, load: &str, system: &str, run: &Run) {
        let key = (kind, load.to_owned());
        let is_it = |of: &Load, by: &str| *of == key && by == system;
        self.values.retain(|(of, by, _), _| !is_it(of, by));
        self.failed.retain(|(of, by), _| !is_it(of, by));
        self.runs.insert(key, run.clone());
    }

    /// A value of a round; what is no number, such as the length of a drain that never ends, is left out.
    pub(super) fn add(&mut self, kind: Kind, load: &str, system: &str, name: &str, value: f64) {
        if !value.is_finite() {
            return;
        }
        let key = ((kind, load.to_owned()), system.to_owned(), name.to_owned());
        self.values.entry(key).or_default().push(value);
    }

    pub(super) fn fail(&mut self, kind: Kind, load: &str, system: &str, reason: &str) {
        let key = ((kind, load.to_owned()), system.to_owned());
        self.failed.insert(key, reason.to_owned());
    }

    /// The values of a figure in the order of the rounds.
    pub(super) fn rounds(&self, kind: Kind, load: &str, system: &str, name: &str) -> &[f64] {
        let key = ((kind, load.to_owned()), system.to_owned(), name.to_owned());
        self.values.get(&key).map_or(&[], Vec::as_slice)
    }

    pub(super) fn spread(
        &self,
        kind: Kind,
        load: &str,
        system: &str,
        name: &str,
    ) -> Option<Spread> {
        Spread::of(self.rounds(kind, load, system, name))
    }

    /// Why a load could not be measured, where it failed in a round.
    pub(super) fn failure(&self, kind: Kind, load: &str, system: &str) -> Option<&str> {
        let key = ((kind, load.to_owned()), system.to_owned());
        self.failed.get(&key).map(String::as_str)
    }

    pub(super) fn failures(&self) -> impl Iterator<Item = (Kind, &str, &str, &str)> {
        self.failed
            .iter()
            .map(|(((kind, load), system), reason)| (*kind, &**load, &**system, &**reason))
    }

    /// The runs behind a kind, each with its loads.
    pub(super) fn runs(&self, kind: Kind) -> BTreeMap<&Run, Vec<&str>> {
        let mut runs: BTreeMap<&Run, Vec<&str>> = BTreeMap::new();
        for ((of, load), run) in &self.runs {
            if *of == kind {
                runs.entry(run).or_default().push(load);
            }
        }
        runs
    }

    /// All of it, a line each.
    pub(super) fn lines(&self) -> String {
        let mut lines = String::new();
        let mut line = |value: Value| lines.push_str(&format!("{value}\n"));
        for ((kind, load), run) in &self.runs {
            let Run {
                commit,
                date,
                what,
                machine,
            } = run;
            line(json!({"kind": kind, "load": load, "run": {
                "commit": commit, "date": date, "what": what, "machine": machine}}));
        }
        for (((kind, load), system), reason) in &self.failed {
            line(json!({"kind": kind, "load": load, "system": system, "failed": reason}));
        }
        for (((kind, load), system, figure), values) in &self.values {
            let rounds: Vec<f64> = values.iter().map(|value| rounded(*value)).collect();
            line(
                json!({"kind": kind, "load": load, "system": system, "figure": figure, "rounds": rounds}),
            );
        }
        lines
    }

    /// Reads such lines.
    pub(super) fn read(text: &str) -> anyhow::Result<Results> {
        let mut results = Results::default();
        for (number, line) in text.lines().enumerate() {
            results
                .read_line(line)
                .with_context(|| format!("line {}: {line}", number + 1))?;
        }
        Ok(results)
    }

    fn read_line(&mut self, line: &str) -> anyhow::Result<()> {
        let line: Value = serde_json::from_str(line)?;
        let text = |value: &Value, name: &str| {
            let found = value.get(name).and_then(Value::as_str).map(str::to_owned);
            found.with_context(|| format!("no {name}"))
        };
        let kind = text(&line, "kind")?;
        let kind = KINDS.into_iter().find(|known| *known == kind);
        let load = (kind.context("no such kind")?, text(&line, "load")?);
        if let Some(run) = line.get("run") {
            let run = Run {
                commit: text(run, "commit")?,
                date: text(run, "date")?,
                what: text(run, "what")?,
                machine: text(run, "machine")?,
            };
            self.runs.insert(load, run);
            return Ok(());
        }
        let system = text(&line, "system")?;
        if line.get("failed").is_some() {
            self.failed.insert((load, system), text(&line, "failed")?);
            return Ok(());
        }
        let rounds = line.get("rounds").and_then(Value::as_array);
        let rounds = rounds.context("no rounds")?.iter();
        let rounds: Option<Vec<f64>> = rounds.map(Value::as_f64).collect();
        let figure = text(&line, "figure")?;
        let rounds = rounds.context("rounds that are no numbers")?;
        self.values.insert((load, system, figure), rounds);
        Ok(())
    }
}

/// Four digits behind the point say more than is known.
fn rounded(value: f64) -> f64 {
    (value * 10_000.0).round() / 10_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_lies_between_the_middle_two() {
        let expected = Spread {
            median: 3.0,
            least: 1.0,
            most: 8.0,
        };
        assert_eq!(Spread::of(&[4.0, 1.0, 2.0, 8.0]), Some(expected));
        let median = Spread::of(&[9.0, 1.0, 5.0]).unwrap().median;
        assert_eq!(median, 5.0);
        assert_eq!(Spread::of(&[]), None);
    }

    fn sample() -> Results {
        let run = Run {
            commit: "abc".to_owned(),
            date: "today".to_owned(),
            what: "2 rounds of 1 s".to_owned(),
            machine: "a \"box\"".to_owned(),
        };
        let mut results = Results::default();
        results.begin(BESIDE, "load", &run);
        results.begin(JOURNAL, "load", &run);
        results.add(BESIDE, "load", "system", "figure", 4.0);
        results.add(BESIDE, "load", "system", "figure", 1.25);
        results.add(JOURNAL, "load", "system", "figure", 7.0);
        results.add(JOURNAL, "load", "system", "endless", f64::INFINITY);
        results.fail(BESIDE, "load", "other", "it broke:\n\"so\"");
        results
    }

    #[test]
    fn what_is_written_is_read_again() {
        let results = sample();
        assert_eq!(Results::read(&results.lines()).unwrap(), results);
        assert!(Results::read("{\"kind\": \"none\", \"load\": \"x\"}").is_err());
        assert_eq!(
            results.rounds(BESIDE, "load", "system", "figure"),
            [4.0, 1.25]
        );
        assert_eq!(results.spread(BESIDE, "load", "system", "none"), None);
    }

    #[test]
    fn a_load_that_is_measured_anew_loses_its_old_values_and_failures_alone() {
        let mut results = sample();
        let run = results.runs(JOURNAL).into_keys().next().unwrap().clone();
        results.begin(BESIDE, "load", &run);
        assert!(
            results
                .rounds(BESIDE, "load", "system", "figure")
                .is_empty()
        );
        assert_eq!(results.failure(BESIDE, "load", "other"), None);
        assert_eq!(results.rounds(JOURNAL, "load", "system", "figure"), [7.0]);
        results.add(JOURNAL, "load", "other", "figure", 8.0);
        results.begin_alone(JOURNAL, "load", "system", &run);
        assert!(
            results
                .rounds(JOURNAL, "load", "system", "figure")
                .is_empty()
        );
        assert_eq!(results.rounds(JOURNAL, "load", "other", "figure"), [8.0]);
        results.clear(JOURNAL);
        assert!(results.runs(JOURNAL).is_empty());
    }
}
