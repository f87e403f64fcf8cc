//! One broker's turn: started on an empty disk, every load, a crash, and gone.

use super::START;
use super::measure::{Bench, Figures, Tools};
use super::options::Options;
use super::results::{BESIDE, Kind, Results};
use super::scenario::Scenario;
use super::system::{Running, System};

/// A load that fails takes its broker with it: the next one finds a new one.
pub(super) fn turn(
    kind: Kind,
    system: &System,
    tools: &Tools,
    options: &Options,
    loads: &[&Scenario],
    results: &mut Results,
) {
    let is_start_wanted = kind == BESIDE && options.wants(START);
    let start = |results: &mut Results| start(is_start_wanted, system, tools, results);
    // A system that cannot even be warmed up has one failed row, not one for each load.
    let mut running = match start(results) {
        Ok(broker) => Some(broker),
        Err(error) => {
            failed(kind, START, system, &error, results);
            return remove(tools);
        }
    };
    for load in loads {
        let done = running
            .take()
            .map_or_else(|| start(results), Ok)
            .and_then(|broker| {
                let bench = Bench {
                    tools,
                    system,
                    broker: &broker,
                    seconds: options.seconds,
                };
                let found = bench.run(load)?;
                Ok((broker, found))
            });
        match done {
            Ok((broker, found)) => {
                say(load.name, &found);
                for (name, value) in found {
                    results.add(kind, load.name, system.name, &name, value);
                }
                running = Some(broker);
            }
            Err(error) => failed(kind, load.name, system, &error, results),
        }
    }
    if is_start_wanted
        && let Some(broker) = running.take()
        && let Err(error) = end(system, tools, broker, results)
    {
        failed(kind, START, system, &error, results);
    }
    drop(running);
    remove(tools);
}

fn remove(tools: &Tools) {
    // What cannot be removed shows when the next broker finds no room.
    let _ = std::fs::remove_dir_all(tools.dir.join("broker"));
}

/// A broker with an empty disk, warmed up.
fn start(
    is_measured: bool,
    system: &System,
    tools: &Tools,
    results: &mut Results,
) -> anyhow::Result<Running> {
    remove(tools);
    let broker = system.start(&tools.dir.join("broker"))?;
    if is_measured {
        let (started, idle) = (broker.started_in_ms(), broker.resident_mib()?);
        results.add(BESIDE, START, system.name, "start_ms", started);
        results.add(BESIDE, START, system.name, "idle_mib", idle);
    }
    let bench = Bench {
        tools,
        system,
        broker: &broker,
        seconds: 4.0,
    };
    bench.warm_up()?;
    Ok(broker)
}

/// What is measured once in a turn.
fn end(
    system: &System,
    tools: &Tools,
    mut broker: Running,
    results: &mut Results,
) -> anyhow::Result<()> {
    let peak = broker.peak_mib()?;
    results.add(BESIDE, START, system.name, "peak_mib", peak);
    let recovery = Bench::recovery_ms(tools, system, &mut broker)?;
    results.add(BESIDE, START, system.name, "recovery_ms", recovery);
    broker.stop()
}

fn failed(kind: Kind, load: &str, system: &System, error: &anyhow::Error, results: &mut Results) {
    println!("    {load:<28} FAILED: {error:#}");
    results.fail(kind, load, system.name, &format!("{error:#}"));
}

/// A progress line.
pub(super) fn say(load: &str, found: &Figures) {
    let line: Vec<String> = found
        .iter()
        .map(|(name, value)| format!("{name} {value:.2}"))
        .collect();
    println!("    {load:<28} {}", line.join("  "));
}
