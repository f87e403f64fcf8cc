//! `cargo xtask bench`: Fanlog and Apache Kafka 4.4 on this machine, in turns, under the same load.
//!
//! Why it exists: absolute figures drift by a factor of two on shared machines; ratios within one run say something.
//! In -> out: `fanlog-bench` and librdkafka's own load tool, on one broker after another -> medians and ranges in `bench/RESULTS.md`.
//! Never: a figure that a test depends on.
//! Read next: `scenario.rs`.

mod page;
mod process;
mod rdkafka;
mod samples;
mod scenario;
mod system;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context;

use crate::shell::{self, Usage, step};
use crate::toolchains;

use self::samples::Samples;
use self::scenario::{SCENARIOS, Scenario};
use self::system::System;

/// Every value behind the page's medians, a JSON object a line.
const SAMPLES: &str = "bench/results.jsonl";

const HELP: &str = "\
usage: cargo xtask bench [--rounds N] [--seconds S] [--only NAME[,NAME...]] [--quick]

  --rounds    how often each broker has its turn; default 3
  --seconds   how long each load lasts; default 4
  --only      loads whose names begin so; writes no page
  --quick     one round of one second; writes no page";

/// What a run has.
struct Options {
    rounds: usize,
    seconds: f64,
    only: Vec<String>,
    is_quick: bool,
}

impl Options {
    fn parse(args: &[String]) -> anyhow::Result<Options> {
        let mut options = Options {
            rounds: 3,
            seconds: 4.0,
            only: Vec::new(),
            is_quick: false,
        };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let usage = || Usage(format!("{arg:?} was not understood\n{HELP}"));
            if arg == "--quick" {
                options = Options {
                    rounds: 1,
                    seconds: 1.0,
                    is_quick: true,
                    ..options
                };
                continue;
            }
            let value = args.next().ok_or_else(usage)?;
            match arg.as_str() {
                "--rounds" => options.rounds = value.parse().map_err(|_| usage())?,
                "--seconds" => options.seconds = value.parse().map_err(|_| usage())?,
                "--only" => options.only = value.split(',').map(str::to_owned).collect(),
                _ => return Err(usage().into()),
            }
        }
        if options.rounds == 0 || !options.seconds.is_normal() || options.seconds < 0.0 {
            return Err(Usage(format!("rounds and seconds lie above 0\n{HELP}")).into());
        }
        Ok(options)
    }

    fn wants(&self, scenario: &Scenario) -> bool {
        let begins = |name: &String| scenario.name.starts_with(name.as_str());
        self.only.is_empty() || self.only.iter().any(begins)
    }

    fn writes_page(&self) -> bool {
        self.only.is_empty() && !self.is_quick
    }
}

/// The programs that make the load.
struct Tools {
    load: PathBuf,
    rdkafka: rdkafka::Tool,
    dir: PathBuf,
}

/// Runs the command.
pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    if args.iter().any(|arg| arg == "--help") {
        println!("{HELP}");
        return Ok(());
    }
    let options = Options::parse(args)?;
    let dir = toolchains::cache().join("bench");
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir)?;
    let fanlog = build_release()?;
    let tools = Tools {
        load: fanlog.with_file_name("fanlog-bench"),
        rdkafka: rdkafka::prepare()?,
        dir,
    };
    let systems = system::all(fanlog, toolchains::kafka()?);
    let mut samples = Samples::default();
    let started = Instant::now();
    for round in 1..=options.rounds {
        step("what the machine gives", || {
            limits(&tools, &options, &mut samples)
        })?;
        // Each is first once.
        let first = (round - 1) % systems.len();
        let (later, sooner) = systems.split_at(first);
        for system in sooner.iter().chain(later) {
            let what = format!("round {round} of {}: {}", options.rounds, system.name);
            step(&what, || turn(system, &tools, &options, &mut samples))?;
        }
    }
    let page = page::render(&samples, &systems, &options, started.elapsed())?;
    let _ = std::fs::remove_dir_all(&tools.dir);
    if options.writes_page() {
        std::fs::write(shell::repository().join(page::PATH), page)?;
        std::fs::write(shell::repository().join(SAMPLES), samples.lines())?;
        println!("    {}", page::PATH);
    } else {
        println!("{page}");
    }
    Ok(())
}

fn build_release() -> anyhow::Result<PathBuf> {
    step(
        "building the broker and the load tool, release profile",
        || {
            let mut build = shell::cargo();
            build.args(["build", "--release", "-p", "fanlog", "-p", "fanlog-bench"]);
            shell::run(&mut build)
        },
    )?;
    Ok(shell::target_dir().join("release/fanlog"))
}

fn limits(tools: &Tools, options: &Options, samples: &mut Samples) -> anyhow::Result<()> {
    let mut command = shell::command(&tools.load);
    let seconds = (options.seconds / 4.0).to_string();
    command
        .arg("limits")
        .arg(&tools.dir)
        .args(["--seconds", &seconds]);
    for (name, value) in figures(&shell::output(&mut command)?)? {
        samples.add("limits", "machine", &name, value);
    }
    Ok(())
}

/// One broker's turn: started on an empty disk, every load, stopped.
fn turn(
    system: &System,
    tools: &Tools,
    options: &Options,
    samples: &mut Samples,
) -> anyhow::Result<()> {
    let mut broker = system.start(&tools.dir.join("broker"))?;
    samples.add("start", system.name, "start_ms", broker.started_in_ms());
    samples.add("start", system.name, "idle_mib", broker.resident_mib()?);
    scenario::warm_up(tools, system, &broker)?;
    for scenario in SCENARIOS.iter().filter(|one| options.wants(one)) {
        let found = scenario::run(scenario, tools, system, &broker, options.seconds)
            .with_context(|| format!("{} on {}", scenario.name, system.name))?;
        let line: Vec<String> = found
            .iter()
            .map(|(name, value)| format!("{name} {value:.2}"))
            .collect();
        println!("    {:<28} {}", scenario.name, line.join("  "));
        for (name, value) in found {
            samples.add(scenario.name, system.name, &name, value);
        }
    }
    samples.add("start", system.name, "peak_mib", broker.peak_mib()?);
    broker.stop()?;
    Ok(std::fs::remove_dir_all(tools.dir.join("broker"))?)
}

/// `name value` lines.
fn figures(output: &str) -> anyhow::Result<Vec<(String, f64)>> {
    let line = |line: &str| {
        let (name, value) = line.split_once(' ').context("not a figure")?;
        anyhow::Ok((name.to_owned(), value.parse()?))
    };
    output
        .lines()
        .map(|text| line(text).with_context(|| text.to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Options, figures};

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
        ] {
            assert!(parse(args).is_err(), "{args:?}");
        }
        assert!(parse(&["--only", "fetch"]).is_ok_and(|options| !options.writes_page()));
    }

    #[test]
    fn figures_are_read_by_name() {
        let found = figures("seconds 4.5\nbytes 10\n").unwrap();
        assert_eq!(
            found,
            [("seconds".to_owned(), 4.5), ("bytes".to_owned(), 10.0)]
        );
        assert!(figures("error: no broker").is_err());
    }
}
