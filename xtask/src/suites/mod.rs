//! `cargo xtask suites`: the test suites of Kafka clients, which their authors wrote for Kafka, against the broker.
//!
//! Why it exists: whoever writes a broker tests what came to mind; these tests came to others' minds.
//! In -> out: pinned packages from public registries, our expectations -> outcomes, and `compat/SUITES.md`.
//! Never: a suite's code in this repository; only stand-ins, pins and expectations are ours.
//! Read next: `expectations.rs`.

mod case;
mod crates;
mod expectations;
mod kafka_python;
mod kgo;
pub(crate) mod librdkafka;
mod moto;
mod page;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::Context;

use crate::compat::broker::{Broker, Kind, Setup};
use crate::compat::build_fanlog;
use crate::shell::{self, Usage, step};
use crate::toolchains;

use self::case::{Case, Outcome};
use self::expectations::Expectations;
use self::page::{Build, Run};

const HELP: &str = "\
usage: cargo xtask suites [--only NAME[,NAME...]] [--release] [--against kafka|moto]

  --only      some of: kafka-python, kgo, rust-rdkafka, rskafka, librdkafka-2.12.1, librdkafka-2.15.1, moto; a name may
              have more after it, as in librdkafka-2.12.1-noautocreate
  --release   the broker in the release profile
  --against   \"kafka\": Apache Kafka 4.4, to see what is the suites' own fault; writes no page.
              \"moto\": moto's suite alone, against moto's own server";

/// A suite as this command sees it.
struct Suite {
    /// Its name here, on the command line, and of its folder.
    name: &'static str,
    /// Where it comes from, with the pinned version.
    source: &'static str,
    /// The broker that it wants.
    setup: Setup,
    /// Fetches and builds it once.
    prepare: fn() -> anyhow::Result<PathBuf>,
    /// Runs it to the end.
    run: fn(&Bench) -> anyhow::Result<Vec<Case>>,
}

const SUITES: &[Suite] = &[
    kafka_python::SUITE,
    kgo::SUITE,
    librdkafka::CRATE,
    librdkafka::CRATE_NO_AUTO_CREATE,
    librdkafka::NPM,
    librdkafka::NPM_CONSUMER,
    librdkafka::NPM_THREE_REPLICAS,
    librdkafka::NPM_NO_AUTO_CREATE,
    crates::RDKAFKA,
    crates::RSKAFKA,
    moto::SUITE,
];

/// What a suite is given.
struct Bench {
    /// What `prepare` returned.
    installed: PathBuf,
    /// Where the broker listens.
    bootstrap: String,
    /// Where it listens to HTTP; empty if it is not ours.
    http: String,
    /// For logs; kept.
    logs: PathBuf,
    /// Says what to leave out.
    expectations: Expectations,
}

/// The folder of a suite in this repository.
fn ours(name: &str) -> PathBuf {
    shell::repository().join("compat/suites").join(name)
}

/// Everything of the suites that is not ours.
fn cache() -> PathBuf {
    toolchains::cache().join("suites")
}

struct Options {
    only: Vec<String>,
    is_release: bool,
    against: Against,
}

/// What the suites are run against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Against {
    /// The broker, which is what it is all for.
    Fanlog,
    /// Apache Kafka.
    Kafka,
    /// moto's own server, which only its own suite understands.
    Moto,
}

impl Options {
    fn parse(args: &[String]) -> anyhow::Result<Options> {
        let mut options = Options {
            only: Vec::new(),
            is_release: false,
            against: Against::Fanlog,
        };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--release" => options.is_release = true,
                "--only" => {
                    let names = args.next().map(String::as_str).unwrap_or_default();
                    options.only = names.split(',').map(str::to_owned).collect();
                }
                "--against" => match args.next().map(String::as_str) {
                    Some("kafka") => options.against = Against::Kafka,
                    Some("moto") => options.against = Against::Moto,
                    other => {
                        let other = other.unwrap_or_default();
                        return Err(Usage(format!("nothing is called {other:?}\n{HELP}")).into());
                    }
                },
                _ => return Err(Usage(format!("{arg:?} was not understood\n{HELP}")).into()),
            }
        }
        let is_unknown = |name: &&String| !SUITES.iter().any(|suite| suite.name == *name);
        match options.only.iter().find(is_unknown) {
            Some(name) => Err(Usage(format!("no suite is called {name:?}\n{HELP}")).into()),
            None => Ok(options),
        }
    }

    fn wants(&self, suite: &Suite) -> bool {
        let is_named = self.only.is_empty() || self.only.iter().any(|name| name == suite.name);
        let is_of_moto = suite.name == moto::SUITE.name;
        is_named
            && match self.against {
                Against::Fanlog => true,
                Against::Kafka => !is_of_moto,
                Against::Moto => is_of_moto,
            }
    }
}

