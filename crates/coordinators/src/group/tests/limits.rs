//! What a group holds is bounded, whatever clients bring (OPS-1).

use super::transcript::subscription;
use crate::group::*;
use crate::{CallId, Now};
use bytes::Bytes;
use fanlog_model::{LeaderEpoch, Offset, PartitionIndex, TopicId, TopicName};
use uuid::Uuid;

struct Machine {
    settings: GroupSettings,
    ledger: Ledger,
    waiting: Waiting,
    now: Now,
    calls: u64,
}

impl Machine {
    fn new() -> Self {
        let (settings, ledger) = (GroupSettings::default(), Ledger::default());
        let waiting = Waiting::after_loading(&settings, &ledger, Now::default());
        Self {
            settings,
            ledger,
            waiting,
            now: Now::default(),
            calls: 0,
        }
    }

    fn decide(&mut self, input: Input) -> Vec<Answer> {
        let decision = decide(
            &self.settings,
            &FewTopics::default(),
            &self.ledger,
            &mut self.waiting,
            self.now,
            input,
        );
        for record in &decision.records {
            record_format::encode(record).expect("what the machine logs can be written");
            apply(&mut self.ledger, record);
        }
        decision
            .replies
            .into_iter()
            .map(|reply| reply.answer)
            .collect()
    }

    fn join(&mut self, change: impl FnOnce(&mut Join)) -> Vec<Answer> {
        self.calls += 1;
        let metadata = subscription("t");
        let mut join = Join {
            call: CallId(self.calls),
            group: "g".into(),
            member_id: "".into(),
            fresh_id: Uuid::from_u128(self.calls.into()),
            instance_id: None,
            client_id: "c".into(),
            client_host: "/127.0.0.1".into(),
            session_timeout_ms: 10_000,
            rebalance_timeout_ms: 10_000,
            protocol_type: "consumer".into(),
            protocols: vec![Protocol {
                name: "range".into(),
                metadata,
            }],
            requires_member_id: true,
            supports_skip_assignment: true,
        };
        change(&mut join);
        self.decide(Input::Join(join))
    }

    fn refused(&mut self, change: impl FnOnce(&mut Join)) -> GroupError {
        match self.join(change).pop() {
            Some(Answer::Join(Err(error))) => error,
            other => panic!("{other:?}"),
        }
    }

    /// Lets the first rebalance end.
    fn tick(&mut self) -> Vec<Answer> {
        self.now.monotonic = next_deadline(&self.waiting).unwrap();
        self.decide(Input::Tick)
    }
}

#[test]
fn ids_given_out_are_bounded() {
    let mut machine = Machine::new();
    for _ in 0..PENDING_MEMBERS_PER_GROUP_MAX {
        let error = machine.refused(|_| {});
        assert!(matches!(error, GroupError::MemberIdRequired { .. }));
    }
    let error = machine.refused(|_| {});
    assert!(matches!(error, GroupError::GroupFull { .. }), "{error:?}");
}

#[test]
fn members_are_bounded_even_where_no_setting_says_so() {
    let mut machine = Machine::new();
    for _ in 0..MEMBERS_PER_GROUP_MAX {
        assert_eq!(machine.join(|join| join.requires_member_id = false), []);
    }
    let error = machine.refused(|join| join.requires_member_id = false);
    assert!(matches!(error, GroupError::GroupFull { .. }), "{error:?}");
}

#[test]
fn a_members_protocols_are_bounded_in_number_and_bytes() {
    let mut machine = Machine::new();
    let protocol = |name: &str, bytes| Protocol {
        name: name.into(),
        metadata: vec![0; bytes].into(),
    };
    let error = machine.refused(|join| join.protocols = vec![protocol("p", PROTOCOLS_BYTES_MAX)]);
    assert!(
        matches!(error, GroupError::ProtocolsTooLarge { .. }),
        "{error:?}"
    );
    let many = 0..=PROTOCOLS_PER_MEMBER_MAX;
    let many: Vec<_> = many.map(|n| protocol(&n.to_string(), 0)).collect();
    let error = machine.refused(|join| join.protocols = many);
    assert!(
        matches!(error, GroupError::ProtocolsTooLarge { .. }),
        "{error:?}"
    );
}

