//! A broker in the test's own process.

#![allow(unreachable_pub, reason = "a module of tests has no outside")]

use fanlog_broker::{Broker, BrokerConfig};
use fanlog_environment::{Environment, RealDisk};
use fanlog_kafka_listener::{KafkaListener, ListenerConfig};
use fanlog_model::BrokerId;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::watch;

/// A broker on threads of its own, so that the blocking tool does not stop it.
pub struct Server {
    /// Where it listens.
    pub bootstrap: String,
    runtime: Runtime,
    stop: watch::Sender<bool>,
    _dir: tempfile::TempDir,
}

impl Server {
    /// Starts it.
    pub fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let runtime = Runtime::new().unwrap();
        let environment = Environment::real(RealDisk::open(dir.path()).unwrap());
        let (stop, stopped) = watch::channel(false);
        let bootstrap = runtime.block_on(async {
            let broker =
                Broker::start(BrokerConfig::new(BrokerId(1), "/data"), environment).unwrap();
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
            _dir: dir,
        }
    }

    /// Ends it.
    pub fn end(self) {
        self.stop.send(true).unwrap();
        drop(self.runtime);
    }
}
