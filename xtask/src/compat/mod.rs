//! `cargo xtask compat`: clients that nobody here wrote, against the broker.
//!
//! Why it exists: a broker that speaks somebody else's protocol is right only if that somebody's clients say so.
//! In -> out: a broker, the client programs under `compat/` -> a verdict each, and `compat/RESULTS.md`.
//! Read next: `scenario.rs`.

pub(crate) mod broker;
mod client;
mod dump_log;
mod history;
mod observer;
mod own;
mod results;
mod scenario;
mod scripts;
mod shares;
mod side_by_side;

pub(crate) use self::broker::{End, Kind};
pub(crate) use self::own::OwnBroker;
pub(crate) use self::side_by_side::SideBySide;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;

use self::broker::Broker;
use self::client::Client;
use self::observer::Observer;
use self::results::Results;
use self::scenario::Report;
use crate::shell::{self, Usage, step};
use crate::tally::Tally;
use crate::toolchains;

const HELP: &str = "\
usage: cargo xtask compat [--quick] [--release] [--only NAME[,NAME...]] [--against WHAT] [--bootstrap HOST:PORT]

  --quick       the short form, as in `cargo xtask test`; writes no results
  --release     the broker in the release profile
  --only        some of: kcat, confluent-kafka, kafka-python, aiokafka, java, franz-go, sarama, kafkajs,
                platformatic, confluent-js, raw, commit-race, compaction, groups (from protocol to
                protocol, patterns, static members), transactions (by other clients than librdkafka and
                Java), tools (Kafka's command-line tools), verifiable (those of its system tests),
                connect (Kafka Connect), streams (Kafka Streams), share (share groups, under kills),
                share-confluent (librdkafka's share consumer), ways (one event in several ways at once),
                http (the API of topics and queues), dedup (message ids), openapi (its document, by a
                validator), dump-log (Kafka's reader over our files)
  --against     \"kafka\": Apache Kafka 4.4, to prove the suites; or the path of a broker program
  --bootstrap   a broker that is already running; it is not restarted";

/// Kafka's reader over our files, by its name on the command line.
const DUMP_LOG: &str = "dump-log";

/// A broker that takes longer to start breaks a promise.
const START_LIMIT: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
struct Options {
    is_quick: bool,
    is_release: bool,
    only: Vec<String>,
    against: Option<String>,
    bootstrap: Option<String>,
}

impl Options {
    fn parse(args: &[String]) -> anyhow::Result<Options> {
        let mut options = Options::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let mut value = || {
                let value = args.next().cloned();
                value.ok_or_else(|| Usage(format!("{arg} wants a value\n{HELP}")))
            };
            match arg.as_str() {
                "--quick" => options.is_quick = true,
                "--release" => options.is_release = true,
                "--only" => options.only = value()?.split(',').map(str::to_owned).collect(),
                "--against" => options.against = Some(value()?),
                "--bootstrap" => options.bootstrap = Some(value()?),
                _ => return Err(Usage(format!("no option {arg:?}\n{HELP}")).into()),
            }
        }
        let unknown = options.only.iter().find(|name| {
            let name = name.as_str();
            !client::NAMES.contains(&name)
                && !scripts::is_known(name)
                && name != DUMP_LOG
                && name != shares::SHARE
        });
        match unknown {
            Some(name) => Err(Usage(format!("nothing is called {name:?}\n{HELP}")).into()),
            None => Ok(options),
        }
    }

    fn wants(&self, name: &str) -> bool {
        let is_left_out = self.is_quick && client::ONLY_COMPLETE.contains(&name);
        (self.only.is_empty() && !is_left_out) || self.is_named(name)
    }

    /// Whether it was asked for by its name.
    fn is_named(&self, name: &str) -> bool {
        self.only.iter().any(|wanted| wanted == name)
    }

    fn kind(&self) -> anyhow::Result<Kind> {
        if let Some(bootstrap) = &self.bootstrap {
            return Ok(Kind::Running(bootstrap.clone()));
        }
        match self.against.as_deref() {
            Some("kafka") => Ok(Kind::Kafka(toolchains::kafka()?)),
            Some(program) => Ok(Kind::Fanlog(std::path::absolute(program)?)),
            None => build_fanlog(self.is_release).map(Kind::Fanlog),
        }
    }
}

/// Builds the program and says where it lies.
pub(crate) fn build_fanlog(is_release: bool) -> anyhow::Result<PathBuf> {
    step("building the broker", || {
        let mut build = shell::cargo();
        if is_release {
            build.args(["build", "--quiet", "--release", "--package", "fanlog"]);
        } else {
            // What `cargo test` builds: another choice of packages would have other features, and build everything anew.
            build.args(["test", "--quiet", "--workspace", "--no-run"]);
        }
        shell::run(&mut build)
    })?;
    let profile = if is_release { "release" } else { "debug" };
    Ok(shell::target_dir().join(profile).join("fanlog"))
}

/// Runs the command.
pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    if args.iter().any(|arg| arg == "--help") {
        println!("{HELP}");
        return Ok(());
    }
    let options = Options::parse(args)?;
    let mut tally = Tally::default();
    let results = suites(&options, &mut tally)?;
    let is_complete = options.only.is_empty() && !options.is_quick;
    if is_complete && results.is_about_fanlog() {
        results.write()?;
    }
    tally.close()
}

/// The short form that `cargo xtask test` runs.
pub(crate) fn smoke(tally: &mut Tally) {
    let options = Options {
        is_quick: true,
        ..Options::default()
    };
    if let Err(error) = suites(&options, tally) {
        tally.fail("real clients", &format!("{error:#}"));
    }
}

fn suites(options: &Options, tally: &mut Tally) -> anyhow::Result<Results> {
    let kind = options.kind()?;
    let observer = Observer::prepare()?;
    // A folder of its own for each run, so that two runs do not share a broker's data; kept when something failed.
    let dir = toolchains::cache().join(format!("run-{}", std::process::id()));
    let broker = step("starting the broker", || Broker::start(&kind, &dir))?;
    let mut session = Session {
        options,
        observer,
        results: Results::new(&kind),
        broker,
        dir: dir.clone(),
        tally,
    };
    let failed_before = session.tally.failed();
    session.start_time();
    session.clients()?;
    session.scripts()?;
    if options.wants(shares::SHARE) {
        session.shares();
    }
    session.broker.stop(End::Terminate)?;
    if options.wants(DUMP_LOG) && !matches!(kind, Kind::Running(_)) {
        session.dump_logs();
    }
    if session.tally.failed() == failed_before {
        let _ = std::fs::remove_dir_all(dir);
    }
    Ok(session.results)
}

/// One broker and everything that is run against it.
struct Session<'a> {
    options: &'a Options,
    observer: Observer,
    results: Results,
    broker: Broker,
    dir: PathBuf,
    tally: &'a mut Tally,
}

