//! Tests as transcripts: a line that begins with `>` is a command, the lines below it are what came of it.
//!
//! Commands (clients have one-word names, the group is `g`, times are in ms):
//!
//! ```text
//! > join a [new] [id=a#1] [as=INSTANCE] [v3|v9] [type=WORD] [session=MS] [rebalance=MS] [group=NAME] [PROTOCOL[:TOPIC,..] ..]
//! > sync a [id=..] [as=..] [gen=N] [type=WORD] [protocol=WORD] [a#1=WORDS ..]
//! > beat a [id=..] [as=..] [gen=N]
//! > leave a [b ..]      > leave @INSTANCE     > leave a#1@INSTANCE
//! > commit a|- [id=..] [as=..] [gen=N] [keep=MS] [v9] [note=TEXT] TOPIC-P=OFFSET ..
//! > fetch all | TOPIC-P ..
//! > delete-offsets TOPIC-P ..     > delete-group     > delete-topic TOPIC     > delete-partitions TOPIC-P ..
//! > describe     > list [STATE ..] [type=TYPE ..]     > wait MS     > crash     > log     > set NAME=NUMBER
//! ```
//!
//! Every step checks the invariants, that each record survives its bytes, and that replaying the log gives the ledger.

use super::render::Names;
use crate::group::*;
use crate::{CallId, Now};
use bytes::Bytes;
use fanlog_model::{
    GroupId, LeaderEpoch, Offset, PartitionIndex, TimestampMs, TopicId, TopicName, TopicPartition,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// Runs a transcript and compares. On a difference, prints the whole of what came.
#[track_caller]
pub(crate) fn check(transcript: &str) {
    let mut bench = Bench::new();
    let mut actual = String::new();
    for line in transcript.lines().map(str::trim) {
        if let Some(command) = line.strip_prefix("> ") {
            actual.push_str(line);
            actual.push('\n');
            for output in bench.run(command) {
                actual.push_str(&output);
                actual.push('\n');
            }
        }
    }
    let lines = transcript.lines().map(str::trim).filter(|l| !l.is_empty());
    let expected: Vec<_> = lines.collect();
    let actual_lines: Vec<_> = actual.lines().collect();
    assert!(expected == actual_lines, "this came of it:\n{actual}");
}

struct Client {
    member_id: MemberId,
    generation: i32,
}

pub(crate) struct Bench {
    settings: GroupSettings,
    ledger: Ledger,
    waiting: Waiting,
    now: Now,
    log: Vec<GroupRecord>,
    logged_before: usize,
    clients: BTreeMap<String, Client>,
    callers: BTreeMap<CallId, String>,
    calls: u64,
    ids: u128,
}

/// `key=value` words of a command, and the rest.
struct Words<'a> {
    options: BTreeMap<&'a str, &'a str>,
    rest: Vec<&'a str>,
}

const OPTIONS: [&str; 12] = [
    "id",
    "as",
    "type",
    "session",
    "rebalance",
    "group",
    "gen",
    "protocol",
    "keep",
    "note",
    "new",
    "v",
];

impl<'a> Words<'a> {
    fn new(words: impl Iterator<Item = &'a str>) -> Self {
        let (mut options, mut rest) = (BTreeMap::new(), Vec::new());
        for word in words {
            match word.split_once('=') {
                Some((key, value)) if OPTIONS.contains(&key) => {
                    options.insert(key, value);
                }
                None if word == "new" => {
                    options.insert("new", "");
                }
                None if word == "v3" || word == "v9" => {
                    options.insert("v", word);
                }
                _ => rest.push(word),
            }
        }
        Self { options, rest }
    }

    fn number(&self, key: &str, default: i32) -> i32 {
        self.options
            .get(key)
            .map_or(default, |n| n.parse().unwrap())
    }

    fn word(&self, key: &str, default: &'a str) -> Arc<str> {
        self.options.get(key).copied().unwrap_or(default).into()
    }

    fn instance(&self) -> Option<InstanceId> {
        self.options.get("as").map(|word| InstanceId::from(*word))
    }
}

