//! One load on one broker: the topic, what has to be there before, the load, and what it cost.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

use super::bounded::{self, Bounds};
use super::rdkafka::{self, At};
use super::scenario::{Load, Scenario};
use super::system::{Running, System};
use crate::shell;

/// What readers read.
const FETCH_BYTES: u64 = 1_000_000_000;
/// What librdkafka reads, again and again.
const CONSUMED_RECORDS: u64 = 2_000_000;
/// What a load leaves on the disk where old segments are not dropped while it runs.
const KEPT_BYTES_MAX: u64 = 8_000_000_000;
/// No disk of ours writes more than this in a second.
const BYTES_PER_SECOND_MAX: f64 = 2e9;
/// With more partitions than this, segments small enough to be dropped would be rolled hundreds of times a second.
const PARTITIONS_DROPPED_MAX: u32 = 100;

/// The programs that make the load.
pub(super) struct Tools {
    pub(super) load: PathBuf,
    pub(super) rdkafka: Option<rdkafka::Tool>,
    pub(super) dir: PathBuf,
}

/// Figures by name.
pub(super) type Figures = Vec<(String, f64)>;

impl Tools {
    /// Runs `fanlog-bench`; its figures.
    pub(super) fn load(
        &self,
        arguments: &[&str],
        time_max: Duration,
        sent_max: f64,
    ) -> anyhow::Result<Figures> {
        let mut command = shell::command(&self.load);
        let bounds = Bounds {
            time_max,
            interrupted_after: None,
            shows_progress: false,
            disk: &self.dir,
            sent_max,
        };
        figures(&bounded::output(command.args(arguments), bounds)?)
    }
}

/// `name value` lines.
pub(super) fn figures(output: &str) -> anyhow::Result<Figures> {
    let line = |line: &str| {
        let (name, value) = line.split_once(' ').context("not a figure")?;
        anyhow::Ok((name.to_owned(), value.parse()?))
    };
    output
        .lines()
        .map(|text| line(text).with_context(|| text.to_owned()))
        .collect()
}

/// A topic of a running broker.
pub(super) struct Bench<'a> {
    pub(super) tools: &'a Tools,
    pub(super) system: &'a System,
    pub(super) broker: &'a Running,
    pub(super) seconds: f64,
}