impl Session<'_> {
    /// What README promises about the first command.
    fn start_time(&mut self) {
        if self.broker.is_fanlog() {
            let took = self.broker.started_in();
            let outcome = format!("the first connection after {} ms", took.as_millis());
            self.results.add_other("start", &outcome);
            let is_quick = took < START_LIMIT;
            let verdict = is_quick.then_some(()).context(outcome);
            self.tally
                .record("the broker is up in under a second", verdict);
        }
    }

    fn clients(&mut self) -> anyhow::Result<()> {
        for name in client::NAMES.iter().filter(|name| self.options.wants(name)) {
            let outcome = step(&format!("client {name}"), || {
                let client = Client::prepare(name)?;
                let is_quick = self.options.is_quick;
                scenario::run(
                    &client,
                    &self.observer,
                    &mut self.broker,
                    &self.dir,
                    is_quick,
                )
            });
            match outcome {
                Ok(report) => self.passed(name, report),
                Err(error) => {
                    self.results.add_failure(name, &error);
                    self.tally.fail(name, &format!("{error:#}"));
                    // The next client deserves a broker that runs.
                    if self.broker.can_restart() {
                        self.broker
                            .restart(End::Kill)
                            .context("restart after a failure")?;
                    }
                }
            }
        }
        Ok(())
    }

    fn passed(&mut self, name: &str, report: Report) {
        for check in &report.checks {
            println!("    ok: {name}: {check}");
        }
        println!(
            "    {} {}: {} records, {} repeats, {} commits, {:.0} s",
            report.product,
            report.version,
            report.sent,
            report.repeats,
            report.commits,
            report.seconds
        );
        self.tally.pass(report.checks.len() as u64);
        self.results.add(report);
    }

    /// Apache Kafka's own reader over every segment that the stopped broker left.
    fn dump_logs(&mut self) {
        let outcome = step("Kafka's DumpLogSegments over the data directory", || {
            dump_log::check(&toolchains::kafka()?, &self.broker.data_dir(), &self.dir)
        });
        match outcome {
            Ok(summary) => {
                println!("    {summary}");
                self.tally.pass(1);
                self.results.add_other("dump-log", &summary);
            }
            Err(error) => {
                self.results.add_other("dump-log", "failed");
                self.tally.fail("dump-log", &format!("{error:#}"));
            }
        }
    }
}
