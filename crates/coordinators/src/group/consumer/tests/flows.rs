//! Flows one by one: what must not be got wrong, and what absurd requests come to.

use crate::group::consumer::*;
use crate::group::*;
use crate::{CallId, Now};
use bytes::Bytes;
use fanlog_model::{GroupId, PartitionIndex, TimestampMs, TopicId};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

type Answered = Result<MemberHeartbeat, GroupError>;

/// One machine with a topic "t" of four partitions.
struct Machine {
    settings: GroupSettings,
    topics: FewTopics,
    ledger: Ledger,
    waiting: Waiting,
    now: Now,
    records: usize,
}

const TOPIC: TopicId = TopicId(Uuid::from_u128(7));

impl Machine {
    fn new() -> Self {
        let (settings, ledger) = (GroupSettings::default(), Ledger::default());
        let now = Now {
            wall: TimestampMs(1_700_000_000_000),
            monotonic: Duration::ZERO,
        };
        let topics = BTreeMap::from([(Arc::from("t"), (TOPIC, 4))]);
        Self {
            waiting: Waiting::after_loading(&settings, &ledger, now),
            settings,
            topics: FewTopics(topics),
            ledger,
            now,
            records: 0,
        }
    }

    fn decide(&mut self, input: Input) -> Vec<Answer> {
        let decision = decide(
            &self.settings,
            &self.topics,
            &self.ledger,
            &mut self.waiting,
            self.now,
            input,
        );
        self.records = decision.records.len();
        for record in &decision.records {
            apply(&mut self.ledger, record);
        }
        check_invariants(&self.ledger, &self.waiting);
        decision
            .replies
            .into_iter()
            .map(|reply| reply.answer)
            .collect()
    }

    fn beat(&mut self, heartbeat: ConsumerHeartbeat) -> Answered {
        let mut answers = self.decide(Input::ConsumerHeartbeat(heartbeat));
        match answers.pop() {
            Some(Answer::ConsumerHeartbeat(answer)) => answer,
            other => unreachable!("{other:?}"),
        }
    }

    fn pass(&mut self, seconds: u64) {
        self.now.monotonic += Duration::from_secs(seconds);
        self.now.wall = TimestampMs(self.now.wall.0 + 1_000 * seconds as i64);
        while next_deadline(&self.waiting).is_some_and(|at| at <= self.now.monotonic) {
            self.decide(Input::Tick);
        }
    }

    fn state(&self) -> ConsumerState {
        let group = self.ledger.group(&GroupId::from("g"));
        let group = group.and_then(|group| group.consumer.as_ref());
        group.map(|group| group.state().clone()).unwrap_or_default()
    }
}

fn joining(member: &str) -> ConsumerHeartbeat {
    ConsumerHeartbeat {
        rebalance_timeout_ms: Some(30_000),
        topics: Some(vec!["t".into()]),
        owned: Some(Vec::new()),
        ..beating(member, JOIN_EPOCH)
    }
}

fn beating(member: &str, epoch: i32) -> ConsumerHeartbeat {
    ConsumerHeartbeat {
        call: CallId(1),
        group: "g".into(),
        member_id: member.into(),
        member_epoch: epoch,
        instance_id: None,
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
    }
}

fn owning(heartbeat: ConsumerHeartbeat, partitions: &[i32]) -> ConsumerHeartbeat {
    ConsumerHeartbeat {
        owned: Some(vec![(TOPIC, partitions.to_vec())]),
        ..heartbeat
    }
}

fn static_of(heartbeat: ConsumerHeartbeat) -> ConsumerHeartbeat {
    ConsumerHeartbeat {
        instance_id: Some("i".into()),
        ..heartbeat
    }
}

/// Epoch and partitions; none where the answer doesn't name any.
fn told(answer: Answered) -> (i32, Option<Vec<i32>>) {
    let answer = answer.unwrap();
    let partitions = |sets: &PartitionSets| {
        let of_topic = sets.get(&TOPIC).into_iter().flatten();
        of_topic.map(|index: &PartitionIndex| index.0).collect()
    };
    (answer.epoch, answer.assignment.as_ref().map(partitions))
}

/// Two members, of which the first has yet to give up half of what it has.
fn two_members() -> Machine {
    let mut machine = Machine::new();
    assert_eq!(
        told(machine.beat(joining("a"))),
        (2, Some(vec![0, 1, 2, 3]))
    );
    machine.pass(2);
    assert_eq!(told(machine.beat(joining("b"))), (3, Some(vec![])));
    assert_eq!(told(machine.beat(beating("a", 2))), (2, Some(vec![0, 1])));
    machine
}

