//! Members of share groups come, live and go.

use super::*;
use crate::group::{
    Answer, FewTopics, GroupError, GroupSettings, GroupState, Input, Ledger, MemberId,
    TopicsSnapshot, Waiting, apply, check_invariants, decide, next_deadline, record_format,
};
use crate::{CallId, Now};
use fanlog_model::{PartitionIndex, TimestampMs, TopicId};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// Counts how often a topic is looked up: once for each member's topics where all members are looked at.
#[derive(Default)]
struct Topics {
    few: FewTopics,
    looks: Cell<usize>,
}

impl TopicsSnapshot for Topics {
    fn by_name(&self, name: &str) -> Option<(TopicId, i32)> {
        self.looks.set(self.looks.get() + 1);
        self.few.by_name(name)
    }

    fn name_of(&self, id: TopicId) -> Option<Arc<str>> {
        self.few.name_of(id)
    }
}

struct World {
    settings: GroupSettings,
    topics: Topics,
    ledger: Ledger,
    waiting: Waiting,
    log: Vec<crate::group::GroupRecord>,
    now: Duration,
    members_max: usize,
}

fn topic(number: u128) -> TopicId {
    TopicId(Uuid::from_u128(number))
}

impl World {
    fn with_topics(topics: &[(&str, u128, i32)]) -> Self {
        let topics = topics.iter().map(|(name, id, partitions)| {
            let name: Arc<str> = (*name).into();
            (name, (topic(*id), *partitions))
        });
        Self {
            settings: GroupSettings::default(),
            topics: Topics {
                few: FewTopics(topics.collect::<BTreeMap<_, _>>()),
                ..Topics::default()
            },
            ledger: Ledger::default(),
            waiting: Waiting::default(),
            log: Vec::new(),
            now: Duration::from_secs(1),
            members_max: 3,
        }
    }

    fn step(&mut self, input: Input) -> Option<Answer> {
        let now = Now {
            wall: TimestampMs(self.now.as_millis() as i64),
            monotonic: self.now,
        };
        let decision = decide(
            &self.settings,
            &self.topics,
            &self.ledger,
            &mut self.waiting,
            now,
            input,
        );
        for record in decision.records {
            let bytes = record_format::encode(&record).unwrap();
            let read = record_format::decode(Some(&bytes.key), bytes.value.as_deref());
            assert_eq!(read.as_ref(), Ok(&record));
            apply(&mut self.ledger, &record);
            self.log.push(record);
        }
        check_invariants(&self.ledger, &self.waiting);
        let mut replayed = Ledger::default();
        for record in &self.log {
            apply(&mut replayed, record);
        }
        assert_eq!(replayed, self.ledger, "replay equals live");
        decision
            .replies
            .into_iter()
            .next()
            .map(|reply| reply.answer)
    }

    fn beat(
        &mut self,
        member: &str,
        epoch: i32,
        topics: Option<&[&str]>,
    ) -> Result<ShareHeartbeatAnswer, GroupError> {
        let heartbeat = ShareHeartbeat {
            call: CallId(1),
            group: "g".into(),
            member_id: MemberId::from(member),
            member_epoch: epoch,
            rack_id: None,
            topics: topics.map(|names| names.iter().map(|name| Arc::from(*name)).collect()),
            client_id: "c".into(),
            client_host: "/h".into(),
            rules: ShareRules {
                heartbeat_interval_ms: 5_000,
                session_timeout: Duration::from_secs(45),
                members_max: self.members_max,
            },
        };
        match self.step(Input::ShareHeartbeat(heartbeat)) {
            Some(Answer::ShareHeartbeat(answer)) => answer,
            other => panic!("{other:?}"),
        }
    }

    fn describe(&mut self) -> Result<DescribedShareGroup, GroupError> {
        let (call, group) = (CallId(2), "g".into());
        match self.step(Input::DescribeShare { call, group }) {
            Some(Answer::DescribeShare(answer)) => answer,
            other => panic!("{other:?}"),
        }
    }

