//! Sync, heartbeats, leaving, and time-outs in every state.

use super::transcript::check;

#[test]
fn members_wait_for_the_leaders_assignment() {
    check(
        "
        > join a v3
        > join b v3
        > wait 6000
        a: joined as a#1, generation 1, range, led by a#1, members a#1 b#2
        b: joined as b#2, generation 1, range, led by a#1
        > sync b
        > beat b
        b: alive
        > describe
        -: CompletingRebalance 'consumer' '' a#1=[] b#2=[]
        > sync a a#1=x b#2=y stranger=z
        a: assigned [x]
        b: assigned [y]
        > describe
        -: Stable 'consumer' 'range' a#1=[x] with metadata b#2=[y] with metadata
        > log
        group: generation 1, range, a#1=[x] b#2=[y]
        ",
    );
}

#[test]
fn a_member_the_leader_forgot_gets_nothing() {
    check(
        "
        > join a v3
        > join b v3
        > wait 6000
        a: joined as a#1, generation 1, range, led by a#1, members a#1 b#2
        b: joined as b#2, generation 1, range, led by a#1
        > sync b
        > sync a a#1=x
        a: assigned [x]
        b: assigned []
        ",
    );
}

#[test]
fn a_second_sync_of_a_parked_member_takes_the_place_of_the_first() {
    check(
        "
        > join a v3
        > join b v3
        > wait 6000
        a: joined as a#1, generation 1, range, led by a#1, members a#1 b#2
        b: joined as b#2, generation 1, range, led by a#1
        > sync b
        > sync b
        b: rebalancing
        > sync a
        a: assigned []
        b: assigned []
        ",
    );
}

#[test]
fn sync_is_fenced_by_member_generation_and_protocol() {
    check(
        "
        > sync a id=a#1
        a: unknown member
        > join a v3
        > sync a id=a#1 gen=0
        a: rebalancing
        > wait 3000
        a: joined as a#1, generation 1, range, led by a#1, members a#1
        > sync a id=a#9
        a: unknown member
        > sync a gen=0
        a: illegal generation, it is 1
        > sync a gen=2
        a: illegal generation, it is 1
        > sync a type=connect
        a: inconsistent protocol
        > sync a protocol=rr
        a: inconsistent protocol
        > sync a as=desk-1
        a: unknown member
        > sync a type=consumer protocol=range a#1=x
        a: assigned [x]
        ",
    );
}

#[test]
fn heartbeats_are_fenced_and_say_when_to_rejoin() {
    check(
        "
        > beat a id=a#1 gen=0
        a: unknown member
        > join a v3
        > wait 3000
        a: joined as a#1, generation 1, range, led by a#1, members a#1
        > beat a gen=0
        a: illegal generation, it is 1
        > beat a id=a#9
        a: unknown member
        > beat a as=desk-1
        a: unknown member
        > beat a
        a: alive
        > sync a a#1=x
        a: assigned [x]
        > join b v3
        > beat a
        a: rebalancing
        > join a
        a: joined as a#1, generation 2, range, led by a#1, members a#1 b#2
        b: joined as b#2, generation 2, range, led by a#1
        > beat a
        a: alive
        ",
    );
}

#[test]
fn a_silent_member_is_out_in_a_stable_group() {
    check(
        "
        > join a v3
        > join b v3
        > wait 6000
        a: joined as a#1, generation 1, range, led by a#1, members a#1 b#2
        b: joined as b#2, generation 1, range, led by a#1
        > sync a a#1=x b#2=y
        a: assigned [x]
        > sync b
        b: assigned [y]
        > wait 6000
        > beat a
        a: alive
        > wait 4000
        > beat a
        a: rebalancing
        > join a
        a: joined as a#1, generation 2, range, led by a#1, members a#1
        > wait 10000
        > describe
        -: Empty 'consumer' ''
        > wait 1
        > log
        group: generation 1, range, a#1=[x] b#2=[y]
        group: generation 3, -
        ",
    );
}

