//! Two queues on one topic whose consumers are killed and frozen, and whose broker is killed, frozen or loses its power.
//!
//! The consumers and the judgement of what they saw are `compat/queue_torture`; here is what they run on, and the row in compat/TORTURE.md.

use super::churn::{date, machine};
use crate::shell::{self, Usage};
use std::path::PathBuf;

/// What it adds a row to.
const RESULTS: &str = "compat/TORTURE.md";

/// One run: what `queues.py` is told.
pub(super) struct Queues {
    messages: u32,
    /// How long they are published.
    seconds: u32,
    kills: u32,
    /// Power cuts, which need root.
    cuts: u32,
    pauses: u32,
    consumers: u32,
    seed: u32,
    is_release: bool,
    /// A broker that was built before; of what kind, `is_release` says.
    binary: Option<PathBuf>,
    /// What that was built from; what is here, if nobody says.
    commit: Option<String>,
}

/// What is run where nobody says otherwise: short, with few, and without root.
impl Default for Queues {
    fn default() -> Self {
        Self {
            messages: 1_200,
            seconds: 6,
            kills: 1,
            cuts: 0,
            pauses: 1,
            consumers: 8,
            seed: std::process::id(),
            is_release: false,
            binary: None,
            commit: None,
        }
    }
}

impl Queues {
    /// Reads what stands behind `--only queues`.
    pub(super) fn parse(args: &[String]) -> anyhow::Result<Self> {
        let mut queues = Self::default();
        let mut is_paced = false;
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let mut text = || {
                let text = args.next().cloned();
                text.ok_or_else(|| Usage(format!("{arg} needs a value")))
            };
            let number = |text: String| {
                let number = text.parse::<u32>();
                number.map_err(|_| Usage(format!("{arg} needs a number, not {text}")))
            };
            match arg.as_str() {
                "--messages" => queues.messages = number(text()?)?.max(1_000),
                "--minutes" => {
                    (queues.seconds, is_paced) = (number(text()?)?.saturating_mul(60), true)
                }
                "--kills" => queues.kills = number(text()?)?,
                "--cuts" => queues.cuts = number(text()?)?,
                "--pauses" => queues.pauses = number(text()?)?,
                "--consumers" => queues.consumers = number(text()?)?.max(4),
                "--seed" => queues.seed = number(text()?)?,
                "--release" => queues.is_release = true,
                "--binary" => queues.binary = Some(text()?.into()),
                "--commit" => queues.commit = Some(text()?),
                _ => {
                    let what = "--messages, --minutes, --kills, --cuts, --pauses, --consumers, --seed, --release, --binary and --commit";
                    return Err(Usage(format!("queues knows {what}, not {arg}")).into());
                }
            }
        }
        if !is_paced {
            // As many a second as the small run has, and no more than consumers on two cores keep up with.
            queues.seconds = (queues.messages / 250).clamp(queues.seconds, 300);
        }
        Ok(queues)
    }

    /// Runs it, and adds a row.
    pub(super) fn run(&self) -> anyhow::Result<()> {
        // Before the run, which takes its time.
        let commit = self.commit.clone().map_or_else(super::commit, Ok)?;
        let date = date()?;
        let mut outcome = None;
        let run = self.torment(|line| {
            if let Some(cells) = line.strip_prefix("outcome|") {
                outcome = Some(cells.replace('|', " | "));
            }
        });
        if let Some(cells) = outcome {
            let row = [date, commit, machine()?, self.scenario(), cells];
            shell::append_row(RESULTS, &row)?;
        }
        run
    }

    /// Runs it, for the test command: no row.
    pub(super) fn smoke() -> anyhow::Result<()> {
        let built = Self {
            binary: Some(super::binary()),
            ..Self::default()
        };
        built.torment(|_| {})
    }

    fn torment(&self, on_line: impl FnMut(&str)) -> anyhow::Result<()> {
        let python = super::python_with_clients()?;
        let binary = self.binary()?;
        let folder = dir();
        let _ = std::fs::remove_dir_all(&folder);
        let run = shell::step(&self.what(), || {
            let mut run = shell::command(&python);
            run.arg("-B").arg(super::queues_home().join("queues.py"));
            run.arg("--binary").arg(binary).arg("--folder").arg(&folder);
            for (name, value) in self.settings() {
                run.args([name, &value]);
            }
            shell::run_lines(&mut run, on_line)
        });
        // Otherwise what they saw stays, for whoever asks why.
        if run.is_ok() {
            let _ = std::fs::remove_dir_all(&folder);
        }
        run
    }

    fn settings(&self) -> Vec<(&'static str, String)> {
        // Many messages go in large batches, and few are worked on for long, so that mishaps find something in consumers' hands.
        let (batch, work, between, long) = match self.messages > 20_000 {
            true => ("200", "100", "1", "0.005"),
            false => ("50", "400", "0.7", "0.03"),
        };
        vec![
            ("--messages", self.messages.to_string()),
            ("--seconds", self.seconds.to_string()),
            ("--kills", self.kills.to_string()),
            ("--cuts", self.cuts.to_string()),
            ("--pauses", self.pauses.to_string()),
            ("--consumers", self.consumers.to_string()),
            ("--seed", self.seed.to_string()),
            ("--batch", batch.to_owned()),
            ("--work", work.to_owned()),
            ("--between", between.to_owned()),
            ("--long", long.to_owned()),
        ]
    }

    fn binary(&self) -> anyhow::Result<PathBuf> {
        if let Some(binary) = &self.binary {
            return Ok(binary.clone());
        }
        let mut build = shell::cargo();
        build.args(["build", "--package", "fanlog"]);
        if self.is_release {
            build.arg("--release");
        }
        shell::step("cargo build --package fanlog", || shell::run(&mut build))?;
        Ok(match self.is_release {
            true => shell::target_dir().join("release/fanlog"),
            false => super::binary(),
        })
    }

    fn what(&self) -> String {
        format!(
            "{} messages through two queues, {} consumers that are killed and frozen, seed {}",
            self.messages, self.consumers, self.seed
        )
    }

    fn scenario(&self) -> String {
        let build = match (&self.binary, self.is_release) {
            (_, true) => "release build",
            (Some(_), false) => "a given build",
            (None, false) => "debug build",
        };
        format!(
            "queues ({build}; {} messages in {} s, {} consumers), seed {}",
            self.messages, self.seconds, self.consumers, self.seed
        )
    }
}

fn dir() -> PathBuf {
    shell::target_dir().join("torture-queues")
}

#[cfg(test)]
mod tests {
    use super::Queues;

    #[test]
    fn arguments_are_read_and_unknown_ones_refused() {
        let parse = |line: &str| {
            let args: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
            Queues::parse(&args)
        };
        let many = parse("--messages 1000000 --kills 30 --cuts 2 --release").expect("known");
        assert_eq!((many.messages, many.kills, many.cuts), (1_000_000, 30, 2));
        assert_eq!((many.seconds, many.is_release), (300, true));
        let long = parse("--messages 5000 --minutes 7").expect("known arguments");
        assert_eq!(long.seconds, 420);
        let built = parse("--binary /tmp/fanlog --commit abc").expect("known arguments");
        assert_eq!(built.commit.as_deref(), Some("abc"));
        assert!(parse("--kills").is_err());
        assert!(parse("--kills some").is_err());
        assert!(parse("--binary").is_err());
        assert!(parse("--members 3").is_err());
    }
}