    /// Lets time pass; deadlines fire on time.
    fn wait(&mut self, seconds: u64) {
        let end = self.now + Duration::from_secs(seconds);
        while let Some(at) = next_deadline(&self.waiting).filter(|at| *at <= end) {
            self.now = at;
            self.step(Input::Tick);
        }
        self.now = end;
    }

    fn crash(&mut self) {
        let now = Now {
            wall: TimestampMs(0),
            monotonic: self.now,
        };
        self.waiting = Waiting::after_loading(&self.settings, &self.ledger, now);
    }
}

fn count(answer: &ShareHeartbeatAnswer) -> usize {
    let sets = answer.assignment.as_ref().expect("an assignment");
    sets.values().map(std::collections::BTreeSet::len).sum()
}

#[test]
fn members_are_assigned_at_once_and_learn_of_changes_by_their_heartbeats() {
    let mut world = World::with_topics(&[("t", 1, 4)]);
    let a = world.beat("a", 0, Some(&["t", "later"])).unwrap();
    assert_eq!((a.member_epoch, count(&a)), (1, 4));
    assert_eq!(a.without_state.values().map(|p| p.len()).sum::<usize>(), 4);
    assert_eq!(world.beat("a", 1, None).unwrap().assignment, None);
    let b = world.beat("b", 0, Some(&["t"])).unwrap();
    assert_eq!((b.member_epoch, count(&b)), (2, 2));
    let a = world.beat("a", 1, None).unwrap();
    assert_eq!((a.member_epoch, count(&a)), (2, 2));
    // The answer was lost: the epoch before is taken once more.
    assert_eq!(world.beat("a", 1, None).unwrap().member_epoch, 2);
    world.topics.few.0.insert("later".into(), (topic(2), 2));
    world.step(Input::TopicsChanged);
    let a = world.beat("a", 2, None).unwrap();
    assert_eq!((a.member_epoch, count(&a)), (3, 3));
    let gone = world.beat("b", -1, None).unwrap();
    assert_eq!(gone.member_epoch, -1);
    let a = world.beat("a", 3, None).unwrap();
    assert_eq!((a.member_epoch, count(&a)), (4, 6));
}

#[test]
fn who_is_not_in_or_speaks_of_another_epoch_is_told_so() {
    let mut world = World::with_topics(&[("t", 1, 1)]);
    let refused = |error: GroupError| {
        format!("{error:?}")
            .split([' ', '{'])
            .next()
            .unwrap()
            .to_owned()
    };
    let mut check = |member: &str, epoch: i32, topics: Option<&[&str]>, expected: &str| {
        let error = world.beat(member, epoch, topics).unwrap_err();
        assert_eq!(refused(error), expected, "{member} {epoch}");
    };
    check("a", 1, None, "GroupNotFound");
    check("a", -1, None, "GroupNotFound");
    check("", 0, Some(&["t"]), "InvalidRequest");
    check("a", 0, None, "InvalidRequest");
    check("a", 0, Some(&[]), "InvalidRequest");
    check("a", -2, None, "InvalidRequest");
    for member in ["a", "b", "c"] {
        world.beat(member, 0, Some(&["t"])).unwrap();
    }
    let mut check = |member: &str, epoch: i32, expected: &str| {
        let error = world.beat(member, epoch, Some(&["t"])).unwrap_err();
        assert_eq!(refused(error), expected, "{member} {epoch}");
    };
    check("d", 0, "GroupFull");
    check("d", 3, "UnknownMember");
    check("d", -1, "UnknownMember");
    check("a", 7, "FencedMemberEpoch");
}

#[test]
fn members_that_vanish_are_removed_also_after_a_restart() {
    let mut world = World::with_topics(&[("t", 1, 2)]);
    world.beat("a", 0, Some(&["t"])).unwrap();
    world.beat("b", 0, Some(&["t"])).unwrap();
    world.wait(40);
    let a = world.beat("a", 1, None).unwrap();
    world.wait(40);
    let described = world.describe().unwrap();
    assert_eq!(described.members.len(), 1);
    let a = world.beat("a", a.member_epoch, None).unwrap();
    assert_eq!(count(&a), 2);
    world.crash();
    world.wait(60);
    let described = world.describe().unwrap();
    assert_eq!(
        (described.state, described.members.len()),
        (GroupState::Empty, 0)
    );
    assert!(matches!(
        world.beat("a", a.member_epoch, None),
        Err(GroupError::UnknownMember { .. })
    ));
}