#[test]
fn the_protocols_of_all_members_together_are_bounded_before_any_record_is_written() {
    let mut machine = Machine::new();
    let large = |join: &mut Join| {
        join.requires_member_id = false;
        join.protocols = vec![Protocol {
            name: "p".into(),
            metadata: vec![0; PROTOCOLS_BYTES_MAX - 1].into(),
        }];
    };
    for _ in 0..GROUP_RECORD_BYTES_MAX / PROTOCOLS_BYTES_MAX {
        assert_eq!(machine.join(large), []);
    }
    let error = machine.refused(large);
    assert!(
        matches!(error, GroupError::GroupTooLarge { .. }),
        "{error:?}"
    );
    assert_eq!(
        machine.join(|join| {
            large(join);
            join.group = "other".into();
        }),
        []
    );
}

#[test]
fn names_that_no_record_can_hold_are_refused_and_the_longest_allowed_are_logged() {
    let longest = "x".repeat(NAME_BYTES_MAX);
    let mut machine = Machine::new();
    let too_long = format!("{longest}x");
    let refused = |machine: &mut Machine, change: &dyn Fn(&mut Join)| {
        let error = machine.refused(change);
        assert!(matches!(error, GroupError::NameTooLong { .. }), "{error:?}");
    };
    refused(&mut machine, &|join| join.group = too_long.as_str().into());
    refused(&mut machine, &|join| {
        join.client_id = too_long.as_str().into()
    });
    refused(&mut machine, &|join| {
        join.client_host = too_long.as_str().into()
    });
    refused(&mut machine, &|join| {
        join.instance_id = Some(too_long.as_str().into())
    });
    refused(&mut machine, &|join| {
        join.protocol_type = too_long.as_str().into()
    });
    refused(&mut machine, &|join| {
        join.protocols[0].name = too_long.as_str().into()
    });
    machine.join(|join| {
        join.instance_id = Some(longest.as_str().into());
        join.client_id = longest.as_str().into();
        join.protocol_type = longest.as_str().into();
        join.protocols[0].name = longest.as_str().into();
    });
    let joined = machine.tick();
    let [Answer::Join(Ok(joined))] = joined.as_slice() else {
        panic!("{joined:?}");
    };
    let synced = machine.sync(joined.member_id.clone(), Vec::new());
    assert!(
        matches!(synced.as_slice(), [Answer::Sync(Ok(_))]),
        "{synced:?}"
    );
}

#[test]
fn a_generation_too_large_for_its_record_is_refused_and_everybody_must_rejoin() {
    let mut machine = Machine::new();
    machine.join(|join| join.requires_member_id = false);
    let joined = machine.tick();
    let [Answer::Join(Ok(joined))] = joined.as_slice() else {
        panic!("{joined:?}");
    };
    let huge = Bytes::from(vec![0; GROUP_RECORD_BYTES_MAX]);
    let leader = joined.member_id.clone();
    let synced = machine.sync(leader.clone(), vec![(leader.clone(), huge)]);
    assert!(matches!(
        synced.as_slice(),
        [Answer::Sync(Err(GroupError::GroupTooLarge { .. }))]
    ));
    check_invariants(&machine.ledger, &machine.waiting);
    assert_eq!(machine.ledger, Ledger::default());
    let beat = machine.decide(Input::Heartbeat(Heartbeat {
        call: CallId(0),
        group: "g".into(),
        member_id: leader,
        instance_id: None,
        generation: 1,
    }));
    assert!(matches!(
        beat.as_slice(),
        [Answer::Heartbeat(Err(
            GroupError::RebalanceInProgress { .. }
        ))]
    ));
}

