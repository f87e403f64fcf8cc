//! Static membership: a member known by `group.instance.id` comes back as a new process.

use super::transcript::check;

#[test]
fn a_static_member_joins_without_a_detour_for_its_id() {
    check(
        "
        > join a as=desk-1
        > wait 3000
        a: joined as desk-1#1, generation 1, range, led by desk-1#1, members desk-1#1
        > sync a as=desk-1 a#1=x
        a: assigned []
        > sync a as=desk-1 desk-1#1=x
        a: assigned []
        > describe
        -: Stable 'consumer' 'range' desk-1#1@desk-1=[] with metadata
        ",
    );
}

#[test]
fn a_static_follower_that_returns_to_a_stable_group_keeps_its_part_without_a_rebalance() {
    check(
        "
        > join a as=desk-1
        > join b as=desk-2
        > wait 6000
        a: joined as desk-1#1, generation 1, range, led by desk-1#1, members desk-1#1 desk-2#2
        b: joined as desk-2#2, generation 1, range, led by desk-1#1
        > sync a desk-1#1=x desk-2#2=y
        a: assigned [x]
        > sync b
        b: assigned [y]
        > join b2 as=desk-2
        b2: joined as desk-2#3, generation 1, range, led by desk-1#1
        > sync b2
        b2: assigned [y]
        > beat a
        a: alive
        > beat b2 as=desk-2
        b2: alive
        > beat b as=desk-2
        b: fenced
        > beat b
        b: unknown member
        > log
        group: generation 1, range, desk-1#1=[x] desk-2#2=[y]
        group: generation 1, range, desk-1#1=[x] desk-2#3=[y]
        ",
    );
}

#[test]
fn a_static_leader_that_returns_is_told_to_skip_the_assignment_from_version_9() {
    check(
        "
        > join a as=desk-1
        > join b as=desk-2
        > wait 6000
        a: joined as desk-1#1, generation 1, range, led by desk-1#1, members desk-1#1 desk-2#2
        b: joined as desk-2#2, generation 1, range, led by desk-1#1
        > sync a desk-1#1=x desk-2#2=y
        a: assigned [x]
        > sync b
        b: assigned [y]
        > join a2 as=desk-1 v9
        a2: joined as desk-1#3, generation 1, range, led by desk-1#3, members desk-1#3 desk-2#2, skip assignment
        > sync a2
        a2: assigned [x]
        > join a3 as=desk-1
        a3: joined as desk-1#4, generation 1, range, led by desk-1#3
        > sync a3
        a3: assigned [x]
        > beat b
        b: alive
        ",
    );
}

#[test]
fn the_fenced_process_is_refused_everywhere() {
    check(
        "
        > join a as=desk-1
        > wait 3000
        a: joined as desk-1#1, generation 1, range, led by desk-1#1, members desk-1#1
        > sync a desk-1#1=x
        a: assigned [x]
        > join a2 as=desk-1
        a2: joined as desk-1#2, generation 1, range, led by desk-1#1
        > join a as=desk-1
        a: fenced
        > sync a as=desk-1
        a: fenced
        > beat a as=desk-1
        a: fenced
        > commit a as=desk-1 t-0=5
        a: fenced
        > leave desk-1#1@desk-1
        -: desk-1#1 fenced
        > commit a t-0=5
        a: unknown member
        > commit a2 as=desk-1 t-0=6
        a2: t-0 done
        > fetch all
        -: [t-0=6]
        ",
    );
}

#[test]
fn a_static_member_that_returns_while_it_is_parked_fences_the_parked_one() {
    check(
        "
        > join a as=desk-1
        > join a2 as=desk-1
        a: fenced
        > wait 3000
        a2: joined as desk-1#2, generation 1, range, led by desk-1#2, members desk-1#2
        > join b as=desk-2
        > join a2 as=desk-1
        a2: joined as desk-1#2, generation 2, range, led by desk-1#2, members desk-1#2 desk-2#3
        b: joined as desk-2#3, generation 2, range, led by desk-1#2
        > sync b
        > join b2 as=desk-2
        b: fenced
        > join a2 as=desk-1
        a2: joined as desk-1#2, generation 3, range, led by desk-1#2, members desk-1#2 desk-2#5
        b2: joined as desk-2#5, generation 3, range, led by desk-1#2
        ",
    );
}

#[test]
fn a_static_member_that_returns_before_the_assignment_starts_the_rebalance_anew() {
    check(
        "
        > join a as=desk-1
        > join b as=desk-2
        > wait 6000
        a: joined as desk-1#1, generation 1, range, led by desk-1#1, members desk-1#1 desk-2#2
        b: joined as desk-2#2, generation 1, range, led by desk-1#1
        > join b2 as=desk-2
        > beat a
        a: rebalancing
        > join a as=desk-1
        a: joined as desk-1#1, generation 2, range, led by desk-1#1, members desk-1#1 desk-2#3
        b2: joined as desk-2#3, generation 2, range, led by desk-1#1
        > sync a desk-1#1=x desk-2#3=y
        a: assigned [x]
        > sync b2
        b2: assigned [y]
        ",
    );
}