impl Bench {
    pub(crate) fn new() -> Self {
        let settings = GroupSettings::default();
        let ledger = Ledger::default();
        let now = Now {
            wall: TimestampMs(1_000_000),
            monotonic: Duration::ZERO,
        };
        Self {
            waiting: Waiting::after_loading(&settings, &ledger, now),
            settings,
            ledger,
            now,
            log: Vec::new(),
            logged_before: 0,
            clients: BTreeMap::new(),
            callers: BTreeMap::new(),
            calls: 0,
            ids: 0,
        }
    }

    fn run(&mut self, command: &str) -> Vec<String> {
        let mut words = command.split_whitespace();
        match words.next().unwrap() {
            "wait" => return self.wait(words.next().unwrap().parse().unwrap()),
            "crash" => self.crash(),
            "log" => return self.print_log(),
            "set" => self.set(words.next().unwrap()),
            "join" => return self.join(words),
            "sync" => return self.sync(words),
            "beat" => return self.beat(words),
            "commit" => return self.commit(words),
            "leave" => return self.leave(words),
            verb => return self.administer(verb, &words.collect::<Vec<_>>()),
        }
        Vec::new()
    }

    fn call(&mut self, caller: &str) -> CallId {
        self.calls += 1;
        let call = CallId(self.calls);
        self.callers.insert(call, caller.to_owned());
        call
    }

    fn client(&mut self, name: &str) -> &mut Client {
        self.clients.entry(name.to_owned()).or_insert(Client {
            member_id: MemberId::from(""),
            generation: -1,
        })
    }

    fn member_id(&mut self, name: &str, words: &Words<'_>) -> MemberId {
        match words.options.get("id") {
            Some(id) => Names::read(id),
            None if words.options.contains_key("new") => MemberId::from(""),
            None => self.client(name).member_id.clone(),
        }
    }

