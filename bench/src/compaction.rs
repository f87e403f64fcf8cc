//! Compaction under load: many records of fewer keys, compacted while others write; what is left against a model, and how long
//! acknowledgements take with compaction and without.
//!
//! In -> out: a running Fanlog and its data directory -> figures, `idle_` without compaction and `compacting_` with it.
//! The load goes to a topic of its own, at full speed or at a rate; besides, the compacted topic itself is written at a low rate.
//! Read next: `keyed.rs`.

use crate::figures::Figures;
use crate::keyed::{KeyedWriter, check_left};
use crate::latency::Latency;
use crate::load::Shape;
use crate::pace::Stop;
use crate::produce::Produce;
use crate::topic;
use anyhow::{Context, bail};
use fanlog_protocol::records::Compression;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Bytes of a batch with which the topic is filled.
const FILL_BATCH_BYTES: u64 = 64 * 1024;
/// Records a second that go on being written to the compacted topic, and how many of them go together.
const TRICKLE_PER_SECOND: f64 = 5_000.0;
const TRICKLE_BATCH: u64 = 50;
/// The load beside it.
const LOAD_PARTITIONS: i32 = 4;
const LOAD_CONNECTIONS: usize = 4;
const LOAD_RECORD_BYTES: usize = 1024;
/// What the load leaves on the disk, for each partition.
const LOAD_SETTINGS: &[(&str, &str)] = &[
    ("retention.bytes", "268435456"),
    ("segment.bytes", "67108864"),
];
/// The first moments are the connections'.
const WARM_UP: Duration = Duration::from_secs(1);
/// How long a compaction may take.
const PATIENCE: Duration = Duration::from_secs(600);
const LOOK_INTERVAL: Duration = Duration::from_millis(10);
const LAG: &str = "min.compaction.lag.ms";
const FOR_EVER: &str = "31536000000";

/// What is compacted, and the load meanwhile.
#[derive(Clone, Debug)]
pub struct Compaction {
    /// Where the broker is.
    pub broker: String,
    /// A topic that does not exist.
    pub topic: String,
    /// The broker's data directory.
    pub data: PathBuf,
    /// How many records are compacted.
    pub records: u64,
    /// How many keys they have.
    pub keys: u64,
    /// The bytes of each record's value.
    pub record_bytes: usize,
    /// The bytes of a segment.
    pub segment_bytes: u64,
    /// Records of 1 KiB a second beside it; 0 for as many as are acknowledged.
    pub rate: u32,
    /// How many of them go together.
    pub batch_records: u32,
    /// How long the load lasts without compaction.
    pub span: Duration,
    /// Compacts first, then measures without.
    pub compact_first: bool,
}

impl Compaction {
    /// Runs it.
    ///
    /// # Errors
    /// What is left is not what the model says, or a record was refused.
    pub fn run(&self) -> anyhow::Result<Figures> {
        topic::create(&self.broker, &self.topic, 1, &self.settings())?;
        let load_settings = LOAD_SETTINGS.iter().map(|(name, value)| pair(name, value));
        let load_settings: Vec<_> = load_settings.collect();
        topic::create(
            &self.broker,
            &self.load_topic(),
            LOAD_PARTITIONS,
            &load_settings,
        )?;
        let mut figures = Figures::default();
        let mut writer = self.writer(FILL_BATCH_BYTES / self.record_bytes.max(1) as u64)?;
        writer.fill(self.records)?;
        let filled = writer.written();
        let mut writer = self.writer(TRICKLE_BATCH)?.behind(filled);
        figures.put("log_before_mb", self.log_bytes()? as f64 / 1e6);
        for compacts in [self.compact_first, !self.compact_first] {
            let prefix = if compacts { "compacting_" } else { "idle_" };
            figures.put_all(prefix, &self.phase(&mut writer, compacts)?);
        }
        let clean_to = self.clean_to()?.context("nothing was compacted")?;
        let written = writer.written();
        let left = check_left(&self.broker, &self.topic, self.keys, written, clean_to)?;
        figures.put("log_after_mb", self.log_bytes()? as f64 / 1e6);
        figures.put("records_written", written as f64);
        figures.put("compacted_to", clean_to as f64);
        figures.put("records_left", left.records as f64);
        figures.put("keys_left", left.keys as f64);
        topic::delete(&self.broker, &self.topic)?;
        topic::delete(&self.broker, &self.load_topic())?;
        Ok(figures)
    }

    /// Nothing is compacted before it is told so.
    fn settings(&self) -> Vec<(String, String)> {
        vec![
            pair("cleanup.policy", "compact"),
            pair("segment.bytes", &self.segment_bytes.to_string()),
            pair("min.cleanable.dirty.ratio", "0"),
            pair(LAG, FOR_EVER),
        ]
    }

    fn load_topic(&self) -> String {
        format!("{}-load", self.topic)
    }

