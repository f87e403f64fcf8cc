//! `cargo xtask bench`: Fanlog and Apache Kafka 4.4 on this machine, in turns, under the same load.
//!
//! Why it exists: absolute figures drift by a factor of two on shared machines; ratios within one run say something.
//! In -> out: `fanlog-bench` and librdkafka's own load tool, on one broker after another -> `bench/results.jsonl`, and from it
//! medians and ranges in `bench/RESULTS.md` and a picture of each table in `docs/bench/`.
//! Never: a figure that a test depends on. A load that fails costs its own row, with the reason in it, and no other.
//! Read next: `scenario.rs`, `tables.rs`.

mod bounded;
mod compaction;
mod example;
mod measure;
mod options;
mod page;
mod plot;
mod process;
mod queues;
mod rdkafka;
mod results;
mod scenario;
mod sink;
mod system;
mod tables;
mod turn;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;

use crate::shell::{self, step};
use crate::toolchains;

pub(crate) use self::example::smoke as example_smoke;
use self::measure::Tools;
use self::options::{HELP, Mode, Options};
use self::results::{BESIDE, JOURNAL, Kind, Results, Run};
use self::scenario::Scenario;
use self::system::{MACHINE, NOTHING_STORED, System};

/// Every value behind the page's medians, a JSON object a line.
const RESULTS: &str = "bench/results.jsonl";
/// No limit of the machine is measured for longer.
const LIMIT_SECONDS_MAX: f64 = 10.0;
/// What a load takes beside its own time: its topic, what has to be there before, and the cleaning of the disk.
const SECONDS_AROUND: f64 = 3.5;
/// The name under which a start and the memory are kept.
const START: &str = "start";
/// The name of the machine's own limits.
const LIMITS: &str = "limits";

/// Runs the command.
pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    if let Some((first, rest)) = args.split_first()
        && first == "--queues"
    {
        return queues::run(rest);
    }
    if args.iter().any(|arg| arg == "--help") {
        println!("{HELP}");
        return Ok(());
    }
    if let Some((first, rest)) = args.split_first()
        && first == "compaction"
    {
        return compaction::run(rest);
    }
    let options = Options::parse(args)?;
    match options.mode {
        Mode::Plots => page::write(&committed()?),
        Mode::Example => with_tools(false, |tools, fanlog| example::run(&options, tools, fanlog)),
        Mode::Journal => with_tools(false, |tools, fanlog| {
            let loads: Vec<_> = scenario::JOURNAL.iter().collect();
            let systems = system::fanlog(fanlog);
            compare(JOURNAL, &options, tools, &loads, &systems)
        }),
        Mode::Beside => with_tools(true, |tools, fanlog| {
            let loads: Vec<_> = scenario::beside().collect();
            let mut systems = system::fanlog(fanlog);
            systems.extend(system::kafka(&toolchains::kafka()?));
            compare(BESIDE, &options, tools, &loads, &systems)
        }),
    }
}

/// What lies in the repository.
fn committed() -> anyhow::Result<Results> {
    let path = shell::repository().join(RESULTS);
    let text = std::fs::read_to_string(&path).with_context(|| format!("{}", path.display()))?;
    Results::read(&text).with_context(|| RESULTS.to_owned())
}

/// Builds what is needed, and removes what was written when `work` is over.
fn with_tools(
    has_librdkafka: bool,
    work: impl FnOnce(&Tools, &Path) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let dir = toolchains::cache().join("bench");
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir)?;
    let fanlog = build_release()?;
    let tools = Tools {
        load: fanlog.with_file_name("fanlog-bench"),
        rdkafka: has_librdkafka.then(rdkafka::prepare).transpose()?,
        dir: dir.clone(),
    };
    let done = work(&tools, &fanlog);
    let _ = std::fs::remove_dir_all(&dir);
    done
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

/// With what a run measures.
fn this_run(options: &Options) -> anyhow::Result<Run> {
    let (commit, date) = shell::commit_and_date("bench/RESULTS.md")?;
    Ok(Run {
        commit,
        date,
        what: options.what(),
        machine: page::machine(),
    })
}

