//! What a run is asked for.

use crate::shell::Usage;

pub(super) const HELP: &str = "\
usage: cargo xtask bench [--journal | --example | --plots] [--rounds N] [--seconds S] [--only NAME,...] [--systems NAME,...]
                         [--write] [--quick] [--scale S] [--run a|b|ab]
       cargo xtask bench compaction [--rounds N] [--seconds S] [--records N] [--keys N] [--rates R,...]
       cargo xtask bench --queues [--part order|beside|memory] [--rounds N] [--scale S]

  (nothing)   Fanlog beside Kafka 4.4; writes bench/RESULTS.md, bench/results.jsonl and docs/bench/
  --journal   Fanlog alone: 1 to 1,000 partitions, single records to 1 MB batches, topics of class sync and os
  --example   the worked example: 50,000 order.placed a second for 180 s and four groups (A); one of them held back (B)
  --queues    queues: order per key, share groups beside Kafka's, a million in flight; writes bench/QUEUES.md
  --plots     draws the page and the pictures anew from bench/results.jsonl; measures nothing

  --rounds    how often each broker has its turn; default 2
  --seconds   how long each load lasts; default 2. A full run: --rounds 5 --seconds 60
  --only      loads whose names begin so; writes nothing without --write
  --systems   of fanlog, fanlog-os, kafka, kafka-synced, sink; writes nothing without --only and --write
  --write     keeps the results of the other loads and replaces those that were measured
  --quick     one round of a second; writes nothing
  --scale     the worked example with the root of S as fast and as long; writes nothing unless it is 1
  --run       which runs of the worked example; default ab";

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Beside,
    Journal,
    Example,
    Plots,
}

/// What a run has.
#[derive(Clone, Debug)]
pub(super) struct Options {
    pub(super) mode: Mode,
    pub(super) rounds: usize,
    pub(super) seconds: f64,
    pub(super) scale: f64,
    /// Runs of the worked example.
    pub(super) runs: String,
    only: Vec<String>,
    systems: Vec<String>,
    is_quick: bool,
    is_write: bool,
}

impl Options {
    pub(super) fn parse(args: &[String]) -> anyhow::Result<Options> {
        let mut options = Options {
            mode: Mode::Beside,
            rounds: 2,
            seconds: 2.0,
            scale: 1.0,
            runs: "ab".to_owned(),
            only: Vec::new(),
            systems: Vec::new(),
            is_quick: false,
            is_write: false,
        };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let usage = || Usage(format!("{arg:?} was not understood\n{HELP}"));
            match arg.as_str() {
                "--quick" => (options.rounds, options.seconds, options.is_quick) = (1, 1.0, true),
                "--write" => options.is_write = true,
                "--journal" => options.mode = Mode::Journal,
                "--example" => options.mode = Mode::Example,
                "--plots" => options.mode = Mode::Plots,
                "--rounds" | "--seconds" | "--scale" | "--run" | "--only" | "--systems" => {
                    let value = args.next().ok_or_else(usage)?;
                    options.set(arg, value).ok_or_else(usage)?;
                }
                _ => return Err(usage().into()),
            }
        }
        options.check()?;
        Ok(options)
    }

    fn set(&mut self, name: &str, value: &str) -> Option<()> {
        let list = || value.split(',').map(str::to_owned).collect();
        match name {
            "--rounds" => self.rounds = value.parse().ok()?,
            "--seconds" => self.seconds = value.parse().ok()?,
            "--scale" => self.scale = value.parse().ok()?,
            "--run" => self.runs = value.to_owned(),
            "--only" => self.only = list(),
            _ => self.systems = list(),
        }
        Some(())
    }

    fn check(&self) -> anyhow::Result<()> {
        let is_positive = |value: f64| value.is_normal() && value > 0.0;
        let sense = [
            (self.rounds > 0, "rounds lie above 0"),
            (
                is_positive(self.seconds) && self.seconds <= 600.0,
                "seconds lie between 0 and 600",
            ),
            (
                is_positive(self.scale) && self.scale <= 1.0,
                "the scale lies between 0 and 1",
            ),
            (
                self.systems.is_empty() || !self.is_write || !self.only.is_empty(),
                "ratios are of one run: with --write, --systems needs --only, and these loads lose what other systems had",
            ),
            (
                ["a", "b", "ab"].contains(&self.runs.as_str()),
                "the runs are a, b or ab",
            ),
        ];
        match sense.iter().find(|(holds, _)| !holds) {
            Some((_, said)) => Err(Usage(format!("{said}\n{HELP}")).into()),
            None => Ok(()),
        }
    }

    /// Whether a load is measured.
    pub(super) fn wants(&self, load: &str) -> bool {
        let begins = |name: &String| load.starts_with(name.as_str());
        self.only.is_empty() || self.only.iter().any(begins)
    }

    /// Whether a system has its turn; names as in tables, or as on the command line.
    pub(super) fn wants_system(&self, name: &str) -> bool {
        let name = match name {
            super::system::NOTHING_STORED => "sink".to_owned(),
            name => name.to_lowercase().replace(", ", "-"),
        };
        self.systems.is_empty() || self.systems.contains(&name)
    }

    /// Whether all there is was measured, so that nothing older is kept.
    pub(super) fn is_whole(&self) -> bool {
        let all = self.only.is_empty() && self.systems.is_empty();
        all && (self.mode != Mode::Example || self.runs == "ab")
    }

    /// Whether the results are kept in the repository.
    pub(super) fn writes(&self) -> bool {
        let is_scaled = self.mode == Mode::Example && self.scale < 1.0;
        (self.is_whole() || self.is_write) && !self.is_quick && !is_scaled
    }

    /// How often and how long, in words.
    pub(super) fn what(&self) -> String {
        match (self.mode, self.rounds) {
            (Mode::Example, _) => "once".to_owned(),
            (_, 1) => format!("1 round of {} s", self.seconds),
            (_, rounds) => format!("{rounds} rounds of {} s", self.seconds),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> anyhow::Result<Options> {
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        Options::parse(&args)
    }

    #[test]
    fn options_without_sense_are_refused() {
        for args in [
            &["--rounds", "0"][..],
            &["--seconds", "-1"],
            &["--rounds"],
            &["--what", "1"],
            &["--scale", "2"],
            &["--run", "c"],
            &["--systems", "kafka", "--write"],
            &["--systems", "kafka", "--write", "--journal"],
        ] {
            let error = parse(args).unwrap_err();
            assert!(error.is::<Usage>(), "{args:?}: {error}");
        }
    }

    #[test]
    fn a_part_of_the_loads_is_written_only_when_asked_for() {
        let is_written = |args: &[&str]| parse(args).unwrap().writes();
        assert!(is_written(&[]) && is_written(&["--journal"]) && is_written(&["--example"]));
        assert!(!is_written(&["--only", "fetch"]) && !is_written(&["--quick"]));
        assert!(is_written(&["--only", "fetch", "--write"]));
        assert!(is_written(&[
            "--only",
            "fetch",
            "--systems",
            "kafka",
            "--write"
        ]));
        assert!(!is_written(&["--example", "--scale", "0.5", "--write"]));
        assert!(!is_written(&["--example", "--run", "a"]));
    }

    #[test]
    fn systems_are_asked_for_by_one_word() {
        let some = parse(&["--systems", "fanlog-os,kafka,sink"]).unwrap();
        let wanted = [
            "Fanlog",
            "Fanlog, os",
            "Kafka",
            "Kafka, synced",
            "nothing stored",
        ]
        .map(|name| some.wants_system(name));
        assert_eq!(wanted, [false, true, true, false, true]);
    }
}
