//! One machine and its log, asked one thing at a time: what flows are written with. Every answer is there at once, except to who is
//! parked.

use crate::group::consumer::{
    ConsumerHeartbeat, ConsumerState, CurrentAssignment, JOIN_EPOCH, MemberHeartbeat, MemberState,
};
use crate::group::*;
use crate::{CallId, Now};
use fanlog_model::{GroupId, TimestampMs, TopicId};
use fanlog_protocol::messages::consumer_protocol_assignment::TopicPartition;
use fanlog_protocol::messages::{ConsumerProtocolAssignment, ConsumerProtocolSubscription};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

pub(super) const GROUP: &str = "g";

/// A process that joins, of either protocol.
#[derive(Clone, Debug, Default)]
pub(super) struct Process {
    pub(super) id: String,
    pub(super) instance: Option<&'static str>,
    /// Its epoch or generation.
    pub(super) epoch: i32,
    pub(super) topics: &'static [&'static str],
    /// What it says that it owns, of topic "a".
    pub(super) owned: Vec<i32>,
}

impl Process {
    pub(super) fn new(id: &str, topics: &'static [&'static str]) -> Self {
        Self {
            id: id.into(),
            topics,
            ..Self::default()
        }
    }

    pub(super) fn named(self, instance: &'static str) -> Self {
        Self {
            instance: Some(instance),
            ..self
        }
    }
}

pub(super) struct Machine {
    pub(super) settings: GroupSettings,
    pub(super) topics: FewTopics,
    pub(super) ledger: Ledger,
    pub(super) waiting: Waiting,
    pub(super) now: Now,
    /// All answers so far, by call.
    pub(super) answers: BTreeMap<CallId, Answer>,
    log: Vec<GroupRecord>,
    calls: u64,
}

impl Machine {
    /// A machine that knows topic "a" of four partitions.
    pub(super) fn new() -> Self {
        let (settings, ledger) = (GroupSettings::default(), Ledger::default());
        let now = Now {
            wall: TimestampMs(1_700_000_000_000),
            monotonic: Duration::ZERO,
        };
        let mut machine = Self {
            waiting: Waiting::after_loading(&settings, &ledger, now),
            settings,
            topics: FewTopics::default(),
            ledger,
            now,
            answers: BTreeMap::new(),
            log: Vec::new(),
            calls: 0,
        };
        machine.set_topic("a", 4);
        machine
    }

    pub(super) fn set_topic(&mut self, name: &str, partitions: i32) {
        let id = TopicId(Uuid::from_u128(1 + u128::from(name.as_bytes()[0] - b'a')));
        self.topics.0.insert(name.into(), (id, partitions));
    }

    pub(super) fn id_of(&self, name: &str) -> TopicId {
        self.topics.0[name].0
    }

    pub(super) fn call(&mut self) -> CallId {
        self.calls += 1;
        CallId(self.calls)
    }

    pub(super) fn decide(&mut self, input: Input) {
        let decision = decide(
            &self.settings,
            &self.topics,
            &self.ledger,
            &mut self.waiting,
            self.now,
            input,
        );
        for record in decision.records {
            apply(&mut self.ledger, &record);
            self.log.push(record);
        }
        let answers = decision.replies.into_iter();
        let answers = answers.map(|reply| (reply.call, reply.answer));
        self.answers.extend(answers);
        check_invariants(&self.ledger, &self.waiting);
        check_targets_reached(&self.state(), &self.topics);
    }

    /// The coordinator ends, and comes back with all that it logged.
    pub(super) fn crash(&mut self) {
        self.ledger = Ledger::default();
        for record in &self.log {
            apply(&mut self.ledger, record);
        }
        self.waiting = Waiting::after_loading(&self.settings, &self.ledger, self.now);
        check_invariants(&self.ledger, &self.waiting);
        self.decide(Input::TopicsChanged);
    }

    pub(super) fn pass(&mut self, time: Duration) {
        self.now.monotonic += time;
        self.now.wall = TimestampMs(self.now.wall.0 + time.as_millis() as i64);
        while next_deadline(&self.waiting).is_some_and(|at| at <= self.now.monotonic) {
            self.decide(Input::Tick);
        }
    }

    pub(super) fn state(&self) -> ConsumerState {
        let group = self.ledger.group(&GroupId::from(GROUP));
        let group = group.and_then(|group| group.consumer.as_ref());
        group.map(|group| group.state().clone()).unwrap_or_default()
    }

    pub(super) fn current(&self, id: &str) -> CurrentAssignment {
        let current = self.state().currents.get(&MemberId::from(id)).cloned();
        current.map(|c| (*c).clone()).unwrap_or_default()
    }