/// All systems in turns, round by round.
fn compare(
    kind: Kind,
    options: &Options,
    tools: &Tools,
    loads: &[&Scenario],
    systems: &[System],
) -> anyhow::Result<()> {
    let loads: Vec<&Scenario> = loads
        .iter()
        .copied()
        .filter(|load| options.wants(load.name))
        .collect();
    let systems: Vec<&System> = systems
        .iter()
        .filter(|system| options.wants_system(system.name))
        .collect();
    let mut results = begin(kind, options, &loads)?;
    let turns = options.rounds * systems.len() * loads.len();
    let minutes = turns as f64 * (options.seconds + SECONDS_AROUND) / 60.0;
    shell::say(&format!(
        "{} of {} loads on {} systems: about {minutes:.0} minutes",
        options.what(),
        loads.len(),
        systems.len()
    ));
    for round in 1..=options.rounds {
        if options.wants(LIMITS) {
            limits(kind, tools, options, &mut results);
        }
        if kind == BESIDE && options.wants_system(NOTHING_STORED) {
            sink::turn(tools, options.seconds, &loads, &mut results);
        }
        // Each is first once.
        let (later, sooner) = systems.split_at((round - 1) % systems.len().max(1));
        for system in sooner.iter().chain(later) {
            let what = format!("round {round} of {}: {}", options.rounds, system.name);
            shell::say(&what);
            turn::turn(kind, system, tools, options, &loads, &mut results);
            keep(&results, options)?;
        }
    }
    finish(kind, &results, options)
}

/// What there is before the first round: of a whole run nothing of this kind.
fn begin(kind: Kind, options: &Options, loads: &[&Scenario]) -> anyhow::Result<Results> {
    let mut results = if options.writes() {
        committed()?
    } else {
        Results::default()
    };
    if options.is_whole() {
        results.clear(kind);
    }
    let run = this_run(options)?;
    for load in loads {
        results.begin(kind, load.name, &run);
    }
    if options.wants(LIMITS) {
        results.begin(kind, LIMITS, &run);
    }
    if kind == BESIDE && options.wants(START) {
        results.begin(kind, START, &run);
    }
    Ok(results)
}

/// What was measured so far stays, whatever ends the run.
fn keep(results: &Results, options: &Options) -> anyhow::Result<()> {
    if options.writes() {
        let path = shell::repository().join(RESULTS);
        std::fs::write(&path, results.lines())
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// Draws the pages, and says what failed.
fn finish(kind: Kind, results: &Results, options: &Options) -> anyhow::Result<()> {
    if options.writes() {
        keep(results, options)?;
        page::write(results)?;
    } else {
        println!("{}", page::results(results));
    }
    let failed: Vec<String> = results
        .failures()
        .filter(|(of, ..)| *of == kind)
        .map(|(_, load, system, reason)| format!("{load} on {system}: {reason}"))
        .collect();
    anyhow::ensure!(
        failed.is_empty(),
        "{} rows failed; the others are there\n  {}",
        failed.len(),
        failed.join("\n  ")
    );
    Ok(())
}

/// What the machine gives without a broker.
fn limits(kind: Kind, tools: &Tools, options: &Options, results: &mut Results) {
    let seconds = (options.seconds / 4.0).min(LIMIT_SECONDS_MAX).to_string();
    let dir = tools.dir.display().to_string();
    let found = step("what the machine gives", || {
        let arguments = ["limits", &dir, "--seconds", &seconds];
        tools.load(&arguments, Duration::from_secs(600), 0.0)
    });
    match found {
        Ok(found) => {
            for (name, value) in found {
                results.add(kind, LIMITS, MACHINE, &name, value);
            }
        }
        Err(error) => {
            let _ = std::fs::remove_file(tools.dir.join("limits"));
            results.fail(kind, LIMITS, MACHINE, &format!("{error:#}"));
        }
    }
}
