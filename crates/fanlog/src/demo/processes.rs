//! The demo's child processes: a broker of its own, and the consumers. None outlives the demo.

use super::consumer::{ConsumerArgs, IN_MID_BATCH};
use anyhow::{Context, bail};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::timeout;

const BROKER_START_MAX: Duration = Duration::from_secs(30);
const BROKER_STOP_MAX: Duration = Duration::from_secs(30);
const CONSUMER_STOP_MAX: Duration = Duration::from_secs(30);
/// What stands before the address in the line that `fanlog serve` prints when it is ready.
const READY_MARK: &str = "Kafka clients at ";

fn this_program() -> anyhow::Result<Command> {
    let mut command =
        Command::new(std::env::current_exe().context("finding this program's own file")?);
    command.kill_on_drop(true);
    Ok(command)
}

/// A broker in a process and a folder of its own.
pub(crate) struct OwnBroker {
    child: Child,
    pub(crate) address: String,
}

impl OwnBroker {
    /// Starts `fanlog serve` on a free port.
    pub(crate) async fn start(folder: &Path) -> anyhow::Result<Self> {
        let log = std::fs::File::create(folder.join("broker.log"))
            .context("making the broker's log file")?;
        let mut child = this_program()?
            .args(["serve", "--kafka", "127.0.0.1:0", "--http", "off", "--data"])
            .arg(folder.join("broker"))
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .context("starting the broker")?;
        let mut lines = lines_of(&mut child);
        let ready = timeout(BROKER_START_MAX, lines.next_line()).await;
        let line = ready
            .context("the broker did not start in time")??
            .unwrap_or_default();
        let address = line
            .split_once(READY_MARK)
            .and_then(|(_, rest)| rest.split(',').next())
            .with_context(|| {
                format!(
                    "the broker did not start; see {}",
                    folder.join("broker.log").display()
                )
            })?
            .to_owned();
        Ok(Self { child, address })
    }

    /// Stops it as an operator would.
    pub(crate) async fn stop(mut self) -> anyhow::Result<()> {
        let pid = self.child.id().context("the broker has ended by itself")?;
        let pid = i32::try_from(pid)
            .ok()
            .and_then(rustix::process::Pid::from_raw);
        rustix::process::kill_process(
            pid.context("a process id is positive")?,
            rustix::process::Signal::TERM,
        )?;
        let ended = timeout(BROKER_STOP_MAX, self.child.wait()).await;
        let status = ended.context("the broker did not stop in time")??;
        if !status.success() {
            bail!("the broker stopped with {status}");
        }
        Ok(())
    }
}

fn lines_of(child: &mut Child) -> Lines<BufReader<ChildStdout>> {
    let out = child
        .stdout
        .take()
        .expect("the child was started with a piped output");
    BufReader::new(out).lines()
}

/// One consumer process.
pub(crate) struct ConsumerProcess {
    child: Child,
    name: String,
}

impl ConsumerProcess {
    /// Starts it.
    pub(crate) fn start(args: &ConsumerArgs) -> anyhow::Result<Self> {
        let name = format!("{}-{}", args.group, args.member);
        let errors = std::fs::File::create(args.folder.join(format!("{name}.log")))?;
        let mut command = this_program()?;
        command.args([
            "demo-consumer",
            "--bootstrap",
            &args.bootstrap,
            "--topic",
            &args.topic,
        ]);
        command.args([
            "--group",
            &args.group,
            "--member",
            &args.member.to_string(),
            "--folder",
        ]);
        command.arg(&args.folder);
        if let Some(rate) = args.per_second {
            command.args(["--per-second", &rate.to_string()]);
        }
        if let Some(records) = args.hang_after {
            command.args(["--hang-after", &records.to_string()]);
        }
        let child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors)
            .spawn()
            .with_context(|| format!("starting the consumer {name}"))?;
        Ok(Self { child, name })
    }

    /// Waits until the consumer says that it is in the middle of a batch, then kills it (SIGKILL).
    pub(crate) async fn kill_in_mid_batch(mut self) -> anyhow::Result<()> {
        let mut lines = lines_of(&mut self.child);
        while let Some(line) = lines.next_line().await? {
            if line == IN_MID_BATCH {
                return self.child.kill().await.context("killing the consumer");
            }
        }
        bail!("the consumer {} ended before it could be killed", self.name)
    }

    /// Lets it finish its batch, commit and leave.
    pub(crate) async fn stop(mut self) -> anyhow::Result<()> {
        drop(self.child.stdin.take());
        let ended = timeout(CONSUMER_STOP_MAX, self.child.wait()).await;
        let status =
            ended.with_context(|| format!("the consumer {} did not stop in time", self.name))??;
        if !status.success() {
            bail!("the consumer {} stopped with {status}", self.name);
        }
        Ok(())
    }
}
