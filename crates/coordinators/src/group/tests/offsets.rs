//! Committing, fetching, deleting and expiring offsets; deleting, describing and listing groups.

use super::transcript::check;

#[test]
fn a_committed_offset_is_what_the_next_owner_reads() {
    check(
        "
        > join a v3
        > wait 3000
        a: joined as a#1, generation 1, range, led by a#1, members a#1
        > sync a a#1=t-0
        a: assigned [t-0]
        > commit a note=half-way t-0=5 t-1=7
        a: t-0 done, t-1 done
        > fetch all
        -: [t-0=5 'half-way', t-1=7 'half-way']
        > fetch t-1 u-0 t-0
        -: [t-1=7 'half-way', u-0 none, t-0=5 'half-way']
        > join b v3
        > commit a t-0=6
        a: t-0 done
        > join a
        a: joined as a#1, generation 2, range, led by a#1, members a#1 b#2
        b: joined as b#2, generation 2, range, led by a#1
        > fetch t-0
        -: [t-0=6]
        > log
        group: generation 1, range, a#1=[t-0]
        offset: t-0=5
        offset: t-1=7
        offset: t-0=6
        ",
    );
}

#[test]
fn commits_are_fenced_by_member_and_generation() {
    check(
        "
        > join a v3
        > wait 3000
        a: joined as a#1, generation 1, range, led by a#1, members a#1
        > sync a a#1=x
        a: assigned [x]
        > commit a gen=0 t-0=1
        a: illegal generation, it is 1
        > commit a gen=2 t-0=1
        a: illegal generation, it is 1
        > commit a id=a#9 t-0=1
        a: unknown member
        > commit - t-0=1
        -: unknown member
        > commit - gen=1 t-0=1
        -: unknown member
        > commit a gen=-1 t-0=1
        a: illegal generation, it is 1
        > commit a as=desk-1 t-0=1
        a: unknown member
        > fetch all
        -: []
        ",
    );
}

#[test]
fn the_late_commit_of_a_slow_owner_is_refused() {
    check(
        "
        > join a v3 session=30000 rebalance=20000
        > wait 3000
        a: joined as a#1, generation 1, range, led by a#1, members a#1
        > sync a a#1=t-0
        a: assigned [t-0]
        > commit a t-0=5
        a: t-0 done
        > join b v3 session=30000 rebalance=20000
        > wait 19999
        > beat a
        a: rebalancing
        > commit a t-0=6
        a: t-0 done
        > wait 1
        b: joined as b#2, generation 2, range, led by b#2, members b#2
        > fetch t-0
        -: [t-0=6]
        > commit a t-0=9
        a: unknown member
        > sync b b#2=t-0
        b: assigned [t-0]
        > commit a t-0=9
        a: unknown member
        > fetch t-0
        -: [t-0=6]
        > commit b t-0=7
        b: t-0 done
        > fetch t-0
        -: [t-0=7]
        ",
    );
}

#[test]
fn between_join_and_assignment_nobody_commits() {
    check(
        "
        > join a v3
        > join b v3
        > wait 6000
        a: joined as a#1, generation 1, range, led by a#1, members a#1 b#2
        b: joined as b#2, generation 1, range, led by a#1
        > commit a t-0=1
        a: rebalancing
        > sync a a#1=x b#2=y
        a: assigned [x]
        > commit a t-0=1
        a: t-0 done
        > commit b t-1=1
        b: t-1 done
        ",
    );
}

#[test]
fn anybody_commits_while_the_group_is_empty_and_nobody_from_outside_afterwards() {
    check(
        "
        > commit - t-0=3
        -: t-0 done
        > list
        -: [g Empty '' classic]
        > describe
        -: Empty '' ''
        > commit x id=who t-0=4
        x: t-0 done
        > commit x id=who gen=0 t-0=5
        x: unknown member
        > join a v3
        > commit - t-0=6
        -: unknown member
        > wait 3000
        a: joined as a#1, generation 1, range, led by a#1, members a#1
        > commit - t-0=6
        -: unknown member
        > leave a
        -: a#1 gone
        > commit - t-0=7
        -: t-0 done
        > fetch all
        -: [t-0=7]
        > log
        offset: t-0=3
        offset: t-0=4
        group: generation 2, -
        offset: t-0=7
        ",
    );
}

