//! A million messages that are held, or that wait for their time: what the broker takes of memory, and how soon it serves after a crash.

use std::time::{Duration, Instant};

use anyhow::Context;

use super::{Options, PARTITIONS, SETUP, Section, Tools, figure, median, shown};
use crate::bench::process::Process;
use crate::compat::broker::{Broker, End, Kind, Setup};
use crate::shell::step;

const RECORDS: u64 = 1_000_000;
/// What a broker may take to its first message with a million pending.
const RESTART_MAX: f64 = 5.0;
/// `fanlog.queues.memory.bytes` by default.
const BOUND: f64 = 268_435_456.0;
/// Messages that are received after the restart.
const MORE: u64 = 4_000;
/// A broker that has answered gives back what the answers took, soon.
const SETTLES: Duration = Duration::from_millis(500);

/// How messages are pending, the topic's records for each of them, and how they are filled.
struct How {
    name: &'static str,
    said: &'static str,
    records_each: u64,
    filling: &'static [&'static str],
    /// `fanlog.queues.memory.bytes`.
    memory: f64,
}

const HOWS: [How; 5] = [
    How {
        name: "ready",
        said: "never looked at",
        records_each: 1,
        filling: &[],
        memory: BOUND,
    },
    How {
        name: "held",
        said: "in flight, received 1,000 at a time",
        records_each: 1,
        filling: &[],
        memory: BOUND,
    },
    How {
        name: "unlike",
        said: "in flight, no two locks alike",
        records_each: 1,
        filling: &[],
        memory: BOUND,
    },
    How {
        name: "scattered",
        said: "in flight, every other one acknowledged; 512 MiB set",
        records_each: 2,
        filling: &[],
        memory: 2.0 * BOUND,
    },
    How {
        name: "delayed",
        said: "delayed by an hour",
        records_each: 1,
        filling: &["--deliver-after", "1h"],
        memory: BOUND,
    },
];

#[derive(Default)]
struct Found {
    before: Vec<f64>,
    resident: Vec<f64>,
    metric: Vec<f64>,
    restart: Vec<f64>,
    resident_after: Vec<f64>,
}

/// Each on a broker of its own.
pub(super) fn measure(tools: &Tools, options: &Options) -> anyhow::Result<Section> {
    let records = options.count(RECORDS);
    let mut rows = Vec::new();
    let mut missed = Vec::new();
    for how in &HOWS {
        let mut found = Found::default();
        for round in 1..=options.rounds {
            let what = format!("round {round}: {records} {}", how.said);
            step(&what, || one(tools, how, records, &mut found))?;
        }
        let restart = found.restart.iter().copied().fold(0.0, f64::max);
        if restart >= RESTART_MAX {
            missed.push(format!("{}: {restart:.1} s to the first message", how.said));
        }
        if median(&found.metric)? > how.memory {
            missed.push(format!("{}: the queue takes more than its bound", how.said));
        }
        let mib = |values: &[f64]| shown(values, 0);
        rows.push(format!(
            "| {} | {} | {} | {} | {} | {} |",
            how.said,
            mib(&found.before),
            mib(&found.resident),
            mib(&found
                .metric
                .iter()
                .map(|bytes| bytes / 1024.0 / 1024.0)
                .collect::<Vec<_>>()),
            shown(&found.restart, 2),
            mib(&found.resident_after),
        ));
    }
    let text = format!(
        "{records} messages of 100 B on {PARTITIONS} partitions, in one queue. *Queues say* is the metric `fanlog_queue_memory_bytes`, which `fanlog.queues.memory.bytes`\n\
         bounds: 256 MiB, and 512 where every other message is acknowledged, since what is done with between others takes as much as these. Then the broker is killed (SIGKILL) and started again; the time is from the start of the process until a receive over\n\
         HTTP has a message. The goal is below {RESTART_MAX:.0} s.\n\n\
         | pending | resident before, MiB | resident with them, MiB | queues say, MiB | first message after, s | resident then, MiB |\n|---|---|---|---|---|---|\n{}\n",
        rows.join("\n")
    );
    Ok(Section {
        heading: "A million in flight, or delayed",
        text,
        missed,
    })
}

fn one(tools: &Tools, how: &How, records: u64, found: &mut Found) -> anyhow::Result<()> {
    const TOPIC: &str = "many";
    let extra: &[&str] = match how.memory > BOUND {
        true => &["fanlog.queues.memory.bytes=536870912"],
        false => &[],
    };
    let setup = Setup { extra, ..SETUP };
    let kind = Kind::Fanlog(tools.fanlog.clone());
    let mut broker = Broker::start_as(setup, &kind, &tools.dir.join("broker"))?;
    let filled = match how.name {
        "delayed" => records,
        _ => how.records_each * (records + MORE),
    };
    tools.fill(&broker, TOPIC, filled, how.filling)?;
    std::thread::sleep(SETTLES);
    found.before.push(resident(&broker)?);
    let at = ["--http", broker.http(), "--queue", "many"];
    let records_text = records.to_string();
    let load = ["--topic", TOPIC, "--records", &records_text];
    let held = match how.name {
        "ready" => [&["queue", "make"][..], &at, &load].concat(),
        name => [&["queue", "hold", "--how", name][..], &at, &load].concat(),
    };
    let held = tools.load(&held)?;
    std::thread::sleep(SETTLES);
    found.metric.push(figure(&held, "memory_bytes")?);
    found.resident.push(resident(&broker)?);
    if how.name == "delayed" {
        // What can be received stands behind all of them.
        tools.fill_on(&broker, TOPIC, MORE, &[])?;
    }
    let http = broker.http().to_owned();
    broker.stop(End::Kill)?;
    let started = Instant::now();
    broker.restart(End::Kill)?;
    tools.load(&["queue", "first", "--http", &http, "--queue", "many"])?;
    found.restart.push(started.elapsed().as_secs_f64());
    found.resident_after.push(resident(&broker)?);
    broker.stop(End::Terminate)
}

fn resident(broker: &Broker) -> anyhow::Result<f64> {
    let id = broker
        .process_id()
        .context("a broker that is ours has a process")?;
    Process::new(id).memory_mib("VmRSS:")
}
