//! A group of the new protocol (KIP-848) whose members join, leave, are killed and frozen at random.
//!
//! The members and the judgement of what they saw are `compat/churn`; here is what they run on, and the row in compat/TORTURE.md.

use crate::compat::broker::{Broker, JVM_SMALL, Kind, Setup};
use crate::shell::{self, Usage};
use crate::toolchains;
use std::path::PathBuf;

/// What it adds a row to.
const RESULTS: &str = "compat/TORTURE.md";

/// Sessions as short as the group's own settings ask for.
const SETUP: Setup = Setup {
    node_id: 1,
    settings: &[
        "auto.create.topics.enable=false",
        "group.consumer.min.session.timeout.ms=1000",
        "group.consumer.min.heartbeat.interval.ms=500",
    ],
    extra: &[],
    jvm: JVM_SMALL,
    port: None,
};

/// One run.
pub(super) struct Churn {
    members: u32,
    partitions: u32,
    seconds: u32,
    seed: u32,
    is_release: bool,
    is_kafka: bool,
}

/// What is run where nobody says otherwise: short, with few.
impl Default for Churn {
    fn default() -> Self {
        Self {
            members: 12,
            partitions: 24,
            seconds: 40,
            seed: std::process::id(),
            is_release: false,
            is_kafka: false,
        }
    }
}

impl Churn {
    /// Reads what stands behind `--only churn`.
    pub(super) fn parse(args: &[String]) -> anyhow::Result<Self> {
        let mut churn = Self::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let mut number = || {
                let value = args.next().and_then(|value| value.parse::<u32>().ok());
                value.ok_or_else(|| Usage(format!("{arg} needs a number")))
            };
            match arg.as_str() {
                "--members" => churn.members = number()?.max(6),
                "--partitions" => churn.partitions = number()?.max(1),
                "--seconds" => churn.seconds = number()?,
                "--minutes" => churn.seconds = number()?.saturating_mul(60),
                "--seed" => churn.seed = number()?,
                "--release" => churn.is_release = true,
                "--against-kafka" => churn.is_kafka = true,
                _ => {
                    let what = "--members, --partitions, --seconds, --minutes, --seed, --release and --against-kafka";
                    return Err(Usage(format!("churn knows {what}, not {arg}")).into());
                }
            }
        }
        Ok(churn)
    }

    /// Runs it, and adds a row.
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let python = super::python_with_clients()?;
        // Before the run, which takes its time.
        let (commit, date) = (super::commit()?, date()?);
        let broker = Broker::start_as(SETUP, &self.kind()?, &dir().join("broker"))?;
        let what = format!(
            "{} members come and go for {} s, seed {}",
            self.members, self.seconds, self.seed
        );
        let histories = dir().join("histories");
        let _ = std::fs::remove_dir_all(&histories);
        let mut outcome = None;
        let run = shell::step(&what, || {
            let mut run = shell::command(&python);
            run.arg("-B")
                .arg(super::churn_home().join("churn.py"))
                .arg(broker.bootstrap())
                .arg(&histories);
            let numbers = [self.members, self.partitions, self.seconds, self.seed];
            run.args(numbers.map(|number| number.to_string()));
            shell::run_lines(&mut run, |line| {
                if let Some(cells) = line.strip_prefix("outcome|") {
                    outcome = Some(cells.replace('|', " | "));
                }
            })
        });
        if let Some(cells) = outcome {
            let row = [date, commit, machine()?, self.scenario(), cells];
            shell::append_row(RESULTS, &row)?;
        }
        // Otherwise what they saw stays, for whoever asks why.
        if run.is_ok() {
            let _ = std::fs::remove_dir_all(dir());
        }
        run
    }

    fn kind(&self) -> anyhow::Result<Kind> {
        if self.is_kafka {
            return Ok(Kind::Kafka(toolchains::kafka()?));
        }
        let mut build = shell::cargo();
        build.args(["build", "--package", "fanlog"]);
        if self.is_release {
            build.arg("--release");
        }
        shell::step("cargo build --package fanlog", || shell::run(&mut build))?;
        Ok(Kind::Fanlog(match self.is_release {
            true => shell::target_dir().join("release/fanlog"),
            false => super::binary(),
        }))
    }

    fn scenario(&self) -> String {
        let broker = match (self.is_kafka, self.is_release) {
            (true, _) => "Apache Kafka 4.4",
            (false, true) => "release build",
            (false, false) => "debug build",
        };
        format!(
            "churn ({broker}; {} members, {} partitions, {} s), seed {}",
            self.members, self.partitions, self.seconds, self.seed
        )
    }
}

fn dir() -> PathBuf {
    shell::target_dir().join("torture-churn")
}

pub(super) fn date() -> anyhow::Result<String> {
    let date = shell::output(shell::command("date").args(["-u", "+%Y-%m-%d"]))?;
    Ok(date.trim().to_owned())
}

pub(super) fn machine() -> anyhow::Result<String> {
    let system = shell::output(shell::command("uname").args(["-s", "-r"]))?;
    // What a distribution adds to the version says nothing here.
    let system = system.trim().split('-').next().unwrap_or_default();
    let cores = std::thread::available_parallelism()?;
    Ok(format!("{system}, {cores} cores"))
}

#[cfg(test)]
mod tests {
    use super::Churn;

    #[test]
    fn arguments_are_read_and_unknown_ones_refused() {
        let parse = |line: &str| {
            let args: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
            Churn::parse(&args)
        };
        let long = parse("--minutes 10 --members 30 --release").expect("known arguments");
        assert_eq!(
            (long.seconds, long.members, long.is_release),
            (600, 30, true)
        );
        assert!(parse("--minutes").is_err());
        assert!(parse("--rounds 3").is_err());
    }
}