#[test]
fn a_missing_group_is_named_from_version_9() {
    check(
        "
        > commit a id=a#1 gen=4 t-0=1
        a: illegal generation, it is -1
        > commit a v9 id=a#1 gen=4 t-0=1
        a: group not found
        > fetch all
        -: []
        > fetch t-0
        -: [t-0 none]
        ",
    );
}

#[test]
fn metadata_beyond_the_limit_is_refused_for_its_partition() {
    check(
        "
        > set metadata=4
        > commit - note=1234 t-0=1
        -: t-0 done
        > commit - note=12345 t-0=2 t-1=2
        -: t-0 metadata too large, t-1 metadata too large
        > fetch all
        -: [t-0=1 '1234']
        ",
    );
}

#[test]
fn offsets_of_an_empty_group_expire_after_the_retention() {
    check(
        "
        > join a v3
        > wait 3000
        a: joined as a#1, generation 1, range, led by a#1, members a#1
        > sync a a#1=x
        a: assigned [x]
        > commit a t-0=5
        a: t-0 done
        > leave a
        -: a#1 gone
        > set retention=3600000
        > log
        group: generation 1, range, a#1=[x]
        offset: t-0=5
        group: generation 2, -
        > wait 3600000
        > fetch all
        -: [t-0=5]
        > wait 600000
        > fetch all
        -: []
        > list
        -: []
        > log
        offset: t-0 deleted
        group deleted
        ",
    );
}

#[test]
fn offsets_of_a_group_without_members_expire_from_their_commit() {
    check(
        "
        > set retention=3600000
        > commit - t-0=5
        -: t-0 done
        > wait 1800000
        > commit - t-1=6
        -: t-1 done
        > wait 2400000
        > fetch all
        -: [t-1=6]
        > wait 1800000
        > fetch all
        -: []
        > list
        -: []
        > log
        offset: t-0=5
        offset: t-1=6
        offset: t-0 deleted
        offset: t-1 deleted
        ",
    );
}

#[test]
fn a_group_that_lost_its_offsets_and_members_is_removed_at_the_next_check() {
    check(
        "
        > join a v3
        > wait 3000
        a: joined as a#1, generation 1, range, led by a#1, members a#1
        > sync a a#1=x
        a: assigned [x]
        > leave a
        -: a#1 gone
        > list
        -: [g Empty 'consumer' classic]
        > wait 600000
        > list
        -: []
        > log
        group: generation 1, range, a#1=[x]
        group: generation 2, -
        group deleted
        ",
    );
}

#[test]
fn a_retention_asked_for_by_an_old_client_goes_first() {
    check(
        "
        > commit - keep=60000 t-0=5
        -: t-0 done
        > commit - t-1=5
        -: t-1 done
        > wait 600000
        > fetch all
        -: [t-1=5]
        ",
    );
}

#[test]
fn in_a_live_consumer_group_offsets_expire_only_for_topics_nobody_reads() {
    check(
        "
        > set retention=3600000
        > join a v3 session=1800000 range:t,u
        > wait 3000
        a: joined as a#1, generation 1, range, led by a#1, members a#1
        > sync a a#1=x
        a: assigned [x]
        > commit a t-0=5 u-0=5
        a: t-0 done, u-0 done
        > join a session=1800000 range:t
        a: joined as a#1, generation 2, range, led by a#1, members a#1
        > sync a a#1=x
        a: assigned [x]
        > wait 1700000
        > beat a
        a: alive
        > wait 1700000
        > beat a
        a: alive
        > wait 1200000
        > fetch all
        -: [t-0=5]
        ",
    );
}

#[test]
fn in_a_live_group_whose_topics_are_unknown_nothing_expires() {
    check(
        "
        > set retention=3600000
        > join a v3 session=1800000 type=connect default
        > wait 3000
        a: joined as a#1, generation 1, default, led by a#1, members a#1
        > sync a a#1=x
        a: assigned [x]
        > commit a t-0=5
        a: t-0 done
        > wait 1700000
        > beat a
        a: alive
        > wait 1700000
        > beat a
        a: alive
        > wait 1200000
        > fetch all
        -: [t-0=5]
        ",
    );
}

