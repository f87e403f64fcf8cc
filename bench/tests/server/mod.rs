//! A broker in the test's process.

#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "each test uses what it needs; the lint does not know that this is a test"
)]

use fanlog_broker::{Broker, BrokerConfig};
use fanlog_environment::{Environment, RealDisk};
use fanlog_kafka_listener::{KafkaListener, ListenerConfig};
use fanlog_model::BrokerId;
use std::path::PathBuf;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::watch;

/// A broker on threads of its own, so that the blocking tool does not stop it.
pub(crate) struct Server {
    pub(crate) bootstrap: String,
    runtime: Runtime,
    stop: watch::Sender<bool>,
    dir: tempfile::TempDir,
}

impl Server {
    pub(crate) fn start() -> Self {
        Self::start_with(&[])
    }

    pub(crate) fn start_with(settings: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let runtime = Runtime::new().unwrap();
        let environment = Environment::real(RealDisk::open(dir.path()).unwrap());
        let (stop, stopped) = watch::channel(false);
        let bootstrap = runtime.block_on(async {
            let mut config = BrokerConfig::new(BrokerId(1), "/data");
            let settings = settings.iter();
            config.statics = settings
                .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()))
                .collect();
            let broker = Broker::start(config, environment).unwrap();
            let config = ListenerConfig {
                address: "127.0.0.1:0".parse().unwrap(),
                advertise: None,
                frame_bytes_max: 4 * 1024 * 1024,
                request_memory_bytes: 64 * 1024 * 1024,
                connections_max: 100,
                idle_max: Duration::from_secs(600),
                fetch_sessions_max: 10,
                sent_from_file_min: fanlog_kafka_listener::SENT_FROM_FILE_MIN,
            };
            let listener = KafkaListener::bind(config, broker).await.unwrap();
            let address = listener.local_address().unwrap();
            tokio::spawn(listener.serve(stopped));
            address.to_string()
        });
        Self {
            bootstrap,
            runtime,
            stop,
            dir,
        }
    }

    /// Where the partitions' folders lie.
    pub(crate) fn data(&self) -> PathBuf {
        self.dir.path().to_owned()
    }

    pub(crate) fn end(self) {
        self.stop.send(true).unwrap();
        drop(self.runtime);
    }
}
