//! The client programs under `compat/`: how each is started, and what it can do.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, bail};
use rustix::process::Signal;

use super::broker::{signal, wait_bounded};
use super::history::History;
use crate::{shell, toolchains};

/// How long a client program may take to end by itself.
const END_TIMEOUT: Duration = Duration::from_secs(60);

/// One client program.
#[derive(Debug)]
pub(crate) struct Client {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// True if every record can have headers of its own.
    pub(crate) headers_have_ids: bool,
    /// True if it tells which commits were accepted.
    pub(crate) tells_commits: bool,
    /// The codecs that it has, the best last.
    pub(crate) codecs: &'static [&'static str],
    /// True if a consumer waits for a broker that went away; kcat ends instead.
    pub(crate) outlives_the_broker: bool,
    program: Vec<String>,
    environment: Vec<(String, String)>,
}

/// The names of all clients, in the order in which they run.
pub(crate) const NAMES: &[&str] = &[
    "kcat",
    "confluent-kafka",
    "confluent-kafka-848",
    "kafka-python",
    "aiokafka",
    "java",
    "java-848",
    "franz-go",
    "franz-go-848",
    "sarama",
    "kafkajs",
    "platformatic",
    "confluent-js",
];

/// Clients that only the complete run has, unless they are named: this one is librdkafka, as confluent-kafka is, and its compilation
/// takes longer than all the others' conversations.
pub(crate) const ONLY_COMPLETE: &[&str] = &["confluent-js"];

/// The end of the names of clients whose groups are of the new protocol (KIP-848).
const NEW_PROTOCOL: &str = "-848";

/// All that Kafka has.
const CODECS: &[&str] = &["none", "gzip", "snappy", "lz4", "zstd"];
/// KafkaJS leaves the others to programs that it does not bring.
const CODECS_OF_KAFKAJS: &[&str] = &["none", "gzip", "snappy"];

impl Client {
    /// Installs or builds what the client needs.
    pub(crate) fn prepare(name: &str) -> anyhow::Result<Client> {
        let name = NAMES
            .iter()
            .find(|known| **known == name)
            .with_context(|| format!("no client {name:?}; there are {}", NAMES.join(", ")))?;
        let script = |path: &str| -> anyhow::Result<Vec<String>> {
            let script = shell::repository().join("compat").join(path);
            Ok(vec![text(&toolchains::python()?), text(&script)])
        };
        let mut environment = Vec::new();
        // Java's codecs unpack libraries there, and one that is killed leaves them.
        let temporary = format!("-Djava.io.tmpdir={}", toolchains::cache().display());
        let program = match *name {
            "kcat" => {
                environment.push(("KCAT".to_owned(), text(&toolchains::kcat()?)));
                script("kcat/client_kcat.py")?
            }
            "confluent-kafka" | "confluent-kafka-848" => script("python/client_confluent.py")?,
            "kafka-python" => script("python/client_kafka_python.py")?,
            "aiokafka" => script("python/client_aiokafka.py")?,
            "java" | "java-848" => [
                "java",
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
            ]
            .map(str::to_owned)
            .into_iter()
            .chain([toolchains::java()?, temporary, "fanlog.Client".to_owned()])
            .collect(),
            "franz-go" | "franz-go-848" => vec![text(&toolchains::go()?.join("franz"))],
            "sarama" => vec![text(&toolchains::go()?.join("sarama"))],
            "kafkajs" => vec![
                text(&toolchains::node()?),
                text(&toolchains::javascript()?.join("client_kafkajs.js")),
            ],
            "platformatic" => vec![
                text(&toolchains::new_node()?),
                text(&toolchains::javascript()?.join("client_platformatic.mjs")),
            ],
            "confluent-js" => vec![
                text(&toolchains::node()?),
                text(&toolchains::javascript_confluent()?.join("client_confluent.js")),
            ],
            _ => bail!("no program for {name}"),
        };
        if name.ends_with(NEW_PROTOCOL) {
            environment.push(("GROUP_PROTOCOL".to_owned(), "consumer".to_owned()));
        }
        Ok(Client {
            name,
            headers_have_ids: *name != "kcat",
            tells_commits: !matches!(*name, "kcat" | "sarama"),
            codecs: match *name {
                "kafkajs" => CODECS_OF_KAFKAJS,
                _ => CODECS,
            },
            outlives_the_broker: *name != "kcat",
            program,
            environment,
        })
    }

