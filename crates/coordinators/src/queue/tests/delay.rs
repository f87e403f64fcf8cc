//! Times: never early, whatever the clocks and restarts do.

use super::world::*;
use crate::queue::*;
use fanlog_model::{Offset, TimestampMs};
use std::time::Duration;

fn delayed(dues: &[i64]) -> Vec<Record> {
    let record = |due: &i64| Record {
        due: (*due > 0).then_some(*due),
        ..Record::default()
    };
    dues.iter().map(record).collect()
}

#[test]
fn a_delayed_record_goes_when_it_is_due_and_holds_up_nobody() {
    let mut world = World::new(policy(), delayed(&[500, 0, 300, 0]));
    assert_eq!(world.take("a", 9), "1x1 3x1");
    assert_eq!(
        status(&world.ledger, &world.waiting, world.now()).next_due,
        Some(TimestampMs(BEGAN_MS + 300))
    );
    world.pass(299);
    assert_eq!(world.take("a", 9), "");
    world.pass(1);
    assert!(world.last.as_ref().unwrap().has_freed);
    assert_eq!(world.take("a", 9), "2x1");
    world.pass(200);
    assert_eq!(world.take("a", 9), "0x1");
}

#[test]
fn a_restart_fires_nothing_early_and_forgets_nothing() {
    let mut world = World::new(policy(), delayed(&[500, 0, 300, 0]));
    assert_eq!(world.take("a", 9), "1x1 3x1");
    world.restart(0);
    assert_eq!(
        world.take("a", 9),
        "",
        "the held stay held, the delayed wait"
    );
    world.pass(300);
    world.restart(0);
    assert_eq!(world.take("a", 9), "2x1");
    world.pass(200);
    assert_eq!(world.take("a", 9), "0x1");
}

#[test]
fn a_wall_clock_that_jumps_fires_nothing_early() {
    let mut world = World::new(policy(), delayed(&[500]));
    assert_eq!(world.take("a", 9), "");
    world.pass(500);
    world.wall_ms -= 400;
    assert_eq!(world.take("a", 9), "", "it went back after the tick");
    world.pass(399);
    assert_eq!(world.take("a", 9), "");
    world.pass(1);
    assert_eq!(world.take("a", 9), "0x1");
}

#[test]
fn a_wall_clock_that_jumps_moves_no_lock() {
    let mut world = World::new(policy(), plain(1));
    assert_eq!(world.take("a", 9), "0x1");
    world.wall_ms += 3_600_000;
    world.pass(LOCK_MS - 1);
    assert_eq!(world.ledger.held_count(), 1);
    world.wall_ms -= 7_200_000;
    world.pass(1);
    assert_eq!(world.ledger.held_count(), 0);
}

#[test]
fn a_lock_survives_a_restart_and_never_lasts_longer_than_it_was_given() {
    let mut world = World::new(policy(), plain(1));
    let given = world.receive("a", 9);
    world.wall_ms += 300;
    world.restart(0);
    world.pass(600);
    assert_eq!(world.ledger.held_count(), 1);
    assert_eq!(
        world
            .settle(&[item(&given[0], Outcome::Extend(Duration::from_secs(1)))])
            .len(),
        1
    );
    world.wall_ms -= 3_600_000;
    world.restart(0);
    world.pass(LOCK_MS - 1);
    assert_eq!(world.ledger.held_count(), 1);
    world.pass(1);
    assert_eq!(
        world.ledger.held_count(),
        0,
        "though the wall clock had gone back by an hour"
    );
    assert_eq!(world.take("b", 9), "0x2");
}

#[test]
fn a_deadline_by_the_wall_clock_is_looked_at_again_soon() {
    let mut world = World::new(policy(), delayed(&[3_600_000, 0]));
    assert_eq!(world.take("a", 9), "1x1");
    world.ack(1).unwrap();
    let now = world.now();
    let next = next_deadline(&world.ledger, &world.waiting, now);
    assert_eq!(next, Some(now.monotonic + Duration::from_secs(1)));
    world.wall_ms += 3_600_000;
    let next = next_deadline(&world.ledger, &world.waiting, world.now());
    assert_eq!(next, Some(now.monotonic));
}

#[test]
fn a_delayed_record_can_be_cancelled_before_and_after_it_was_seen() {
    let mut world = World::new(policy(), delayed(&[500, 500, 500]));
    world.taken(Input::Cancel(&[Offset(2)]));
    assert_eq!(world.take("a", 9), "");
    world.taken(Input::Cancel(&[Offset(0)]));
    world.restart(0);
    world.pass(500);
    assert_eq!(world.take("a", 9), "1x1");
    world.ack(1).unwrap();
    assert_eq!(world.ledger.start(), Offset(3));
}
