//! Share groups (KIP-932) with Java's KafkaShareConsumer: what each call does, and a history of members and brokers that are killed.
//!
//! Why it exists: QUE-1 and QUE-2 must hold whoever dies, and only those who were told something can say whether they do.
//! In -> out: members' words (`got`, `done`, `back`, `refused`) -> a verdict. A member that is killed may have been heard without
//! knowing it: what it held last may be done with, and nothing else may be missing.
//! Read next: `compat/java/src/main/java/fanlog/ShareMember.java`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};

use super::Session;
use super::broker::End;
use super::client::Client;
use crate::shell::step;

/// Its name on the command line.
pub(super) const SHARE: &str = "share";

const MEMBERS: usize = 4;
const PARTITIONS: u32 = 3;
/// How long after the last kill the members may take to be done with everything: a lock, and a session.
const DRAIN_MAX: Duration = Duration::from_secs(120);

/// What a member said.
#[derive(Debug)]
struct Line {
    member: usize,
    words: Vec<String>,
}

/// What is known of one record.
#[derive(Debug, Default)]
struct Record {
    /// Who accepted it, at which delivery, and was told that it counts.
    done: Option<(usize, u32)>,
    /// The member that it was delivered to last.
    last: Option<usize>,
    deliveries: u32,
    /// Somebody had no answer to what it said of it.
    may_be_done: bool,
}

/// What all members were told, in the order in which it was heard.
#[derive(Debug, Default)]
struct History {
    records: BTreeMap<u32, Record>,
    killed: BTreeSet<usize>,
    refused: u32,
    released: u32,
    violations: Vec<String>,
}

impl History {
    fn hear(&mut self, line: &Line) -> anyhow::Result<()> {
        let member = line.member;
        let [word, id, delivery, ..] = line.words.as_slice() else {
            return Ok(());
        };
        let (id, delivery): (u32, u32) = (id.parse()?, delivery.parse()?);
        let record = self.records.entry(id).or_default();
        match word.as_str() {
            "got" => {
                // One that a member had in its buffer while another was done with it is no later delivery.
                if let Some((by, at)) = record.done
                    && delivery > at
                {
                    self.violations.push(format!(
                        "QUE-2: record {id} was delivered to member {member} (delivery {delivery}) after member {by} was done with it (delivery {at})"
                    ));
                }
                record.last = Some(member);
                record.deliveries += 1;
            }
            "done" => {
                if let Some((by, _)) = record.done {
                    self.violations.push(format!(
                        "QUE-1: members {by} and {member} were both told that they are done with record {id}"
                    ));
                }
                record.done = Some((member, delivery));
            }
            "back" => self.released += 1,
            "refused" => {
                self.refused += 1;
                // Whether it counted is not known where the broker went away before it answered.
                record.may_be_done = true;
            }
            _ => bail!("a member says {:?}", line.words),
        }
        Ok(())
    }

    /// Records that nobody is known to be done with, and that nobody who was killed may have been.
    fn missing(&self, sent: u32) -> Vec<u32> {
        let is_missing = |id: &u32| {
            self.records.get(id).is_none_or(|record| {
                let held_by_killed = record.last.is_some_and(|last| self.killed.contains(&last));
                record.done.is_none() && !record.may_be_done && !held_by_killed
            })
        };
        (0..sent).filter(is_missing).collect()
    }

    fn done(&self) -> usize {
        let records = self.records.values();
        records.filter(|record| record.done.is_some()).count()
    }
}

/// Members' processes; those that are left are killed with the value.
struct Members<'a> {
    client: &'a Client,
    bootstrap: String,
    topic: String,
    group: String,
    running: Vec<(usize, Child)>,
    started: usize,
    said: Sender<Line>,
}

impl Members<'_> {
    fn args(&self, command: &str) -> Vec<String> {
        let options = [
            ("--bootstrap", &self.bootstrap),
            ("--topic", &self.topic),
            ("--group", &self.group),
        ];
        let options = options
            .iter()
            .flat_map(|(name, value)| [(*name).to_owned(), (*value).clone()]);
        std::iter::once(command.to_owned()).chain(options).collect()
    }

    fn start(&mut self) -> anyhow::Result<()> {
        let member = self.started;
        self.started += 1;
        let mut args = self.args("share-member");
        args.extend(["--seed".to_owned(), member.to_string()]);
        let mut command = self.client.command(&args);
        let mut process = command
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("a member of the share group")?;
        let stdout = process
            .stdout
            .take()
            .context("stdout was asked to be piped")?;
        let said = self.said.clone();
        std::thread::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            let mut line = String::new();
            // A line without its end is the last of a process that was killed while it wrote it: nobody was told that.
            while stdout.read_line(&mut line).is_ok() && line.ends_with('\n') {
                let words = line.trim_end().split('\t').map(str::to_owned).collect();
                let _ = said.send(Line { member, words });
                line.clear();
            }
        });
        self.running.push((member, process));
        Ok(())
    }

    /// Kills one; what it said before is still heard.
    fn kill(&mut self, place: usize) -> anyhow::Result<usize> {
        let (member, mut process) = self.running.swap_remove(place % self.running.len());
        process.kill()?;
        process.wait()?;
        Ok(member)
    }
}