#[test]
fn offsets_are_deleted_unless_the_group_reads_the_topic() {
    check(
        "
        > delete-offsets t-0
        -: group not found
        > commit - t-0=5 u-0=5 u-1=5
        -: t-0 done, u-0 done, u-1 done
        > join a v3
        > wait 3000
        a: joined as a#1, generation 1, range, led by a#1, members a#1
        > sync a a#1=x
        a: assigned [x]
        > delete-offsets t-0 u-0 v-0
        -: t-0 subscribed, u-0 done, v-0 done
        > fetch all
        -: [t-0=5, u-1=5]
        > leave a
        -: a#1 gone
        > delete-offsets t-0
        -: t-0 done
        > fetch all
        -: [u-1=5]
        > log
        offset: t-0=5
        offset: u-0=5
        offset: u-1=5
        group: generation 1, range, a#1=[x]
        offset: u-0 deleted
        group: generation 2, -
        offset: t-0 deleted
        ",
    );
}

#[test]
fn a_subscription_nobody_can_read_protects_every_topic() {
    check(
        "
        > commit - t-0=5
        -: t-0 done
        > join a v3 range:?
        > wait 3000
        a: joined as a#1, generation 1, range, led by a#1, members a#1
        > delete-offsets t-0
        -: t-0 subscribed
        ",
    );
}

#[test]
fn a_live_group_of_an_opaque_type_keeps_its_offsets() {
    check(
        "
        > commit - t-0=5
        -: t-0 done
        > join a v3 type=connect default
        > wait 3000
        a: joined as a#1, generation 1, default, led by a#1, members a#1
        > sync a a#1=x
        a: assigned [x]
        > delete-offsets t-0
        -: not empty but Stable
        ",
    );
}

#[test]
fn a_group_is_deleted_once_it_is_empty() {
    check(
        "
        > delete-group
        -: group not found
        > commit - t-0=5
        -: t-0 done
        > join a v3
        > delete-group
        -: not empty but PreparingRebalance
        > wait 3000
        a: joined as a#1, generation 1, range, led by a#1, members a#1
        > delete-group
        -: not empty but CompletingRebalance
        > sync a a#1=x
        a: assigned [x]
        > delete-group
        -: not empty but Stable
        > leave a
        -: a#1 gone
        > delete-group
        -: deleted
        > list
        -: []
        > fetch all
        -: []
        > join a
        a: unknown member
        > log
        offset: t-0=5
        group: generation 1, range, a#1=[x]
        group: generation 2, -
        offset: t-0 deleted
        group deleted
        ",
    );
}

#[test]
fn deleting_a_group_forgets_the_ids_it_gave_out() {
    check(
        "
        > join a
        a: take id a#1
        > delete-group
        -: deleted
        > join a
        a: unknown member
        > list
        -: []
        ",
    );
}

#[test]
fn offsets_go_with_their_topic_or_partition() {
    check(
        "
        > commit - t-0=1 t-1=1 u-0=1 u-1=1
        -: t-0 done, t-1 done, u-0 done, u-1 done
        > delete-partitions u-1 w-0
        > delete-topic t
        > fetch all
        -: [u-0=1]
        > log
        offset: t-0=1
        offset: t-1=1
        offset: u-0=1
        offset: u-1=1
        offset: u-1 deleted
        offset: t-0 deleted
        offset: t-1 deleted
        ",
    );
}

#[test]
fn groups_are_described_and_listed_in_every_state() {
    check(
        "
        > describe
        -: group not found
        > join a
        a: take id a#1
        > describe
        -: Empty '' ''
        > join a
        > describe
        -: PreparingRebalance 'consumer' '' a#1=[]
        > list
        -: [g PreparingRebalance 'consumer' classic]
        > list Stable
        -: []
        > list preparingrebalance
        -: [g PreparingRebalance 'consumer' classic]
        > wait 3000
        a: joined as a#1, generation 1, range, led by a#1, members a#1
        > describe
        -: CompletingRebalance 'consumer' '' a#1=[]
        > sync a a#1=x
        a: assigned [x]
        > describe
        -: Stable 'consumer' 'range' a#1=[x] with metadata
        > list Stable Empty
        -: [g Stable 'consumer' classic]
        > list Stable type=classic
        -: [g Stable 'consumer' classic]
        > list type=Consumer
        -: []
        > leave a
        -: a#1 gone
        > describe
        -: Empty 'consumer' ''
        > list
        -: [g Empty 'consumer' classic]
        ",
    );
}
