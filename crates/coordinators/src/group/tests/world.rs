//! A coordinator with a log that becomes durable late, clients that believe what they are told, and the promises they hold it to.

use super::promises::{Life, Promises};
use super::transcript::{compacted, replay, subscription, topic_partition};
use crate::group::*;
use crate::{CallId, Now};
use bytes::Bytes;
use fanlog_model::{LeaderEpoch, Offset, TimestampMs, TopicId, TopicName, TopicPartition};
use proptest::sample::Index;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;
use uuid::Uuid;

/// What a client does.
#[derive(Clone, Debug)]
pub(super) enum Act {
    /// What a well-behaved client would do next.
    Proceed,
    Join {
        version: u8,
        metadata: u8,
    },
    Sync,
    Heartbeat,
    Commit {
        partition: i32,
    },
    Leave,
    /// The process ends; another takes its place and knows nothing.
    Die,
}

#[derive(Clone, Debug)]
pub(super) enum Op {
    Client {
        client: usize,
        act: Act,
    },
    /// A commit under an identity that once was valid, `later` generations on.
    StaleCommit {
        who: Index,
        partition: i32,
        later: i32,
    },
    Wait(u64),
    /// All that was appended becomes durable.
    Durable,
    /// The coordinator dies; an unsynced tail survives in part.
    Crash {
        keep: Index,
    },
    Fetch,
    DeleteOffset {
        partition: i32,
    },
    DeleteGroup,
    DeleteTopic,
    Describe,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reached {
    pub(super) assigned: usize,
    /// Assignments of a generation with several owners.
    pub(super) shared: usize,
    pub(super) committed: usize,
    pub(super) fenced: usize,
    pub(super) stale_refused: usize,
    pub(super) fetched: usize,
    pub(super) lost_by_crash: usize,
}

impl Reached {
    pub(super) fn add(&mut self, other: Self) {
        self.assigned += other.assigned;
        self.shared += other.shared;
        self.committed += other.committed;
        self.fenced += other.fenced;
        self.stale_refused += other.stale_refused;
        self.fetched += other.fetched;
        self.lost_by_crash += other.lost_by_crash;
    }
}

/// Who speaks: what a request says of its sender.
#[derive(Clone, Debug)]
pub(super) struct Identity {
    pub(super) member_id: MemberId,
    pub(super) instance_id: Option<InstanceId>,
    pub(super) generation: i32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mood {
    Idle,
    Parked,
    Joined,
    Owning,
}

struct Client {
    identity: Identity,
    mood: Mood,
    /// For the leader: whom to assign to.
    members: Vec<MemberId>,
    process: u32,
}

/// A request under way.
#[derive(Clone, Debug)]
pub(super) struct Call {
    client: Option<(usize, u32)>,
    pub(super) identity: Identity,
    pub(super) commits: Option<(TopicPartition, Offset)>,
    is_stale: bool,
}

/// A reply that waits for the log to become durable.
struct Held {
    /// How long the log must durably be before it leaves.
    length: usize,
    /// The life of the group that it speaks of: when it leaves, the group may have been deleted and made anew.
    life: Life,
    reply: Reply,
}

pub(super) struct World {
    settings: GroupSettings,
    ledger: Ledger,
    waiting: Waiting,
    now: Now,
    log: Vec<GroupRecord>,
    durable: usize,
    held: VecDeque<Held>,
    calls: BTreeMap<CallId, Call>,
    drawn: u64,
    clients: Vec<Client>,
    identities: Vec<Identity>,
    promises: Promises,
    reached: Reached,
    trace: Vec<(Vec<record_format::EncodedRecord>, Vec<Reply>)>,
}

const PARTITIONS: i32 = 4;

impl World {
    pub(super) fn settings() -> GroupSettings {
        GroupSettings {
            initial_rebalance_delay: Duration::from_millis(500),
            group_size_max: 5,
            ..GroupSettings::default()
        }
    }

    pub(super) fn new() -> Self {
        let (settings, ledger, now) = (Self::settings(), Ledger::default(), Now::default());
        // The first three are dynamic members, the others static ones; the last two fight over one name.
        let instance = |n: usize| match n {
            0..3 => None,
            3 => Some(InstanceId::from("desk-1")),
            _ => Some(InstanceId::from("desk-2")),
        };
        let client = |n| Client {
            identity: Identity {
                member_id: "".into(),
                instance_id: instance(n),
                generation: -1,
            },
            mood: Mood::Idle,
            members: Vec::new(),
            process: 0,
        };
        Self {
            waiting: Waiting::after_loading(&settings, &ledger, now),
            settings,
            ledger,
            now,
            log: Vec::new(),
            durable: 0,
            held: VecDeque::new(),
            calls: BTreeMap::new(),
            drawn: 0,
            clients: (0..6).map(client).collect(),
            identities: Vec::new(),
            promises: Promises::default(),
            reached: Reached::default(),
            trace: Vec::new(),
        }
    }

