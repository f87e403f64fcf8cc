//! Joining: member ids, admission, first rebalance, votes.

use super::transcript::check;

#[test]
fn a_new_member_is_given_an_id_and_comes_again_with_it() {
    check(
        "
        > join a
        a: take id a#1
        > join a
        > wait 3000
        a: joined as a#1, generation 1, range, led by a#1, members a#1
        > sync a a#1=t-0
        a: assigned [t-0]
        > beat a
        a: alive
        > log
        group: generation 1, range, a#1=[t-0]
        ",
    );
}

#[test]
fn clients_before_version_4_join_at_once() {
    check(
        "
        > join a v3
        > wait 3000
        a: joined as a#1, generation 1, range, led by a#1, members a#1
        ",
    );
}

#[test]
fn the_first_rebalance_waits_for_more_members_as_long_as_they_come() {
    check(
        "
        > join a v3
        > wait 2900
        > join b v3
        > wait 3000
        > join c v3
        > wait 3000
        > wait 3000
        a: joined as a#1, generation 1, range, led by a#1, members a#1 b#2 c#3
        b: joined as b#2, generation 1, range, led by a#1
        c: joined as c#3, generation 1, range, led by a#1
        ",
    );
}

#[test]
fn the_first_rebalance_waits_no_longer_than_the_rebalance_timeout() {
    check(
        "
        > join a v3 rebalance=5000
        > wait 2000
        > join b v3 rebalance=5000
        > wait 1000
        > join c v3 rebalance=5000
        > wait 1999
        > wait 1
        a: joined as a#1, generation 1, range, led by a#1, members a#1 b#2 c#3
        b: joined as b#2, generation 1, range, led by a#1
        c: joined as c#3, generation 1, range, led by a#1
        ",
    );
}

#[test]
fn without_a_delay_the_first_rebalance_ends_at_once() {
    check(
        "
        > set delay=0
        > join a v3
        > wait 0
        a: joined as a#1, generation 1, range, led by a#1, members a#1
        ",
    );
}

#[test]
fn an_id_that_is_not_used_expires_with_the_session() {
    check(
        "
        > join a session=6000
        a: take id a#1
        > list
        -: [g Empty '' classic]
        > wait 5999
        > list
        -: [g Empty '' classic]
        > wait 1
        > list
        -: []
        > join a
        a: unknown member
        > join a new
        a: take id a#3
        ",
    );
}

#[test]
fn a_rebalance_waits_for_ids_given_out_until_they_expire() {
    check(
        "
        > join a v3
        > wait 3000
        a: joined as a#1, generation 1, range, led by a#1, members a#1
        > sync a a#1=t-0
        a: assigned [t-0]
        > join b session=6000
        b: take id b#2
        > join a
        > wait 5999
        > wait 1
        a: joined as a#1, generation 2, range, led by a#1, members a#1
        ",
    );
}

#[test]
fn a_member_that_never_was_is_unknown() {
    check(
        "
        > join a id=a#9
        a: unknown member
        > join b v3
        > join a id=a#9
        a: unknown member
        ",
    );
}

#[test]
fn a_session_timeout_outside_the_bounds_is_refused() {
    check(
        "
        > join a session=5999
        a: invalid session timeout
        > join a session=1800001
        a: invalid session timeout
        > join a session=6000
        a: take id a#3
        > join b session=1800000
        b: take id b#4
        > join c group= v3
        c: invalid group id
        ",
    );
}

#[test]
fn protocols_must_have_one_in_common_with_everybody() {
    check(
        "
        > join a v3 range rr
        > join b v3 sticky
        b: inconsistent protocol
        > join b v3 rr sticky
        > join c v3 range
        c: inconsistent protocol
        > join c v3 type=connect range
        c: inconsistent protocol
        > join d v3 type= range
        d: inconsistent protocol
        > wait 6000
        a: joined as a#1, generation 1, rr, led by a#1, members a#1 b#3
        b: joined as b#3, generation 1, rr, led by a#1
        ",
    );
}

#[test]
fn the_protocol_that_most_members_prefer_is_chosen() {
    check(
        "
        > join a v3 range rr
        > join b v3 rr range
        > join c v3 rr range
        > wait 6000
        a: joined as a#1, generation 1, rr, led by a#1, members a#1 b#2 c#3
        b: joined as b#2, generation 1, rr, led by a#1
        c: joined as c#3, generation 1, rr, led by a#1
        ",
    );
}

#[test]
fn a_protocol_not_everybody_has_gets_no_votes() {
    check(
        "
        > join a v3 sticky range
        > join b v3 sticky range
        > join c v3 range
        > wait 6000
        a: joined as a#1, generation 1, range, led by a#1, members a#1 b#2 c#3
        b: joined as b#2, generation 1, range, led by a#1
        c: joined as c#3, generation 1, range, led by a#1
        ",
    );
}

#[test]
fn a_protocol_named_twice_counts_once() {
    check(
        "
        > join a v3 range range rr
        > join b v3 rr
        > wait 6000
        a: joined as a#1, generation 1, rr, led by a#1, members a#1 b#2
        b: joined as b#2, generation 1, rr, led by a#1
        ",
    );
}

