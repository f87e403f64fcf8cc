//! One connection that publishes by the clock: the burst, then the baseline until it is enough.

use super::Burst;
use super::shared::{Phase, Shared};
use crate::connection::Connection;
use crate::load::{Load, Shape, acknowledged};
use crate::pace::{Pace, Turn};
use crate::stamp;
use fanlog_protocol::records::Compression;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Longer than anybody waits for a backlog.
const BASELINE_SPAN_MAX: Duration = Duration::from_secs(3600);
/// Batches a second of the baseline.
const BASELINE_BATCHES: f64 = 100.0;

/// A batch that is under way.
pub(super) struct Sent {
    partition: usize,
    records: u64,
    from: Instant,
    phase: Phase,
}

/// A batch and where its stamps go.
struct Batch {
    load: Load,
    places: Vec<usize>,
}

impl Batch {
    fn new(topic: &str, record_bytes: usize, records: u32) -> anyhow::Result<Self> {
        let shape = Shape {
            record_bytes,
            batch_bytes: record_bytes * records.max(1) as usize,
            compression: Compression::None,
        };
        let mut load = Load::new(topic, shape, -1)?;
        let places = stamp::places(load.batch_mut())?;
        Ok(Self { load, places })
    }
}

/// Sends to the partitions that are its own, so that their records have an order.
pub(super) struct Publisher<'a> {
    burst: &'a Burst,
    shared: &'a Shared,
    number: usize,
    connection: Connection,
    under_way: mpsc::Sender<Sent>,
    /// The next number of each of its partitions.
    next: Vec<u64>,
    turn: usize,
    sent: i32,
}

impl<'a> Publisher<'a> {
    pub(super) fn new(
        burst: &'a Burst,
        shared: &'a Shared,
        number: usize,
        connection: Connection,
        under_way: mpsc::Sender<Sent>,
    ) -> Self {
        let partitions = burst.partitions.unsigned_abs() as usize;
        Self {
            burst,
            shared,
            number,
            connection,
            under_way,
            next: vec![
                0;
                partitions
                    .saturating_sub(number)
                    .div_ceil(burst.connections)
            ],
            turn: 0,
            sent: 0,
        }
    }

    pub(super) fn run(mut self) -> anyhow::Result<()> {
        let burst = self.burst;
        let mut batch = Batch::new(&burst.topic, burst.record_bytes, burst.batch_records)?;
        let per_second = f64::from(burst.rate) / f64::from(burst.batch_records.max(1));
        let pace = self.pace(self.shared.started, burst.span, per_second);
        self.keep(pace, &mut batch, Phase::Burst)?;
        let Some(baseline) = burst.baseline else {
            return Ok(());
        };
        let records = (f64::from(baseline.rate) / BASELINE_BATCHES)
            .ceil()
            .max(1.0);
        let mut batch = Batch::new(&burst.topic, burst.record_bytes, records as u32)?;
        let per_second = f64::from(baseline.rate) / records;
        let pace = self.pace(Instant::now(), BASELINE_SPAN_MAX, per_second);
        self.keep(pace, &mut batch, Phase::Baseline)
    }

    fn pace(&self, started: Instant, span: Duration, per_second: f64) -> Pace {
        Pace::new(
            started,
            span,
            per_second,
            self.number,
            self.burst.connections,
        )
    }

    fn keep(&mut self, mut pace: Pace, batch: &mut Batch, phase: Phase) -> anyhow::Result<()> {
        let records = batch.load.records();
        loop {
            let is_over = match phase {
                Phase::Burst => self.shared.is(&self.shared.has_failed),
                Phase::Baseline => self.shared.is(&self.shared.is_enough),
            };
            if is_over {
                return Ok(());
            }
            let from = match pace.turn() {
                Turn::Send { from, .. } => from,
                Turn::Over => return Ok(()),
                Turn::Late => {
                    let missed = pace.missed(Instant::now());
                    missed.for_each(|waited| self.shared.unsent(records, waited));
                    return Ok(());
                }
            };
            let own = self.turn % self.next.len();
            self.turn += 1;
            let partition = self.number + own * self.burst.connections;
            let sent = Sent {
                partition,
                records,
                from,
                phase,
            };
            if self.under_way.send(sent).is_err() {
                // The receiver has failed and says why.
                return Ok(());
            }
            let at = u64::try_from((from - self.shared.started).as_nanos())?;
            stamp::stamp(batch.load.batch_mut(), &batch.places, self.next[own], at);
            self.next[own] += records;
            let frame = batch.load.addressed(i32::try_from(partition)?, self.sent);
            self.connection.send(frame)?;
            self.sent = self.sent.wrapping_add(1);
        }
    }
}

/// Takes the acknowledgements of one connection.
pub(super) fn receive(
    mut connection: Connection,
    awaited: &mpsc::Receiver<Sent>,
    shared: &Shared,
) -> anyhow::Result<()> {
    for (correlation, sent) in awaited.iter().enumerate() {
        acknowledged(connection.receive()?, correlation as i32)?;
        shared.acknowledged(
            sent.partition,
            sent.records,
            sent.phase,
            sent.from.elapsed(),
        );
    }
    Ok(())
}
