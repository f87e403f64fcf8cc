//! Offsets that transactions commit: who may, which of several counts, and what becomes of them where the group, or its offset, goes.

use crate::group::consumer::{ConsumerHeartbeat, JOIN_EPOCH, LEAVE_EPOCH};
use crate::group::share::{ShareHeartbeat, ShareHeartbeatAnswer, ShareRules};
use crate::group::*;
use crate::{CallId, Now};
use fanlog_model::{
    LeaderEpoch, Offset, PartitionIndex, ProducerEpoch, ProducerId, TimestampMs, TopicId,
    TopicName, TopicPartition,
};
use std::time::Duration;
use uuid::Uuid;

/// A machine and its log.
struct Machine {
    settings: GroupSettings,
    topics: FewTopics,
    ledger: Ledger,
    waiting: Waiting,
    now: Now,
    log: Vec<(Option<TransactionalWrite>, Vec<GroupRecord>)>,
}

const A: i64 = 1;
const B: i64 = 2;
const NOBODY: (&str, i32) = ("", -1);

fn partition(index: i32) -> TopicPartition {
    TopicPartition {
        topic: TopicName::new("t").unwrap(),
        partition: PartitionIndex(index),
    }
}

fn producer(id: i64) -> OffsetsProducer {
    OffsetsProducer {
        id: ProducerId(id),
        epoch: ProducerEpoch(0),
    }
}

fn apply_all(ledger: &mut Ledger, write: Option<TransactionalWrite>, records: &[GroupRecord]) {
    for record in records {
        match write {
            Some(TransactionalWrite::Offsets(producer)) => {
                apply_pending(ledger, producer.id, record);
            }
            _ => apply(ledger, record),
        }
    }
    if let Some(TransactionalWrite::End(end)) = write {
        apply_end(ledger, end.producer.id, end.is_commit);
    }
}

impl Machine {
    fn new() -> Self {
        let (settings, ledger) = (GroupSettings::default(), Ledger::default());
        let now = Now {
            wall: TimestampMs(1_700_000_000_000),
            monotonic: Duration::ZERO,
        };
        let mut topics = FewTopics::default();
        let topic = (TopicId(Uuid::from_u128(7)), 2);
        topics.0.insert("t".into(), topic);
        Self {
            waiting: Waiting::after_loading(&settings, &ledger, now),
            settings,
            topics,
            ledger,
            now,
            log: Vec::new(),
        }
    }

    fn hand_in(&mut self, input: Input) -> Option<Answer> {
        let mut decision = decide(
            &self.settings,
            &self.topics,
            &self.ledger,
            &mut self.waiting,
            self.now,
            input,
        );
        apply_all(&mut self.ledger, decision.transaction, &decision.records);
        self.log.push((decision.transaction, decision.records));
        check_invariants(&self.ledger, &self.waiting);
        let mut replayed = Ledger::default();
        for (write, records) in &self.log {
            apply_all(&mut replayed, *write, records);
        }
        assert_eq!(replayed, self.ledger, "replay equals live");
        decision.replies.pop().map(|reply| reply.answer)
    }

    fn commit_as(
        &self,
        (member, generation): (&str, i32),
        index: i32,
        offset: i64,
        is_new: bool,
    ) -> CommitOffsets {
        CommitOffsets {
            call: CallId(1),
            group: "g".into(),
            member_id: member.into(),
            instance_id: None,
            generation,
            names_missing_group: is_new,
            retention_ms: None,
            offsets: vec![OffsetToCommit {
                topic: TopicName::new("t").unwrap(),
                topic_id: TopicId(Uuid::from_u128(7)),
                partition: PartitionIndex(index),
                offset: Offset(offset),
                leader_epoch: LeaderEpoch::UNKNOWN,
                metadata: "".into(),
            }],
        }
    }

    fn answered(answer: Option<Answer>) -> Result<Vec<OffsetOutcome>, GroupError> {
        match answer {
            Some(Answer::CommitOffsets(result)) => result,
            other => panic!("{other:?}"),
        }
    }

    /// OffsetCommit, from outside the group.
    fn commit(&mut self, index: i32, offset: i64) {
        let commit = self.commit_as(NOBODY, index, offset, true);
        Self::answered(self.hand_in(Input::CommitOffsets(commit))).unwrap();
    }

    fn try_commit_in(
        &mut self,
        of: i64,
        member: (&str, i32),
        offset: i64,
        is_new: bool,
    ) -> Result<Vec<OffsetOutcome>, GroupError> {
        let commit = self.commit_as(member, 0, offset, is_new);
        Self::answered(
            self.hand_in(Input::CommitInTransaction(CommitInTransaction {
                producer: producer(of),
                commit,
            })),
        )
    }