#[test]
fn a_static_member_that_returns_with_another_protocol_starts_a_rebalance_if_the_choice_changes() {
    check(
        "
        > join a as=desk-1 range rr
        > wait 3000
        a: joined as desk-1#1, generation 1, range, led by desk-1#1, members desk-1#1
        > sync a desk-1#1=x
        a: assigned [x]
        > join a2 as=desk-1 rr range
        a2: joined as desk-1#2, generation 2, rr, led by desk-1#2, members desk-1#2
        ",
    );
}

#[test]
fn a_static_member_may_be_away_in_the_join_phase_but_must_sync() {
    check(
        "
        > join a as=desk-1 session=20000 rebalance=10000
        > join b as=desk-2 session=20000 rebalance=10000
        > wait 6000
        a: joined as desk-1#1, generation 1, range, led by desk-1#1, members desk-1#1 desk-2#2
        b: joined as desk-2#2, generation 1, range, led by desk-1#1
        > sync a desk-1#1=x desk-2#2=y
        a: assigned [x]
        > sync b
        b: assigned [y]
        > join a range:u session=20000 rebalance=10000
        > wait 10000
        a: joined as desk-1#1, generation 2, range, led by desk-1#1, members desk-1#1 desk-2#2
        > sync a desk-1#1=x desk-2#2=y
        a: assigned [x]
        > wait 9999
        > beat a
        a: alive
        > wait 1
        > beat a
        a: rebalancing
        ",
    );
}

#[test]
fn when_only_absent_static_members_are_left_the_group_waits_for_their_sessions() {
    check(
        "
        > join a as=desk-1 session=30000 rebalance=10000
        > join b v3 session=30000 rebalance=10000
        > wait 6000
        b: joined as b#2, generation 1, range, led by desk-1#1
        a: joined as desk-1#1, generation 1, range, led by desk-1#1, members b#2 desk-1#1
        > sync a desk-1#1=x b#2=y
        a: assigned [x]
        > sync b
        b: assigned [y]
        > join b range:u session=30000 rebalance=10000
        > leave b
        b: unknown member
        -: b#2 gone
        > describe
        -: PreparingRebalance 'consumer' '' desk-1#1@desk-1=[x]
        > wait 10000
        > describe
        -: PreparingRebalance 'consumer' '' desk-1#1@desk-1=[x]
        > wait 20000
        > describe
        -: Empty 'consumer' ''
        > log
        group: generation 1, range, b#2=[y] desk-1#1=[x]
        group: generation 2, -
        ",
    );
}

#[test]
fn an_operator_removes_a_static_member_by_its_name() {
    check(
        "
        > join a as=desk-1
        > wait 3000
        a: joined as desk-1#1, generation 1, range, led by desk-1#1, members desk-1#1
        > sync a desk-1#1=x
        a: assigned [x]
        > leave @desk-9
        -: '' unknown member
        > leave @desk-1
        -: '' gone
        > beat a
        a: unknown member
        > describe
        -: Empty 'consumer' ''
        ",
    );
}

#[test]
fn a_static_member_survives_a_restart_of_the_coordinator() {
    check(
        "
        > join a as=desk-1
        > wait 3000
        a: joined as desk-1#1, generation 1, range, led by desk-1#1, members desk-1#1
        > sync a desk-1#1=x
        a: assigned [x]
        > join a2 as=desk-1
        a2: joined as desk-1#2, generation 1, range, led by desk-1#1
        > crash
        > beat a as=desk-1
        a: fenced
        > beat a2 as=desk-1
        a2: alive
        > join a3 as=desk-1
        a3: joined as desk-1#3, generation 1, range, led by desk-1#2
        > sync a3
        a3: assigned [x]
        ",
    );
}

#[test]
fn absent_static_members_without_a_rebalance_timeout_do_not_keep_the_broker_busy() {
    // Found by the fuzzer: the join phase ended and began again at the same moment, for as long as the session lasted.
    check(
        "
        > join a as=desk-1 session=30000 rebalance=0
        > join b v3 session=30000 rebalance=10000
        > wait 6000
        b: joined as b#2, generation 1, range, led by desk-1#1
        a: joined as desk-1#1, generation 1, range, led by desk-1#1, members b#2 desk-1#1
        > sync a desk-1#1=x b#2=y
        a: assigned [x]
        > sync b
        b: assigned [y]
        > join b range:u session=30000 rebalance=10000
        > leave b
        b: unknown member
        -: b#2 gone
        > wait 10000
        > describe
        -: PreparingRebalance 'consumer' '' desk-1#1@desk-1=[x]
        > wait 20000
        > describe
        -: Empty 'consumer' ''
        ",
    );
}