#[test]
fn an_empty_group_is_deleted_with_all_that_was_logged_of_it() {
    let mut world = World::with_topics(&[("t", 1, 2)]);
    world.beat("a", 0, Some(&["t"])).unwrap();
    let delete = || Input::DeleteGroup {
        call: CallId(3),
        group: "g".into(),
    };
    let refused = world.step(delete());
    assert!(matches!(
        refused,
        Some(Answer::DeleteGroup(Err(GroupError::GroupNotEmpty { .. })))
    ));
    world.beat("a", -1, None).unwrap();
    let changed = ShareStatesChanged {
        call: CallId(4),
        group: "g".into(),
        initialized: vec![ShareTopic {
            id: topic(1),
            name: "t".into(),
            partitions: [PartitionIndex(0)].into(),
        }],
        removed: Vec::new(),
        is_for_offsets: true,
    };
    let answer = world.step(Input::ShareStatesChanged(changed));
    assert!(matches!(answer, Some(Answer::ShareStatesChanged(Ok(2)))));
    assert_eq!(world.step(delete()), Some(Answer::DeleteGroup(Ok(()))));
    assert_eq!(world.ledger, Ledger::default());
}

#[test]
fn a_member_that_says_that_it_lives_makes_nobody_look_at_the_others() {
    let mut world = World::with_topics(&[("t", 1, 4)]);
    world.members_max = 50;
    for number in 0..50 {
        world.beat(&format!("m{number}"), 0, Some(&["t"])).unwrap();
    }
    // Each learns once what it reads in the last epoch.
    let looks = |world: &World| world.topics.looks.replace(0);
    looks(&world);
    for number in 0..50 {
        let epoch = number + 1;
        let member = format!("m{number}");
        assert_eq!(world.beat(&member, epoch, None).unwrap().member_epoch, 50);
        world.beat(&member, 50, None).unwrap();
    }
    assert_eq!(looks(&world), 0, "all members were looked at");
    // A change is looked at, once.
    world.step(Input::TopicsChanged);
    for number in 0..50 {
        world.beat(&format!("m{number}"), 50, None).unwrap();
    }
    assert_eq!(looks(&world), 1);
}

#[test]
fn what_has_no_state_is_told_until_it_has_one() {
    let mut world = World::with_topics(&[("t", 1, 3)]);
    let missing = |answer: ShareHeartbeatAnswer| {
        let sets = answer.without_state.values();
        sets.map(std::collections::BTreeSet::len).sum::<usize>()
    };
    assert_eq!(missing(world.beat("a", 0, Some(&["t"])).unwrap()), 3);
    assert_eq!(missing(world.beat("a", 1, None).unwrap()), 3);
    let change = |initialized: &[i32], removed: Vec<TopicId>| ShareStatesChanged {
        call: CallId(4),
        group: "g".into(),
        initialized: vec![ShareTopic {
            id: topic(1),
            name: "t".into(),
            partitions: initialized.iter().map(|at| PartitionIndex(*at)).collect(),
        }],
        removed,
        is_for_offsets: false,
    };
    world.step(Input::ShareStatesChanged(change(&[0, 2], Vec::new())));
    assert_eq!(missing(world.beat("a", 1, None).unwrap()), 1);
    world.step(Input::ShareStatesChanged(change(&[1], Vec::new())));
    assert_eq!(missing(world.beat("a", 1, None).unwrap()), 0);
    world.step(Input::ShareStatesChanged(change(&[], vec![topic(1)])));
    assert_eq!(missing(world.beat("a", 1, None).unwrap()), 3);
}