    pub(super) fn log(&self) -> &[GroupRecord] {
        &self.log
    }

    pub(super) fn reached(&self) -> Reached {
        self.reached
    }

    pub(super) fn into_trace(self) -> Vec<(Vec<record_format::EncodedRecord>, Vec<Reply>)> {
        self.trace
    }

    pub(super) fn run(&mut self, op: &Op) {
        let group = || "g".into();
        match op {
            Op::Client { client, act } => self.act(*client, act),
            Op::StaleCommit {
                who,
                partition,
                later,
            } => self.stale_commit(who, *partition, *later),
            Op::Wait(millis) => self.wait(Duration::from_millis(*millis)),
            Op::Durable => self.become_durable(self.log.len()),
            Op::Crash { keep } => self.crash(keep),
            Op::Fetch => self.fetch_all(),
            Op::DeleteOffset { partition } => {
                let call = self.outside_call();
                let partitions = vec![partition_of(*partition)];
                self.step(Input::DeleteOffsets(DeleteOffsets {
                    call,
                    group: group(),
                    partitions,
                }));
            }
            Op::DeleteGroup => {
                let call = self.outside_call();
                self.step(Input::DeleteGroup {
                    call,
                    group: group(),
                });
            }
            Op::DeleteTopic => self.step(Input::TopicDeleted(TopicName::new("t").unwrap())),
            Op::Describe => {
                let call = self.outside_call();
                self.step(Input::Describe {
                    call,
                    group: group(),
                });
            }
        }
    }

    /// Everybody falls silent: nobody may be left waiting, and the group must come to rest.
    pub(super) fn finish(&mut self) {
        self.wait(Duration::from_secs(400));
        self.become_durable(self.log.len());
        assert!(self.held.is_empty());
        assert!(self.calls.is_empty(), "never answered: {:?}", self.calls);
        let metadata = self
            .ledger
            .group(&"g".into())
            .and_then(|g| g.metadata.as_ref());
        assert!(
            metadata.is_none_or(|m| m.members.is_empty()),
            "{metadata:?}"
        );
        self.fetch_all();
        self.become_durable(self.log.len());
    }

    fn outside_call(&mut self) -> CallId {
        let nobody = Identity {
            member_id: "".into(),
            instance_id: None,
            generation: -1,
        };
        self.call(None, nobody)
    }

    fn call(&mut self, client: Option<usize>, identity: Identity) -> CallId {
        self.drawn += 1;
        let client = client.map(|n| (n, self.clients[n].process));
        let call = Call {
            client,
            identity,
            commits: None,
            is_stale: false,
        };
        self.calls.insert(CallId(self.drawn), call);
        CallId(self.drawn)
    }

    fn fetch_all(&mut self) {
        let call = self.outside_call();
        let partitions = (0..PARTITIONS).map(partition_of).collect();
        self.step(Input::FetchOffsets(FetchOffsets {
            call,
            group: "g".into(),
            member: None,
            partitions: Some(partitions),
            require_stable: false,
        }));
    }

    fn act(&mut self, n: usize, act: &Act) {
        let partition = (self.drawn % PARTITIONS as u64) as i32;
        match (act, self.clients[n].mood) {
            (Act::Proceed, Mood::Idle) => self.join(n, 1 + (self.drawn % 2) as u8, 0),
            (Act::Proceed, Mood::Parked) => {}
            (Act::Proceed | Act::Sync, Mood::Joined) | (Act::Sync, _) => self.sync(n),
            (Act::Proceed, Mood::Owning) if self.drawn.is_multiple_of(3) => {
                self.commit(n, partition)
            }
            (Act::Proceed, Mood::Owning) | (Act::Heartbeat, _) => self.heartbeat(n),
            (Act::Join { version, metadata }, _) => self.join(n, *version, *metadata),
            (Act::Commit { partition }, _) => self.commit(n, *partition),
            (Act::Leave, _) => self.leave(n),
            (Act::Die, _) => self.clients[n].die(),
        }
    }