#[test]
fn a_heartbeat_or_a_commit_keeps_the_session() {
    check(
        "
        > join a v3
        > wait 3000
        a: joined as a#1, generation 1, range, led by a#1, members a#1
        > sync a a#1=x
        a: assigned [x]
        > wait 9999
        > beat a
        a: alive
        > wait 9999
        > commit a t-0=1
        a: t-0 done
        > wait 9999
        > beat a
        a: alive
        > wait 10000
        > beat a
        a: unknown member
        ",
    );
}

#[test]
fn a_silent_member_is_out_while_the_group_prepares() {
    check(
        "
        > join a v3 rebalance=60000
        > join b v3 rebalance=60000
        > wait 6000
        a: joined as a#1, generation 1, range, led by a#1, members a#1 b#2
        b: joined as b#2, generation 1, range, led by a#1
        > sync a a#1=x b#2=y
        a: assigned [x]
        > sync b
        b: assigned [y]
        > join a
        > wait 9999
        > wait 1
        a: joined as a#1, generation 2, range, led by a#1, members a#1
        ",
    );
}

#[test]
fn members_that_vanish_while_they_are_parked_do_not_hold_the_group_for_ever() {
    check(
        "
        > join a v3 rebalance=20000
        > join b v3 rebalance=20000
        > wait 6000
        a: joined as a#1, generation 1, range, led by a#1, members a#1 b#2
        b: joined as b#2, generation 1, range, led by a#1
        > wait 10000
        > describe
        -: Empty 'consumer' ''
        ",
    );
}

#[test]
fn members_that_join_and_never_sync_are_out_after_the_rebalance_timeout() {
    check(
        "
        > join a v3 session=30000 rebalance=20000
        > join b v3 session=30000 rebalance=20000
        > wait 6000
        a: joined as a#1, generation 1, range, led by a#1, members a#1 b#2
        b: joined as b#2, generation 1, range, led by a#1
        > sync a a#1=x b#2=y
        a: assigned [x]
        > beat b
        b: alive
        > wait 19999
        > beat a
        a: alive
        > beat b
        b: alive
        > wait 1
        > beat b
        b: unknown member
        > beat a
        a: rebalancing
        ",
    );
}

#[test]
fn a_leader_that_never_syncs_is_out_and_another_leads() {
    check(
        "
        > join a v3 session=30000 rebalance=20000
        > join b v3 session=30000 rebalance=20000
        > wait 6000
        a: joined as a#1, generation 1, range, led by a#1, members a#1 b#2
        b: joined as b#2, generation 1, range, led by a#1
        > sync b
        > wait 20000
        b: rebalancing
        > join b session=30000 rebalance=20000
        b: joined as b#2, generation 2, range, led by b#2, members b#2
        > sync b b#2=x
        b: assigned [x]
        ",
    );
}

#[test]
fn a_member_parked_in_sync_does_not_expire() {
    check(
        "
        > join a v3 session=6000 rebalance=50000
        > join b v3 session=6000 rebalance=50000
        > wait 6000
        a: joined as a#1, generation 1, range, led by a#1, members a#1 b#2
        b: joined as b#2, generation 1, range, led by a#1
        > sync b
        > wait 5000
        > beat a
        a: alive
        > wait 5000
        > beat a
        a: alive
        > wait 5000
        > sync a a#1=x b#2=y
        a: assigned [x]
        b: assigned [y]
        > wait 5999
        > beat a
        a: alive
        > beat b
        b: alive
        ",
    );
}

#[test]
fn a_new_member_that_is_never_answered_expires_after_five_minutes() {
    check(
        "
        > join a v3 session=1800000 rebalance=1800000
        > wait 3000
        a: joined as a#1, generation 1, range, led by a#1, members a#1
        > sync a a#1=x
        a: assigned [x]
        > join b v3 session=1800000 rebalance=1800000
        > wait 299999
        > wait 1
        b: unknown member
        > describe
        -: PreparingRebalance 'consumer' '' a#1=[x]
        ",
    );
}

