//! The load that others must not disturb: records at a given rate, each awaited, and readers at the end of the log.
//!
//! Every record says in which phase it was sent, so that the times of one phase are told from those of the next while the load goes on.

use super::phase::{PHASES, Phase, Times};
use crate::connection::Connection;
use crate::load::{Load, Shape, acknowledged};
use crate::pace::{Pace, Turn};
use crate::reader::{Limits, StampReader};
use crate::stamp::{self, STAMP_BYTES};
use fanlog_protocol::records::Compression;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

/// What a consumer asks for by default: anything, at once.
const LIMITS: Limits = Limits {
    bytes_max: 16 * 1024 * 1024,
    partition_bytes_max: 1024 * 1024,
    wait_ms: 500,
    bytes_min: 1,
};
/// Longer than any run.
const FOREVER: Duration = Duration::from_secs(24 * 60 * 60);
/// Where the number in a stamp has the phase.
const PHASE_SHIFT: u32 = 32;

/// The load's shape.
#[derive(Clone, Debug)]
pub struct Steady {
    /// Where the broker is.
    pub broker: String,
    /// A topic that is new.
    pub topic: String,
    /// How many partitions it has.
    pub partitions: i32,
    /// The bytes of a record's value.
    pub record_bytes: usize,
    /// Records a second in all.
    pub rate: u32,
    /// How many records go together.
    pub batch_records: u32,
    /// How many connections send.
    pub connections: usize,
    /// How many readers follow.
    pub tails: usize,
}

/// What the threads of the load share with whoever leads it through its phases.
#[derive(Debug)]
pub(super) struct Lead {
    phase: AtomicUsize,
    is_over: AtomicBool,
    started: Instant,
}

/// A batch under way: when its time begins, and the phase that it belongs to.
type Sent = (Instant, usize);

impl Lead {
    pub(super) fn new() -> Self {
        Self {
            phase: AtomicUsize::new(Phase::Uncounted as usize),
            is_over: AtomicBool::new(false),
            started: Instant::now(),
        }
    }

    /// What is sent from now on counts for `phase`.
    pub(super) fn begin(&self, phase: Phase) {
        self.phase.store(phase as usize, Ordering::Relaxed);
    }

    pub(super) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    fn goes_on(&self) -> bool {
        !self.is_over.load(Ordering::Relaxed)
    }
}

impl Steady {
    /// Runs the load while `leader` runs; its result, the times of the acknowledgements, and those of the readers.
    pub(super) fn run_beside<T>(
        &self,
        leader: impl FnOnce(&Lead) -> anyhow::Result<T>,
    ) -> anyhow::Result<(T, Times, Times)> {
        let shape = Shape {
            record_bytes: self.record_bytes.max(STAMP_BYTES),
            batch_bytes: self.record_bytes.max(STAMP_BYTES) * self.batch_records.max(1) as usize,
            compression: Compression::None,
        };
        let load = Load::new(&self.topic, shape, -1)?;
        let lead = Lead::new();
        let lead = &lead;
        std::thread::scope(|scope| {
            let (mut senders, mut readers) = (Vec::new(), Vec::new());
            for _ in 0..self.tails {
                let reader = StampReader::open(&self.broker, &self.topic, self.partitions)?;
                readers.push(scope.spawn(move || follow(reader, lead)));
            }
            let mut receivers = Vec::new();
            for number in 0..self.connections {
                let connection = Connection::open(&self.broker)?;
                let receiving = connection.second()?;
                let (under_way, awaited) = mpsc::channel();
                let load = load.clone();
                senders.push(
                    scope.spawn(move || self.send(number, connection, load, &under_way, lead)),
                );
                receivers.push(scope.spawn(move || receive(receiving, &awaited)));
            }
            let led = leader(lead);
            lead.end();
            // The receivers know why a connection broke; the senders only find it closed.
            let acknowledgements = joined(receivers);
            let followed = joined(readers);
            for sender in senders {
                sender.join().expect("a panic ends the program")?;
            }
            Ok((led?, acknowledgements?, followed?))
        })
    }

    fn send(
        &self,
        number: usize,
        mut connection: Connection,
        mut load: Load,
        under_way: &mpsc::Sender<Sent>,
        lead: &Lead,
    ) -> anyhow::Result<()> {
        let places = stamp::places(load.batch_mut())?;
        let batches_per_second = f64::from(self.rate) / f64::from(self.batch_records.max(1));
        let senders = self.connections;
        let mut pace = Pace::new(lead.started, FOREVER, batches_per_second, number, senders);
        let mut sent = 0i32;
        while lead.goes_on()
            && let Turn::Send { from, .. } = pace.turn()
        {
            let phase = lead.phase.load(Ordering::Relaxed);
            let at = u64::try_from((from - lead.started).as_nanos())?;
            stamp::stamp(load.batch_mut(), &places, (phase as u64) << PHASE_SHIFT, at);
            let turn = sent.unsigned_abs() * senders as u32 + number as u32;
            let partition = turn % self.partitions.unsigned_abs();
            if under_way.send((from, phase)).is_err() {
                // The receiver has failed and says why.
                break;
            }
            connection.send(load.addressed(partition as i32, sent))?;
            sent += 1;
        }
        Ok(())
    }
}

fn joined(threads: Vec<ScopedJoinHandle<'_, anyhow::Result<Times>>>) -> anyhow::Result<Times> {
    let mut all = Times::new();
    for thread in threads {
        all.add(&thread.join().expect("a panic ends the program")?)?;
    }
    Ok(all)
}

fn receive(mut connection: Connection, awaited: &mpsc::Receiver<Sent>) -> anyhow::Result<Times> {
    let mut times = Times::new();
    for (correlation, (from, phase)) in awaited.iter().enumerate() {
        acknowledged(connection.receive()?, correlation as i32)?;
        times.record(phase, from.elapsed());
    }
    Ok(times)
}

fn follow(mut reader: StampReader, lead: &Lead) -> anyhow::Result<Times> {
    let mut times = Times::new();
    while lead.goes_on() {
        reader.fetch(LIMITS, |_, stamp| {
            let now = lead.started.elapsed();
            let phase = (stamp.number >> PHASE_SHIFT) as usize;
            let took = now.saturating_sub(Duration::from_nanos(stamp.sent_ns));
            times.record(phase.min(PHASES - 1), took);
        })?;
    }
    Ok(times)
}