    fn join(&mut self, n: usize, version: u8, metadata: u8) {
        let identity = self.clients[n].identity.clone();
        let call = self.call(Some(n), identity.clone());
        self.clients[n].mood = Mood::Parked;
        let topics = ["t", "u", "t,u"][usize::from(metadata)];
        self.step(Input::Join(Join {
            call,
            group: "g".into(),
            member_id: identity.member_id,
            fresh_id: Uuid::from_u128(self.drawn.into()),
            instance_id: identity.instance_id,
            client_id: format!("c{n}").as_str().into(),
            client_host: "/127.0.0.1".into(),
            session_timeout_ms: 6_000,
            rebalance_timeout_ms: 10_000,
            protocol_type: "consumer".into(),
            protocols: vec![Protocol {
                name: "range".into(),
                metadata: subscription(topics),
            }],
            requires_member_id: version > 0,
            supports_skip_assignment: version > 1,
        }));
    }

    /// A leader deals the partitions out in turn, beginning with another member each time.
    fn sync(&mut self, n: usize) {
        let first = self.drawn as usize;
        let client = &mut self.clients[n];
        client.mood = Mood::Parked;
        let identity = client.identity.clone();
        let mut parts = vec![Vec::new(); client.members.len()];
        for partition in 0..PARTITIONS as u8 {
            if let Some(part) = (first + partition as usize).checked_rem(parts.len()) {
                parts[part].push(partition);
            }
        }
        let members = client.members.iter().cloned();
        let assignments = members.zip(parts.into_iter().map(Bytes::from)).collect();
        let call = self.call(Some(n), identity.clone());
        self.step(Input::Sync(Sync {
            call,
            group: "g".into(),
            member_id: identity.member_id,
            instance_id: identity.instance_id,
            generation: identity.generation,
            protocol_type: None,
            protocol: None,
            assignments,
        }));
    }

    fn heartbeat(&mut self, n: usize) {
        let identity = self.clients[n].identity.clone();
        let call = self.call(Some(n), identity.clone());
        self.step(Input::Heartbeat(Heartbeat {
            call,
            group: "g".into(),
            member_id: identity.member_id,
            instance_id: identity.instance_id,
            generation: identity.generation,
        }));
    }

    fn leave(&mut self, n: usize) {
        let identity = self.clients[n].identity.clone();
        let call = self.call(Some(n), identity.clone());
        self.clients[n].die();
        let member = LeavingMember {
            member_id: identity.member_id,
            instance_id: identity.instance_id,
        };
        self.step(Input::Leave(Leave {
            call,
            group: "g".into(),
            members: vec![member],
        }));
    }

    fn commit(&mut self, n: usize, partition: i32) {
        let identity = self.clients[n].identity.clone();
        let call = self.call(Some(n), identity);
        self.commit_as(call, partition);
    }

    fn stale_commit(&mut self, who: &Index, partition: i32, later: i32) {
        if self.identities.is_empty() {
            return;
        }
        let mut identity = who.get(&self.identities).clone();
        identity.generation += later;
        let call = self.call(None, identity);
        self.calls
            .entry(call)
            .and_modify(|call| call.is_stale = true);
        self.commit_as(call, partition);
    }

    /// Every commit has an offset of its own, so that what is read tells which commit it was.
    fn commit_as(&mut self, call: CallId, partition: i32) {
        let offset = Offset(self.drawn as i64);
        let partition = partition_of(partition);
        let call_data = self.calls.get_mut(&call).unwrap();
        call_data.commits = Some((partition.clone(), offset));
        let identity = call_data.identity.clone();
        let offset = OffsetToCommit {
            topic: partition.topic,
            topic_id: TopicId::ZERO,
            partition: partition.partition,
            offset,
            leader_epoch: LeaderEpoch::UNKNOWN,
            metadata: "".into(),
        };
        self.step(Input::CommitOffsets(CommitOffsets {
            call,
            group: "g".into(),
            member_id: identity.member_id,
            instance_id: identity.instance_id,
            generation: identity.generation,
            names_missing_group: true,
            retention_ms: None,
            offsets: vec![offset],
        }));
    }

    fn wait(&mut self, time: Duration) {
        let end = self.now.monotonic + time;
        while let Some(at) = next_deadline(&self.waiting).filter(|at| *at <= end) {
            self.pass_to(at);
            self.step(Input::Tick);
        }
        self.pass_to(end);
    }

    fn pass_to(&mut self, to: Duration) {
        let passed = to.saturating_sub(self.now.monotonic);
        self.now.wall = TimestampMs(self.now.wall.get() + passed.as_millis() as i64);
        self.now.monotonic += passed;
    }

