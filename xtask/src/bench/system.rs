//! The systems that are compared.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

use super::process::Process;
use crate::compat::broker::{Broker, End, Kind, Setup};

/// How long a deleted topic's files may take to go.
const GONE_TIMEOUT: Duration = Duration::from_secs(60);

/// One of them.
#[derive(Debug)]
pub(super) struct System {
    /// Its name in tables.
    pub(super) name: &'static str,
    /// What a topic of it is given.
    pub(super) topic_settings: &'static [&'static str],
    kind: Kind,
}

/// What Kafka's own start script gives its virtual machine.
pub(super) const JVM: &[&str] = &[
    "-Xmx1G",
    "-Xms1G",
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
];

/// Nothing that changes speed: the defaults of each. What a load leaves goes before the next begins, not a minute later, and what a long
/// load need not keep goes while it lasts.
const SETUP: Setup = Setup {
    node_id: 1,
    settings: &[
        "auto.create.topics.enable=false",
        "log.segment.delete.delay.ms=100",
        "log.retention.check.interval.ms=1000",
    ],
    extra: &[],
    jvm: JVM,
    port: None,
};

/// Kafka's housekeeping, which deletes files, begins half a minute after the start otherwise.
const KAFKA_SETUP: Setup = Setup {
    settings: &[
        "auto.create.topics.enable=false",
        "log.segment.delete.delay.ms=100",
        "log.retention.check.interval.ms=1000",
        "log.initial.task.delay.ms=500",
    ],
    ..SETUP
};

/// The names of the systems in tables.
pub(super) const FANLOG: &str = "Fanlog";
pub(super) const FANLOG_OS: &str = "Fanlog, os";
pub(super) const KAFKA: &str = "Kafka";
pub(super) const KAFKA_SYNCED: &str = "Kafka, synced";
/// A broker that stores nothing, for librdkafka alone.
pub(super) const NOTHING_STORED: &str = "nothing stored";
/// The machine without any broker.
pub(super) const MACHINE: &str = "machine";

/// Fanlog as it comes, and made to promise what Kafka promises.
pub(super) fn fanlog(program: &Path) -> Vec<System> {
    let system = |name, topic_settings| System {
        name,
        topic_settings,
        kind: Kind::Fanlog(program.to_owned()),
    };
    vec![system(FANLOG, &[]), system(FANLOG_OS, &["durability=os"])]
}

/// Kafka as it comes, which acknowledges what is in memory, and made to promise what Fanlog promises.
pub(super) fn kafka(class_path: &str) -> Vec<System> {
    let system = |name, topic_settings| System {
        name,
        topic_settings,
        kind: Kind::Kafka(class_path.to_owned()),
    };
    vec![
        system(KAFKA, &[]),
        system(KAFKA_SYNCED, &["flush.messages=1"]),
    ]
}

/// A broker that has its turn.
pub(super) struct Running {
    broker: Broker,
    process: Process,
}

impl System {
    pub(super) fn start(&self, dir: &Path) -> anyhow::Result<Running> {
        let setup = match self.kind {
            Kind::Kafka(_) => KAFKA_SETUP,
            _ => SETUP,
        };
        let broker = Broker::start_as(setup, &self.kind, dir)?;
        let id = broker
            .process_id()
            .context("a broker that is ours has a process")?;
        Ok(Running {
            broker,
            process: Process::new(id),
        })
    }
}

impl Running {
    pub(super) fn bootstrap(&self) -> &str {
        self.broker.bootstrap()
    }

    /// Waits until the files of a deleted topic have gone: memory that the host has to give anew would count against the next load.
    pub(super) fn wait_until_gone(&self, topic: &str) -> anyhow::Result<()> {
        let deadline = Instant::now() + GONE_TIMEOUT;
        while holds(&self.broker.data_dir(), topic)? {
            let is_early = Instant::now() < deadline;
            ensure!(is_early, "the files of the deleted topic {topic} stay");
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Has everything written that is in memory only: it would be written under the next load.
    pub(super) fn write_back(&self) -> anyhow::Result<()> {
        Ok(rustix::fs::syncfs(File::open(self.broker.data_dir())?)?)
    }

    pub(super) fn started_in_ms(&self) -> f64 {
        self.broker.started_in().as_secs_f64() * 1000.0
    }

    pub(super) fn process(&self) -> Process {
        self.process
    }

    pub(super) fn resident_mib(&self) -> anyhow::Result<f64> {
        self.process.memory_mib("VmRSS:")
    }

    pub(super) fn peak_mib(&self) -> anyhow::Result<f64> {
        self.process.memory_mib("VmHWM:")
    }

    pub(super) fn stop(&mut self) -> anyhow::Result<()> {
        self.broker.stop(End::Terminate)
    }

    /// SIGKILL.
    pub(super) fn kill(&mut self) -> anyhow::Result<()> {
        self.broker.stop(End::Kill)
    }

    /// Starts it on what it left.
    pub(super) fn start_again(&mut self) -> anyhow::Result<()> {
        self.broker.restart(End::Kill)?;
        let id = self.broker.process_id();
        self.process = Process::new(id.context("a broker that was started has a process")?);
        Ok(())
    }
}

/// Whether a folder is there that is, or was, one of the topic's partitions.
fn holds(data: &Path, topic: &str) -> anyhow::Result<bool> {
    for entry in std::fs::read_dir(data)? {
        if entry?.file_name().to_string_lossy().starts_with(topic) {
            return Ok(true);
        }
    }
    Ok(false)
}
