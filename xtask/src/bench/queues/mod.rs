//! `cargo xtask bench --queues`: order per key with keys that fail, share groups beside Kafka's, and a million messages in flight.
//!
//! In -> out: `fanlog-bench queue`, franz-go's share consumers, one broker after another -> `bench/QUEUES.md`, a section for each part.
//! Never: a figure that a test depends on.
//! Read next: `order.rs`, `beside.rs`, `memory.rs`.

mod beside;
mod memory;
mod order;
mod page;

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, ensure};

use super::bounded::{self, Bounds};
use super::measure::{Figures, figures};
use super::results::Spread;
use super::system::JVM;
use crate::compat::broker::{Broker, Kind, Setup};
use crate::shell::{self, Usage};
use crate::toolchains;

const HELP: &str = "\
usage: cargo xtask bench --queues [--part order|beside|memory] [--rounds N] [--scale S]

  --part      one of the three; default all
  --rounds    how often each is measured; default 3
  --scale     a part of the messages, between 0 and 1; writes nothing unless it is 1";

/// The partitions of every topic.
const PARTITIONS: &str = "4";
/// No load here takes longer.
const TIME_MAX: Duration = Duration::from_secs(400);
/// No load here sends more.
const SENT_MAX: f64 = 1.5e9;

/// The defaults of each; files of a deleted topic go at once.
const SETUP: Setup = Setup {
    node_id: 1,
    settings: &[
        "auto.create.topics.enable=false",
        "log.segment.delete.delay.ms=100",
    ],
    extra: &[],
    jvm: JVM,
    port: None,
};

/// What a run has.
#[derive(Debug)]
struct Options {
    parts: Vec<Part>,
    rounds: usize,
    scale: f64,
}

/// What is measured on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Order,
    Beside,
    Memory,
}

impl Options {
    fn parse(args: &[String]) -> anyhow::Result<Self> {
        let mut options = Self {
            parts: vec![Part::Order, Part::Beside, Part::Memory],
            rounds: 3,
            scale: 1.0,
        };
        for pair in args.chunks(2) {
            let usage = || Usage(format!("{pair:?} was not understood\n{HELP}"));
            let [name, value] = pair else {
                return Err(usage().into());
            };
            match (name.as_str(), value.as_str()) {
                ("--part", "order") => options.parts = vec![Part::Order],
                ("--part", "beside") => options.parts = vec![Part::Beside],
                ("--part", "memory") => options.parts = vec![Part::Memory],
                ("--rounds", _) => options.rounds = value.parse().map_err(|_| usage())?,
                ("--scale", _) => options.scale = value.parse().map_err(|_| usage())?,
                _ => return Err(usage().into()),
            }
        }
        let has_scale = options.scale > 0.0 && options.scale <= 1.0;
        if options.rounds == 0 || !has_scale {
            return Err(Usage(format!(
                "rounds lie above 0, the scale between 0 and 1\n{HELP}"
            ))
            .into());
        }
        Ok(options)
    }

    /// So many, scaled.
    fn count(&self, all: u64) -> u64 {
        ((all as f64 * self.scale) as u64).max(1)
    }
}

/// Runs the command.
pub(super) fn run(args: &[String]) -> anyhow::Result<()> {
    if args.iter().any(|arg| arg == "--help") {
        println!("{HELP}");
        return Ok(());
    }
    let options = Options::parse(args)?;
    let fanlog = super::build_release()?;
    let dir = toolchains::cache().join("bench-queues");
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir)?;
    let tools = Tools {
        load: fanlog.with_file_name("fanlog-bench"),
        fanlog,
        dir,
    };
    let mut missed = Vec::new();
    for part in &options.parts {
        let outcome = match part {
            Part::Order => order::measure(&tools, &options),
            Part::Beside => beside::measure(&tools, &options),
            Part::Memory => memory::measure(&tools, &options),
        };
        match outcome {
            Ok(section) => {
                println!("\n{}", section.text);
                missed.extend(section.missed.clone());
                if options.scale == 1.0 {
                    page::write(&section, options.rounds)?;
                }
            }
            Err(error) => missed.push(format!("{part:?}: {error:#}")),
        }
    }
    let _ = std::fs::remove_dir_all(&tools.dir);
    ensure!(missed.is_empty(), "{}", missed.join("\n"));
    Ok(())
}

