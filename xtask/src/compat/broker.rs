//! The broker under test: Fanlog, Apache Kafka as the judge of the suites, or one that is already running.
//!
//! Owns: the broker's process and its data directory; both end with the value.

use std::fs::File;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use rustix::process::{Pid, Signal, kill_process};

use crate::shell;

/// How long a broker may take until it accepts connections.
const START_TIMEOUT: Duration = Duration::from_secs(60);
/// How long a broker may take to end after SIGTERM.
const STOP_TIMEOUT: Duration = Duration::from_secs(30);
/// The id that Kafka's storage is formatted with; any 16 bytes in base64 do.
const KAFKA_CLUSTER_ID: &str = "ZmFubG9nLWNvbXBhdC1raw";

/// Which broker.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    /// Our binary.
    Fanlog(PathBuf),
    /// Apache Kafka, by its class path.
    Kafka(String),
    /// One that somebody else runs, and that is therefore never restarted.
    Running(String),
}

/// How a broker is made to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// SIGKILL: nothing is flushed.
    Kill,
    /// SIGTERM: it must end by itself, with success.
    Terminate,
}

/// How a broker is set up; both kinds understand the same settings.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setup {
    /// Its number, which some suites take for granted.
    pub(crate) node_id: u32,
    /// `name=value` each.
    pub(crate) settings: &'static [&'static str],
    /// The same for Fanlog alone.
    pub(crate) extra: &'static [&'static str],
    /// What Kafka's virtual machine is given.
    pub(crate) jvm: &'static [&'static str],
    /// The Kafka port, where a suite takes one for granted.
    pub(crate) port: Option<u16>,
}

/// Memory enough for tests.
pub(crate) const JVM_SMALL: &[&str] = &["-Xmx512m"];

/// Six partitions for topics that come into being by themselves (kcat), no long wait for a group's first members, for a member that was
/// killed, nor for compaction.
const SETUP: Setup = Setup {
    node_id: 1,
    settings: &[
        "num.partitions=6",
        "auto.create.topics.enable=true",
        "group.initial.rebalance.delay.ms=500",
        "group.consumer.min.session.timeout.ms=6000",
        "group.consumer.session.timeout.ms=6000",
        "group.consumer.min.heartbeat.interval.ms=1000",
        "group.consumer.heartbeat.interval.ms=1000",
        "log.cleaner.backoff.ms=500",
        "group.share.min.record.lock.duration.ms=1000",
    ],
    extra: &[],
    jvm: JVM_SMALL,
    port: None,
};

/// A broker that serves.
#[derive(Debug)]
pub(crate) struct Broker {
    kind: Kind,
    setup: Setup,
    dir: PathBuf,
    bootstrap: String,
    http: String,
    /// Settings beside those that every broker under test has.
    process: Option<Child>,
    started_in: Duration,
}

impl Broker {
    /// Starts a broker with an empty data directory below `dir`, and waits until it accepts connections.
    pub(crate) fn start(kind: &Kind, dir: &Path) -> anyhow::Result<Broker> {
        Broker::start_as(SETUP, kind, dir)
    }

