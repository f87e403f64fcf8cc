//! From one protocol to the other and back, with a crash between, and what members own meanwhile.

use super::machine::{Machine, Process};
use crate::group::{GroupError, GroupKind};
use std::time::Duration;

const A: &[&str] = &["a"];

/// The last member of the new protocol has gone, and the coordinator ends before anybody has joined the classic group: somebody must
/// get its partitions all the same.
#[test]
fn a_group_that_went_back_rebalances_after_a_crash_too() {
    let mut machine = Machine::new();
    let mut old = Process::new("", A);
    machine.classic_group(&mut [(&mut old, &[0, 1, 2, 3])]);
    let mut new = Process::new("new", A);
    machine.beat(&mut new).unwrap();
    machine.pass(Duration::from_secs(2));
    machine.rejoin(&mut old);
    machine.rejoin(&mut old);
    assert_eq!(old.owned.len(), 2);
    let leave = machine.heartbeat_of(&Process { epoch: -1, ..new });
    machine.send(leave).unwrap();
    assert_eq!(machine.kind(), Some(GroupKind::Classic));

    for _ in 0..2 {
        machine.crash();
        let told = machine.classic_beat(&old).unwrap_err();
        assert!(
            matches!(told, GroupError::RebalanceInProgress { .. }),
            "{told}"
        );
    }
    let call = machine.join(&old);
    machine.joined(call, &mut old).unwrap();
    let call = machine.sync(&old.clone(), &[(&old.clone(), &[0, 1, 2, 3])]);
    machine.synced(call, &mut old).unwrap();
    machine.crash();
    machine.classic_beat(&old).unwrap();
}

/// A classic member was told to give partitions up and has not joined again; the group goes back and on again: it may still read them.
#[test]
fn what_a_classic_member_has_not_given_up_stays_its_own_over_both_conversions() {
    let mut machine = Machine::new();
    let mut old = Process::new("", A);
    machine.classic_group(&mut [(&mut old, &[0, 1, 2, 3])]);
    let mut new = Process::new("new", A);
    machine.beat(&mut new).unwrap();
    machine.pass(Duration::from_secs(2));
    let call = machine.join(&old);
    machine.joined(call, &mut old).unwrap();
    assert_eq!(machine.assigned(&old.id).len(), 2, "it shall give two up");
    let leave = machine.heartbeat_of(&Process { epoch: -1, ..new });
    machine.send(leave).unwrap();
    assert_eq!(machine.kind(), Some(GroupKind::Classic));

    let mut next = Process::new("next", A);
    machine.beat(&mut next).unwrap();
    assert_eq!(machine.kind(), Some(GroupKind::Consumer));
    assert_eq!(
        next.owned, [0_i32; 0],
        "all is still read by the classic member"
    );
}

/// A classic group begins its rebalance anew, and is converted then: what its members were assigned last they may still read.
#[test]
fn a_group_converted_in_a_repeated_rebalance_knows_what_its_members_read() {
    let mut machine = Machine::new();
    let mut old = Process::new("", A);
    machine.classic_group(&mut [(&mut old, &[0, 1, 2, 3])]);
    let call = machine.join(&old);
    machine.joined(call, &mut old).unwrap();
    machine.join(&Process::new("", A));

    let mut new = Process::new("new", A);
    machine.beat(&mut new).unwrap();
    assert_eq!(machine.kind(), Some(GroupKind::Consumer));
    assert_eq!(
        new.owned, [0_i32; 0],
        "all is still read by the classic member"
    );
    assert_eq!(machine.assigned(&old.id).len(), 4);
}
