//! A group's clients, its machine, a log whose tail may be lost, and time: what random acts are played on.
//!
//! Clients behave as real ones do: they stop reading what an answer doesn't name before they say so, and join again when they are
//! fenced. What is checked is what they could see.

mod checks;

use super::classic_client::Phase;
use crate::group::consumer::{
    ConsumerHeartbeat, ConsumerState, JOIN_EPOCH, LEAVE_EPOCH, RegexResolved, STATIC_LEAVE_EPOCH,
    SubscribedRegex, TopicRegex,
};
use crate::group::*;
use crate::{CallId, Now};
use fanlog_model::invariants::GRP_2;
use fanlog_model::{GroupId, PartitionIndex, TimestampMs, TopicId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

pub(super) const GROUP: &str = "g";
const TOPICS: [&str; 3] = ["a", "b", "c"];

/// One thing that happens.
#[derive(Clone, Debug)]
pub(super) enum Act {
    /// A client sends its next request: joins where it is out, beats where it is in.
    Beat(usize),
    /// It says all there is to say.
    FullBeat(usize),
    /// It says goodbye; a static one perhaps for a while.
    Leave(usize, bool),
    /// It sends nothing any more, or does again.
    Freeze(usize),
    /// Its process ends without a word, and another comes.
    Restart(usize),
    /// It says goodbye, and comes back with the other protocol: a step of a rolling change.
    Switch(usize),
    /// It reads other topics.
    Subscribe(usize, u8),
    /// Time goes by.
    Pass(u16),
    /// What was logged is durable.
    Sync,
    /// The coordinator ends; of what was not durable, so many batches survive.
    Crash(u8),
    /// Its process ends without a word, and one of the other protocol comes.
    Replace(usize),
    /// A topic grows, comes or goes; the group may hear of it later.
    Topic(u8, u8),
    /// The group hears of its topics, and of what expressions stand for.
    TellTopics,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Client {
    pub(super) id: String,
    pub(super) instance: Option<String>,
    pub(super) epoch: i32,
    pub(super) owned: BTreeSet<(TopicId, PartitionIndex)>,
    pub(super) topics: Vec<Arc<str>>,
    /// Where it stands, if it speaks the classic protocol.
    pub(super) classic: Option<Phase>,
    regex: Option<Arc<str>>,
    is_frozen: bool,
    pub(super) must_say_all: bool,
    awaits: Option<CallId>,
}

pub(super) struct World {
    pub(super) settings: GroupSettings,
    pub(super) topics: FewTopics,
    pub(super) ledger: Ledger,
    pub(super) waiting: Waiting,
    pub(super) now: Now,
    pub(super) clients: Vec<Client>,
    log: Vec<Vec<GroupRecord>>,
    durable: usize,
    held: Vec<(usize, Reply)>,
    callers: BTreeMap<CallId, usize>,
    calls: u64,
    pub(super) drawn: u128,
}

impl World {
    pub(super) fn new(clients: usize) -> Self {
        let (settings, ledger) = (GroupSettings::default(), Ledger::default());
        let now = Now {
            wall: TimestampMs(1_700_000_000_000),
            monotonic: Duration::ZERO,
        };
        let mut world = Self {
            waiting: Waiting::after_loading(&settings, &ledger, now),
            settings,
            topics: FewTopics::default(),
            ledger,
            now,
            clients: Vec::new(),
            log: Vec::new(),
            durable: 0,
            held: Vec::new(),
            callers: BTreeMap::new(),
            calls: 0,
            drawn: 0,
        };
        for (place, partitions) in [4, 3, 0].into_iter().enumerate() {
            world.set_topic(place, partitions);
        }
        for place in 0..clients {
            let mut client = Client {
                id: String::new(),
                instance: (place % 3 == 2).then(|| format!("i{place}")),
                topics: vec![TOPICS[0].into(), TOPICS[1].into()],
                ..Client::default()
            };
            world.rename(&mut client);
            world.clients.push(client);
        }
        world
    }

    fn rename(&mut self, client: &mut Client) {
        self.drawn += 1;
        client.id = match &mut client.classic {
            Some(phase) => {
                *phase = Phase::Joining;
                String::new()
            }
            None => format!("m{}", self.drawn),
        };
        client.epoch = JOIN_EPOCH;
        client.owned.clear();
        client.awaits = None;
    }

    fn set_topic(&mut self, place: usize, partitions: i32) {
        let name = Arc::from(TOPICS[place]);
        match partitions {
            0 => self.topics.0.remove(&name),
            _ => {
                let id = self.topics.0.get(&name).map(|(id, _)| *id);
                self.drawn += 1;
                let id = id.unwrap_or(TopicId(Uuid::from_u128(self.drawn)));
                self.topics.0.insert(name, (id, partitions))
            }
        };
    }

    pub(super) fn act(&mut self, act: &Act) {
        match *act {
            Act::Beat(client) => self.beat(client % self.clients.len(), false),
            Act::FullBeat(client) => self.beat(client % self.clients.len(), true),
            Act::Leave(client, for_a_while) => self.leave(client % self.clients.len(), for_a_while),
            Act::Freeze(client) => {
                let client = client % self.clients.len();
                self.clients[client].is_frozen ^= true;
            }
            Act::Restart(client) => {
                let place = client % self.clients.len();
                let mut client = self.clients[place].clone();
                self.rename(&mut client);
                client.is_frozen = false;
                self.clients[place] = client;
            }
            Act::Switch(client) | Act::Replace(client) => {
                let place = client % self.clients.len();
                if let Act::Switch(_) = act {
                    self.leave(place, false);
                }
                let mut client = self.clients[place].clone();
                client.classic = match client.classic {
                    None => Some(Phase::Joining),
                    Some(_) => None,
                };
                self.rename(&mut client);
                client.is_frozen = false;
                self.clients[place] = client;
            }
            Act::Subscribe(client, choice) => {
                let place = client % self.clients.len();
                let client = &mut self.clients[place];
                let chosen = TOPICS.iter().enumerate();
                let chosen = chosen.filter(|(bit, _)| choice & (1 << bit) != 0);
                client.topics = chosen.map(|(_, name)| Arc::from(*name)).collect();
                client.regex = (choice & 8 != 0).then(|| "[bc]".into());
                client.must_say_all = true;
                if let Some(Phase::Reading) = client.classic {
                    client.classic = Some(Phase::Joining);
                }
            }
            Act::Pass(ms) => self.pass(Duration::from_millis(ms.into())),
            Act::Sync => self.sync(),
            Act::Crash(survivors) => self.crash(survivors.into()),
            Act::Topic(place, partitions) => {
                self.set_topic(usize::from(place) % TOPICS.len(), i32::from(partitions % 7));
            }
            Act::TellTopics => self.tell_topics(),
        }
        self.check();
    }

    fn tell_topics(&mut self) {
        self.step(Input::TopicsChanged);
        let state = self.state();
        for pattern in state.regexes.keys() {
            let topics = self.matching(pattern);
            self.step(Input::RegexResolved(RegexResolved {
                group: GROUP.into(),
                pattern: pattern.clone(),
                topics,
            }));
        }
    }

    fn matching(&self, pattern: &str) -> Arc<[Arc<str>]> {
        let regex = TopicRegex::new(pattern).unwrap();
        regex.matching(self.topics.0.keys().cloned())
    }

    pub(super) fn call(&mut self, client: usize) -> CallId {
        self.calls += 1;
        let call = CallId(self.calls);
        self.callers.insert(call, client);
        self.clients[client].awaits = Some(call);
        call
    }

    fn beat(&mut self, place: usize, is_full: bool) {
        let client = &self.clients[place];
        // As a real client, it has one request under way; one that is lost with the coordinator is sent again, in full.
        if client.is_frozen || client.awaits.is_some() {
            return;
        }
        if let Some(phase) = client.classic.clone() {
            return self.classic_beat(place, phase);
        }
        let joins = client.epoch == JOIN_EPOCH;
        let is_full = is_full || joins || client.must_say_all;
        let mut owned = BTreeMap::<TopicId, Vec<i32>>::new();
        for (topic, partition) in &client.owned {
            owned.entry(*topic).or_default().push(partition.0);
        }
        let regex = client.regex.clone().unwrap_or_default();
        let topics = match regex.is_empty() {
            true => Arc::from([]),
            false => self.matching(&regex),
        };
        let client = &mut self.clients[place];
        client.must_say_all = false;
        let heartbeat = ConsumerHeartbeat {
            call: CallId(0),
            group: GROUP.into(),
            member_id: client.id.as_str().into(),
            member_epoch: client.epoch,
            instance_id: client.instance.as_deref().map(InstanceId::from),
            rack_id: None,
            client_id: "c".into(),
            client_host: "/h".into(),
            rebalance_timeout_ms: is_full.then_some(30_000),
            topics: is_full.then(|| client.topics.clone()),
            regex: is_full.then_some(SubscribedRegex {
                pattern: regex,
                topics: Ok(topics),
            }),
            server_assignor: None,
            owned: Some(owned.into_iter().collect()),
            requires_member_id: true,
            fresh_id: Uuid::nil(),
        };
        let call = self.call(place);
        self.step(Input::ConsumerHeartbeat(ConsumerHeartbeat {
            call,
            ..heartbeat
        }));
    }

    fn leave(&mut self, place: usize, for_a_while: bool) {
        let client = self.clients[place].clone();
        if client.is_frozen || client.epoch == JOIN_EPOCH || client.awaits.is_some() {
            return;
        }
        if client.classic.is_some() {
            let mut next = client.clone();
            self.rename(&mut next);
            self.clients[place] = next;
            return self.classic_leave(&client);
        }
        let is_static = client.instance.is_some();
        let heartbeat = ConsumerHeartbeat {
            call: CallId(0),
            group: GROUP.into(),
            member_id: client.id.as_str().into(),
            member_epoch: match is_static && for_a_while {
                true => STATIC_LEAVE_EPOCH,
                false => LEAVE_EPOCH,
            },
            instance_id: client.instance.as_deref().map(InstanceId::from),
            rack_id: None,
            client_id: "c".into(),
            client_host: "/h".into(),
            rebalance_timeout_ms: None,
            topics: None,
            regex: None,
            server_assignor: None,
            owned: None,
            requires_member_id: true,
            fresh_id: Uuid::nil(),
        };
        // It stops reading before it says goodbye, and its process ends.
        let mut client = client;
        self.rename(&mut client);
        self.clients[place] = client;
        self.step(Input::ConsumerHeartbeat(heartbeat));
    }

    fn pass(&mut self, time: Duration) {
        self.now.monotonic += time;
        self.now.wall = TimestampMs(self.now.wall.0 + time.as_millis() as i64);
        while next_deadline(&self.waiting).is_some_and(|at| at <= self.now.monotonic) {
            self.step(Input::Tick);
        }
    }

    pub(super) fn step(&mut self, input: Input) {
        let mut waiting = self.waiting.clone();
        let decide = |waiting: &mut Waiting, input| {
            decide(
                &self.settings,
                &self.topics,
                &self.ledger,
                waiting,
                self.now,
                input,
            )
        };
        let again = decide(&mut waiting, input.clone());
        let decision = decide(&mut self.waiting, input);
        assert_eq!(decision, again, "the same input gives the same bytes");
        for record in &decision.records {
            let bytes = crate::group::record_format::encode(record).unwrap();
            let read =
                crate::group::record_format::decode(Some(&bytes.key), bytes.value.as_deref());
            assert_eq!(read.as_ref(), Ok(record));
            apply(&mut self.ledger, record);
        }
        if !decision.records.is_empty() {
            self.log.push(decision.records);
        }
        let end = self.log.len();
        self.held
            .extend(decision.replies.into_iter().map(|reply| (end, reply)));
    }

    pub(super) fn sync(&mut self) {
        self.durable = self.log.len();
        for (_, reply) in std::mem::take(&mut self.held) {
            self.deliver(reply);
        }
    }

    fn crash(&mut self, survivors: usize) {
        self.check_replay();
        let end = self.log.len().min(self.durable + survivors);
        self.log.truncate(end);
        self.durable = end;
        self.held.clear();
        self.ledger = Ledger::default();
        for record in self.log.iter().flatten() {
            apply(&mut self.ledger, record);
        }
        self.waiting = Waiting::after_loading(&self.settings, &self.ledger, self.now);
        for client in &mut self.clients {
            client.must_say_all |= client.awaits.take().is_some();
        }
        self.tell_topics();
    }

    /// A client hears an answer.
    fn deliver(&mut self, reply: Reply) {
        let Some(place) = self.callers.remove(&reply.call) else {
            return;
        };
        if self.clients[place].awaits != Some(reply.call) {
            return;
        }
        self.clients[place].awaits = None;
        let Answer::ConsumerHeartbeat(result) = reply.answer else {
            self.classic_answer(place, reply.answer);
            return self.check_owners();
        };
        let client = &mut self.clients[place];
        match result {
            Ok(answer) => {
                client.epoch = answer.epoch;
                let Some(assignment) = answer.assignment else {
                    return;
                };
                let partitions = assignment
                    .iter()
                    .flat_map(|(topic, of)| of.iter().map(|p| (*topic, *p)));
                let assigned: BTreeSet<_> = partitions.collect();
                let lost: Vec<_> = client.owned.difference(&assigned).copied().collect();
                client.owned = assigned;
                self.check_interruption(place, &lost);
            }
            Err(
                GroupError::FencedMemberEpoch { .. }
                | GroupError::UnknownMember { .. }
                | GroupError::GroupNotFound { .. },
            ) => {
                client.owned.clear();
                client.epoch = JOIN_EPOCH;
            }
            Err(GroupError::UnreleasedInstance { .. } | GroupError::FencedInstance { .. }) => {
                client.owned.clear();
                client.epoch = JOIN_EPOCH;
            }
            Err(other) => panic!("{GRP_2}: a client that behaves is refused: {other}"),
        }
        self.check_owners();
    }

    pub(super) fn state(&self) -> ConsumerState {
        let group = self.ledger.group(&GroupId::from(GROUP));
        let group = group.and_then(|group| group.consumer.as_ref());
        group.map(|group| group.state().clone()).unwrap_or_default()
    }
}
