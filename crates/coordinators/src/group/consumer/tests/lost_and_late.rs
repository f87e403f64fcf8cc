//! What comes late, twice or not at all: answers that are lost, expressions looked at in another order, deadlines of another protocol.

use super::machine::{Machine, Process};
use crate::group::consumer::{ConsumerHeartbeat, RegexResolved, SubscribedRegex};
use crate::group::{GroupError, Input};
use std::sync::Arc;
use std::time::Duration;

const A: &[&str] = &["a"];

fn with_regex(heartbeat: ConsumerHeartbeat, topics: &[&str]) -> ConsumerHeartbeat {
    let topics: Arc<[Arc<str>]> = topics.iter().map(|name| Arc::from(*name)).collect();
    ConsumerHeartbeat {
        rebalance_timeout_ms: Some(30_000),
        topics: Some(Vec::new()),
        regex: Some(SubscribedRegex {
            pattern: "[ab]".into(),
            topics: Ok(topics),
        }),
        ..heartbeat
    }
}

/// A topic came, and a member says all there is to say before its expression is looked at for everybody.
#[test]
fn a_topic_that_a_full_heartbeat_brings_is_assigned() {
    let mut machine = Machine::new();
    let mut member = Process::new("m", &[]);
    let join = machine.heartbeat_of(&member);
    let joined = machine.send(with_regex(join, &["a"])).unwrap();
    member.epoch = joined.epoch;
    member.owned = vec![0, 1, 2, 3];

    machine.pass(Duration::from_secs(5));
    machine.set_topic("b", 2);
    machine.decide(Input::TopicsChanged);
    let full = machine.heartbeat_of(&member);
    let full = machine.send(with_regex(full, &["a", "b"])).unwrap();
    machine.decide(Input::RegexResolved(RegexResolved {
        group: super::machine::GROUP.into(),
        pattern: "[ab]".into(),
        topics: [Arc::from("a"), Arc::from("b")].into(),
    }));
    member.epoch = full.epoch;
    let assigned = full.assignment.unwrap_or_default();
    let of_new = assigned.get(&machine.id_of("b")).map(|of| of.len());
    assert_eq!(of_new, Some(2));
}

/// The answer to its first request was lost: a static member sends it again, under the same id.
#[test]
fn a_static_member_that_missed_its_answer_may_join_again() {
    let mut machine = Machine::new();
    let first = Process::new("m", A).named("i1");
    machine.beat(&mut first.clone()).unwrap();
    let mut again = first;
    machine.beat(&mut again).unwrap();
    assert_eq!(again.owned, [0, 1, 2, 3]);
    let mut other = Process::new("n", A).named("i1");
    let refused = machine.beat(&mut other).unwrap_err();
    assert!(
        matches!(refused, GroupError::UnreleasedInstance { .. }),
        "{refused}"
    );
}

/// A member was to give something up, and goes on as a classic one under the same id: the time it had for that is over.
#[test]
fn the_deadlines_of_one_protocol_end_where_a_member_takes_to_the_other() {
    let mut machine = Machine::new();
    let (mut one, mut two) = (Process::new("one", A), Process::new("two", A));
    machine.beat(&mut one).unwrap();
    machine.pass(Duration::from_secs(2));
    machine.beat(&mut two).unwrap();
    machine.beat(&mut one).unwrap();
    assert!(!machine.current("one").pending_revocation.0.is_empty());

    one.owned.clear();
    machine.rejoin(&mut one);
    let over = Duration::from_secs(40);
    for _ in 0..10 {
        machine.pass(over / 10);
        machine.beat(&mut two).unwrap();
        if machine.classic_beat(&one).is_err() {
            machine.rejoin(&mut one);
        }
    }
    assert_eq!(machine.assigned("one").len(), 2, "it was not thrown out");
}

/// However many members name the same topics, the group has one list of them.
#[test]
fn members_that_name_the_same_topics_share_one_list() {
    let mut machine = Machine::new();
    let mut members = ["one", "two", "three"].map(|id| Process::new(id, A));
    for member in &mut members {
        machine.beat(member).unwrap();
    }
    let mut classic = Process::new("", A);
    let call = machine.join(&classic);
    machine.joined(call, &mut classic).unwrap();
    let state = machine.state();
    assert_eq!(state.lists.values().collect::<Vec<_>>(), [&4]);
    let (shared, _) = state.lists.first_key_value().unwrap();
    let mut lists = state.members.values().map(|member| &member.topics);
    assert!(lists.all(|list| Arc::ptr_eq(list, shared)));

    machine.crash();
    assert_eq!(machine.state().lists, state.lists);
    let [one, two, three] = members;
    for member in [classic, one, two, three] {
        let leave = machine.heartbeat_of(&Process {
            epoch: -1,
            ..member
        });
        machine.send(leave).unwrap();
    }
    assert!(machine.state().lists.is_empty());
}

/// The target changes while a member gives something up, so that it must give up more: it keeps its epoch until that is done.
#[test]
fn a_revocation_that_follows_on_another_leaves_the_epoch() {
    let mut machine = Machine::new();
    let mut first = Process::new("m1", A);
    machine.beat(&mut first).unwrap();
    let epoch = first.epoch;
    for others in [&["m2"][..], &["m3", "m4"]] {
        for id in others {
            machine.pass(Duration::from_secs(2));
            machine.beat(&mut Process::new(id, A)).unwrap();
        }
        machine.beat(&mut first).unwrap();
        assert_eq!(first.epoch, epoch);
    }
    assert_eq!(first.owned.len(), 1);
    machine.beat(&mut first).unwrap();
    assert_eq!(first.epoch, machine.state().epoch.unwrap().epoch);
}