    /// What a member may read of topic "a".
    pub(super) fn assigned(&self, id: &str) -> Vec<i32> {
        let assigned = self.current(id).assigned;
        let of_topic = assigned.0.get(&self.id_of("a")).cloned();
        of_topic
            .unwrap_or_default()
            .keys()
            .map(|index| index.0)
            .collect()
    }

    pub(super) fn heartbeat_of(&mut self, process: &Process) -> ConsumerHeartbeat {
        let joins = process.epoch == JOIN_EPOCH;
        let topics = process.topics.iter().map(|name| Arc::from(*name));
        let owned = match process.owned.is_empty() {
            true => Vec::new(),
            false => vec![(self.id_of("a"), process.owned.clone())],
        };
        ConsumerHeartbeat {
            call: self.call(),
            group: GROUP.into(),
            member_id: process.id.as_str().into(),
            member_epoch: process.epoch,
            instance_id: process.instance.map(InstanceId::from),
            rack_id: None,
            client_id: "c".into(),
            client_host: "/h".into(),
            rebalance_timeout_ms: joins.then_some(30_000),
            topics: joins.then(|| topics.collect()),
            regex: None,
            server_assignor: None,
            owned: Some(owned),
            requires_member_id: true,
            fresh_id: Uuid::nil(),
        }
    }

    pub(super) fn send(
        &mut self,
        heartbeat: ConsumerHeartbeat,
    ) -> Result<MemberHeartbeat, GroupError> {
        let call = heartbeat.call;
        self.decide(Input::ConsumerHeartbeat(heartbeat));
        match self.answers.remove(&call) {
            Some(Answer::ConsumerHeartbeat(result)) => result,
            other => panic!("{other:?}"),
        }
    }

    /// One heartbeat of a member that behaves: it stops reading what it is told no longer to read.
    pub(super) fn beat(&mut self, process: &mut Process) -> Result<(), GroupError> {
        let heartbeat = self.heartbeat_of(process);
        let answer = self.send(heartbeat)?;
        process.epoch = answer.epoch;
        if let Some(assignment) = answer.assignment {
            let of_topic = assignment.get(&self.id_of("a")).cloned();
            let of_topic = of_topic.unwrap_or_default();
            process.owned = of_topic.into_iter().map(|index| index.0).collect();
        }
        Ok(())
    }

    /// JoinGroup; the answer comes with [`joined`](Self::joined).
    pub(super) fn join(&mut self, process: &Process) -> CallId {
        let call = self.call();
        let owned = consumer_topic(&process.owned);
        let subscription = ConsumerProtocolSubscription {
            topics: process
                .topics
                .iter()
                .map(|name| Cow::Borrowed(*name))
                .collect(),
            owned_partitions: owned
                .into_iter()
                .map(|topic| {
                    fanlog_protocol::messages::consumer_protocol_subscription::TopicPartition {
                        topic: topic.topic,
                        partitions: topic.partitions,
                    }
                })
                .collect(),
            ..Default::default()
        };
        let metadata = subscription.encode_with_version_prefix(1).unwrap();
        self.decide(Input::Join(Join {
            call,
            group: GROUP.into(),
            member_id: process.id.as_str().into(),
            fresh_id: Uuid::from_u128(call.0.into()),
            instance_id: process.instance.map(InstanceId::from),
            client_id: "c".into(),
            client_host: "/h".into(),
            session_timeout_ms: 10_000,
            rebalance_timeout_ms: 30_000,
            protocol_type: "consumer".into(),
            protocols: vec![Protocol {
                name: "cooperative-sticky".into(),
                metadata: metadata.into(),
            }],
            requires_member_id: false,
            supports_skip_assignment: true,
        }));
        call
    }

    /// The answer to a JoinGroup; the process knows its id and generation from then on.
    pub(super) fn joined(&mut self, call: CallId, process: &mut Process) -> Result<(), GroupError> {
        match self.answers.remove(&call) {
            Some(Answer::Join(result)) => {
                let joined = result?;
                process.id = joined.member_id.to_string();
                process.epoch = joined.generation;
                Ok(())
            }
            other => panic!("{other:?}"),
        }
    }

