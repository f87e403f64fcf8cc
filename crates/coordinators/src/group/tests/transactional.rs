//! Offsets that transactions commit: who may, which of several counts, and what becomes of them where the group, or its offset, goes.

use crate::group::consumer::{ConsumerHeartbeat, JOIN_EPOCH};
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
