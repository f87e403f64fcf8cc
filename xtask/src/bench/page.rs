//! `bench/RESULTS.md`: medians, ranges and ratios, with what they were measured on.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use super::Options;
use super::samples::{Samples, Spread};
use super::scenario::{SCENARIOS, Scenario};
use super::system::System;
use crate::shell;

/// Where the page lies.
pub(super) const PATH: &str = "bench/RESULTS.md";

pub(super) fn render(
    samples: &Samples,
    systems: &[System],
    options: &Options,
    took: Duration,
) -> anyhow::Result<String> {
    let (commit, date) = shell::commit_and_date(PATH)?;
    let mut page = format!(
        "# Fanlog beside Kafka 4.4, and what the machine gives\n\n\
         Written by `cargo xtask bench`; do not edit. Commit {commit}, {date}; {rounds} rounds of {seconds} s for each load, the brokers in\n\
         turns, {minutes:.0} minutes in all; before each load the data of the one before is deleted and everything else synced. Median, and least to most of the rounds. {machine}\n\n\
         Fanlog acknowledges what is on the disk. *Kafka* has its defaults and acknowledges what is in memory; *Kafka, synced*\n\
         (`flush.messages=1` on the topic) promises what Fanlog promises. Load generator and broker share the processors. Ratios mean\n\
         something; absolute figures of a virtual machine are another's tomorrow. What the figures say, and where Fanlog's time goes:\n\
         [docs/decisions/first-figures.md](../docs/decisions/first-figures.md).\n",
        rounds = options.rounds,
        seconds = options.seconds,
        minutes = took.as_secs_f64() / 60.0,
        machine = machine(),
    );
    ratios(&mut page, samples, systems)?;
    cost(&mut page, samples, systems)?;
    latency(&mut page, samples, systems)?;
    start(&mut page, samples, systems)?;
    limits(&mut page, samples)?;
    Ok(page)
}

/// The machine in a sentence.
fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(Path::new(path)).unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let cpu = read("/proc/cpuinfo");
    let cpu = cpu.lines().find_map(|line| line.strip_prefix("model name"));
    let cpu = cpu.map_or("unknown", |name| name.trim_start_matches([' ', '\t', ':']));
    let memory = read("/proc/meminfo");
    let kib = memory
        .split_whitespace()
        .nth(1)
        .and_then(|kib| kib.parse::<f64>().ok());
    format!(
        "{cores} processors ({cpu}), {gib:.0} GiB, Linux {kernel}, {disk}, TCP congestion control {tcp} for all.",
        gib = kib.unwrap_or_default() / 1024.0 / 1024.0,
        kernel = read("/proc/sys/kernel/osrelease").trim(),
        disk = file_system().unwrap_or_else(|_| "a file system that has no name".to_owned()),
        tcp = read("/proc/sys/net/ipv4/tcp_congestion_control").trim(),
    )
}

/// The name of the file system below `target/`.
fn file_system() -> anyhow::Result<String> {
    let mut df = shell::command("df");
    df.arg("--output=fstype").arg(shell::target_dir());
    let said = shell::output(&mut df)?;
    Ok(said.lines().last().unwrap_or_default().trim().to_owned())
}

fn head(page: &mut String, first: &str, systems: &[System], more: &[String]) {
    let names = systems.iter().map(|system| system.name.to_owned());
    let columns: Vec<String> = names.chain(more.iter().cloned()).collect();
    let _ = writeln!(page, "\n| {first} | {} |", columns.join(" | "));
    let _ = writeln!(page, "|---{}|", "|---".repeat(columns.len()));
}