    /// SyncGroup, from a leader with what it assigns of topic "a".
    pub(super) fn sync(&mut self, process: &Process, shares: &[(&Process, &[i32])]) -> CallId {
        let call = self.call();
        let assignments = shares.iter().map(|(of, partitions)| {
            let assignment = ConsumerProtocolAssignment {
                assigned_partitions: consumer_topic(partitions),
                user_data: None,
            };
            let bytes = assignment.encode_with_version_prefix(1).unwrap();
            (of.id.as_str().into(), bytes.into())
        });
        let assignments = assignments.collect();
        self.decide(Input::Sync(Sync {
            call,
            group: GROUP.into(),
            member_id: process.id.as_str().into(),
            instance_id: process.instance.map(InstanceId::from),
            generation: process.epoch,
            protocol_type: None,
            protocol: None,
            assignments,
        }));
        call
    }

    /// The answer to a SyncGroup; the process reads what it was assigned.
    pub(super) fn synced(&mut self, call: CallId, process: &mut Process) -> Result<(), GroupError> {
        match self.answers.remove(&call) {
            Some(Answer::Sync(result)) => {
                process.owned = partitions_of(&result?.assignment);
                Ok(())
            }
            other => panic!("{other:?}"),
        }
    }

    /// A classic member of a consumer group joins again, and reads what it is assigned.
    pub(super) fn rejoin(&mut self, process: &mut Process) {
        let call = self.join(process);
        self.joined(call, process).unwrap();
        let call = self.sync(process, &[]);
        self.synced(call, process).unwrap();
    }

    /// Heartbeat of the classic protocol.
    pub(super) fn classic_beat(&mut self, process: &Process) -> Result<(), GroupError> {
        let call = self.call();
        self.decide(Input::Heartbeat(Heartbeat {
            call,
            group: GROUP.into(),
            member_id: process.id.as_str().into(),
            instance_id: process.instance.map(InstanceId::from),
            generation: process.epoch,
        }));
        match self.answers.remove(&call) {
            Some(Answer::Heartbeat(result)) => result,
            other => panic!("{other:?}"),
        }
    }

    /// A classic group of these in which the first leads, each with its share of topic "a".
    pub(super) fn classic_group(&mut self, members: &mut [(&mut Process, &[i32])]) {
        let calls: Vec<_> = members.iter().map(|(p, _)| self.join(p)).collect();
        while calls.iter().any(|call| !self.answers.contains_key(call)) {
            self.pass(Duration::from_secs(1));
        }
        for ((process, _), call) in members.iter_mut().zip(calls) {
            self.joined(call, process).unwrap();
        }
        let shares: Vec<_> = members.iter().map(|(p, of)| ((**p).clone(), *of)).collect();
        let shares: Vec<_> = shares.iter().map(|(p, of)| (p, *of)).collect();
        let lead = self.sync(&members[0].0.clone(), &shares);
        self.synced(lead, members[0].0).unwrap();
        for (process, _) in &mut members[1..] {
            let call = self.sync(process, &[]);
            self.synced(call, process).unwrap();
        }
    }

    pub(super) fn kind(&self) -> Option<GroupKind> {
        self.ledger
            .group(&GroupId::from(GROUP))
            .map(LedgerGroup::kind)
    }
}

/// A member that is said to have reached the target of the group's present epoch has all of it and no more, as far as it reads those
/// topics: nobody would look at it again.
pub(super) fn check_targets_reached(state: &ConsumerState, topics: &dyn TopicsSnapshot) {
    let target_epoch = state.target_epoch.map_or(0, |target| target.epoch);
    if state.epoch.map_or(0, |epoch| epoch.epoch) != target_epoch {
        return;
    }
    for (id, current) in state.currents.iter() {
        let has_arrived = current.state == MemberState::Stable && current.epoch == target_epoch;
        let Some(member) = state.members.get(id).filter(|_| has_arrived) else {
            continue;
        };
        let read = state.topic_ids(member, topics);
        let mut wanted = state.target(id).clone();
        wanted.retain(|topic, _| read.contains(topic));
        let mut assigned = current.assigned.sets();
        assigned.retain(|topic, _| topics.name_of(*topic).is_some());
        assert_eq!(assigned, wanted, "{id} has arrived where it shall not be");
    }
}

fn consumer_topic(partitions: &[i32]) -> Vec<TopicPartition<'static>> {
    let topic = TopicPartition {
        topic: Cow::Borrowed("a"),
        partitions: partitions.to_vec(),
    };
    match partitions.is_empty() {
        true => Vec::new(),
        false => vec![topic],
    }
}

fn partitions_of(assignment: &[u8]) -> Vec<i32> {
    if assignment.is_empty() {
        return Vec::new();
    }
    let read = ConsumerProtocolAssignment::decode_with_version_prefix(assignment).unwrap();
    let partitions = read.assigned_partitions.iter();
    partitions
        .flat_map(|topic| topic.partitions.clone())
        .collect()
}