impl Machine {
    fn sync(&mut self, member_id: MemberId, assignments: Vec<(MemberId, Bytes)>) -> Vec<Answer> {
        self.decide(Input::Sync(Sync {
            call: CallId(0),
            group: "g".into(),
            member_id,
            instance_id: None,
            generation: 1,
            protocol_type: None,
            protocol: None,
            assignments,
        }))
    }
}

impl Machine {
    fn commit(&mut self, group: &str, partition: i32, metadata: &str) -> Result<(), OffsetError> {
        self.calls += 1;
        let commit = CommitOffsets {
            call: CallId(self.calls),
            group: group.into(),
            member_id: "".into(),
            instance_id: None,
            generation: -1,
            retention_ms: None,
            names_missing_group: false,
            offsets: vec![OffsetToCommit {
                topic: TopicName::new("t").unwrap(),
                topic_id: TopicId::ZERO,
                partition: PartitionIndex(partition),
                offset: Offset(1),
                leader_epoch: LeaderEpoch::UNKNOWN,
                metadata: metadata.into(),
            }],
        };
        let mut answers = self.decide(Input::CommitOffsets(commit));
        check_invariants(&self.ledger, &self.waiting);
        match answers.pop() {
            Some(Answer::CommitOffsets(Ok(mut outcomes))) => outcomes.pop().unwrap().result,
            other => panic!("{other:?}"),
        }
    }

    /// Commits until there is no memory for one more offset.
    fn fill(&mut self) -> i32 {
        let mut partitions = 0..100_000;
        let refused = partitions.find(|partition| self.commit("full", *partition, "").is_err());
        refused.expect("a limit is met")
    }
}

#[test]
fn groups_and_offsets_are_bounded_by_the_memory_that_they_take() {
    let mut machine = Machine::new();
    machine.settings.memory_bytes_max = 100_000;
    let first = machine.refused(|join| join.group = "first".into());
    let refused = machine.fill();
    assert!((100..1_000).contains(&refused), "{refused}");
    let held = machine.ledger.bytes() + machine.waiting.bytes();
    assert!((99_000..=100_000).contains(&held), "{held}");
    // Nothing new gets in.
    let error = machine.commit("other", 0, "").unwrap_err();
    assert_eq!(error, OffsetError::MemoryFull { max: 100_000 });
    let error = machine.refused(|join| join.group = "other".into());
    assert!(matches!(error, GroupError::MemoryFull { .. }), "{error:?}");
    // What is there goes on: offsets, their notes, members of a group that is known.
    machine.commit("full", refused - 1, "a note").unwrap();
    let GroupError::MemberIdRequired { member } = first else {
        panic!("{first:?}");
    };
    let joined = machine.join(|join| {
        join.group = "first".into();
        join.member_id = member;
    });
    assert_eq!(joined, [], "it waits for others to join");
    check_invariants(&machine.ledger, &machine.waiting);
    // Up to twice the limit.
    let large = |join: &mut Join| {
        join.group = "first".into();
        join.protocols[0].metadata = vec![0; 100_000].into();
    };
    let error = machine.refused(large);
    assert!(matches!(error, GroupError::MemoryFull { .. }), "{error:?}");
}

#[test]
fn what_other_machines_hold_counts_and_what_is_deleted_makes_room() {
    let mut machine = Machine::new();
    machine.settings.memory_bytes_max = 100_000;
    machine.settings.memory_bytes_elsewhere = 50_000;
    let refused = machine.fill();
    assert!(machine.ledger.bytes() <= 50_000);
    machine.settings.memory_bytes_elsewhere = 0;
    machine.commit("full", refused, "").unwrap();
    machine.settings.memory_bytes_elsewhere = 100_000;
    machine.commit("full", refused + 1, "").unwrap_err();
    let group = "full".into();
    let delete = Input::DeleteGroup {
        call: CallId(0),
        group,
    };
    assert_eq!(machine.decide(delete), [Answer::DeleteGroup(Ok(()))]);
    assert_eq!(machine.ledger.bytes(), 0);
    machine.settings.memory_bytes_elsewhere = 0;
    machine.commit("full", 0, "").unwrap();
}
