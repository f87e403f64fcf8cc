//! Order per key.

use super::world::*;
use crate::queue::*;
use fanlog_model::Offset;
use std::time::Duration;

fn slow() -> Policy {
    keyed(Policy {
        attempts_max: 9,
        backoff: Backoff::Fixed {
            delay: Duration::from_millis(100),
            jitter_percent: 0,
        },
        ..policy()
    })
}

#[test]
fn a_key_goes_in_order_to_one_consumer() {
    let mut world = World::new(slow(), with_keys("AABA-B"));
    assert_eq!(world.take("a", 1), "0x1");
    assert_eq!(world.take("b", 9), "2x1 4x1 5x1", "A is taken");
    assert_eq!(world.take("a", 9), "");
    world.ack(0).unwrap();
    assert_eq!(world.take("b", 1), "1x1");
    assert_eq!(world.take("a", 9), "");
    world.ack(1).unwrap();
    assert_eq!(world.take("a", 1), "3x1");
}

#[test]
fn the_holder_of_a_key_gets_more_of_it() {
    let mut world = World::new(slow(), with_keys("AABAA"));
    assert_eq!(world.take("a", 1), "0x1");
    assert_eq!(world.take("a", 2), "1x1 2x1", "in a later answer");
    assert_eq!(world.take("b", 9), "");
    world.ack(0).unwrap();
    assert_eq!(
        world.take("b", 9),
        "",
        "another gets the key when all of it is settled"
    );
    world.ack(1).unwrap();
    assert_eq!(world.take("b", 9), "3x1 4x1");
}

#[test]
fn one_failed_key_stalls_no_other_and_later_ones_return_for_free() {
    let mut world = World::new(slow(), with_keys("AABAAB-"));
    assert_eq!(world.take("a", 4), "0x1 1x1 2x1 3x1");
    world.nack(0).unwrap();
    assert_eq!(world.ack(1), Err(SettleError::NotHeld(Offset(1))));
    assert_eq!(world.ack(2), Ok(Settled::Done), "another key");
    assert_eq!(world.take("b", 9), "5x1 6x1");
    world.pass(99);
    assert_eq!(world.take("b", 9), "");
    world.pass(1);
    assert_eq!(world.take("b", 9), "0x2 1x1 3x1 4x1");
}

#[test]
fn a_release_sends_back_the_later_ones_too() {
    let mut world = World::new(slow(), with_keys("AAA"));
    assert_eq!(world.take("a", 9), "0x1 1x1 2x1");
    world.release(1).unwrap();
    assert_eq!(world.take("b", 9), "", "the first is still held");
    assert_eq!(world.take("a", 9), "");
    world.release(0).unwrap();
    assert_eq!(world.take("b", 9), "0x1 1x1 2x1");
}

#[test]
fn a_lock_that_ran_out_burns_one_attempt_of_a_key() {
    let mut world = World::new(slow(), with_keys("AA"));
    assert_eq!(world.take("a", 9), "0x1 1x1");
    world.pass(LOCK_MS);
    world.pass(100);
    assert_eq!(world.take("b", 9), "0x2 1x1");
    world.step(Input::Release { consumer: "b" });
    world.pass(100);
    assert_eq!(world.take("b", 9), "0x3 1x1");
    assert_eq!(world.counts.failed, 2);
}

#[test]
fn a_key_goes_on_with_nobody_once_a_lock_of_it_has_run_out() {
    let mut world = World::new(slow(), with_keys("AAAB"));
    assert_eq!(world.take("a", 2), "0x1 1x1");
    let long = Outcome::Extend(Duration::from_secs(9));
    assert!(world.end(1, long).is_ok());
    // The lock of the first is over, and no tick has come yet.
    world.wall_ms += LOCK_MS;
    world.monotonic_ms += LOCK_MS.unsigned_abs();
    assert_eq!(world.ack(0), Err(SettleError::NotHeld(Offset(0))));
    assert_eq!(world.take("a", 9), "3x1", "the other key only");
    world.tick();
    assert_eq!(world.take("a", 9), "", "the key rests");
    world.pass(100);
    assert_eq!(world.take("b", 9), "0x2 1x1 2x1");
}

#[test]
fn one_answer_may_settle_a_failed_record_and_later_ones_of_its_key() {
    let mut world = World::new(slow(), with_keys("AAA"));
    let given = world.receive("a", 9);
    let items = [
        item(&given[0], NACK),
        item(&given[1], NACK),
        item(&given[2], Outcome::Ack),
    ];
    let settled = world.settle(&items);
    assert!(settled[0].is_ok() && settled[1].is_ok());
    assert_eq!(
        settled[2],
        Err(SettleError::NotHeld(Offset(2))),
        "it came back before"
    );
    world.pass(100);
    let given = world.receive("a", 9);
    assert_eq!(
        given.iter().map(|g| g.attempt).collect::<Vec<_>>(),
        [2, 1, 1]
    );
    let items = [
        item(&given[0], RELEASE),
        item(&given[1], NACK),
        item(&given[2], Outcome::Ack),
    ];
    let settled = world.settle_as(&items, true);
    assert!(
        settled.iter().all(Result::is_ok),
        "all of it or nothing: {settled:?}"
    );
    assert_eq!(world.take("b", 9), "0x2 1x1");
}

