//! A broker for tests that talk to one.

use fanlog_client::{ClientConfig, Cluster};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::time::Duration;
use tempfile::TempDir;

/// How long a broker may take to answer.
const STARTED_WITHIN: Duration = Duration::from_secs(20);

/// The broker under test: our own, over a folder that goes away with it; or the one at `FANLOG_TEST_BOOTSTRAP`, which may be Apache Kafka,
/// to prove the tests.
pub(crate) struct Broker {
    pub(crate) address: String,
    /// Where it answers HTTP; nowhere that is known, if it is not our own.
    #[allow(dead_code, reason = "few tests ask over HTTP")]
    pub(crate) http: String,
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
            return Self {
                address,
                http: String::new(),
                process: None,
            };
        }
        let folder = TempDir::new().expect("the system's folder for temporary files is writable");
        let mut command = serve(folder.path());
        command
            .args(settings.iter().flat_map(|setting| ["--set", setting]))
            .stderr(log.map_or_else(Stdio::inherit, Stdio::from));
        Self::of(command, folder)
    }

    /// A broker that is told of its data as somebody does who stands in the folder around it; none, if it is not our own.
    #[allow(dead_code, reason = "one test asks where the data lies")]
    pub(crate) fn start_in(data: &str) -> Option<(Self, PathBuf)> {
        if std::env::var("FANLOG_TEST_BOOTSTRAP").is_ok() {
            return None;
        }
        let folder = TempDir::new().expect("the system's folder for temporary files is writable");
        let mut command = serve(Path::new(data));
        command.current_dir(folder.path());
        let around = folder.path().to_owned();
        Some((Self::of(command, folder), around))
    }

    fn of(mut command: Command, folder: TempDir) -> Self {
        let mut child = command.spawn().expect("cargo has built the binary");
        let said = child.stdout.take().expect("stdout was asked to be piped");
        let ready = wait_until_it_serves(said);
        Self {
            address: between(&ready, "Kafka clients at ", ","),
            http: between(&ready, "http://", "/"),
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

    /// A client of the broker.
    pub(crate) async fn cluster(&self) -> Cluster {
        let config = ClientConfig {
            bootstrap: vec![self.address.clone()],
            client_id: "test".to_owned(),
            ..ClientConfig::default()
        };
        let connected = tokio::time::timeout(STARTED_WITHIN, Cluster::connect(config)).await;
        let connected = connected.expect("the broker answers in time");
        connected.expect("the broker serves")
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

/// `fanlog serve` on ports that the system chooses.
fn serve(data: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fanlog"));
    command
        .arg("serve")
        .arg("--data")
        .arg(data)
        .args(["--kafka", "127.0.0.1:0", "--http", "127.0.0.1:0"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    command
}

/// Waits for what `fanlog serve` says once its ports are open; goes on reading, so that it can go on talking.
fn wait_until_it_serves(said: ChildStdout) -> String {
    let (serves, is_serving) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(said).lines() {
            // Nobody waits any more for what comes behind the first line.
            let _ = serves.send(line);
        }
    });
    let first = is_serving.recv_timeout(STARTED_WITHIN);
    let first = first.expect("the broker serves, or its log above says why not");
    first.expect("what the broker says is text")
}

/// An address out of the line that says that the broker is ready: the system has chosen the port.
fn between(ready: &str, before: &str, behind: &str) -> String {
    let rest = ready.split_once(before);
    let address = rest.and_then(|(_, rest)| rest.split_once(behind));
    let (address, _) = address.expect("the line names the address");
    address.to_owned()
}

/// A name that no other test, nor an earlier run on the same broker, has used.
pub(crate) fn unique(prefix: &str) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{prefix}-{}-{number}", std::process::id())
}
