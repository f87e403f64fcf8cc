//! The systems that are compared.

use std::path::{Path, PathBuf};

use anyhow::Context;

use super::process::Process;
use crate::compat::broker::{Broker, End, Kind, Setup};

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

/// Nothing that changes speed: the defaults of each.
const SETUP: Setup = Setup {
    node_id: 1,
    settings: &["auto.create.topics.enable=false"],
    extra: &[],
    jvm: JVM,
    port: None,
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
        let broker = Broker::start_as(SETUP, &self.kind, dir)?;
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