/// Runs the command.
pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    if args.iter().any(|arg| arg == "--help") {
        println!("{HELP}");
        return Ok(());
    }
    let options = Options::parse(args)?;
    let kind = match options.against {
        Against::Fanlog => Some(Kind::Fanlog(build_fanlog(options.is_release)?)),
        Against::Kafka => Some(Kind::Kafka(toolchains::kafka()?)),
        Against::Moto => None,
    };
    let build = Build::now();
    let mut surprises = Vec::new();
    let wanted: Vec<&Suite> = SUITES.iter().filter(|suite| options.wants(suite)).collect();
    for (n, suite) in wanted.iter().enumerate() {
        let title = format!("suite {} ({} of {})", suite.name, n + 1, wanted.len());
        let found = step(&title, || one(suite, kind.as_ref(), &build));
        match found {
            Ok(run) => {
                // Our expectations are those of Fanlog; what differs at moto is seen, not judged.
                let is_judged = options.against != Against::Moto;
                surprises.extend(
                    run.surprises
                        .iter()
                        .filter(|_| is_judged)
                        .map(|one| format!("{}: {one}", suite.name)),
                );
                if options.against == Against::Fanlog {
                    page::update(&run)?;
                }
            }
            Err(error) => surprises.push(format!("{}: {error:#}", suite.name)),
        }
    }
    for surprise in &surprises {
        eprintln!("unexpected: {surprise}");
    }
    anyhow::ensure!(surprises.is_empty(), "{} unexpected", surprises.len());
    Ok(())
}

fn one(suite: &Suite, kind: Option<&Kind>, build: &Build) -> anyhow::Result<Run> {
    let installed = (suite.prepare)()?;
    if let Some(port) = suite.setup.port {
        std::net::TcpListener::bind(("127.0.0.1", port))
            .with_context(|| format!("the suite wants port {port}; stop what listens there"))?;
    }
    let dir = cache().join("run").join(suite.name);
    let _lock = lock(suite.name)?;
    let _ = std::fs::remove_dir_all(&dir);
    let broker = match kind {
        Some(kind) => Some(Broker::start_as(suite.setup, kind, &dir.join("broker"))?),
        None => None,
    };
    let bench = Bench {
        installed,
        bootstrap: broker
            .as_ref()
            .map(Broker::bootstrap)
            .unwrap_or_default()
            .to_owned(),
        http: broker
            .as_ref()
            .map(Broker::http)
            .unwrap_or_default()
            .to_owned(),
        logs: dir.join("logs"),
        expectations: Expectations::read(&ours(suite.name).join("expectations.txt"))?,
    };
    std::fs::create_dir_all(&bench.logs)?;
    let started = Instant::now();
    let cases = (suite.run)(&bench)?;
    let run = Run::new(suite, &bench.expectations, cases, started.elapsed(), build);
    println!("    {}; logs: {}", run.counts(), bench.logs.display());
    if let Some(broker) = broker {
        still_serves(broker, &dir.join("broker"))?;
    }
    Ok(run)
}

/// Holds off a second run of the same suite, which would take away the first one's folder; locked as long as it is open.
fn lock(name: &str) -> anyhow::Result<std::fs::File> {
    let folder = cache().join("run");
    std::fs::create_dir_all(&folder)?;
    let path = folder.join(format!("{name}.lock"));
    let file = std::fs::File::create(&path)?;
    file.try_lock().with_context(|| {
        let path = path.display();
        format!("the suite runs already: another process has locked {path}; wait for its end")
    })?;
    Ok(file)
}

/// No suite may bring the broker down, and no data directory is kept.
fn still_serves(mut broker: Broker, dir: &Path) -> anyhow::Result<()> {
    broker.stop(crate::compat::broker::End::Terminate)?;
    let _ = std::fs::remove_dir_all(dir);
    Ok(())
}

/// Runs pytest with one of our plugins, which notes outcomes in the file that it is told; what it noted.
fn pytest(command: &mut Command, outcomes: &Path, logs: &Path) -> anyhow::Result<Vec<Case>> {
    command.env("FANLOG_OUTCOMES", outcomes);
    // Its exit code says that something failed, which may be expected; a crash shows as tests without an outcome.
    command.status().context("pytest")?;
    let text = std::fs::read_to_string(outcomes)
        .with_context(|| format!("pytest named no test; see {}", logs.display()))?;
    Ok(text.lines().filter_map(noted).collect())
}

/// A line of such a plugin: outcome, test, what it said.
fn noted(line: &str) -> Option<Case> {
    let mut parts = line.split('\t');
    let outcome = outcome(parts.next()?)?;
    let name = parts.next()?;
    Some(Case::new(name, outcome, parts.next().unwrap_or_default()))
}

/// The outcome that a word of our runners' lines stands for.
fn outcome(word: &str) -> Option<Outcome> {
    match word {
        "passed" => Some(Outcome::Passed),
        _ => Outcome::of_a_miss(word),
    }
}
