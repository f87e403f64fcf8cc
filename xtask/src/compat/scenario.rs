//! One client's way through the broker: produce in every way, read in a group of three, lose a member, lose the broker, come back.
//!
//! In -> out: a client and a broker -> what held, or the first thing that did not.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

use super::broker::{Broker, End};
use super::client::{Client, Running, Shared};
use super::history::History;
use super::observer::Observer;

/// Partitions of the topic; three members get two each.
const PARTITIONS: i32 = 6;
/// How long deliveries may take: session time-out, rebalance, a slow machine.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(90);
/// A commit after so many records.
const COMMIT_EVERY: u64 = 64;

/// What a run showed.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) product: String,
    pub(crate) version: String,
    pub(crate) sent: u64,
    pub(crate) repeats: u64,
    pub(crate) commits: u64,
    pub(crate) checks: Vec<String>,
    pub(crate) seconds: f32,
}

/// A stretch of the plan: codec, acks, count.
type Leg = (&'static str, &'static str, u64);

struct Scenario<'a> {
    client: &'a Client,
    observer: &'a Observer,
    dir: &'a Path,
    topic: String,
    group: String,
    next_id: u64,
    shared: Shared,
    checks: Vec<String>,
}

/// Runs one client through everything.
pub(crate) fn run(
    client: &Client,
    observer: &Observer,
    broker: &mut Broker,
    dir: &Path,
    is_quick: bool,
) -> anyhow::Result<Report> {
    let started = Instant::now();
    let (product, version) = client.version()?;
    let unique = std::process::id();
    let mut scenario = Scenario {
        client,
        observer,
        dir,
        topic: format!("compat-{}-{unique}", client.name),
        group: format!("group-{}-{unique}", client.name),
        next_id: 0,
        shared: Shared::new(History::new(client.headers_have_ids)),
        checks: Vec::new(),
    };
    scenario.produce_in_every_way(broker, is_quick)?;
    let survivors = scenario.lose_a_member(broker, is_quick)?;
    scenario.lose_the_broker(broker, survivors, is_quick)?;
    scenario.come_back(broker, is_quick)?;
    let administered = scenario.administer(broker);
    let refusals = std::mem::take(&mut scenario.shared.lock().refusals);
    administered.with_context(|| format!("commits refused before: {refusals:?}"))?;
    let mut history = scenario.shared.lock();
    history.verdict()?;
    scenario
        .checks
        .push("no loss; order per key; values, keys and headers as sent".into());
    Ok(Report {
        product,
        version,
        sent: history.sent(),
        repeats: history.repeats,
        commits: history.commits,
        checks: std::mem::take(&mut scenario.checks),
        seconds: started.elapsed().as_secs_f32(),
    })
}

