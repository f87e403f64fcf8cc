//! Static names in a group that classic members and members of the new protocol share: who takes whose place, and who is refused.

use super::machine::{Machine, Process};
use crate::group::{Answer, GroupError, GroupKind};
use std::time::Duration;

const A: &[&str] = &["a"];

/// A process lost its name while it was parked in SyncGroup, to one of the new protocol. It hears so; it can't take the name back.
#[test]
fn a_classic_process_that_lost_its_name_does_not_evict_who_has_it() {
    for parked_in_join in [false, true] {
        let mut machine = Machine::new();
        let mut old = Process::new("", A).named("i1");
        let mut other = Process::new("", A);
        machine.classic_group(&mut [(&mut other, &[0, 1]), (&mut old, &[2, 3])]);
        // The leader joins again; the group waits for its assignment, or for another member.
        let joins = machine.join(&other);
        let mut parked = machine.join(&old);
        if !parked_in_join {
            machine.joined(joins, &mut other).unwrap();
            machine.joined(parked, &mut old).unwrap();
            parked = machine.sync(&old, &[]);
        } else {
            machine.joined(joins, &mut other).unwrap();
            machine.joined(parked, &mut old).unwrap();
            parked = machine.join(&Process {
                topics: &["a", "b"],
                ..old.clone()
            });
        }
        assert!(!machine.answers.contains_key(&parked), "it is parked");

        let mut new = Process::new("new", A).named("i1");
        machine.beat(&mut new).unwrap();
        assert_eq!(machine.kind(), Some(GroupKind::Consumer));
        let is_told = matches!(
            machine.answers.remove(&parked),
            Some(
                Answer::Sync(Err(GroupError::FencedInstance { .. }))
                    | Answer::Join(Err(GroupError::FencedInstance { .. }))
            )
        );
        assert!(is_told, "it must not think that it may join again");

        let again = machine.join(&old);
        let refused = machine.joined(again, &mut old).unwrap_err();
        assert!(
            matches!(refused, GroupError::FencedInstance { .. }),
            "{refused}"
        );
        assert_eq!(machine.kind(), Some(GroupKind::Consumer));
        machine.beat(&mut new).unwrap();
    }
}

/// In a group whose members are all classic, one that joins again under its own id stays who it is.
#[test]
fn a_static_classic_member_that_joins_again_does_not_evict_itself() {
    let mut machine = Machine::new();
    let mut first = Process::new("", A).named("i1");
    let mut second = Process::new("", A).named("i2");
    machine.classic_group(&mut [(&mut first, &[0, 1]), (&mut second, &[2, 3])]);
    machine.settings.consumer.migration_policy = crate::group::MigrationPolicy::Upgrade;
    let mut new = Process::new("new", A);
    machine.beat(&mut new).unwrap();
    let leave = machine.heartbeat_of(&Process { epoch: -1, ..new });
    machine.send(leave).unwrap();
    assert_eq!(
        machine.kind(),
        Some(GroupKind::Consumer),
        "it may not go back"
    );
    machine.settings.consumer.migration_policy = Default::default();

    let id = first.id.clone();
    let call = machine.join(&first);
    machine.joined(call, &mut first).unwrap();
    assert_eq!(first.id, id);
    assert!(
        machine
            .state()
            .members
            .contains_key(&first.id.as_str().into())
    );
}

/// A member id with a name that nobody bears is of a process that is out.
#[test]
fn a_classic_process_with_an_id_and_a_name_that_nobody_bears_is_unknown() {
    let mut machine = Machine::new();
    let mut new = Process::new("new", A);
    machine.beat(&mut new).unwrap();
    let mut old = Process::new("old", A).named("i1");
    let call = machine.join(&old);
    let refused = machine.joined(call, &mut old).unwrap_err();
    assert!(
        matches!(refused, GroupError::UnknownMember { .. }),
        "{refused}"
    );
    assert_eq!(machine.state().members.len(), 1);
}

/// The last member of the new protocol is replaced by a classic process of its name, which has no id yet: the group goes back.
#[test]
fn a_classic_process_without_an_id_takes_the_last_new_members_place() {
    let mut machine = Machine::new();
    let mut other = Process::new("", A);
    machine.classic_group(&mut [(&mut other, &[0, 1, 2, 3])]);
    let mut new = Process::new("new", A).named("i1");
    machine.beat(&mut new).unwrap();
    let old = Process::new("", A).named("i1");
    machine.join(&old);
    assert_eq!(machine.kind(), Some(GroupKind::Classic));
}

/// A process takes the place of a classic one that had not come to its target yet: it goes on from there.
#[test]
fn who_takes_a_classic_members_place_gives_up_what_its_target_has_not() {
    let mut machine = Machine::new();
    let [mut one, mut two, mut three] = ["one", "two", "three"].map(|id| Process::new(id, A));
    machine.beat(&mut one).unwrap();
    let mut old = Process::new("", A).named("i1");
    let call = machine.join(&old);
    machine.joined(call, &mut old).unwrap();
    for _ in 0..3 {
        machine.pass(Duration::from_secs(2));
        machine.beat(&mut one).unwrap();
    }
    let call = machine.join(&old);
    machine.joined(call, &mut old).unwrap();
    assert_eq!(machine.assigned(&old.id).len(), 2);

    machine.pass(Duration::from_secs(2));
    machine.beat(&mut two).unwrap();
    machine.beat(&mut three).unwrap();
    machine.pass(Duration::from_secs(2));
    machine.beat(&mut two).unwrap();
    let mut next = Process::new("", A).named("i1");
    let call = machine.join(&next);
    machine.joined(call, &mut next).unwrap();
    for _ in 0..3 {
        machine.pass(Duration::from_secs(2));
        for process in [&mut one, &mut two, &mut three] {
            machine.beat(process).unwrap();
        }
    }
    for id in [one.id, two.id, three.id, next.id] {
        assert_eq!(machine.assigned(&id).len(), 1, "{id}");
    }
}