    fn join<'a>(&mut self, mut words: impl Iterator<Item = &'a str>) -> Vec<String> {
        let name = words.next().unwrap();
        let words = Words::new(words);
        let protocol_type = words.word("type", "consumer");
        let mut offered = words.rest.clone();
        if offered.is_empty() {
            offered.push("range:t");
        }
        let protocol = |word: &str| {
            let (name, topics) = word.split_once(':').unwrap_or((word, ""));
            let metadata = match &*protocol_type {
                "consumer" if topics != "?" => subscription(topics),
                _ => Bytes::copy_from_slice(topics.as_bytes()),
            };
            Protocol {
                name: name.into(),
                metadata,
            }
        };
        self.ids += 1;
        let version = words.options.get("v").copied();
        let input = Join {
            call: self.call(name),
            group: GroupId::from(&*words.word("group", "g")),
            member_id: self.member_id(name, &words),
            fresh_id: Uuid::from_u128(self.ids),
            instance_id: words.instance(),
            client_id: name.into(),
            client_host: "/127.0.0.1".into(),
            session_timeout_ms: words.number("session", 10_000),
            rebalance_timeout_ms: words.number("rebalance", 60_000),
            protocols: offered.into_iter().map(protocol).collect(),
            protocol_type: protocol_type.clone(),
            requires_member_id: version != Some("v3"),
            supports_skip_assignment: version == Some("v9"),
        };
        self.step(Input::Join(input))
    }

    fn sync<'a>(&mut self, mut words: impl Iterator<Item = &'a str>) -> Vec<String> {
        let name = words.next().unwrap();
        let words = Words::new(words);
        let assignment = |word: &&str| {
            let (id, parts) = word.split_once('=').unwrap();
            (Names::read(id), Bytes::copy_from_slice(parts.as_bytes()))
        };
        let generation = self.client(name).generation;
        let input = Sync {
            call: self.call(name),
            group: "g".into(),
            member_id: self.member_id(name, &words),
            instance_id: words.instance(),
            generation: words.number("gen", generation),
            protocol_type: words.options.get("type").map(|word| Arc::from(*word)),
            protocol: words.options.get("protocol").map(|word| Arc::from(*word)),
            assignments: words.rest.iter().map(assignment).collect(),
        };
        self.step(Input::Sync(input))
    }

    fn beat<'a>(&mut self, mut words: impl Iterator<Item = &'a str>) -> Vec<String> {
        let name = words.next().unwrap();
        let words = Words::new(words);
        let generation = self.client(name).generation;
        let input = Heartbeat {
            call: self.call(name),
            group: "g".into(),
            member_id: self.member_id(name, &words),
            instance_id: words.instance(),
            generation: words.number("gen", generation),
        };
        self.step(Input::Heartbeat(input))
    }

    fn commit<'a>(&mut self, mut words: impl Iterator<Item = &'a str>) -> Vec<String> {
        let name = words.next().unwrap();
        let words = Words::new(words);
        let generation = self.client(name).generation;
        let note = words.word("note", "");
        let offset = |word: &&str| {
            let (partition, offset) = word.split_once('=').unwrap();
            let partition = topic_partition(partition);
            OffsetToCommit {
                topic: partition.topic,
                topic_id: TopicId(Uuid::from_u128(7)),
                partition: partition.partition,
                offset: Offset(offset.parse().unwrap()),
                leader_epoch: LeaderEpoch(2),
                metadata: note.clone(),
            }
        };
        let input = CommitOffsets {
            call: self.call(name),
            group: "g".into(),
            member_id: self.member_id(name, &words),
            instance_id: words.instance(),
            generation: words.number("gen", generation),
            names_missing_group: words.options.contains_key("v"),
            retention_ms: words.options.get("keep").map(|ms| ms.parse().unwrap()),
            offsets: words.rest.iter().map(offset).collect(),
        };
        self.step(Input::CommitOffsets(input))
    }

    fn leave<'a>(&mut self, words: impl Iterator<Item = &'a str>) -> Vec<String> {
        let mut leaving = |word: &str| {
            let (name, instance) = word.split_once('@').unwrap_or((word, ""));
            let member_id = match name {
                "" => MemberId::from(""),
                name if name.contains('#') => Names::read(name),
                name => self.client(name).member_id.clone(),
            };
            let instance_id = (!instance.is_empty()).then(|| InstanceId::from(instance));
            LeavingMember {
                member_id,
                instance_id,
            }
        };
        let members = words.map(&mut leaving).collect();
        let call = self.call("-");
        self.step(Input::Leave(Leave {
            call,
            group: "g".into(),
            members,
        }))
    }

    fn administer(&mut self, verb: &str, words: &[&str]) -> Vec<String> {
        let call = self.call("-");
        let group = GroupId::from("g");
        let partitions = || {
            words
                .iter()
                .map(|word| topic_partition(word))
                .collect::<Vec<_>>()
        };
        let (types, states): (Vec<&str>, Vec<&str>) =
            words.iter().partition(|w| w.starts_with("type="));
        self.step(match verb {
            "fetch" => Input::FetchOffsets(FetchOffsets {
                call,
                group,
                member: None,
                partitions: (words != ["all"]).then(partitions),
                require_stable: false,
            }),
            "delete-offsets" => Input::DeleteOffsets(DeleteOffsets {
                call,
                group,
                partitions: partitions(),
            }),
            "delete-group" => Input::DeleteGroup { call, group },
            "delete-topic" => Input::TopicDeleted(TopicName::new(words[0]).unwrap()),
            "delete-partitions" => Input::PartitionsDeleted(partitions()),
            "describe" => Input::Describe { call, group },
            "list" => Input::List(List {
                call,
                states: states.iter().map(|w| Arc::from(*w)).collect(),
                types: types.iter().map(|w| Arc::from(&w[5..])).collect(),
            }),
            verb => panic!("no command '{verb}'"),
        })
    }

    fn set(&mut self, word: &str) {
        let (name, number) = word.split_once('=').unwrap();
        let number: u64 = number.parse().unwrap();
        match name {
            "size" => self.settings.group_size_max = number as usize,
            "delay" => self.settings.initial_rebalance_delay = Duration::from_millis(number),
            "metadata" => self.settings.offset_metadata_bytes_max = number as usize,
            "retention" => self.settings.offsets_retention = Duration::from_millis(number),
            name => panic!("no setting '{name}'"),
        }
    }

    /// Lets time pass; deadlines fire on time.
    fn wait(&mut self, millis: u64) -> Vec<String> {
        let end = self.now.monotonic + Duration::from_millis(millis);
        let mut outputs = Vec::new();
        while let Some(at) = next_deadline(&self.waiting).filter(|at| *at <= end) {
            self.pass_to(at);
            outputs.extend(self.step(Input::Tick));
        }
        self.pass_to(end);
        outputs
    }

    fn pass_to(&mut self, to: Duration) {
        let passed = to.saturating_sub(self.now.monotonic);
        self.now.wall = TimestampMs(self.now.wall.get() + passed.as_millis() as i64);
        self.now.monotonic += passed;
    }

    fn crash(&mut self) {
        self.ledger = replay(&self.log);
        self.waiting = Waiting::after_loading(&self.settings, &self.ledger, self.now);
        check_invariants(&self.ledger, &self.waiting);
    }

    fn step(&mut self, input: Input) -> Vec<String> {
        let decision = decide(
            &self.settings,
            &FewTopics::default(),
            &self.ledger,
            &mut self.waiting,
            self.now,
            input,
        );
        for record in &decision.records {
            let bytes = record_format::encode(record).unwrap();
            let decoded = record_format::decode(Some(&bytes.key), bytes.value.as_deref());
            assert_eq!(decoded.as_ref(), Ok(record));
            apply(&mut self.ledger, record);
        }
        self.log.extend(decision.records);
        check_invariants(&self.ledger, &self.waiting);
        assert_eq!(self.ledger, replay(&self.log), "replay equals live");
        decision
            .replies
            .iter()
            .map(|reply| self.answered(reply))
            .collect()
    }

    fn answered(&mut self, reply: &Reply) -> String {
        let caller = self
            .callers
            .remove(&reply.call)
            .expect("a call is answered once");
        match &reply.answer {
            Answer::Join(Ok(joined)) => {
                let client = self.client(&caller);
                client.member_id = joined.member_id.clone();
                client.generation = joined.generation;
            }
            Answer::Join(Err(GroupError::MemberIdRequired { member })) => {
                self.client(&caller).member_id = member.clone();
            }
            _ => {}
        }
        format!("{caller}: {}", Names::answer(&reply.answer))
    }

    fn print_log(&mut self) -> Vec<String> {
        let new = &self.log[self.logged_before..];
        self.logged_before = self.log.len();
        new.iter().map(Names::record).collect()
    }
}