    /// One input: its records are appended and applied at once, its replies are held until they are durable.
    fn step(&mut self, input: Input) {
        let decision = decide(
            &self.settings,
            &FewTopics::default(),
            &self.ledger,
            &mut self.waiting,
            self.now,
            input,
        );
        let mut encoded = Vec::new();
        for record in &decision.records {
            let bytes = record_format::encode(record).unwrap();
            let decoded = record_format::decode(Some(&bytes.key), bytes.value.as_deref());
            assert_eq!(decoded.as_ref(), Ok(record));
            encoded.push(bytes);
            self.promises.recorded(record);
            apply(&mut self.ledger, record);
        }
        self.log.extend(decision.records);
        check_invariants(&self.ledger, &self.waiting);
        assert_eq!(self.ledger, replay(&self.log), "replay equals live");
        let compacted = compacted(&self.log);
        assert_eq!(
            self.ledger,
            replay(&compacted),
            "what compaction leaves equals live"
        );
        for reply in &decision.replies {
            self.promises
                .decided(&self.calls[&reply.call], &reply.answer);
        }
        self.trace.push((encoded, decision.replies.clone()));
        let (length, life) = (self.log.len(), self.promises.life());
        let held = decision.replies.into_iter().map(|reply| Held {
            length,
            life,
            reply,
        });
        self.held.extend(held);
        self.become_durable(self.durable);
    }

    fn become_durable(&mut self, durable: usize) {
        self.durable = durable;
        while self.held.front().is_some_and(|held| held.length <= durable) {
            let Held { life, reply, .. } = self.held.pop_front().unwrap();
            let call = self
                .calls
                .remove(&reply.call)
                .expect("a call is answered once");
            self.count(&call, &reply.answer);
            self.promises.released(&call, life, &reply.answer);
            self.hear(&call, reply.answer);
        }
    }

    fn count(&mut self, call: &Call, answer: &Answer) {
        let reached = &mut self.reached;
        match answer {
            Answer::Sync(Ok(synced)) => {
                let count = synced.assignment.len();
                reached.assigned += usize::from(count > 0);
                reached.shared += usize::from(count > 0 && count < PARTITIONS as usize);
            }
            Answer::CommitOffsets(Ok(_)) => reached.committed += 1,
            Answer::CommitOffsets(Err(_)) => reached.stale_refused += usize::from(call.is_stale),
            Answer::FetchOffsets(Ok(offsets)) => {
                reached.fetched += usize::from(offsets.iter().any(|o| o.committed.is_some()));
            }
            Answer::Join(Err(GroupError::FencedInstance { .. }))
            | Answer::Heartbeat(Err(GroupError::FencedInstance { .. })) => reached.fenced += 1,
            _ => {}
        }
    }

    /// The client that asked, if it still lives, learns the answer.
    fn hear(&mut self, call: &Call, answer: Answer) {
        let Some((n, process)) = call.client else {
            return;
        };
        let client = &mut self.clients[n];
        if client.process == process {
            client.hear(answer);
            self.identities.push(client.identity.clone());
        }
    }

    /// What was not durable survives up to a point; whoever waits for an answer will never have it.
    fn crash(&mut self, keep: &Index) {
        let survives = self.durable + keep.index(self.log.len() - self.durable + 1);
        self.reached.lost_by_crash += self.log.len() - survives;
        self.log.truncate(survives);
        self.durable = survives;
        self.held.clear();
        self.calls.clear();
        self.ledger = replay(&self.log);
        self.now.monotonic = Duration::ZERO;
        self.waiting = Waiting::after_loading(&self.settings, &self.ledger, self.now);
        check_invariants(&self.ledger, &self.waiting);
        self.promises.crashed(&self.log);
        for client in &mut self.clients {
            if client.mood == Mood::Parked {
                client.mood = Mood::Idle;
            }
        }
        self.fetch_all();
    }
}

impl Client {
    fn die(&mut self) {
        self.identity.member_id = "".into();
        self.identity.generation = -1;
        self.mood = Mood::Idle;
        self.members.clear();
        self.process += 1;
    }

    fn hear(&mut self, answer: Answer) {
        let error = match answer {
            Answer::Join(Ok(joined)) => {
                self.identity.member_id = joined.member_id;
                self.identity.generation = joined.generation;
                let members = joined.members.into_iter().map(|m| m.member_id);
                self.members = members.collect();
                self.mood = Mood::Joined;
                return;
            }
            Answer::Sync(Ok(_)) => {
                self.mood = Mood::Owning;
                return;
            }
            Answer::Join(Err(error)) | Answer::Sync(Err(error)) => error,
            Answer::Heartbeat(Err(error)) | Answer::CommitOffsets(Err(error)) => error,
            _ => return,
        };
        match error {
            GroupError::MemberIdRequired { member } => {
                self.identity.member_id = member;
                self.mood = Mood::Idle;
            }
            GroupError::UnknownMember { .. } | GroupError::FencedInstance { .. } => self.die(),
            _ => self.mood = Mood::Idle,
        }
    }
}

fn partition_of(number: i32) -> TopicPartition {
    topic_partition(&format!("t-{number}"))
}