fn ratios(page: &mut String, samples: &Samples, systems: &[System]) -> anyhow::Result<()> {
    page.push_str("\n## How fast\n");
    let more = ["Fanlog : Kafka", "Fanlog : Kafka, synced"].map(str::to_owned);
    head(page, "load", systems, &more);
    for scenario in SCENARIOS {
        let (figure, _) = scenario.figure;
        let spreads: Vec<_> = systems
            .iter()
            .map(|system| samples.spread(scenario.name, system.name, figure))
            .collect();
        if spreads.iter().all(Option::is_none) {
            continue;
        }
        let cells: Vec<String> = spreads.iter().map(|spread| cell(*spread)).collect();
        let ratio = |other: usize| match (spreads.first(), spreads.get(other)) {
            (Some(Some(ours)), Some(Some(theirs))) => {
                let ratio = ours.median / theirs.median;
                let digits = if ratio < 0.1 { 4 } else { 2 };
                format!("{ratio:.digits$}")
            }
            _ => "-".to_owned(),
        };
        let what = format!("{} ({})", scenario.about, unit(scenario));
        writeln!(
            page,
            "| {what} | {} | {} | {} |",
            cells.join(" | "),
            ratio(1),
            ratio(2)
        )?;
    }
    Ok(())
}

/// What the compared figure is counted in, and which way is better.
fn unit(scenario: &Scenario) -> &'static str {
    match scenario.figure {
        ("megabytes_per_second", _) => "MB/s",
        ("records_per_second", _) => "records/s",
        (_, true) => "more is better",
        (_, false) => "p99 in ms; less is better",
    }
}

fn cell(spread: Option<Spread>) -> String {
    let number = |value: f64| match value.abs() {
        ..10.0 => format!("{value:.2}"),
        ..1000.0 => format!("{value:.0}"),
        _ => format!("{:.0}", value),
    };
    spread.map_or_else(
        || "-".to_owned(),
        |spread| {
            format!(
                "**{}** ({} to {})",
                number(spread.median),
                number(spread.least),
                number(spread.most)
            )
        },
    )
}

fn cost(page: &mut String, samples: &Samples, systems: &[System]) -> anyhow::Result<()> {
    page.push_str("\n## Processor time of the broker, seconds per GB moved\n");
    head(page, "load", systems, &[]);
    for scenario in SCENARIOS.iter().filter(|one| one.figure.1) {
        row(
            page,
            samples,
            systems,
            scenario.name,
            scenario.name,
            "broker_cpu_s_per_gb",
        )?;
    }
    Ok(())
}

fn latency(page: &mut String, samples: &Samples, systems: &[System]) -> anyhow::Result<()> {
    page.push_str("\n## Time until acknowledged, in ms\n");
    head(page, "load", systems, &[]);
    for scenario in SCENARIOS {
        for (figure, what) in [("p50_ms", "p50"), ("p99_ms", "p99"), ("p999_ms", "p99.9")] {
            let label = format!("{} {what}", scenario.name);
            row(page, samples, systems, scenario.name, &label, figure)?;
        }
    }
    Ok(())
}

fn start(page: &mut String, samples: &Samples, systems: &[System]) -> anyhow::Result<()> {
    page.push_str("\n## Start and memory\n");
    head(page, "what", systems, &[]);
    for (label, figure) in [
        ("start on an empty disk, ms", "start_ms"),
        ("resident when started, MiB", "idle_mib"),
        ("most resident in all loads, MiB", "peak_mib"),
    ] {
        row(page, samples, systems, "start", label, figure)?;
    }
    Ok(())
}

/// A row, unless nothing of it was measured.
fn row(
    page: &mut String,
    samples: &Samples,
    systems: &[System],
    load: &str,
    label: &str,
    figure: &str,
) -> anyhow::Result<()> {
    let spreads: Vec<_> = systems
        .iter()
        .map(|system| samples.spread(load, system.name, figure))
        .collect();
    if spreads.iter().any(Option::is_some) {
        let cells: Vec<String> = spreads.into_iter().map(cell).collect();
        writeln!(page, "| {label} | {} |", cells.join(" | "))?;
    }
    Ok(())
}

fn limits(page: &mut String, samples: &Samples) -> anyhow::Result<()> {
    page.push_str(
        "\n## What the machine gives, in the same run\n\n\
         *bare*: receive, checksum, write, one fdatasync for all that has come (5 in flight), acknowledge; one thread on each side.\n\n\
         | what | figure |\n|---|---|\n",
    );
    for name in samples.names("limits", "machine") {
        let spread = samples.spread("limits", "machine", &name);
        writeln!(page, "| {} | {} |", name.replace('_', " "), cell(spread))?;
    }
    Ok(())
}