/// What one part found.
#[derive(Debug)]
struct Section {
    heading: &'static str,
    text: String,
    /// Goals and promises that it did not keep.
    missed: Vec<String>,
}

/// The programs, and where brokers lie.
#[derive(Debug)]
struct Tools {
    load: PathBuf,
    fanlog: PathBuf,
    dir: PathBuf,
}

impl Tools {
    fn start(&self, kind: &Kind) -> anyhow::Result<Broker> {
        Broker::start_as(SETUP, kind, &self.dir.join("broker"))
    }

    fn start_fanlog(&self) -> anyhow::Result<Broker> {
        self.start(&Kind::Fanlog(self.fanlog.clone()))
    }

    /// Runs the load tool.
    fn load(&self, arguments: &[&str]) -> anyhow::Result<Figures> {
        self.output(shell::command(&self.load).args(arguments))
    }

    fn output(&self, command: &mut Command) -> anyhow::Result<Figures> {
        let bounds = Bounds {
            time_max: TIME_MAX,
            interrupted_after: None,
            shows_progress: false,
            disk: &self.dir,
            sent_max: SENT_MAX,
        };
        figures(&bounded::output(command, bounds)?)
    }

    /// Makes a topic and fills it.
    fn fill(
        &self,
        broker: &Broker,
        topic: &str,
        records: u64,
        more: &[&str],
    ) -> anyhow::Result<()> {
        self.topic(broker, topic)?;
        self.fill_on(broker, topic, records, more)
    }

    fn fill_on(
        &self,
        broker: &Broker,
        topic: &str,
        records: u64,
        more: &[&str],
    ) -> anyhow::Result<()> {
        let records = records.to_string();
        let at = ["--bootstrap", broker.bootstrap(), "--topic", topic];
        let what = ["queue", "fill", "--partitions", PARTITIONS];
        let count = ["--records", &records];
        self.load(&[&what[..], &at, &count, more].concat())?;
        Ok(())
    }

    fn topic(&self, broker: &Broker, topic: &str) -> anyhow::Result<()> {
        let at = ["--bootstrap", broker.bootstrap(), "--topic", topic];
        self.load(&[&["topic", "--partitions", PARTITIONS][..], &at].concat())?;
        Ok(())
    }

    fn delete(&self, broker: &Broker, topic: &str) -> anyhow::Result<()> {
        self.load(&[
            "delete",
            "--bootstrap",
            broker.bootstrap(),
            "--topic",
            topic,
        ])?;
        Ok(())
    }
}

/// A figure that must be there.
fn figure(found: &Figures, name: &str) -> anyhow::Result<f64> {
    let found = found.iter().find(|(known, _)| known == name);
    Ok(found.with_context(|| format!("no figure {name}"))?.1)
}

/// Median and range, as tables have them.
fn shown(values: &[f64], digits: usize) -> String {
    match Spread::of(values) {
        None => "-".to_owned(),
        Some(spread) if values.len() == 1 => format!("{:.digits$}", spread.median),
        Some(Spread {
            median,
            least,
            most,
        }) => format!("{median:.digits$} ({least:.digits$} to {most:.digits$})"),
    }
}

fn median(values: &[f64]) -> anyhow::Result<f64> {
    Ok(Spread::of(values).context("nothing was measured")?.median)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_without_sense_are_refused() {
        let parse = |args: &[&str]| {
            let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
            Options::parse(&args)
        };
        for args in [
            &["--rounds", "0"][..],
            &["--scale", "2"],
            &["--part", "all"],
            &["--part"],
        ] {
            assert!(parse(args).is_err(), "{args:?}");
        }
        let options = parse(&["--part", "beside", "--scale", "0.5"]).unwrap();
        assert_eq!(options.parts, [Part::Beside]);
        assert_eq!(options.count(100), 50);
    }

    #[test]
    fn figures_have_their_range_where_there_are_several() {
        assert_eq!(shown(&[2.0], 1), "2.0");
        assert_eq!(shown(&[3.0, 1.0, 2.0], 0), "2 (1 to 3)");
    }
}