impl Bench<'_> {
    /// The first requests pay for code that is not compiled yet and memory that was never touched: they do not count.
    pub(super) fn warm_up(&self) -> anyhow::Result<()> {
        const NAME: &str = "warm-up";
        self.topic(NAME, 4, &[])?;
        let sizes = ["--seconds", "4", "--bytes-max", "2000000000"];
        self.ours("produce", NAME, 4, &sizes)?;
        self.ours("fetch", NAME, 4, &["--seconds", "1"])?;
        self.singles(NAME, 4)?;
        self.remove(NAME)
    }

    /// Runs one load; its figures, and what it cost the broker.
    pub(super) fn run(&self, scenario: &Scenario) -> anyhow::Result<Figures> {
        let name = scenario.name;
        let drops = drops(scenario, self.seconds);
        self.topic(name, scenario.partitions, &drops)?;
        self.prepare(scenario)?;
        self.broker.write_back()?;
        let process = self.broker.process();
        let (cpu, disk) = (process.cpu_seconds()?, process.disk_bytes()?);
        let mut found = self.measure(scenario, drops.is_empty())?;
        let cpu = process.cpu_seconds()? - cpu;
        let disk = process.disk_bytes()? - disk;
        let bytes = found.iter().find(|(name, _)| name == "bytes");
        let bytes = bytes.map(|(_, bytes)| *bytes).filter(|bytes| *bytes > 0.0);
        let bytes = bytes.context("the load moved nothing")?;
        found.push(("broker_cpu_s_per_gb".to_owned(), cpu / (bytes / 1e9)));
        if scenario.load.fills() {
            found.push(("disk_bytes_per_byte".to_owned(), disk / bytes));
        }
        self.remove(name)?;
        Ok(found)
    }

    /// What has to be there before time counts.
    fn prepare(&self, scenario: &Scenario) -> anyhow::Result<()> {
        let (name, partitions) = (scenario.name, scenario.partitions);
        let fill = |bytes: u64, record_bytes: u32| {
            let (bytes, record) = (bytes.to_string(), record_bytes.to_string());
            let sizes = ["--record-bytes", &record, "--bytes-max", &bytes];
            let found = self.ours(
                "produce",
                name,
                partitions,
                &[&sizes[..], &["--seconds", "60"]].concat(),
            )?;
            let records = found.iter().find(|(name, _)| name == "records");
            anyhow::Ok(records.map_or(0.0, |(_, records)| *records))
        };
        match scenario.load {
            Load::Fetch(_) => fill(FETCH_BYTES, 1024).map(drop),
            Load::LibrdkafkaConsume(bytes) => {
                // Headers and the last batch: a little more than is read.
                let wanted = CONSUMED_RECORDS * u64::from(bytes + 32) + 1_000_000;
                let records = fill(wanted, bytes)?;
                let enough = records >= CONSUMED_RECORDS as f64;
                ensure!(enough, "the topic took only {records} records in a minute");
                Ok(())
            }
            // An open loop would count the first moments of a new topic for as long as their backlog lasts.
            Load::Latency(_) => self.singles(name, partitions),
            Load::Produce(_) | Load::EndToEnd(_) | Load::LibrdkafkaProduce(..) => Ok(()),
        }
    }

    fn measure(&self, scenario: &Scenario, is_kept: bool) -> anyhow::Result<Figures> {
        let (name, partitions) = (scenario.name, scenario.partitions);
        let seconds = self.seconds.to_string();
        let warm_up = (self.seconds / 4.0).to_string();
        let bytes_max = if is_kept { KEPT_BYTES_MAX } else { u64::MAX }.to_string();
        let ours = |what: &str, arguments: &[&str], more: &[&str]| {
            let all = [arguments, &["--seconds", &seconds], more].concat();
            self.ours(what, name, partitions, &all)
        };
        let at = At {
            bootstrap: self.broker.bootstrap(),
            topic: name,
            disk: &self.tools.dir,
            sent_max: self.sent_max(),
        };
        let span = Duration::from_secs_f64(self.seconds);
        let rdkafka = || {
            let tool = self.tools.rdkafka.as_ref();
            tool.context("librdkafka's load tool was not prepared")
        };
        match scenario.load {
            Load::Produce(arguments) => ours("produce", arguments, &["--bytes-max", &bytes_max]),
            Load::Latency(arguments) => ours("latency", arguments, &["--warm-up", &warm_up]),
            Load::EndToEnd(arguments) => ours("end-to-end", arguments, &["--warm-up", &warm_up]),
            Load::Fetch(readers) => ours("fetch", &["--readers", &readers.to_string()], &[]),
            Load::LibrdkafkaProduce(bytes, linger) => rdkafka()?.produce(at, bytes, linger, span),
            Load::LibrdkafkaConsume(_) => rdkafka()?.consume(at, CONSUMED_RECORDS, span),
        }
    }

    /// Single records, two seconds of them.
    fn singles(&self, name: &str, partitions: u32) -> anyhow::Result<()> {
        let shape = ["--record-bytes", "100", "--batch-bytes", "1"];
        let all = [&shape[..], &["--seconds", "2"]].concat();
        self.ours("produce", name, partitions, &all).map(drop)
    }

    /// Creates a topic as the system's are, with more settings.
    pub(super) fn topic(
        &self,
        name: &str,
        partitions: u32,
        settings: &[String],
    ) -> anyhow::Result<()> {
        let own = self.system.topic_settings.iter().copied();
        let all = own.chain(settings.iter().map(String::as_str));
        let all: Vec<&str> = all.flat_map(|one| ["--config", one]).collect();
        self.ours("topic", name, partitions, &all).map(drop)
    }

    pub(super) fn remove(&self, name: &str) -> anyhow::Result<()> {
        self.ours("delete", name, 1, &[])?;
        self.broker.wait_until_gone(name)
    }

    pub(super) fn ours(
        &self,
        what: &str,
        topic: &str,
        partitions: u32,
        more: &[&str],
    ) -> anyhow::Result<Figures> {
        let partitions = partitions.to_string();
        let bootstrap = self.broker.bootstrap();
        let at = [
            what,
            "--bootstrap",
            bootstrap,
            "--topic",
            topic,
            "--partitions",
            &partitions,
        ];
        // The last answers of a broker that is far behind come late, and filling has a minute.
        let time_max = Duration::from_secs_f64(self.seconds * 2.0 + 180.0);
        let sends = !matches!(what, "topic" | "delete" | "ready");
        let sent_max = if sends { self.sent_max() } else { 0.0 };
        self.tools
            .load(&[&at[..], more].concat(), time_max, sent_max)
    }

    /// What a load writes at most before old segments are dropped, and what one that is read has in it.
    fn sent_max(&self) -> f64 {
        let written = (self.seconds * BYTES_PER_SECOND_MAX).min(KEPT_BYTES_MAX as f64);
        written.max(CONSUMED_RECORDS as f64 * 1100.0)
    }

    /// Milliseconds until a broker that was killed with so much in its log answers for all its partitions again.
    pub(super) fn recovery_ms(
        tools: &Tools,
        system: &System,
        broker: &mut Running,
    ) -> anyhow::Result<f64> {
        const NAME: &str = "recovery";
        const PARTITIONS: u32 = 16;
        let bytes = FETCH_BYTES.to_string();
        let bench = Bench {
            tools,
            system,
            broker,
            seconds: 60.0,
        };
        bench.topic(NAME, PARTITIONS, &[])?;
        bench.ours(
            "produce",
            NAME,
            PARTITIONS,
            &["--seconds", "60", "--bytes-max", &bytes],
        )?;
        broker.kill()?;
        let started = Instant::now();
        broker.start_again()?;
        let bench = Bench {
            tools,
            system,
            broker,
            seconds: 60.0,
        };
        bench.ours("ready", NAME, PARTITIONS, &[])?;
        Ok(started.elapsed().as_secs_f64() * 1000.0)
    }
}

