//! Queues and groups share their names: who is first has it.

use crate::group::consumer::ConsumerHeartbeat;
use crate::group::share::{ShareHeartbeat, ShareRules, ShareStatesChanged};
use crate::group::*;
use crate::{CallId, Now};
use fanlog_model::{
    GroupId, LeaderEpoch, Offset, PartitionIndex, ProducerEpoch, ProducerId, TimestampMs, TopicId,
    TopicName,
};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// No topics, and these queues.
struct Queues(BTreeSet<GroupId>);

impl TopicsSnapshot for Queues {
    fn by_name(&self, _: &str) -> Option<(TopicId, i32)> {
        None
    }

    fn name_of(&self, _: TopicId) -> Option<Arc<str>> {
        None
    }

    fn is_queue(&self, name: &GroupId) -> bool {
        self.0.contains(name)
    }
}

struct Machine {
    queues: Queues,
    settings: GroupSettings,
    ledger: Ledger,
    waiting: Waiting,
}

impl Machine {
    fn with_queues(names: &[&str]) -> Self {
        Self {
            queues: Queues(names.iter().map(|name| GroupId::from(*name)).collect()),
            settings: GroupSettings::default(),
            ledger: Ledger::default(),
            waiting: Waiting::default(),
        }
    }

    fn ask(&mut self, input: Input) -> Option<Answer> {
        let now = Now {
            wall: TimestampMs(1_000),
            monotonic: Duration::from_secs(1),
        };
        let (queues, settings) = (&self.queues, &self.settings);
        let mut decision = decide(
            settings,
            queues,
            &self.ledger,
            &mut self.waiting,
            now,
            input,
        );
        for record in &decision.records {
            apply(&mut self.ledger, record);
        }
        decision.replies.pop().map(|reply| reply.answer)
    }

    fn kind(&self, name: &str) -> Option<GroupKind> {
        kind_of(&self.ledger, &self.waiting, &name.into())
    }
}

const CALL: CallId = CallId(1);

fn join(group: &str) -> Input {
    Input::Join(Join {
        call: CALL,
        group: group.into(),
        member_id: "".into(),
        fresh_id: Uuid::from_u128(1),
        instance_id: None,
        client_id: "c".into(),
        client_host: "h".into(),
        session_timeout_ms: 10_000,
        rebalance_timeout_ms: 10_000,
        protocol_type: "consumer".into(),
        protocols: vec![Protocol {
            name: "range".into(),
            metadata: Default::default(),
        }],
        requires_member_id: true,
        supports_skip_assignment: true,
    })
}

fn commit(group: &str) -> CommitOffsets {
    CommitOffsets {
        call: CALL,
        group: group.into(),
        member_id: "".into(),
        instance_id: None,
        generation: -1,
        names_missing_group: true,
        retention_ms: None,
        offsets: vec![OffsetToCommit {
            topic: TopicName::new("t").unwrap(),
            topic_id: TopicId::ZERO,
            partition: PartitionIndex(0),
            offset: Offset(1),
            leader_epoch: LeaderEpoch::UNKNOWN,
            metadata: "".into(),
        }],
    }
}

fn consumer_heartbeat(group: &str) -> Input {
    Input::ConsumerHeartbeat(ConsumerHeartbeat {
        call: CALL,
        group: group.into(),
        member_id: "m".into(),
        member_epoch: 0,
        instance_id: None,
        rack_id: None,
        client_id: "c".into(),
        client_host: "h".into(),
        rebalance_timeout_ms: Some(10_000),
        topics: Some(vec!["t".into()]),
        regex: None,
        server_assignor: None,
        owned: Some(Vec::new()),
        requires_member_id: true,
        fresh_id: Uuid::from_u128(1),
    })
}

fn share_heartbeat(group: &str) -> Input {
    Input::ShareHeartbeat(ShareHeartbeat {
        call: CALL,
        group: group.into(),
        member_id: "m".into(),
        member_epoch: 0,
        rack_id: None,
        topics: Some(vec!["t".into()]),
        client_id: "c".into(),
        client_host: "h".into(),
        rules: ShareRules {
            heartbeat_interval_ms: 5_000,
            session_timeout: Duration::from_secs(45),
            members_max: 10,
        },
    })
}

fn share_offsets(group: &str) -> Input {
    Input::ShareStatesChanged(ShareStatesChanged {
        call: CALL,
        group: group.into(),
        initialized: Vec::new(),
        removed: Vec::new(),
        is_for_offsets: true,
    })
}

#[test]
fn no_group_comes_into_being_under_the_name_of_a_queue() {
    let mut machine = Machine::with_queues(&["q"]);
    let group = GroupId::from("q");
    let not_found = || GroupError::GroupNotFound {
        group: group.clone(),
    };
    let other_protocol = GroupError::InconsistentProtocol {
        group: group.clone(),
    };
    let expected = [
        (join("q"), Answer::Join(Err(other_protocol))),
        (
            Input::CommitOffsets(commit("q")),
            Answer::CommitOffsets(Err(not_found())),
        ),
        (
            consumer_heartbeat("q"),
            Answer::ConsumerHeartbeat(Err(not_found())),
        ),
        (
            share_heartbeat("q"),
            Answer::ShareHeartbeat(Err(not_found())),
        ),
        (
            share_offsets("q"),
            Answer::ShareStatesChanged(Err(not_found())),
        ),
    ];
    for (input, answer) in expected {
        assert_eq!(machine.ask(input), Some(answer));
    }
    let in_transaction = Input::CommitInTransaction(CommitInTransaction {
        producer: OffsetsProducer {
            id: ProducerId(1),
            epoch: ProducerEpoch(0),
        },
        commit: commit("q"),
    });
    let answer = machine.ask(in_transaction);
    assert!(
        matches!(
            &answer,
            Some(Answer::CommitOffsets(Err(GroupError::GroupNotFound { .. })))
        ),
        "{answer:?}"
    );
    assert_eq!(machine.kind("q"), None);
    assert_eq!(machine.ledger, Ledger::default());
}

#[test]
fn groups_of_other_names_come_into_being_and_are_known_by_their_kind() {
    let mut machine = Machine::with_queues(&["q"]);
    machine.ask(Input::CommitOffsets(commit("offsets")));
    machine.ask(consumer_heartbeat("consumer"));
    machine.ask(share_heartbeat("share"));
    machine.ask(join("members"));
    assert_eq!(machine.kind("offsets"), Some(GroupKind::Classic));
    assert_eq!(machine.kind("consumer"), Some(GroupKind::Consumer));
    assert_eq!(machine.kind("share"), Some(GroupKind::Share));
    assert_eq!(machine.kind("members"), Some(GroupKind::Classic));
}

/// A queue that was made in the same moment takes its record back: the group goes on.
#[test]
fn a_group_that_was_first_goes_on() {
    let mut machine = Machine::with_queues(&[]);
    machine.ask(Input::CommitOffsets(commit("q")));
    machine.queues.0.insert("q".into());
    let answer = machine.ask(Input::CommitOffsets(commit("q")));
    assert!(matches!(answer, Some(Answer::CommitOffsets(Ok(_)))));
}