impl Drop for Members<'_> {
    fn drop(&mut self) {
        for (_, process) in &mut self.running {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

impl Session<'_> {
    /// What each call of a share consumer does, and a history under kills.
    pub(super) fn shares(&mut self) {
        for (what, outcome) in [
            ("share: calls", self.share_calls()),
            ("share: history", self.share_history()),
        ] {
            match outcome {
                Ok(summary) => {
                    println!("    {what}: {summary}");
                    self.tally.pass(1);
                    self.results.add_other(what, &summary);
                }
                Err(error) => {
                    self.results.add_other(what, "failed");
                    self.tally.fail(what, &format!("{error:#}"));
                }
            }
        }
    }

    fn share_calls(&mut self) -> anyhow::Result<String> {
        step("share groups: KafkaShareConsumer's calls", || {
            let client = Client::prepare("java")?;
            let topic = format!("share-calls-{}", std::process::id());
            let args = [
                "share",
                "--bootstrap",
                self.broker.bootstrap(),
                "--topic",
                &topic,
            ];
            let lines = client.run(&args.map(str::to_owned))?;
            Ok(format!("{} checks passed", lines.len()))
        })
    }

    fn share_history(&mut self) -> anyhow::Result<String> {
        let is_quick = self.options.is_quick;
        let (rounds, sent) = if is_quick {
            (3, 1_500_u32)
        } else {
            (20, 10_000)
        };
        step("share groups: members and brokers are killed", || {
            let client = Client::prepare("java")?;
            let (said, heard) = channel();
            let name = format!("share-history-{}", std::process::id());
            let mut members = Members {
                client: &client,
                bootstrap: self.broker.bootstrap().to_owned(),
                topic: name.clone(),
                group: name.clone(),
                running: Vec::new(),
                started: 0,
                said,
            };
            let create = [
                members.args("create"),
                vec!["--partitions".to_owned(), PARTITIONS.to_string()],
            ];
            client.run(&create.concat())?;
            client.run(&members.args("share-prepare"))?;
            for _ in 0..MEMBERS {
                members.start()?;
            }
            let mut history = History::default();
            let per_round = sent / rounds;
            for round in 0..rounds {
                let plan = format!("none:all:{per_round}");
                let first = (round * per_round).to_string();
                let produce = ["--plan", &plan, "--first-id", &first].map(str::to_owned);
                client.run(&[members.args("produce"), produce.to_vec()].concat())?;
                listen(&heard, &mut history, Duration::from_millis(300))?;
                if round % 5 == 2 && self.broker.can_restart() {
                    self.broker.restart(End::Kill)?;
                } else {
                    let member = members.kill(round as usize)?;
                    history.killed.insert(member);
                    members.start()?;
                }
            }
            let sent = per_round * rounds;
            let drained_in = drain(&members, &heard, &mut history, sent)?;
            ensure!(
                history.violations.is_empty(),
                "{}",
                history.violations.join("; ")
            );
            let repeats: u32 = history
                .records
                .values()
                .map(|record| record.deliveries - 1)
                .sum();
            Ok(format!(
                "{sent} records, {} told done, {} released, {repeats} delivered again, {} refused, {} members killed; drained {} s after the last kill",
                history.done(),
                history.released,
                history.refused,
                members.started - MEMBERS,
                drained_in.as_secs()
            ))
        })
    }
}

/// Hears what is said for a while.
fn listen(heard: &Receiver<Line>, history: &mut History, during: Duration) -> anyhow::Result<()> {
    let until = Instant::now() + during;
    while let Ok(line) = heard.recv_timeout(until.saturating_duration_since(Instant::now())) {
        history.hear(&line)?;
    }
    Ok(())
}

/// Waits until every record is accounted for and the broker says that the group is done.
fn drain(
    members: &Members<'_>,
    heard: &Receiver<Line>,
    history: &mut History,
    sent: u32,
) -> anyhow::Result<Duration> {
    let started = Instant::now();
    let mut args = members.args("share-lag");
    args.extend(["--partitions".to_owned(), PARTITIONS.to_string()]);
    loop {
        listen(heard, history, Duration::from_secs(1))?;
        let missing = history.missing(sent);
        let lag = match missing.is_empty() {
            true => members.client.run(&args)?.join(" "),
            false => String::new(),
        };
        if lag == "lag\t0" {
            return Ok(started.elapsed());
        }
        ensure!(
            started.elapsed() < DRAIN_MAX,
            "QUE-2: after {} s {} records are missing, such as {:?}; the broker says {lag:?}",
            DRAIN_MAX.as_secs(),
            missing.len(),
            &missing[..missing.len().min(5)]
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(lines: &[(usize, &str)]) -> History {
        let mut history = History::default();
        for (member, line) in lines {
            let words = line.split(' ').map(str::to_owned).collect();
            let member = *member;
            history.hear(&Line { member, words }).unwrap();
        }
        history
    }

    #[test]
    fn a_record_that_comes_back_and_is_done_with_once_is_right() {
        let history = heard(&[
            (1, "got 0 1"),
            (1, "back 0 1"),
            (2, "got 0 2"),
            (2, "done 0 2"),
        ]);
        assert!(history.violations.is_empty());
        assert!(history.missing(1).is_empty());
    }

    #[test]
    fn two_who_are_done_with_a_record_break_que_1() {
        let history = heard(&[
            (1, "got 0 1"),
            (2, "got 0 1"),
            (1, "done 0 1"),
            (2, "done 0 1"),
        ]);
        assert!(history.violations[0].starts_with("QUE-1"));
    }

    #[test]
    fn a_record_that_comes_after_it_was_done_with_or_never_breaks_que_2() {
        let history = heard(&[(1, "got 0 1"), (1, "done 0 1"), (2, "got 0 2")]);
        assert!(history.violations[0].starts_with("QUE-2"));
        let mut history = heard(&[(1, "got 0 1"), (2, "got 1 1")]);
        history.killed.insert(1);
        assert_eq!(history.missing(3), [1, 2]);
    }
}
