//! A broker for tests that talk to one.

use fanlog_client::{ClientConfig, Cluster};
use std::fs::File;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tempfile::TempDir;

/// How long a broker may take to answer.
const STARTED_WITHIN: Duration = Duration::from_secs(20);

/// The broker under test: our own, over a folder that goes away with it; or the one at `FANLOG_TEST_BOOTSTRAP`, which may be Apache Kafka,
/// to prove the tests.
pub(crate) struct Broker {
    pub(crate) address: String,
    process: Option<(Child, TempDir)>,
}

impl Broker {
    #[allow(dead_code, reason = "some tests want settings of their own")]
    pub(crate) fn start() -> Self {
        Self::start_with(&[], None)
    }

    /// A broker with settings of its own; what it says goes to `log`, if there is one.
    pub(crate) fn start_with(settings: &[&str], log: Option<File>) -> Self {
        if let Ok(address) = std::env::var("FANLOG_TEST_BOOTSTRAP") {
            let process = None;
            return Self { address, process };
        }
        let address = free_address();
        let folder = TempDir::new().expect("the system's folder for temporary files is writable");
        let child = Command::new(env!("CARGO_BIN_EXE_fanlog"))
            .arg("serve")
            .arg("--data")
            .arg(folder.path())
            .args(["--kafka", &address, "--http", &free_address()])
            .args(settings.iter().flat_map(|setting| ["--set", setting]))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log.map_or_else(Stdio::inherit, Stdio::from))
            .spawn()
            .expect("cargo has built the binary");
        Self {
            address,
            process: Some((child, folder)),
        }
    }

    /// Its process, where it is our own.
    #[allow(
        dead_code,
        reason = "not every test that has a broker looks at its process"
    )]
    pub(crate) fn process_id(&self) -> Option<u32> {
        self.process.as_ref().map(|(child, _)| child.id())
    }

    /// A client of the broker, once it answers.
    pub(crate) async fn cluster(&self) -> Cluster {
        let config = ClientConfig {
            bootstrap: vec![self.address.clone()],
            client_id: "test".to_owned(),
            ..ClientConfig::default()
        };
        let connecting = async {
            loop {
                match Cluster::connect(config.clone()).await {
                    Ok(cluster) => return cluster,
                    // Nothing tells that a port is open but trying it.
                    Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
                }
            }
        };
        let connected = tokio::time::timeout(STARTED_WITHIN, connecting).await;
        connected.expect("the broker answers")
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        if let Some((child, _)) = &mut self.process {
            // It may have ended by itself, which the test has then noticed.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// An address whose port was free a moment ago.
fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has free ports");
    let address = listener.local_addr().expect("it is bound");
    address.to_string()
}

/// A name that no other test, nor an earlier run on the same broker, has used.
pub(crate) fn unique(prefix: &str) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{prefix}-{}-{number}", std::process::id())
}