    fn commit_in(&mut self, of: i64, offset: i64) {
        self.try_commit_in(of, NOBODY, offset, false).unwrap();
    }

    fn end(&mut self, of: i64, is_commit: bool) {
        self.hand_in(Input::EndOffsets(EndOffsets {
            call: CallId(1),
            producer: producer(of),
            is_commit,
            coordinator_epoch: 0,
        }));
    }

    fn join(&mut self, member: &str, epoch: i32) -> i32 {
        let answer = self.hand_in(Input::ConsumerHeartbeat(ConsumerHeartbeat {
            call: CallId(1),
            group: "g".into(),
            member_id: member.into(),
            member_epoch: epoch,
            instance_id: None,
            rack_id: None,
            client_id: "c".into(),
            client_host: "h".into(),
            rebalance_timeout_ms: Some(60_000),
            topics: Some(vec!["t".into()]),
            regex: None,
            server_assignor: None,
            owned: Some(Vec::new()),
            requires_member_id: true,
            fresh_id: Uuid::from_u128(1),
        }));
        match answer {
            Some(Answer::ConsumerHeartbeat(Ok(beat))) => beat.epoch,
            other => panic!("{other:?}"),
        }
    }

    fn offset(&self) -> Option<i64> {
        let committed = self.ledger.offset(&"g".into(), &partition(0));
        committed.map(|committed| committed.offset.get())
    }
}

/// Producers of exactly-once pipelines over groups of the new protocol.
#[test]
fn members_of_the_new_protocol_commit_in_transactions_in_every_version() {
    let mut machine = Machine::new();
    let epoch = machine.join("m", JOIN_EPOCH);
    let mut committed = 0;
    for is_new in [false, true] {
        // The version of TxnOffsetCommit says nothing of which protocol its consumer speaks.
        for who in [("m", epoch), NOBODY] {
            committed += 1;
            let result = machine.try_commit_in(A, who, committed, is_new);
            assert!(result.is_ok(), "{who:?}, {is_new}: {result:?}");
            machine.end(A, true);
            assert_eq!(machine.offset(), Some(committed));
        }
        for who in [("m", epoch + 1), ("m", -1), ("other", epoch), ("", epoch)] {
            let result = machine.try_commit_in(A, who, 99, is_new);
            assert!(result.is_err(), "{who:?} is fenced");
        }
    }
    // Outside of transactions both rules stand.
    let old = machine.commit_as(("m", epoch), 0, 9, false);
    let old = Machine::answered(machine.hand_in(Input::CommitOffsets(old)));
    assert!(matches!(old, Err(GroupError::OldCommit { .. })), "{old:?}");
    let outside = machine.commit_as(NOBODY, 0, 9, true);
    let outside = Machine::answered(machine.hand_in(Input::CommitOffsets(outside)));
    assert!(matches!(outside, Err(GroupError::UnknownMember { .. })));
}

/// Kafka: of two, the one that lies later in the log.
#[test]
fn the_later_of_two_commits_counts_whichever_transaction_ends_first() {
    for (first, second) in [(A, B), (B, A)] {
        for (a_commits, b_commits, expected) in [
            (true, true, Some(200)),
            (true, false, Some(100)),
            (false, true, Some(200)),
            (false, false, None),
        ] {
            let mut machine = Machine::new();
            machine.commit_in(A, 100);
            machine.commit_in(B, 200);
            for who in [first, second] {
                machine.end(who, if who == A { a_commits } else { b_commits });
            }
            assert_eq!(machine.offset(), expected, "{first} first");
        }
    }
    // A commits once more: now it is the later one.
    let mut machine = Machine::new();
    machine.commit_in(A, 100);
    machine.commit_in(B, 200);
    machine.commit_in(A, 300);
    machine.end(A, true);
    machine.end(B, true);
    assert_eq!(machine.offset(), Some(300));
    // What is committed without a transaction is later than what is pending, and earlier than what comes then.
    let mut machine = Machine::new();
    machine.commit_in(A, 100);
    machine.commit(0, 150);
    machine.commit_in(B, 200);
    machine.end(B, true);
    machine.end(A, true);
    assert_eq!(machine.offset(), Some(200));
    machine.commit_in(A, 300);
    machine.commit(0, 350);
    machine.end(A, true);
    assert_eq!(machine.offset(), Some(350));
}

/// Ways in which a group's offsets go.
fn deletions() -> Vec<Input> {
    vec![
        Input::DeleteOffsets(DeleteOffsets {
            call: CallId(1),
            group: "g".into(),
            partitions: vec![partition(0)],
        }),
        Input::DeleteGroup {
            call: CallId(1),
            group: "g".into(),
        },
        Input::TopicDeleted(TopicName::new("t").unwrap()),
        Input::PartitionsDeleted(vec![partition(0), partition(1)]),
    ]
}