#[test]
fn a_join_that_owns_something_or_reads_nothing_is_invalid() {
    let mut machine = Machine::new();
    let bad = [
        owning(joining("a"), &[0]),
        ConsumerHeartbeat {
            owned: None,
            ..joining("a")
        },
        ConsumerHeartbeat {
            topics: None,
            ..joining("a")
        },
        ConsumerHeartbeat {
            rebalance_timeout_ms: None,
            ..joining("a")
        },
        beating("a", -3),
        beating("a", STATIC_LEAVE_EPOCH),
        beating("", 1),
    ];
    for heartbeat in bad {
        let refused = machine.beat(heartbeat.clone());
        assert!(
            matches!(refused, Err(GroupError::InvalidRequest { .. })),
            "{heartbeat:?}"
        );
    }
    let unknown = machine.beat(beating("a", 1));
    assert!(matches!(unknown, Err(GroupError::GroupNotFound { .. })));
    assert_eq!(machine.ledger, Ledger::default());
}

#[test]
fn a_member_may_join_again_and_keeps_its_epoch() {
    let mut machine = Machine::new();
    machine.beat(joining("a")).unwrap();
    assert_eq!(
        told(machine.beat(joining("a"))),
        (2, Some(vec![0, 1, 2, 3]))
    );
    assert_eq!(machine.records, 0);
    assert_eq!(told(machine.beat(beating("a", 2))), (2, None));
}

#[test]
fn who_froze_past_its_time_is_fenced_and_joins_again() {
    let mut machine = two_members();
    machine.pass(30);
    assert_eq!(
        told(machine.beat(beating("b", 3))),
        (4, Some(vec![0, 1, 2, 3]))
    );
    let fenced = machine.beat(beating("a", 2));
    assert!(
        matches!(fenced, Err(GroupError::UnknownMember { .. })),
        "{fenced:?}"
    );
    machine.pass(2);
    assert_eq!(told(machine.beat(joining("a"))), (5, Some(vec![])));
    // Nothing is asked of it; it is out when its session is over.
    machine.pass(46);
    assert!(machine.state().members.is_empty());
}

#[test]
fn a_lost_answer_is_made_up_for_and_a_stale_claim_is_fenced() {
    let mut machine = two_members();
    // It gives up, and the answer with the new epoch is lost.
    assert_eq!(
        told(machine.beat(owning(beating("a", 2), &[0, 1]))),
        (3, None)
    );
    assert_eq!(
        told(machine.beat(owning(beating("a", 2), &[0, 1]))),
        (3, None)
    );
    for stale in [
        owning(beating("a", 2), &[0, 1, 2]),
        beating("a", 2),
        beating("a", 4),
    ] {
        let fenced = machine.beat(stale);
        assert!(
            matches!(fenced, Err(GroupError::FencedMemberEpoch { .. })),
            "{fenced:?}"
        );
    }
}

#[test]
fn a_partition_waits_for_its_owner_and_the_owner_has_its_time() {
    let mut machine = two_members();
    assert_eq!(told(machine.beat(beating("b", 3))), (3, None));
    assert_eq!(
        told(machine.beat(owning(beating("a", 2), &[0, 1, 2, 3]))),
        (2, None)
    );
    // It goes on beating and never gives up: after its rebalance time-out it is out.
    for _ in 0..3 {
        machine.pass(9);
        machine
            .beat(owning(beating("a", 2), &[0, 1, 2, 3]))
            .unwrap();
        machine.beat(beating("b", 3)).unwrap();
    }
    machine.pass(4);
    let fenced = machine.beat(owning(beating("a", 2), &[0, 1, 2, 3]));
    assert!(matches!(fenced, Err(GroupError::UnknownMember { .. })));
    assert_eq!(
        told(machine.beat(beating("b", 3))),
        (4, Some(vec![0, 1, 2, 3]))
    );
}

#[test]
fn a_restart_changes_nothing_for_a_partition_on_its_way() {
    let mut machine = two_members();
    machine.waiting = Waiting::after_loading(&machine.settings, &machine.ledger, machine.now);
    assert_eq!(told(machine.beat(beating("b", 3))), (3, None));
    assert_eq!(
        told(machine.beat(owning(beating("a", 2), &[0, 1]))),
        (3, None)
    );
    assert_eq!(told(machine.beat(beating("b", 3))), (3, Some(vec![2, 3])));
}

#[test]
fn a_static_member_that_comes_back_has_what_it_had() {
    let mut machine = Machine::new();
    machine.beat(static_of(joining("a"))).unwrap();
    let unreleased = machine.beat(static_of(joining("b")));
    assert!(matches!(
        unreleased,
        Err(GroupError::UnreleasedInstance { .. })
    ));
    machine
        .beat(static_of(beating("a", STATIC_LEAVE_EPOCH)))
        .unwrap();
    assert_eq!(
        told(machine.beat(static_of(joining("b")))),
        (2, Some(vec![0, 1, 2, 3]))
    );
    let fenced = machine.beat(static_of(beating("a", 2)));
    assert!(matches!(fenced, Err(GroupError::FencedInstance { .. })));
    // One that does not come back is out when its session is over.
    machine
        .beat(static_of(beating("b", STATIC_LEAVE_EPOCH)))
        .unwrap();
    machine.pass(46);
    assert!(machine.state().members.is_empty());
}