#[test]
fn a_key_goes_on_behind_a_record_that_is_given_up() {
    let mut world = World::new(
        Policy {
            attempts_max: 1,
            ..slow()
        },
        with_keys("AAA"),
    );
    assert_eq!(world.take("a", 2), "0x1 1x1");
    assert_eq!(world.nack(0), Ok(Settled::GivenUp));
    assert_eq!(world.ack(1), Ok(Settled::Done), "it stays held");
    assert_eq!(world.take("b", 2), "2x1");
}

#[test]
fn a_delayed_record_holds_its_key_until_it_is_cancelled() {
    let mut topic = with_keys("AABA");
    topic[0].due = Some(1_000);
    let mut world = World::new(slow(), topic);
    assert_eq!(world.take("a", 9), "2x1");
    let blocked = status(&world.ledger, &world.waiting, world.now()).blocked_keys;
    assert_eq!((blocked.len(), blocked[0].offset), (1, Offset(0)));
    assert_eq!(blocked[0].reason, BlockReason::Delayed);
    world.taken(Input::Cancel(&[Offset(1)]));
    world.taken(Input::Cancel(&[Offset(0)]));
    assert_eq!(world.take("a", 9), "3x1");
    world.restart(0);
    assert_eq!(world.take("a", 9), "");
}

#[test]
fn after_a_restart_a_held_key_is_still_held() {
    let mut world = World::new(slow(), with_keys("AABA"));
    let given = world.receive("a", 2);
    world.restart(0);
    assert_eq!(world.take("b", 9), "2x1");
    assert_eq!(world.settle(&[item(&given[0], NACK)]).len(), 1);
    let late = world.settle(&[item(&given[1], Outcome::Ack)]);
    assert_eq!(
        late,
        [Err(SettleError::NotHeld(Offset(1)))],
        "known without another look"
    );
    world.restart(0);
    world.pass(100);
    assert_eq!(world.take("b", 9), "0x2 1x1 3x1");
}

#[test]
fn the_bound_on_what_is_tracked_stops_the_search_and_not_what_comes_back() {
    let tracked_max = 4;
    let mut world = World::new(
        Policy {
            tracked_max,
            ..slow()
        },
        with_keys("AAAAAAAB"),
    );
    assert_eq!(world.take("a", 1), "0x1");
    assert_eq!(world.take("b", 9), "", "B is too far away");
    assert_eq!(
        status(&world.ledger, &world.waiting, world.now()).passed_over,
        3
    );
    world.restart(0);
    assert_eq!(world.take("b", 9), "");
    for offset in 0..7 {
        world.ack(offset).unwrap();
        let taken = world.take("b", 1);
        assert_eq!(taken, format!("{}x1", offset + 1));
    }
}

#[test]
fn a_status_says_who_blocks_a_key() {
    let mut world = World::new(slow(), with_keys("AABB"));
    assert_eq!(world.take("a", 1), "0x1");
    assert_eq!(world.take("b", 9), "2x1 3x1");
    let seen = status(&world.ledger, &world.waiting, world.now());
    assert_eq!(
        (seen.held, seen.passed_over, seen.consumers.len()),
        (3, 1, 2)
    );
    let blocked = &seen.blocked_keys[0];
    assert_eq!(blocked.reason, BlockReason::Held("a".into()));
    assert_eq!(blocked.until.0, world.wall_ms + LOCK_MS);
    world.nack(0).unwrap();
    let seen = status(&world.ledger, &world.waiting, world.now());
    assert_eq!(
        seen.blocked_keys[0].reason,
        BlockReason::Resting("no".into())
    );
    assert_eq!(seen.attempts[1], 3);
}

#[test]
fn the_order_may_change_while_records_are_on_their_way() {
    let mut world = World::new(slow(), with_keys("AABA"));
    assert_eq!(world.take("a", 1), "0x1");
    assert_eq!(world.take("b", 1), "2x1");
    world.policy.order = Order::None;
    assert_eq!(world.take("b", 9), "1x1 3x1");
    world.nack(0).unwrap();
    world.nack(1).unwrap();
    world.policy.order = Order::Key;
    world.pass(100);
    assert_eq!(world.take("b", 1), "0x2");
}

#[test]
fn a_wall_clock_that_goes_back_lets_a_key_wait_and_nobody_look_for_ever() {
    let mut topic = with_keys("AA");
    topic[0].due = Some(500);
    let mut world = World::new(slow(), topic);
    world.pass(500);
    assert_eq!(world.take("a", 1), "0x1");
    world.wall_ms -= 400;
    world.nack(0).unwrap();
    world.pass(100);
    // It rests no more, and its own time has not come again.
    assert_eq!(world.take("a", 9), "");
    world.pass(299);
    assert_eq!(world.take("a", 9), "");
    world.pass(1);
    assert_eq!(world.take("a", 9), "0x2 1x1");
}
