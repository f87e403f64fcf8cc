//! The systems that are compared.

use std::fs::File;
use std::path::{Path, PathBuf};
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
const JVM: &[&str] = &[
    "-Xmx1G",
    "-Xms1G",
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
];

/// Nothing that changes speed: the defaults of each. What a load leaves goes before the next begins, not a minute later.
const SETUP: Setup = Setup {
    node_id: 1,
    settings: &[
        "auto.create.topics.enable=false",
        "log.segment.delete.delay.ms=100",
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
        "log.initial.task.delay.ms=500",
    ],
    ..SETUP
};

/// Fanlog as it comes; Kafka as it comes, which acknowledges what is in memory; Kafka made to promise what Fanlog promises.
pub(super) fn all(fanlog: PathBuf, kafka: String) -> Vec<System> {
    vec![
        System {
            name: "Fanlog",
            topic_settings: &[],
            kind: Kind::Fanlog(fanlog),
        },
        System {
            name: "Kafka",
            topic_settings: &[],
            kind: Kind::Kafka(kafka.clone()),
        },
        System {
            name: "Kafka, synced",
            topic_settings: &["flush.messages=1"],
            kind: Kind::Kafka(kafka),
        },
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

    pub(super) fn cpu_seconds(&self) -> anyhow::Result<f64> {
        self.process.cpu_seconds()
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