impl Scenario<'_> {
    fn args(&self, broker: &Broker, command: &str, rest: &[(&str, String)]) -> Vec<String> {
        let mut args = vec![
            command.to_owned(),
            "--bootstrap".to_owned(),
            broker.bootstrap().to_owned(),
            "--topic".to_owned(),
            self.topic.clone(),
        ];
        for (name, value) in rest {
            args.extend([format!("--{name}"), value.clone()]);
        }
        args
    }

    /// Notes the legs in the history and returns the arguments that send them.
    fn plan(&mut self, broker: &Broker, legs: &[Leg], pace_ms: f32) -> Vec<String> {
        let first = self.next_id;
        for (codec, acks, count) in legs {
            self.shared.lock().plan(self.next_id, *count, codec, acks);
            self.next_id += count;
        }
        let plan: Vec<String> = legs
            .iter()
            .map(|(codec, acks, count)| format!("{codec}:{acks}:{count}"))
            .collect();
        let rest = [
            ("first-id", first.to_string()),
            ("plan", plan.join(",")),
            ("pace-ms", pace_ms.to_string()),
        ];
        self.args(broker, "produce", &rest)
    }

    fn produce(&mut self, broker: &Broker, legs: &[Leg]) -> anyhow::Result<()> {
        let args = self.plan(broker, legs, 0.0);
        let lines = self.client.run(&args).context("produce")?;
        let mut history = self.shared.lock();
        lines.iter().for_each(|line| history.producer_line(line));
        Ok(())
    }

    fn produce_in_every_way(&mut self, broker: &Broker, is_quick: bool) -> anyhow::Result<()> {
        let create = self.args(broker, "create", &[("partitions", PARTITIONS.to_string())]);
        self.keep_checks(&create).context("create")?;
        if !broker.is_fanlog() {
            self.observer
                .wait_for_topic(broker.bootstrap(), &self.topic, PARTITIONS)?;
        }
        let mut legs: Vec<Leg> = Vec::new();
        for codec in self.client.codecs {
            let all: &[&str] = match (is_quick, *codec) {
                (false, _) | (true, "none") => &["0", "1", "all", "idempotent"],
                (true, _) => &["all"],
            };
            let count = if is_quick { 50 } else { 200 };
            legs.extend(all.iter().map(|acks| (*codec, *acks, count)));
        }
        self.produce(broker, &legs)?;
        let stored = self.observer.codecs(broker.bootstrap(), &self.topic)?;
        for codec in self.client.codecs {
            ensure!(
                stored.iter().any(|found| found == codec),
                "no batch is stored as {codec}; found {stored:?}"
            );
        }
        self.checks.push(format!(
            "{} ways to produce, each codec found in the log",
            legs.len()
        ));
        Ok(())
    }

    fn start_member(&self, broker: &Broker, label: &str) -> anyhow::Result<(usize, Running)> {
        let number = self.shared.lock().add_consumer();
        let rest = [
            ("group", self.group.clone()),
            ("commit-every", COMMIT_EVERY.to_string()),
        ];
        let args = self.args(broker, "consume", &rest);
        let running = self.client.spawn(
            &args,
            self.dir,
            label,
            &self.shared,
            move |history, line| {
                history.consumer_line(number, line);
            },
        )?;
        Ok((number, running))
    }

    /// Three members, a fourth process that produces at a steady rate, and a kill in the middle of a batch.
    fn lose_a_member(&mut self, broker: &Broker, is_quick: bool) -> anyhow::Result<Vec<Running>> {
        let mut members = Vec::new();
        for label in ["member-1", "member-2", "member-3"] {
            members.push(self.start_member(broker, label)?);
        }
        self.observer
            .wait_for_members(broker.bootstrap(), &self.group, 3)?;
        self.checks.push("a group of three".into());
        let before: Vec<u64> = {
            let history = self.shared.lock();
            members
                .iter()
                .map(|(number, _)| history.delivered(*number))
                .collect()
        };
        let count = if is_quick { 600 } else { 2000 };
        let args = self.plan(broker, &[(self.client.codec("lz4"), "all", count)], 2.0);
        let producer = self.client.spawn(
            &args,
            self.dir,
            "live-producer",
            &self.shared,
            History::producer_line,
        )?;
        let numbers: Vec<usize> = members.iter().map(|(number, _)| *number).collect();
        let victim = numbers[1];
        let tells_commits = self.client.tells_commits;
        let live = self.shared.wait(
            DELIVERY_TIMEOUT,
            "every member is given live records",
            |history| {
                let all_live = numbers
                    .iter()
                    .zip(&before)
                    .all(|(number, before)| history.delivered(*number) >= before + 20);
                all_live && (!tells_commits || history.since_commit(victim) >= 3)
            },
        );
        explain(live, members.iter_mut().map(|(_, running)| running))?;
        members.remove(1).1.kill()?;
        producer.finish().context("the producer beside the kill")?;
        let taken_over = self.wait_for_everything("the survivors take over");
        explain(taken_over, members.iter_mut().map(|(_, running)| running))?;
        self.observer
            .wait_for_members(broker.bootstrap(), &self.group, 2)?;
        self.checks
            .push("a member killed with kill -9 in mid-batch, the others took over".into());
        Ok(members.into_iter().map(|(_, running)| running).collect())
    }

    /// kill -9 of the broker under the members' feet; then they stop in order, one after the other.
    fn lose_the_broker(
        &mut self,
        broker: &mut Broker,
        mut members: Vec<Running>,
        is_quick: bool,
    ) -> anyhow::Result<()> {
        if broker.can_restart() {
            broker.restart(End::Kill)?;
            self.checks
                .push("the broker killed with kill -9 and started again".into());
            if !self.client.outlives_the_broker {
                members.clear();
                for label in ["member-1b", "member-3b"] {
                    members.push(self.start_member(broker, label)?.1);
                }
            }
        }
        let count = if is_quick { 60 } else { 300 };
        self.produce(broker, &[(self.client.codec("zstd"), "idempotent", count)])?;
        let went_on = self.wait_for_everything("members go on after the broker's kill");
        explain(went_on, members.iter_mut())?;
        self.observer
            .wait_for_members(broker.bootstrap(), &self.group, 2)?;
        members.remove(0).stop()?;
        self.observer
            .wait_for_members(broker.bootstrap(), &self.group, 1)?;
        members.remove(0).stop()?;
        self.observer
            .wait_for_members(broker.bootstrap(), &self.group, 0)?;
        Ok(())
    }

    /// A clean restart of the broker, new consumer processes: they start where the old ones had committed.
    fn come_back(&mut self, broker: &mut Broker, is_quick: bool) -> anyhow::Result<()> {
        let old_ids_end = self.next_id;
        let count = if is_quick { 60 } else { 300 };
        self.produce(broker, &[("gzip", "all", count)])?;
        if broker.can_restart() {
            broker.restart(End::Terminate)?;
            self.checks
                .push("the broker stopped with SIGTERM and started again".into());
        }
        let mut members = Vec::new();
        for label in ["member-4", "member-5", "member-6"] {
            members.push(self.start_member(broker, label)?);
        }
        let read_on = self.wait_for_everything("new members read on");
        explain(read_on, members.iter_mut().map(|(_, running)| running))?;
        self.observer
            .wait_for_members(broker.bootstrap(), &self.group, 3)?;
        let numbers: Vec<usize> = members.iter().map(|(number, _)| *number).collect();
        for (left, (_, member)) in (0..3).rev().zip(members) {
            member.stop()?;
            self.observer
                .wait_for_members(broker.bootstrap(), &self.group, left)?;
        }
        let history = self.shared.lock();
        if self.client.tells_commits {
            // Each delivery was held to what was told. The last member may have lost, in the rebalance before its end, what it had not committed.
            ensure!(
                history.commits > 0,
                "no commit was told; commits refused: {:?}",
                history.refusals
            );
        } else {
            ensure!(
                !history.has_old(old_ids_end, &numbers),
                "GRP-3: records read before the clean stop were delivered again; commits refused: {:?}",
                history.refusals
            );
        }
        drop(history);
        self.checks
            .push("new members resumed at the committed offsets".into());
        Ok(())
    }

    fn wait_for_everything(&self, what: &str) -> anyhow::Result<()> {
        self.shared.wait(DELIVERY_TIMEOUT, what, |history| {
            history.missing().is_empty()
        })
    }

    fn administer(&mut self, broker: &Broker) -> anyhow::Result<()> {
        let rest = [
            ("group", self.group.clone()),
            ("partitions", PARTITIONS.to_string()),
            ("records", self.next_id.to_string()),
        ];
        let args = self.args(broker, "admin", &rest);
        self.keep_checks(&args).context("admin")
    }

    /// Runs a command whose lines say what it found right.
    fn keep_checks(&mut self, args: &[String]) -> anyhow::Result<()> {
        let lines = self.client.run(args)?;
        let checks = lines.iter().filter_map(|line| line.strip_prefix("ok\t"));
        self.checks.extend(checks.map(str::to_owned));
        Ok(())
    }
}

/// Adds to a failure what the processes that ended by themselves had to say.
fn explain<'a>(
    outcome: anyhow::Result<()>,
    members: impl Iterator<Item = &'a mut Running>,
) -> anyhow::Result<()> {
    let Err(error) = outcome else { return Ok(()) };
    let obituaries: Vec<String> = members.filter_map(Running::obituary).collect();
    Err(error.context(obituaries.join("\n")))
}