pub(crate) fn replay(log: &[GroupRecord]) -> Ledger {
    let mut ledger = Ledger::default();
    log.iter().for_each(|record| apply(&mut ledger, record));
    ledger
}

/// The last record of each key, where it stood, without tombstones: the least that compaction leaves.
pub(crate) fn compacted(log: &[GroupRecord]) -> Vec<GroupRecord> {
    let mut seen = BTreeSet::new();
    let is_last = |record: &&GroupRecord| {
        let encoded = record_format::encode(record).expect("what was logged has bytes");
        seen.insert(encoded.key) && encoded.value.is_some()
    };
    let mut kept: Vec<_> = log.iter().rev().filter(is_last).cloned().collect();
    kept.reverse();
    kept
}

/// A consumer's subscription, version 0, to topics parted by commas.
pub(crate) fn subscription(topics: &str) -> Bytes {
    let topics: Vec<_> = topics.split(',').filter(|t| !t.is_empty()).collect();
    let mut bytes = vec![0, 0, 0, 0, 0, topics.len() as u8];
    for topic in topics {
        bytes.extend([0, topic.len() as u8]);
        bytes.extend(topic.as_bytes());
    }
    bytes.into()
}

pub(crate) fn topic_partition(word: &str) -> TopicPartition {
    let (topic, partition) = word.rsplit_once('-').unwrap();
    TopicPartition {
        topic: TopicName::new(topic).unwrap(),
        partition: PartitionIndex(partition.parse().unwrap()),
    }
}
