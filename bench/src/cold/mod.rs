//! A reader of old records beside a steady load: whom does it harm?
//!
//! Why it exists: records that are not in memory come from the disk that commits wait for, and go through the processors that serve
//! everybody. Here a steady load is measured alone, beside such a reader, and beside one that has stopped in the middle of an answer;
//! and beside a program that reads the same bytes as fast without the broker, which is what the machine itself makes of it.
//! In -> out: a broker and its data directory -> percentiles by phase.
//! Read next: `steady.rs`.

mod phase;
mod steady;

pub use steady::Steady;

use crate::figures::Figures;
use crate::load::Shape;
use crate::pace::Stop;
use crate::produce::Produce;
use crate::topic;
use anyhow::{Context, ensure};
use fanlog_protocol::records::Compression;
use phase::Phase;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use steady::Lead;

/// Where Linux is told to forget what is in memory of files.
const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";
/// What is dropped: pages, and not the names of files.
const PAGES: &str = "1";
/// Until the steady load runs evenly.
const WARM_UP: Duration = Duration::from_secs(3);
/// How long the reader runs before it is stopped.
const BEFORE_FREEZING: Duration = Duration::from_millis(500);
/// What the tool itself reads at once.
const PIECE: usize = 1024 * 1024;
/// Old records are written in batches like this.
const OLD_BATCH_BYTES: usize = 64 * 1024;
const OLD_RECORD_BYTES: usize = 1024;
const OLD_CONNECTIONS: usize = 4;
const OLD_IN_FLIGHT: usize = 5;

/// A run.
#[derive(Clone, Debug)]
pub struct Cold {
    /// The steady load.
    pub steady: Steady,
    /// A topic that is new, for the old records.
    pub old_topic: String,
    /// How many bytes of old records.
    pub old_bytes: u64,
    /// The broker's data directory.
    pub data: PathBuf,
    /// How long each phase lasts that has no end of its own.
    pub span: Duration,
    /// Whether the old records are read a second time, from memory.
    pub again: bool,
}

impl Cold {
    /// Runs it.
    ///
    /// # Errors
    /// This process may not drop the page cache; or a record was refused, or a connection broke.
    pub fn run(&self) -> anyhow::Result<Figures> {
        drop_caches()?;
        let steady = &self.steady;
        let (broker, partitions) = (&steady.broker, steady.partitions);
        topic::create(broker, &self.old_topic, partitions, &[])?;
        topic::create(broker, &steady.topic, partitions, &[])?;
        let mut figures = Figures::default();
        let written = self.write_old()?;
        figures.put(
            "write_megabytes_per_second",
            written.get("megabytes_per_second").unwrap_or_default(),
        );
        let (rates, acks, tails) = steady.run_beside(|lead| self.lead(lead))?;
        let mut phases = vec![Phase::Quiet];
        for (phase, rate) in rates {
            if let Some(rate) = rate {
                figures.put(format!("{}_megabytes_per_second", phase.name()), rate);
            }
            phases.push(phase);
        }
        for phase in &phases {
            acks.put(&mut figures, *phase, "ack");
            tails.put(&mut figures, *phase, "tail");
        }
        for phase in &phases[1..] {
            acks.put_ratio(&mut figures, *phase, "ack");
            tails.put_ratio(&mut figures, *phase, "tail");
        }
        Ok(figures)
    }

    fn write_old(&self) -> anyhow::Result<Figures> {
        Produce {
            broker: self.steady.broker.clone(),
            topic: self.old_topic.clone(),
            partitions: self.steady.partitions,
            shape: Shape {
                record_bytes: OLD_RECORD_BYTES,
                batch_bytes: OLD_BATCH_BYTES,
                compression: Compression::None,
            },
            connections: OLD_CONNECTIONS,
            in_flight: OLD_IN_FLIGHT,
            acks: -1,
            span: Duration::from_secs(24 * 60 * 60),
            bytes_max: self.old_bytes,
            stop: Stop::default(),
        }
        .run()
    }