#[test]
fn an_offset_that_is_deleted_does_not_come_back_with_the_end_of_a_transaction() {
    for has_committed in [true, false] {
        for deletion in deletions() {
            let mut machine = Machine::new();
            if has_committed {
                machine.commit(0, 50);
            }
            machine.commit_in(A, 100);
            machine.commit_in(B, 200);
            match machine.hand_in(deletion.clone()) {
                Some(Answer::DeleteOffsets(Ok(outcomes))) => assert_eq!(outcomes[0].result, Ok(())),
                None | Some(Answer::DeleteGroup(Ok(()))) => {}
                other => panic!("{other:?}"),
            }
            assert!(
                !machine.ledger.pending().has_any(&"g".into()),
                "{deletion:?}"
            );
            machine.end(A, true);
            machine.commit_in(A, 300);
            machine.end(B, true);
            assert_eq!(machine.offset(), None, "{deletion:?}");
            machine.end(A, true);
            assert_eq!(machine.offset(), Some(300), "of after the deletion");
        }
    }
    // A consumer group of the new protocol.
    let mut machine = Machine::new();
    let epoch = machine.join("m", JOIN_EPOCH);
    assert!(epoch > 0);
    machine.commit_in(A, 100);
    machine.join("m", LEAVE_EPOCH);
    let deletion = deletions().swap_remove(1);
    let answer = machine.hand_in(deletion);
    assert_eq!(answer, Some(Answer::DeleteGroup(Ok(()))));
    machine.end(A, true);
    assert_eq!(machine.offset(), None);
    assert_eq!(machine.ledger.groups().count(), 0);
}

#[test]
fn a_group_with_an_offset_of_a_transaction_under_way_does_not_expire() {
    let mut machine = Machine::new();
    machine.join("m", JOIN_EPOCH);
    machine.commit_in(A, 100);
    machine.join("m", LEAVE_EPOCH);
    assert!(machine.ledger.group(&"g".into()).is_some());
    machine.pass_retention();
    assert!(machine.ledger.group(&"g".into()).is_some());
    machine.end(A, false);
    machine.pass_retention();
    assert!(machine.ledger.group(&"g".into()).is_none());
}

#[test]
fn a_name_with_only_offsets_of_a_transaction_under_way_is_that_of_an_empty_classic_group() {
    let mut machine = Machine::new();
    let call = CallId(1);
    machine.commit_in(A, 100);
    let refused = machine.join_share();
    assert!(
        matches!(refused, Err(GroupError::GroupNotFound { .. })),
        "{refused:?}"
    );
    let (states, types) = (Vec::new(), Vec::new());
    let list = List {
        call,
        states,
        types,
    };
    match machine.hand_in(Input::List(list)) {
        Some(Answer::List(listed)) => {
            assert_eq!((&listed[0].group, listed.len()), (&"g".into(), 1));
            let seen = (listed[0].state, listed[0].group_type);
            assert_eq!(seen, (GroupState::Empty, "classic"));
        }
        other => panic!("{other:?}"),
    }
    let group = "g".into();
    match machine.hand_in(Input::Describe { call, group }) {
        Some(Answer::Describe(Ok(described))) => assert_eq!(described.state, GroupState::Empty),
        other => panic!("{other:?}"),
    }
    machine.end(A, true);
    assert_eq!(machine.offset(), Some(100));
    assert!(machine.join_share().is_err());
    // One of the new protocol takes such a group over, as it does any that is empty.
    let mut machine = Machine::new();
    machine.commit_in(A, 100);
    assert!(machine.join("m", JOIN_EPOCH) > 0);
    machine.end(A, true);
    assert_eq!(machine.offset(), Some(100));
    // And where nothing came of it, the name is free.
    let mut machine = Machine::new();
    machine.commit_in(A, 100);
    machine.end(A, false);
    machine.join_share().unwrap();
}

impl Machine {
    fn join_share(&mut self) -> Result<ShareHeartbeatAnswer, GroupError> {
        let joined = self.hand_in(Input::ShareHeartbeat(ShareHeartbeat {
            call: CallId(1),
            group: "g".into(),
            member_id: "m".into(),
            member_epoch: 0,
            rack_id: None,
            topics: Some(vec!["t".into()]),
            client_id: "c".into(),
            client_host: "h".into(),
            rules: ShareRules::default(),
        }));
        match joined {
            Some(Answer::ShareHeartbeat(result)) => result,
            other => panic!("{other:?}"),
        }
    }

    fn pass_retention(&mut self) {
        let span = self.settings.offsets_retention * 2;
        self.now.monotonic += span;
        self.now.wall.0 += i64::try_from(span.as_millis()).unwrap();
        while next_deadline(&self.waiting).is_some_and(|at| at <= self.now.monotonic) {
            self.hand_in(Input::Tick);
        }
    }
}
