//! `cargo xtask bench --example`: the worked example, against Fanlog with its defaults.

use std::path::Path;
use std::time::Duration;

use anyhow::Context;

use super::bounded::{self, Bounds};
use super::measure::{Bench, Figures, Tools, figures};
use super::options::Options;
use super::results::{EXAMPLE, Results};
use super::system::{self, System};
use super::tables::{BURST, RUN_A, RUN_B};
use super::turn::say;
use super::{finish, keep, this_run};
use crate::shell::{self, step};
use crate::tally::Tally;
use crate::{compat, toolchains};

const TOPIC: &str = "order.placed";
const PARTITIONS: u32 = 16;
/// What is published a second, how long, and what the group that is held back reads a second.
const RATE: f64 = 50_000.0;
const SECONDS: f64 = 180.0;
/// The bytes of a record's value.
const RECORD_BYTES: f64 = 1000.0;
const HELD_RATE: f64 = 2000.0;
const BASELINE_RATE: f64 = 500.0;
const BASELINE_SECONDS: f64 = 30.0;
/// How long a backlog may take once its group was let go, and the end of all groups.
const DRAIN_SECONDS_MAX: f64 = 900.0;
/// What the test command runs: thousands of records a second for some seconds.
const SMOKE_SCALE: f64 = 0.003;
/// What must not be.
const AMISS: [&str; 4] = ["lost", "duplicated", "out_of_order", "incomplete_groups"];

/// The whole example, or its runs that were asked for.
pub(super) fn run(options: &Options, tools: &Tools, fanlog: &Path) -> anyhow::Result<()> {
    let mut results = if options.writes() {
        super::committed()?
    } else {
        Results::default()
    };
    let this = this_run(options)?;
    let system = system(fanlog)?;
    let mut amiss = Vec::new();
    for (letter, name) in [('a', RUN_A), ('b', RUN_B)] {
        if !options.runs.contains(letter) {
            continue;
        }
        results.begin_alone(EXAMPLE, BURST, name, &this);
        let found = step(&format!("the worked example, {name}"), || {
            one(tools, &system, letter == 'b', options.scale)
        });
        match found {
            Ok(found) => {
                say(name, &found);
                amiss.extend(
                    verdict(&found)
                        .err()
                        .map(|error| format!("{name}: {error}")),
                );
                for (figure, value) in found {
                    results.add(EXAMPLE, BURST, name, &figure, value);
                }
            }
            Err(error) => results.fail(EXAMPLE, BURST, name, &format!("{error:#}")),
        }
        keep(&results, options)?;
    }
    finish(EXAMPLE, &results, options)?;
    anyhow::ensure!(amiss.is_empty(), "{}", amiss.join("; "));
    Ok(())
}

/// A small run B with the binaries that the tests have: every group gets every record, also the one that was held back.
pub(crate) fn smoke(tally: &mut Tally) {
    let outcome = step("the worked example, small", || {
        let fanlog = compat::build_fanlog(false)?;
        let tools = Tools {
            load: fanlog.with_file_name("fanlog-bench"),
            rdkafka: None,
            dir: toolchains::cache().join(format!("example-{}", std::process::id())),
        };
        std::fs::create_dir_all(&tools.dir)?;
        let found = system(&fanlog).and_then(|system| one(&tools, &system, true, SMOKE_SCALE));
        std::fs::remove_dir_all(&tools.dir)?;
        verdict(&found?)
    });
    tally.record("the worked example, small", outcome);
}

fn system(fanlog: &Path) -> anyhow::Result<System> {
    let first = system::fanlog(fanlog).into_iter().next();
    first.context("the first system is Fanlog with its defaults")
}

/// One run on a broker with an empty disk.
fn one(tools: &Tools, system: &System, is_held: bool, scale: f64) -> anyhow::Result<Figures> {
    let dir = tools.dir.join("broker");
    let _ = std::fs::remove_dir_all(&dir);
    let mut broker = system.start(&dir)?;
    let bench = Bench {
        tools,
        system,
        broker: &broker,
        // It only creates the topic.
        seconds: 1.0,
    };
    bench.topic(TOPIC, PARTITIONS, &[])?;
    let mut command = shell::command(&tools.load);
    let process = broker.process().id().to_string();
    command
        .args(["burst", "--bootstrap", broker.bootstrap(), "--topic", TOPIC])
        .args([
            "--partitions",
            &PARTITIONS.to_string(),
            "--broker-process",
            &process,
        ])
        .args(arguments(is_held, scale));
    let bounds = Bounds {
        time_max: Duration::from_secs_f64(SECONDS + BASELINE_SECONDS + DRAIN_SECONDS_MAX),
        interrupted_after: None,
        shows_progress: true,
        disk: &tools.dir,
        sent_max: RATE * SECONDS * RECORD_BYTES * scale,
    };
    let found = figures(&bounded::output(&mut command, bounds)?)?;
    broker.stop()?;
    std::fs::remove_dir_all(&dir)?;
    Ok(found)
}

/// With the root of `scale` as fast and as long, `scale` of the records are sent.
fn arguments(is_held: bool, scale: f64) -> Vec<String> {
    let root = scale.sqrt();
    let rate = |full: f64| format!("{:.0}", (full * root).ceil());
    let mut arguments = vec!["--rate".to_owned(), rate(RATE)];
    arguments.extend(["--seconds".to_owned(), (SECONDS * root).to_string()]);
    if is_held {
        let seconds = (BASELINE_SECONDS * root).max(2.0).to_string();
        let held = format!("email={}", rate(HELD_RATE));
        arguments.extend(["--held".to_owned(), held]);
        arguments.extend(["--baseline".to_owned(), rate(BASELINE_RATE)]);
        arguments.extend(["--baseline-seconds".to_owned(), seconds]);
    }
    arguments
}

/// Whether every group got every record once, in order.
fn verdict(found: &Figures) -> anyhow::Result<()> {
    let figure = |name: &str| {
        let found = found.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| *value)
    };
    for name in AMISS {
        let value = figure(name).with_context(|| format!("the run does not say {name}"))?;
        anyhow::ensure!(value == 0.0, "{name}: {value}");
    }
    let records = figure("records").filter(|records| *records > 0.0);
    records.context("nothing was published").map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_full_example_is_what_it_is_called_and_a_scaled_one_sends_its_share() {
        let full = ["--rate", "50000", "--seconds", "180"];
        assert_eq!(arguments(false, 1.0), full);
        let held = [
            "--held",
            "email=2000",
            "--baseline",
            "500",
            "--baseline-seconds",
            "30",
        ];
        assert_eq!(arguments(true, 1.0)[4..], held);
        let scaled = arguments(true, 0.01);
        assert_eq!(scaled[..4], ["--rate", "5000", "--seconds", "18"]);
        assert_eq!(scaled[5], "email=200");
    }

    #[test]
    fn a_lost_record_and_a_figure_that_is_missing_are_no_success() {
        let found = |lost: f64| -> Figures {
            let figures = AMISS.map(|name| (name.to_owned(), 0.0));
            let mut figures = figures.to_vec();
            figures[0].1 = lost;
            figures.push(("records".to_owned(), 5.0));
            figures
        };
        assert!(verdict(&found(0.0)).is_ok());
        let error = verdict(&found(1.0)).unwrap_err();
        assert_eq!(error.to_string(), "lost: 1");
        assert!(verdict(&found(0.0)[1..].to_vec()).is_err());
        assert!(verdict(&found(0.0)[..4].to_vec()).is_err());
    }
}