#[test]
fn the_type_of_a_group_is_opaque() {
    check(
        "
        > join w v3 type=connect default
        > wait 3000
        w: joined as w#1, generation 1, default, led by w#1, members w#1
        > sync w w#1=task-0
        w: assigned [task-0]
        > describe
        -: Stable 'connect' 'default' w#1=[task-0]
        > list
        -: [g Stable 'connect' classic]
        ",
    );
}

#[test]
fn a_full_group_takes_no_more_members() {
    check(
        "
        > set size=2
        > join a v3
        > join b v3
        > join c v3
        c: full at 2
        > wait 6000
        a: joined as a#1, generation 1, range, led by a#1, members a#1 b#2
        b: joined as b#2, generation 1, range, led by a#1
        > join c v3
        c: full at 2
        > sync a a#1=x b#2=y
        a: assigned [x]
        > join c v3
        c: full at 2
        > sync b
        b: assigned [y]
        > leave b
        -: b#2 gone
        > join c v3
        > join a
        a: joined as a#1, generation 2, range, led by a#1, members a#1 c#6
        c: joined as c#6, generation 2, range, led by a#1
        ",
    );
}

#[test]
fn a_group_that_became_too_large_rebalances_after_loading_and_loses_the_last() {
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
        > set size=1
        > crash
        > beat a
        a: rebalancing
        > beat b
        b: rebalancing
        > join a
        > join b
        b: full at 1
        > wait 60000
        a: joined as a#1, generation 2, range, led by a#1, members a#1
        ",
    );
}

#[test]
fn a_member_whose_answer_was_lost_gets_it_again() {
    check(
        "
        > join a v3
        > join b v3
        > wait 6000
        a: joined as a#1, generation 1, range, led by a#1, members a#1 b#2
        b: joined as b#2, generation 1, range, led by a#1
        > join a
        a: joined as a#1, generation 1, range, led by a#1, members a#1 b#2
        > join b
        b: joined as b#2, generation 1, range, led by a#1
        > sync a a#1=x b#2=y
        a: assigned [x]
        > join b
        b: joined as b#2, generation 1, range, led by a#1
        > sync b
        b: assigned [y]
        ",
    );
}

#[test]
fn a_second_join_of_a_parked_member_takes_the_place_of_the_first() {
    check(
        "
        > join a
        a: take id a#1
        > join a
        > join a
        a: rebalancing
        > wait 3000
        a: joined as a#1, generation 1, range, led by a#1, members a#1
        ",
    );
}

#[test]
fn a_leader_that_joins_again_or_a_member_that_changed_starts_a_rebalance() {
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
        > beat b
        b: rebalancing
        > join b range:u
        a: joined as a#1, generation 2, range, led by a#1, members a#1 b#2
        b: joined as b#2, generation 2, range, led by a#1
        > sync a a#1=y b#2=x
        a: assigned [y]
        > sync b
        b: assigned [x]
        > join b range:t
        > beat a
        a: rebalancing
        > join a
        a: joined as a#1, generation 3, range, led by a#1, members a#1 b#2
        b: joined as b#2, generation 3, range, led by a#1
        ",
    );
}

#[test]
fn a_member_that_changes_before_the_assignment_sends_everybody_back() {
    check(
        "
        > join a v3
        > join b v3
        > join c v3
        > wait 6000
        a: joined as a#1, generation 1, range, led by a#1, members a#1 b#2 c#3
        b: joined as b#2, generation 1, range, led by a#1
        c: joined as c#3, generation 1, range, led by a#1
        > sync c
        > join b range:u
        c: rebalancing
        > beat a
        a: rebalancing
        > join a
        > join c
        a: joined as a#1, generation 2, range, led by a#1, members a#1 b#2 c#3
        b: joined as b#2, generation 2, range, led by a#1
        c: joined as c#3, generation 2, range, led by a#1
        ",
    );
}

#[test]
fn a_member_that_does_not_rejoin_is_out_after_the_rebalance_timeout() {
    check(
        "
        > join a v3 session=30000 rebalance=20000
        > join b v3 session=30000 rebalance=20000
        > wait 6000
        a: joined as a#1, generation 1, range, led by a#1, members a#1 b#2
        b: joined as b#2, generation 1, range, led by a#1
        > sync a a#1=x b#2=y
        a: assigned [x]
        > sync b
        b: assigned [y]
        > join a session=30000 rebalance=20000
        > wait 19999
        > beat b
        b: rebalancing
        > wait 1
        a: joined as a#1, generation 2, range, led by a#1, members a#1
        > beat b
        b: unknown member
        ",
    );
}

#[test]
fn a_new_leader_is_elected_when_the_old_one_does_not_rejoin() {
    check(
        "
        > join a v3 session=30000 rebalance=20000
        > join b v3 session=30000 rebalance=20000
        > wait 6000
        a: joined as a#1, generation 1, range, led by a#1, members a#1 b#2
        b: joined as b#2, generation 1, range, led by a#1
        > sync a a#1=x b#2=y
        a: assigned [x]
        > sync b
        b: assigned [y]
        > join b session=30000 rebalance=20000 range:u
        > wait 20000
        b: joined as b#2, generation 2, range, led by b#2, members b#2
        ",
    );
}
