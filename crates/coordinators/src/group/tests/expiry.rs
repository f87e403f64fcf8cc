//! Offsets expire a few at a time: no step is a batch without a bound.

use crate::group::*;
use crate::{CallId, Now};
use fanlog_model::{LeaderEpoch, Offset, PartitionIndex, TimestampMs, TopicId, TopicName};
use std::time::Duration;

struct Machine {
    settings: GroupSettings,
    ledger: Ledger,
    waiting: Waiting,
    now: Duration,
}

impl Machine {
    fn new() -> Self {
        let (settings, ledger) = (GroupSettings::default(), Ledger::default());
        let start = Now {
            wall: TimestampMs(0),
            monotonic: Duration::ZERO,
        };
        Self {
            waiting: Waiting::after_loading(&settings, &ledger, start),
            settings,
            ledger,
            now: Duration::ZERO,
        }
    }

    fn decide(&mut self, input: Input) -> Decision {
        let now = Now {
            wall: TimestampMs(self.now.as_millis() as i64),
            monotonic: self.now,
        };
        let topics = FewTopics::default();
        let (settings, waiting) = (&self.settings, &mut self.waiting);
        let decision = decide(settings, &topics, &self.ledger, waiting, now, input);
        for record in &decision.records {
            apply(&mut self.ledger, record);
        }
        decision
    }

    fn commit(&mut self, group: &str, topic: &str, offsets: i32) {
        let offset = |partition| OffsetToCommit {
            topic: TopicName::new(topic).unwrap(),
            topic_id: TopicId::ZERO,
            partition: PartitionIndex(partition),
            offset: Offset(1),
            leader_epoch: LeaderEpoch::UNKNOWN,
            metadata: "".into(),
        };
        self.decide(Input::CommitOffsets(CommitOffsets {
            call: CallId(1),
            group: group.into(),
            member_id: "".into(),
            instance_id: None,
            generation: -1,
            names_missing_group: true,
            retention_ms: None,
            offsets: (0..offsets).map(offset).collect(),
        }));
    }

    /// How many records each step of the next look has.
    fn look(&mut self) -> Vec<usize> {
        let interval = self.settings.offsets_retention_check_interval;
        let mut steps = Vec::new();
        self.now = self.now.max(next_deadline(&self.waiting).unwrap());
        while next_deadline(&self.waiting).unwrap() <= self.now {
            let records = self.decide(Input::Tick).records;
            let bytes: usize = records
                .iter()
                .map(|record| record_format::encode(record).unwrap().key.len())
                .sum();
            assert!(bytes < 512 * 1024, "a batch of {bytes} bytes");
            steps.push(records.len());
        }
        assert_eq!(next_deadline(&self.waiting), Some(self.now + interval));
        steps
    }
}

#[test]
fn many_offsets_expire_in_steps() {
    let mut machine = Machine::new();
    machine.commit("a-large-one", "t", 2_500);
    for group in 0..700 {
        machine.commit(&format!("b{group}"), "t", 1);
    }
    machine.now = machine.settings.offsets_retention;
    // What was committed lately stays.
    machine.commit("b350", "later", 1);
    machine.commit("c", "t", 1);
    let steps = machine.look();
    assert_eq!(steps.iter().sum::<usize>(), 2_500 + 700);
    assert!(steps.iter().all(|records| *records <= 1_000), "{steps:?}");
    let left = machine.ledger.groups().map(|(id, _)| id.as_str());
    assert_eq!(left.collect::<Vec<_>>(), ["b350", "c"]);
    assert_eq!(machine.look().len(), 1, "the next look begins at the first");
}

#[test]
fn long_names_make_small_steps() {
    let mut machine = Machine::new();
    let name = "n".repeat(30_000);
    for group in 0..100 {
        machine.commit(&format!("{name}{group}"), "t", 1);
    }
    machine.now = machine.settings.offsets_retention;
    let steps = machine.look();
    assert_eq!(steps.iter().sum::<usize>(), 100);
    assert_eq!(machine.ledger, Ledger::default());
}

#[test]
fn a_look_at_very_many_groups_lets_others_have_their_turn() {
    let mut machine = Machine::new();
    for group in 0..12_000 {
        machine.commit(&format!("g{group}"), "t", 1);
    }
    assert_eq!(machine.look(), [0, 0, 0]);
}