    /// The codec, or the best that the client has instead.
    pub(crate) fn codec(&self, wanted: &'static str) -> &'static str {
        match self.codecs.contains(&wanted) {
            true => wanted,
            false => self.codecs.last().expect("every client has a codec"),
        }
    }

    pub(super) fn command(&self, args: &[String]) -> Command {
        let mut command = shell::command(&self.program[0]);
        command
            .args(&self.program[1..])
            .args(args)
            .envs(self.environment.iter().cloned())
            .env("PYTHONDONTWRITEBYTECODE", "1");
        command
    }

    /// Runs a command of the program to its end and returns its lines; on failure the error shows what it wrote.
    pub(crate) fn run(&self, args: &[String]) -> anyhow::Result<Vec<String>> {
        let output = shell::output(&mut self.command(args))?;
        Ok(output.lines().map(str::to_owned).collect())
    }

    /// The library's name and version, by its own word.
    pub(crate) fn version(&self) -> anyhow::Result<(String, String)> {
        let lines = self.run(&["version".to_owned()])?;
        let fields: Vec<&str> = lines
            .first()
            .map_or(vec![], |line| line.split('\t').collect());
        match fields.as_slice() {
            ["client", name, version] => Ok(((*name).to_owned(), (*version).to_owned())),
            _ => bail!("no version in {lines:?}"),
        }
    }

    /// Starts a process whose lines go to `on_line` as they come; what it complains about goes to a file in `dir`.
    pub(crate) fn spawn(
        &self,
        args: &[String],
        dir: &Path,
        label: &str,
        shared: &Shared,
        on_line: impl Fn(&mut History, &str) + Send + 'static,
    ) -> anyhow::Result<Running> {
        let complaints = dir.join(format!("{}-{label}.stderr", self.name));
        let mut command = self.command(args);
        let mut process = command
            .stdout(Stdio::piped())
            .stderr(File::create(&complaints)?)
            .spawn()
            .with_context(|| format!("cannot start {command:?}"))?;
        let stdout = process.stdout.take().expect("stdout was asked to be piped");
        let shared = shared.clone();
        let reader = std::thread::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            let mut line = String::new();
            // A line without its end is the last of a process that was killed while it wrote it: nobody was told that.
            while stdout.read_line(&mut line).is_ok() && line.ends_with('\n') {
                on_line(&mut shared.lock(), line.trim_end_matches('\n'));
                shared.changed.notify_all();
                line.clear();
            }
        });
        Ok(Running {
            label: label.to_owned(),
            process,
            reader: Some(reader),
            complaints,
        })
    }
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// The history, which several processes' readers fill.
#[derive(Debug, Clone)]
pub(crate) struct Shared {
    history: Arc<Mutex<History>>,
    changed: Arc<Condvar>,
}

impl Shared {
    /// Shares a history.
    pub(crate) fn new(history: History) -> Shared {
        Shared {
            history: Arc::new(Mutex::new(history)),
            changed: Arc::new(Condvar::new()),
        }
    }

    /// The history, for a moment.
    pub(crate) fn lock(&self) -> std::sync::MutexGuard<'_, History> {
        self.history.lock().expect("no reader panics")
    }

    /// Waits until the history says so, at most `limit`.
    pub(crate) fn wait(
        &self,
        limit: Duration,
        what: &str,
        holds: impl Fn(&History) -> bool,
    ) -> anyhow::Result<()> {
        let (history, timeout) = self
            .changed
            .wait_timeout_while(self.lock(), limit, |history| !holds(history))
            .expect("no reader panics");
        if timeout.timed_out() && !holds(&history) {
            let missing = history.missing();
            bail!(
                "not within {limit:?}: {what} ({} of {} records delivered; missing such as {:?})",
                history.sent() - missing.len() as u64,
                history.sent(),
                &missing[..missing.len().min(5)]
            );
        }
        Ok(())
    }
}

/// A client process; it is killed if it outlives the value.
#[derive(Debug)]
pub(crate) struct Running {
    label: String,
    process: Child,
    reader: Option<JoinHandle<()>>,
    complaints: PathBuf,
}

impl Running {
    /// Kills it hard, and reads what it had written.
    pub(crate) fn kill(mut self) -> anyhow::Result<()> {
        self.process.kill()?;
        self.process.wait()?;
        self.read_to_end();
        Ok(())
    }

    /// Asks it to end, and waits.
    pub(crate) fn stop(self) -> anyhow::Result<()> {
        signal(&self.process, Signal::TERM)?;
        self.finish()
    }

    /// Waits until it ends by itself, with success.
    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        let ended = wait_bounded(&mut self.process, END_TIMEOUT);
        self.read_to_end();
        let last_words = self.last_words();
        let status = ended.with_context(|| format!("{}: {last_words}", self.label))?;
        // A JVM that ran its shutdown hooks reports the signal.
        let is_orderly = status.success() || status.code() == Some(143);
        anyhow::ensure!(
            is_orderly,
            "{} ended with {status}: {last_words}",
            self.label
        );
        Ok(())
    }

    /// Why it ended, if it ended by itself.
    pub(crate) fn obituary(&mut self) -> Option<String> {
        let has_ended = !self.is_running();
        has_ended.then(|| format!("{} ended by itself: {}", self.label, self.last_words()))
    }

    fn last_words(&self) -> String {
        let text = std::fs::read_to_string(&self.complaints).unwrap_or_default();
        shell::tail(&text, 15)
    }

    /// True while it runs.
    pub(crate) fn is_running(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(None))
    }

    fn read_to_end(&mut self) {
        if let Some(reader) = self.reader.take() {
            reader.join().expect("no reader panics");
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.is_running() {
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
    }
}