    /// Leads the load through the phases; those behind the quiet one, with the megabytes a second that were read.
    fn lead(&self, lead: &Lead) -> anyhow::Result<Vec<(Phase, Option<f64>)>> {
        drop_caches()?;
        let wait = |phase, span| {
            lead.begin(phase);
            std::thread::sleep(span);
            lead.begin(Phase::Uncounted);
        };
        wait(Phase::Uncounted, WARM_UP);
        wait(Phase::Quiet, self.span);
        let mut found = Vec::new();
        lead.begin(Phase::Replay);
        let rate = self.replay()?;
        found.push((Phase::Replay, Some(rate)));
        if self.again {
            lead.begin(Phase::Again);
            found.push((Phase::Again, Some(self.replay()?)));
        }
        lead.begin(Phase::Uncounted);
        drop_caches()?;
        std::thread::sleep(WARM_UP);
        lead.begin(Phase::Machine);
        let read = read_paced(&self.data, &self.old_topic, rate)?;
        found.push((Phase::Machine, Some(read)));
        lead.begin(Phase::Uncounted);
        drop_caches()?;
        let frozen = self.frozen_reader()?;
        std::thread::sleep(WARM_UP);
        wait(Phase::Frozen, self.span);
        drop(frozen);
        found.push((Phase::Frozen, None));
        Ok(found)
    }

    /// Megabytes a second of a reader that takes all old records.
    fn replay(&self) -> anyhow::Result<f64> {
        let output = self.reader()?.stdout(Stdio::piped()).output()?;
        ensure!(output.status.success(), "the reader failed");
        let text = String::from_utf8(output.stdout)?;
        let figure = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|value| value.trim().parse::<f64>().ok())
                .with_context(|| format!("the reader said nothing of {name}: {text}"))
        };
        let bytes = figure("bytes ")?;
        ensure!(
            bytes >= self.old_bytes as f64 * 0.95,
            "the reader took {bytes} bytes of {}",
            self.old_bytes
        );
        figure("megabytes_per_second ")
    }

    /// This program again, as a reader: a process that can be stopped.
    fn reader(&self) -> anyhow::Result<Command> {
        let mut reader = Command::new(std::env::current_exe()?);
        let partitions = self.steady.partitions.to_string();
        reader.args(["fetch", "--once", "--seconds", "86400"]);
        reader.args(["--bootstrap", &self.steady.broker]);
        reader.args(["--topic", &self.old_topic, "--partitions", &partitions]);
        Ok(reader)
    }

    fn frozen_reader(&self) -> anyhow::Result<Ended> {
        let child = self.reader()?.stdout(Stdio::null()).spawn()?;
        let frozen = Ended(child);
        std::thread::sleep(BEFORE_FREEZING);
        let id = Pid::from_child(&frozen.0);
        kill_process(id, Signal::STOP)?;
        Ok(frozen)
    }
}

/// A child that is ended with this value.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Has everything written, and takes all that lies in memory of files out of it.
fn drop_caches() -> anyhow::Result<()> {
    rustix::fs::sync();
    std::fs::write(DROP_CACHES, PAGES).with_context(|| {
        format!("{DROP_CACHES}: only root may take files out of memory, and without that nothing here is cold")
    })
}

/// Reads a topic's segments at a rate, in megabytes a second; the rate that came of it.
fn read_paced(data: &Path, topic: &str, rate: f64) -> anyhow::Result<f64> {
    let mut buffer = vec![0; PIECE];
    let (started, mut bytes) = (Instant::now(), 0u64);
    for path in segments(data, topic)? {
        let file = File::open(&path)?;
        let mut at = 0;
        loop {
            let due = Duration::from_secs_f64(bytes as f64 / 1e6 / rate.max(1.0));
            std::thread::sleep(due.saturating_sub(started.elapsed()));
            let count = file.read_at(&mut buffer, at)?;
            if count == 0 {
                break;
            }
            at += count as u64;
            bytes += count as u64;
        }
    }
    Ok(bytes as f64 / 1e6 / started.elapsed().as_secs_f64())
}

fn segments(data: &Path, topic: &str) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for folder in std::fs::read_dir(data)? {
        let folder = folder?;
        let name = folder.file_name();
        let Some((of, _)) = name.to_str().and_then(|name| name.rsplit_once('-')) else {
            continue;
        };
        if of != topic {
            continue;
        }
        for file in std::fs::read_dir(folder.path())? {
            let path = file?.path();
            if path.extension().is_some_and(|extension| extension == "log") {
                found.push(path);
            }
        }
    }
    ensure!(
        !found.is_empty(),
        "{} has no segments of {topic}",
        data.display()
    );
    found.sort();
    Ok(found)
}