#[test]
fn those_who_leave_make_room_and_the_others_rebalance() {
    check(
        "
        > join a v3
        > join b v3
        > join c v3
        > wait 6000
        a: joined as a#1, generation 1, range, led by a#1, members a#1 b#2 c#3
        b: joined as b#2, generation 1, range, led by a#1
        c: joined as c#3, generation 1, range, led by a#1
        > sync a a#1=x b#2=y c#3=z
        a: assigned [x]
        > sync b
        b: assigned [y]
        > sync c
        c: assigned [z]
        > leave b c nobody#9
        -: b#2 gone, c#3 gone, nobody#9 unknown member
        > beat b
        b: unknown member
        > beat a
        a: rebalancing
        > join a
        a: joined as a#1, generation 2, range, led by a#1, members a#1
        > leave a
        -: a#1 gone
        > log
        group: generation 1, range, a#1=[x] b#2=[y] c#3=[z]
        group: generation 3, -
        ",
    );
}

#[test]
fn leaving_in_the_join_phase_completes_it() {
    check(
        "
        > join a v3
        > join b v3
        > wait 6000
        a: joined as a#1, generation 1, range, led by a#1, members a#1 b#2
        b: joined as b#2, generation 1, range, led by a#1
        > sync a a#1=x b#2=y
        a: assigned [x]
        > sync b
        b: assigned [y]
        > join a
        > leave b
        a: joined as a#1, generation 2, range, led by a#1, members a#1
        -: b#2 gone
        > leave a
        -: a#1 gone
        > describe
        -: Empty 'consumer' ''
        ",
    );
}

#[test]
fn an_id_given_out_may_leave_before_it_is_used_without_a_rebalance() {
    check(
        "
        > join a v3
        > wait 3000
        a: joined as a#1, generation 1, range, led by a#1, members a#1
        > sync a a#1=x
        a: assigned [x]
        > join b
        b: take id b#2
        > leave b
        -: b#2 gone
        > beat a
        a: alive
        > join b
        b: unknown member
        ",
    );
}

#[test]
fn members_parked_in_join_or_sync_are_told_when_they_are_removed() {
    check(
        "
        > join a as=desk-1
        > leave @desk-1
        a: unknown member
        -: '' gone
        > wait 3000
        > join b as=desk-2
        > join c as=desk-3
        > wait 6000
        b: joined as desk-2#2, generation 2, range, led by desk-2#2, members desk-2#2 desk-3#3
        c: joined as desk-3#3, generation 2, range, led by desk-2#2
        > sync c
        > leave @desk-3
        c: unknown member
        -: '' gone
        > describe
        -: PreparingRebalance 'consumer' '' desk-2#2@desk-2=[]
        ",
    );
}

#[test]
fn leaving_a_group_that_is_not_there_is_unknown_for_each() {
    check(
        "
        > leave a#1 @desk-1
        -: a#1 unknown member, '' unknown member
        ",
    );
}

#[test]
fn members_of_a_stable_group_survive_a_restart_with_fresh_sessions() {
    check(
        "
        > join a v3
        > join b v3
        > wait 6000
        a: joined as a#1, generation 1, range, led by a#1, members a#1 b#2
        b: joined as b#2, generation 1, range, led by a#1
        > sync a a#1=x b#2=y
        a: assigned [x]
        > sync b
        b: assigned [y]
        > wait 9000
        > crash
        > wait 9999
        > beat a
        a: alive
        > sync b
        b: assigned [y]
        > wait 10000
        > describe
        -: Empty 'consumer' ''
        ",
    );
}

#[test]
fn a_rebalance_in_the_making_is_forgotten_by_a_restart() {
    check(
        "
        > join a v3
        > wait 3000
        a: joined as a#1, generation 1, range, led by a#1, members a#1
        > sync a a#1=x
        a: assigned [x]
        > join b v3
        > join a
        a: joined as a#1, generation 2, range, led by a#1, members a#1 b#2
        b: joined as b#2, generation 2, range, led by a#1
        > crash
        > describe
        -: Stable 'consumer' 'range' a#1=[x] with metadata
        > sync a a#1=x
        a: illegal generation, it is 1
        > sync b b#2=y
        b: unknown member
        > beat a
        a: illegal generation, it is 1
        > join a
        a: joined as a#1, generation 2, range, led by a#1, members a#1
        > join b new
        b: take id b#5
        ",
    );
}