    fn writer(&self, batch_records: u64) -> anyhow::Result<KeyedWriter> {
        let records = batch_records.max(1);
        KeyedWriter::open(
            &self.broker,
            &self.topic,
            self.keys,
            self.record_bytes,
            records,
        )
    }

    /// The load, for a while or for as long as a compaction takes.
    fn phase(&self, writer: &mut KeyedWriter, compacts: bool) -> anyhow::Result<Figures> {
        let stop = Stop::default();
        std::thread::scope(|scope| {
            let load = scope.spawn(|| self.load(&stop));
            let trickle = scope.spawn(|| writer.trickle(TRICKLE_PER_SECOND, &stop));
            std::thread::sleep(WARM_UP);
            let took = match compacts {
                true => self.compact(),
                false => {
                    std::thread::sleep(self.span);
                    Ok(self.span)
                }
            };
            stop.give();
            let mut figures = load.join().expect("a panic ends the program")?;
            let mut own = Figures::default();
            own.put_times(&trickle.join().expect("a panic ends the program")?);
            figures.put_all("own_", &own);
            figures.put("took_seconds", took?.as_secs_f64());
            Ok(figures)
        })
    }

    fn load(&self, stop: &Stop) -> anyhow::Result<Figures> {
        if self.rate == 0 {
            let produce = Produce {
                broker: self.broker.clone(),
                topic: self.load_topic(),
                partitions: LOAD_PARTITIONS,
                shape: Shape {
                    record_bytes: LOAD_RECORD_BYTES,
                    batch_bytes: LOAD_RECORD_BYTES * self.batch_records as usize,
                    compression: Compression::None,
                },
                connections: LOAD_CONNECTIONS,
                in_flight: 5,
                acks: -1,
                span: 2 * PATIENCE,
                bytes_max: u64::MAX,
                stop: stop.clone(),
            };
            return produce.run();
        }
        let latency = Latency {
            broker: self.broker.clone(),
            topic: self.load_topic(),
            partitions: LOAD_PARTITIONS,
            record_bytes: LOAD_RECORD_BYTES,
            rate: self.rate,
            batch_records: self.batch_records,
            connections: LOAD_CONNECTIONS,
            span: 2 * PATIENCE,
            warm_up: WARM_UP,
            stop: stop.clone(),
        };
        latency.run()
    }

    /// Has the topic compacted; how long that took.
    fn compact(&self) -> anyhow::Result<Duration> {
        let began = Instant::now();
        let mut clean_to = None;
        while clean_to.unwrap_or(0) < self.wanted() {
            topic::alter(&self.broker, &self.topic, &[(LAG, "0")])?;
            let has_ended = || Ok(self.clean_to()? != clean_to);
            self.wait_until("begins", || Ok(self.is_compacting()? || has_ended()?))?;
            // It goes on as it was planned; none follows it.
            topic::alter(&self.broker, &self.topic, &[(LAG, FOR_EVER)])?;
            self.wait_until("ends", has_ended)?;
            clean_to = self.clean_to()?;
        }
        Ok(began.elapsed())
    }

    /// So many records are to be compacted at least. The last ones may be in a segment that is written, or not synced.
    fn wanted(&self) -> u64 {
        self.records / 10 * 9
    }

    fn wait_until(
        &self,
        what: &str,
        is_so: impl Fn() -> anyhow::Result<bool>,
    ) -> anyhow::Result<()> {
        let deadline = Instant::now() + PATIENCE;
        while !is_so()? {
            if Instant::now() > deadline {
                bail!("after {PATIENCE:?} no compaction of {} {what}", self.topic);
            }
            std::thread::sleep(LOOK_INTERVAL);
        }
        Ok(())
    }

    fn folder(&self) -> PathBuf {
        self.data.join(format!("{}-0", self.topic))
    }

    fn is_compacting(&self) -> anyhow::Result<bool> {
        let files = std::fs::read_dir(self.folder())?;
        let mut names = files.filter_map(|file| file.ok()?.file_name().into_string().ok());
        Ok(names.any(|name| name.ends_with(".cleaned")))
    }

    /// How far it is compacted: the last word of the checkpoint's last line.
    fn clean_to(&self) -> anyhow::Result<Option<u64>> {
        let path = self.folder().join("cleaner-offset-checkpoint");
        match std::fs::read_to_string(&path) {
            Ok(text) => {
                let offset = text.split_whitespace().last().context("it is empty")?;
                let offset = offset.parse().with_context(|| path.display().to_string())?;
                Ok(Some(offset))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn log_bytes(&self) -> anyhow::Result<u64> {
        let mut bytes = 0;
        for file in std::fs::read_dir(self.folder())? {
            let file = file?;
            if file.file_name().to_string_lossy().ends_with(".log") {
                bytes += file.metadata()?.len();
            }
        }
        Ok(bytes)
    }
}

fn pair(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}