#[test]
fn absurd_words_are_refused_and_nothing_is_kept_of_them() {
    let long: Arc<str> = "x".repeat(NAME_BYTES_MAX + 1).into();
    let bad_regex = SubscribedRegex {
        pattern: "(".into(),
        topics: Err("no".into()),
    };
    let absurd = [
        ConsumerHeartbeat {
            member_id: MemberId(long.clone()),
            ..joining("a")
        },
        ConsumerHeartbeat {
            rack_id: Some(long.clone()),
            ..joining("a")
        },
        ConsumerHeartbeat {
            server_assignor: Some(long.clone()),
            ..joining("a")
        },
        ConsumerHeartbeat {
            topics: Some(vec![long.clone()]),
            ..joining("a")
        },
        ConsumerHeartbeat {
            topics: Some((0..100_000).map(|n| n.to_string().into()).collect()),
            ..joining("a")
        },
        ConsumerHeartbeat {
            regex: Some(bad_regex),
            ..joining("a")
        },
    ];
    let mut machine = Machine::new();
    for heartbeat in absurd {
        let refused = machine.beat(heartbeat);
        assert!(refused.is_err());
        assert_eq!(machine.ledger, Ledger::default());
    }
}

#[test]
fn the_topics_of_one_group_are_bounded_however_many_members_bring_them() {
    let mut machine = Machine::new();
    let many = |from: u32| {
        (from..from + 60_000)
            .map(|n| format!("{n:09}").into())
            .collect()
    };
    let mut refused = 0;
    for member in 0..8 {
        let heartbeat = ConsumerHeartbeat {
            topics: Some(many(member * 60_000)),
            ..joining(&format!("m{member}"))
        };
        refused += usize::from(machine.beat(heartbeat).is_err());
    }
    assert_eq!((machine.state().members.len(), refused), (4, 4));
    // Those who bring no more than others did are welcome.
    let heartbeat = ConsumerHeartbeat {
        topics: Some(many(0)),
        ..joining("same")
    };
    assert!(machine.beat(heartbeat).is_ok());
}

#[test]
fn a_member_for_whom_there_is_no_memory_leaves_no_trace() {
    let mut machine = Machine::new();
    machine.settings.memory_bytes_max = 1_000;
    let refused = machine.beat(joining("a"));
    assert!(
        matches!(refused, Err(GroupError::MemoryFull { .. })),
        "{refused:?}"
    );
    assert_eq!(machine.ledger, Ledger::default());
}

#[test]
fn a_thousand_members_at_once_take_few_assignments() {
    let mut machine = Machine::new();
    machine
        .topics
        .0
        .insert("big".into(), (TopicId(Uuid::from_u128(8)), 10_000));
    let mut targets = 0;
    for number in 0..1_000 {
        let heartbeat = ConsumerHeartbeat {
            topics: Some(vec!["big".into()]),
            ..joining(&format!("m{number}"))
        };
        let before = machine.state().target_epoch;
        machine.beat(heartbeat).unwrap();
        targets += usize::from(machine.state().target_epoch != before);
    }
    assert_eq!(targets, 1);
    machine.pass(2);
    machine.beat(beating("m1", 2)).unwrap();
    let target: Vec<_> = machine
        .state()
        .targets
        .values()
        .map(|t| t.values().map(|p| p.len()).sum::<usize>())
        .collect();
    assert_eq!(target, vec![10; 1_000]);
}

#[test]
fn a_member_that_is_refused_leaves_a_classic_group_as_it_was() {
    let mut machine = Machine::new();
    let join = |member: &str| Join {
        call: CallId(9),
        group: "g".into(),
        member_id: member.into(),
        fresh_id: Uuid::nil(),
        instance_id: None,
        client_id: "c".into(),
        client_host: "/h".into(),
        session_timeout_ms: 10_000,
        rebalance_timeout_ms: 10_000,
        protocol_type: "consumer".into(),
        protocols: vec![Protocol {
            name: "range".into(),
            metadata: Bytes::from_static(&[0, 0, 0, 0, 0, 1, 0, 1, b't', 255, 255, 255, 255]),
        }],
        requires_member_id: false,
        supports_skip_assignment: false,
    };
    assert!(machine.decide(Input::Join(join(""))).is_empty(), "parked");
    let refused = machine.beat(ConsumerHeartbeat {
        regex: Some(SubscribedRegex {
            pattern: "(".into(),
            topics: Err("no".into()),
        }),
        ..joining("m")
    });
    assert!(matches!(refused, Err(GroupError::InvalidRegex { .. })));
    assert_eq!(machine.ledger, Ledger::default());
    // The parked member goes on, and is converted when somebody comes in earnest.
    assert_eq!(told(machine.beat(joining("m"))).1, Some(vec![2, 3]));
    assert_eq!(machine.state().classic_members, 1);
    // With the last of the new protocol the group is a classic one again.
    machine.beat(beating("m", LEAVE_EPOCH)).unwrap();
    assert_eq!(machine.state(), ConsumerState::default());
    let listed = machine.decide(Input::List(List {
        call: CallId(3),
        states: vec![],
        types: vec!["classic".into()],
    }));
    assert!(matches!(&listed[..], [Answer::List(groups)] if groups.len() == 1));
}