    /// Starts a broker like `start`, ours with more settings.
    pub(crate) fn start_with(
        kind: &Kind,
        dir: &Path,
        extra: &'static [&'static str],
    ) -> anyhow::Result<Broker> {
        Broker::start_as(Setup { extra, ..SETUP }, kind, dir)
    }

    /// Starts a broker like `start`, with another setup.
    pub(crate) fn start_as(setup: Setup, kind: &Kind, dir: &Path) -> anyhow::Result<Broker> {
        if let Kind::Running(bootstrap) = kind {
            wait_until_it_accepts(bootstrap, None)?;
            return Ok(Broker {
                kind: kind.clone(),
                setup,
                dir: dir.to_path_buf(),
                bootstrap: bootstrap.clone(),
                http: String::new(),
                process: None,
                started_in: Duration::ZERO,
            });
        }
        let _ = std::fs::remove_dir_all(dir);
        std::fs::create_dir_all(dir)?;
        let [kafka, http] = free_ports()?;
        let kafka = setup.port.unwrap_or(kafka);
        let mut broker = Broker {
            kind: kind.clone(),
            setup,
            dir: dir.to_path_buf(),
            bootstrap: format!("127.0.0.1:{kafka}"),
            http: format!("127.0.0.1:{http}"),
            process: None,
            started_in: Duration::ZERO,
        };
        if let Kind::Kafka(class_path) = kind {
            broker.format_kafka(class_path)?;
        }
        broker.started_in = broker.launch()?;
        Ok(broker)
    }

    /// How long it took from the start of the process to the first connection, with an empty data directory.
    pub(crate) fn started_in(&self) -> Duration {
        self.started_in
    }

    /// The process, while there is one that is ours.
    pub(crate) fn process_id(&self) -> Option<u32> {
        self.process.as_ref().map(Child::id)
    }

    /// Where clients connect.
    pub(crate) fn bootstrap(&self) -> &str {
        &self.bootstrap
    }

    /// Where metrics and health are; empty for a broker that is not ours.
    pub(crate) fn http(&self) -> &str {
        &self.http
    }

    /// Where the partitions' folders lie.
    pub(crate) fn data_dir(&self) -> PathBuf {
        self.dir.join("data")
    }

    /// True unless somebody else runs it.
    pub(crate) fn can_restart(&self) -> bool {
        !matches!(self.kind, Kind::Running(_))
    }

    /// True if it is ours.
    pub(crate) fn is_fanlog(&self) -> bool {
        matches!(self.kind, Kind::Fanlog(_))
    }

    /// Ends the process and starts it again on the same data and ports; returns how long the start took.
    pub(crate) fn restart(&mut self, end: End) -> anyhow::Result<Duration> {
        self.stop(end)?;
        self.launch()
    }

    /// Ends the process.
    pub(crate) fn stop(&mut self, end: End) -> anyhow::Result<()> {
        let Some(mut process) = self.process.take() else {
            return Ok(());
        };
        if end == End::Kill {
            process.kill()?;
            process.wait()?;
            return Ok(());
        }
        signal(&process, Signal::TERM)?;
        let status = wait_bounded(&mut process, STOP_TIMEOUT).with_context(|| {
            format!(
                "the broker after SIGTERM; its log: {}",
                self.log().display()
            )
        })?;
        // A JVM reports the signal as 143 even where it ended in order.
        let is_orderly = status.success() || (!self.is_fanlog() && status.code() == Some(143));
        anyhow::ensure!(is_orderly, "after SIGTERM the broker ended with {status}");
        Ok(())
    }

    /// The program, if it is ours; an empty path otherwise.
    pub(crate) fn program(&self) -> &Path {
        match &self.kind {
            Kind::Fanlog(program) => program,
            Kind::Kafka(_) | Kind::Running(_) => Path::new(""),
        }
    }

    fn log(&self) -> PathBuf {
        self.dir.join("broker.log")
    }

    fn launch(&mut self) -> anyhow::Result<Duration> {
        let log = File::options().create(true).append(true).open(self.log())?;
        let mut command = match &self.kind {
            Kind::Fanlog(program) => self.fanlog_command(program),
            Kind::Kafka(class_path) => {
                let mut command = self.java(class_path, self.setup.jvm);
                command.arg("kafka.Kafka").arg(self.kafka_settings());
                command
            }
            Kind::Running(_) => bail!("a broker that was already running cannot be restarted"),
        };
        let started = Instant::now();
        let child = command
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .with_context(|| format!("cannot start {command:?}"))?;
        let process = self.process.insert(child);
        wait_until_it_accepts(&self.bootstrap, Some(process))
            .with_context(|| format!("its log: {}", self.dir.join("broker.log").display()))?;
        Ok(started.elapsed())
    }

    fn fanlog_command(&self, program: &Path) -> Command {
        let mut command = shell::command(program);
        command
            .arg("serve")
            .arg("--data")
            .arg(self.data_dir())
            .args(["--kafka", &self.bootstrap, "--http", &self.http])
            .args(["--advertise", &self.bootstrap])
            .args(["--node-id", &self.setup.node_id.to_string()]);
        for setting in self.setup.settings.iter().chain(self.setup.extra) {
            command.args(["--set", setting]);
        }
        command
    }

    fn kafka_settings(&self) -> PathBuf {
        self.dir.join("server.properties")
    }

    fn java(&self, class_path: &str, options: &[&str]) -> Command {
        let mut command = shell::command("java");
        command
            .args(options)
            .arg(format!(
                "-Dlog4j2.configurationFile={}",
                self.dir.join("log4j2.properties").display()
            ))
            .args(["-cp", class_path]);
        command
    }

    /// Kafka in KRaft mode, one process that is broker and controller, with a data directory it must format first.
    fn format_kafka(&self, class_path: &str) -> anyhow::Result<()> {
        let [controller] = free_ports()?;
        let settings = format!(
            "process.roles=broker,controller\nnode.id={node_id}\n\
             controller.quorum.voters={node_id}@127.0.0.1:{controller}\n\
             listeners=PLAINTEXT://{kafka},CONTROLLER://127.0.0.1:{controller}\n\
             advertised.listeners=PLAINTEXT://{kafka}\n\
             listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT\n\
             controller.listener.names=CONTROLLER\ninter.broker.listener.name=PLAINTEXT\n\
             log.dirs={data}\noffsets.topic.replication.factor=1\noffsets.topic.num.partitions=4\n\
             transaction.state.log.replication.factor=1\ntransaction.state.log.min.isr=1\n\
             transaction.state.log.num.partitions=4\n\
             share.coordinator.state.topic.replication.factor=1\nshare.coordinator.state.topic.min.isr=1\n\
             share.coordinator.state.topic.num.partitions=4\n\
             {settings}\n",
            kafka = self.bootstrap,
            data = self.data_dir().display(),
            node_id = self.setup.node_id,
            settings = self.setup.settings.join("\n"),
        );
        std::fs::write(self.kafka_settings(), settings)?;
        std::fs::write(
            self.dir.join("log4j2.properties"),
            "status=error\nrootLogger.level=warn\nrootLogger.appenderRef.out.ref=out\n\
             appender.out.type=Console\nappender.out.name=out\n\
             appender.out.layout.type=PatternLayout\nappender.out.layout.pattern=%d %p %m (%c)%n\n",
        )?;
        let mut format = self.java(class_path, &["-Xmx256m"]);
        format.args(["kafka.tools.StorageTool", "format", "-t", KAFKA_CLUSTER_ID]);
        shell::output(format.arg("-c").arg(self.kafka_settings()))?;
        Ok(())
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// Sends a signal to a process that this program started.
pub(crate) fn signal(process: &Child, signal: Signal) -> anyhow::Result<()> {
    let id = i32::try_from(process.id()).context("process id")?;
    let pid = Pid::from_raw(id).context("process id 0")?;
    kill_process(pid, signal).context("kill")
}

/// Waits for the end of a process, at most `limit`; then kills it and fails.
pub(crate) fn wait_bounded(process: &mut Child, limit: Duration) -> anyhow::Result<ExitStatus> {
    let deadline = Instant::now() + limit;
    loop {
        if let Some(status) = process.try_wait()? {
            return Ok(status);
        }
        if Instant::now() > deadline {
            process.kill()?;
            process.wait()?;
            bail!("did not end within {limit:?}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn wait_until_it_accepts(address: &str, mut process: Option<&mut Child>) -> anyhow::Result<()> {
    let deadline = Instant::now() + START_TIMEOUT;
    loop {
        let error = match TcpStream::connect(address) {
            Ok(_) => return Ok(()),
            Err(error) => error,
        };
        if let Some(process) = process.as_deref_mut()
            && let Some(status) = process.try_wait()?
        {
            bail!("the broker ended with {status} before it accepted connections");
        }
        if Instant::now() > deadline {
            bail!("no broker accepts connections at {address} after {START_TIMEOUT:?}: {error}");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Ports that are free now, below those that the system gives to outgoing connections: one of these may take such a port before the
/// broker does. Each process begins to search at a place of its own.
fn free_ports<const N: usize>() -> anyhow::Result<[u16; N]> {
    const FIRST: u16 = 10_000;
    const COUNT: u16 = 20_000;
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let start = u16::try_from(std::process::id().wrapping_mul(131) % u32::from(COUNT))?;
    let mut ports = [0; N];
    for port in &mut ports {
        let mut candidates = (0..COUNT).map(|_| {
            let step = NEXT.fetch_add(1, Ordering::Relaxed) % COUNT;
            FIRST
                + u16::try_from((u32::from(start) + u32::from(step)) % u32::from(COUNT))
                    .unwrap_or(0)
        });
        let free = candidates.find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
        *port = free.context("no port between 10000 and 30000 is free")?;
    }
    Ok(ports)
}
