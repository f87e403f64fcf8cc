//! The laws of the group machine, under random scripts of clients that join, commit, die and lie, and of coordinators that crash.
//!
//! - Replay equals live, and what is read back from bytes is what was written.
//! - Any prefix of the log is legal: it loads, and the group it gives comes to rest.
//! - Same inputs, same bytes.
//! - Losing what is not logged breaks no promise: GRP-1, GRP-2 and GRP-3 hold for every reply that was released.
//! - Nobody waits for ever: once everybody has gone silent, every call is answered and the group is Empty.

use super::world::{Act, Op, World};
use crate::group::record_format::tests::any_record;
use crate::group::*;
use fanlog_model::TimestampMs;
use proptest::prelude::*;
use std::time::Duration;

fn acts() -> impl Strategy<Value = Act> {
    prop_oneof![
        60 => Just(Act::Proceed),
        2 => (0..3u8, 0..3u8).prop_map(|(version, metadata)| Act::Join { version, metadata }),
        1 => Just(Act::Sync),
        1 => Just(Act::Heartbeat),
        6 => (0..4i32).prop_map(|partition| Act::Commit { partition }),
        1 => Just(Act::Leave),
        1 => Just(Act::Die),
    ]
}

/// The last client fights another one for its name, so it speaks rarely.
fn clients() -> impl Strategy<Value = usize> {
    prop_oneof![40 => 0..5usize, 1 => Just(5)]
}

fn ops() -> impl Strategy<Value = Op> {
    prop_oneof![
        80 => (clients(), acts()).prop_map(|(client, act)| Op::Client { client, act }),
        6 => (any::<prop::sample::Index>(), 0..4i32, -1..3i32)
            .prop_map(|(who, partition, later)| Op::StaleCommit { who, partition, later }),
        8 => (0..2_000u64).prop_map(Op::Wait),
        1 => (0..20_000u64).prop_map(Op::Wait),
        30 => Just(Op::Durable),
        3 => any::<prop::sample::Index>().prop_map(|keep| Op::Crash { keep }),
        4 => Just(Op::Fetch),
        1 => (0..4i32).prop_map(|partition| Op::DeleteOffset { partition }),
        1 => Just(Op::DeleteGroup),
        1 => Just(Op::DeleteTopic),
        1 => Just(Op::Describe),
    ]
}

fn scripts() -> impl Strategy<Value = Vec<Op>> {
    proptest::collection::vec(ops(), 1..300)
}

/// Loads a log, and lets time pass until nothing more happens.
fn comes_to_rest(log: &[GroupRecord]) {
    let settings = World::settings();
    let mut ledger = super::transcript::replay(log);
    let mut now = crate::Now {
        wall: TimestampMs(0),
        monotonic: Duration::ZERO,
    };
    let mut waiting = Waiting::after_loading(&settings, &ledger, now);
    check_invariants(&ledger, &waiting);
    let end = Duration::from_secs(300);
    while let Some(at) = next_deadline(&waiting).filter(|at| *at < end) {
        now.monotonic = at;
        let decision = decide(
            &settings,
            &FewTopics::default(),
            &ledger,
            &mut waiting,
            now,
            Input::Tick,
        );
        assert_eq!(decision.replies, [], "nobody has asked anything");
        decision
            .records
            .iter()
            .for_each(|record| apply(&mut ledger, record));
        check_invariants(&ledger, &waiting);
    }
    let has_members = |group: &LedgerGroup| group.metadata.iter().any(|m| !m.members.is_empty());
    assert!(
        !ledger.groups().any(|(_, group)| has_members(group)),
        "silent members are out"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn promises_hold_whatever_clients_do_and_whenever_the_coordinator_crashes(script in scripts()) {
        let mut world = World::new();
        script.iter().for_each(|op| world.run(op));
        world.finish();
    }

    #[test]
    fn every_prefix_of_the_log_is_legal(script in scripts()) {
        let mut world = World::new();
        script.iter().for_each(|op| world.run(op));
        for end in 0..=world.log().len() {
            comes_to_rest(&world.log()[..end]);
        }
    }

    #[test]
    fn any_records_in_any_order_load_and_come_to_rest(
        log in proptest::collection::vec(any_record(), 0..20),
    ) {
        comes_to_rest(&log);
    }

    #[test]
    fn the_same_inputs_give_the_same_bytes(script in scripts()) {
        let run = || {
            let mut world = World::new();
            script.iter().for_each(|op| world.run(op));
            world.into_trace()
        };
        prop_assert_eq!(run(), run());
    }
}

/// The log lags behind: the assignment of a group that has been deleted since leaves late, and the next group starts at the same generation.
#[test]
fn an_answer_that_leaves_late_speaks_of_the_group_that_was() {
    let proceed = |client| Op::Client {
        client,
        act: Act::Proceed,
    };
    let (first_assignment, second_assignment) = (
        // A static member joins, is assigned to, and falls silent.
        [proceed(3), Op::Wait(1_000), Op::Durable, proceed(3)],
        // The first answer names the member, the second join counts.
        [proceed(0), Op::Durable, proceed(0), Op::Wait(1_000)],
    );
    let mut world = World::new();
    first_assignment.iter().for_each(|op| world.run(op));
    [Op::Wait(20_000), Op::DeleteGroup]
        .iter()
        .for_each(|op| world.run(op));
    second_assignment.iter().for_each(|op| world.run(op));
    [Op::Durable, proceed(0), Op::Durable]
        .iter()
        .for_each(|op| world.run(op));
    assert_eq!(world.reached().assigned, 2, "{:?}", world.reached());
    world.finish();
}

/// Scripts that never get anywhere would prove nothing.
#[test]
fn random_scripts_reach_the_interesting_states() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let mut totals = super::world::Reached::default();
    for _ in 0..100 {
        let script = scripts().new_tree(&mut runner).unwrap().current();
        let mut world = World::new();
        script.iter().for_each(|op| world.run(op));
        totals.add(world.reached());
    }
    assert!(totals.assigned > 200, "{totals:?}");
    assert!(totals.shared > 100, "{totals:?}");
    assert!(totals.committed > 200, "{totals:?}");
    assert!(totals.fenced > 20, "{totals:?}");
    assert!(totals.stale_refused > 100, "{totals:?}");
    assert!(totals.fetched > 50, "{totals:?}");
    assert!(totals.lost_by_crash > 20, "{totals:?}");
}
