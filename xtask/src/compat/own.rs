//! A broker of one test's own, with an empty data directory that goes when the test is over.

use super::broker::{Broker, End, Kind};
use crate::toolchains;
use std::path::{Path, PathBuf};

/// A running Fanlog.
pub(crate) struct OwnBroker {
    broker: Broker,
    dir: PathBuf,
}

impl OwnBroker {
    /// Starts it; `purpose` names its folder.
    pub(crate) fn start(program: &Path, purpose: &str) -> anyhow::Result<Self> {
        let dir = toolchains::cache().join(format!("{purpose}-{}", std::process::id()));
        let broker = Broker::start(&Kind::Fanlog(program.to_owned()), &dir)?;
        Ok(Self { broker, dir })
    }

    /// Where Kafka clients connect.
    pub(crate) fn bootstrap(&self) -> &str {
        self.broker.bootstrap()
    }

    /// Where metrics and health are.
    pub(crate) fn http(&self) -> &str {
        self.broker.http()
    }

    /// Stops it in order and removes its data.
    pub(crate) fn stop(mut self) -> anyhow::Result<()> {
        self.broker.stop(End::Terminate)?;
        Ok(std::fs::remove_dir_all(&self.dir)?)
    }
}