/// The settings with which a topic drops old segments while it is written, so that a long load does not fill the disk; none where what it
/// writes may stay.
fn drops(scenario: &Scenario, seconds: f64) -> Vec<String> {
    let stays = seconds * BYTES_PER_SECOND_MAX <= KEPT_BYTES_MAX as f64;
    if !scenario.load.fills() || stays || scenario.partitions > PARTITIONS_DROPPED_MAX {
        return Vec::new();
    }
    // Up to two closed segments and the one that is written, for each partition.
    let segment = (2 * 1024 * 1024 * 1024 / u64::from(scenario.partitions))
        .clamp(32 * 1024 * 1024, 512 * 1024 * 1024);
    vec![
        format!("segment.bytes={segment}"),
        format!("retention.bytes={segment}"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::scenario::{JOURNAL, beside};

    #[test]
    fn figures_are_read_by_name() {
        let found = figures("seconds 4.5\nbytes 10\n").unwrap();
        assert_eq!(
            found,
            [("seconds".to_owned(), 4.5), ("bytes".to_owned(), 10.0)]
        );
        assert!(figures("error: no broker").is_err());
    }

    #[test]
    fn no_load_keeps_more_than_the_disk_allows() {
        for scenario in beside().chain(JOURNAL) {
            for seconds in [1.0, 4.0, 5.0, 60.0] {
                let drops = drops(scenario, seconds);
                let Some(segment) = drops.first() else {
                    continue;
                };
                let (_, bytes) = segment.split_once('=').unwrap();
                let bytes: u64 = bytes.parse().unwrap();
                let kept = 3 * bytes * u64::from(scenario.partitions);
                assert!(
                    seconds > 4.0 && kept <= 10_100_000_000,
                    "{}: {kept}",
                    scenario.name
                );
            }
        }
        let fills = |name: &str| beside().find(|one| one.name == name).unwrap();
        assert_eq!(drops(fills("produce-64k-p1"), 60.0).len(), 2);
        assert!(drops(fills("produce-64k-p1000"), 60.0).is_empty());
        assert!(drops(fills("latency-5000-p1"), 60.0).is_empty());
    }
}
