//! Expressions that come to stand for more topics than a group may read.

use super::machine::{GROUP, Machine};
use crate::group::consumer::{ConsumerHeartbeat, JOIN_EPOCH, RegexResolved, SubscribedRegex};
use crate::group::*;
use std::sync::Arc;
use uuid::Uuid;

const ALL: &str = ".*";

/// So many names that they are too many for a group from 200 on.
fn names(count: usize) -> Arc<[Arc<str>]> {
    let name = |number| Arc::from(format!("{number:0>45000}{number:0>45000}"));
    (0..count).map(name).collect()
}

fn beat(
    machine: &mut Machine,
    member: &str,
    epoch: i32,
    (pattern, topics): (&str, &Arc<[Arc<str>]>),
) -> Result<i32, GroupError> {
    let call = machine.call();
    machine.decide(Input::ConsumerHeartbeat(ConsumerHeartbeat {
        call,
        group: GROUP.into(),
        member_id: member.into(),
        member_epoch: epoch,
        instance_id: None,
        rack_id: None,
        client_id: "c".into(),
        client_host: "/h".into(),
        rebalance_timeout_ms: Some(30_000),
        topics: Some(Vec::new()),
        regex: Some(SubscribedRegex {
            pattern: pattern.into(),
            topics: Ok(topics.clone()),
        }),
        server_assignor: None,
        owned: Some(Vec::new()),
        requires_member_id: true,
        fresh_id: Uuid::nil(),
    }));
    match machine.answers.remove(&call) {
        Some(Answer::ConsumerHeartbeat(answer)) => answer.map(|answer| answer.epoch),
        other => unreachable!("{other:?}"),
    }
}

fn known(machine: &Machine) -> usize {
    machine.state().regexes[ALL].topics.len()
}

#[test]
fn who_says_all_again_is_not_shut_out_by_topics_that_came() {
    let mut machine = Machine::new();
    let epoch = beat(&mut machine, "m", JOIN_EPOCH, (ALL, &names(2))).unwrap();
    // As after a connection that was lost: all is said again, and more topics match by now.
    let many = names(200);
    assert_eq!(beat(&mut machine, "m", epoch, (ALL, &many)), Ok(epoch));
    assert_eq!(known(&machine), 2, "it goes on standing for what it did");
    beat(&mut machine, "n", JOIN_EPOCH, (ALL, &many)).unwrap();
    let resolved = |topics| {
        Input::RegexResolved(RegexResolved {
            group: GROUP.into(),
            pattern: ALL.into(),
            topics,
        })
    };
    machine.decide(resolved(many.clone()));
    assert_eq!(known(&machine), 2);
    machine.decide(resolved(names(100)));
    assert_eq!(known(&machine), 100);
    // One that nobody has used is not begun.
    let refused = beat(&mut machine, "o", JOIN_EPOCH, ("0.*", &many));
    assert!(matches!(refused, Err(GroupError::GroupTooLarge { .. })));
}
