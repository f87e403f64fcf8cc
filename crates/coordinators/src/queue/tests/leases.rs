//! Leases: what is held, comes back, and how often.

use super::world::*;
use crate::queue::*;
use fanlog_model::{Offset, TimestampMs};
use std::time::Duration;

#[test]
fn records_go_in_order_and_each_to_one() {
    let mut world = World::new(policy(), plain(5));
    assert_eq!(world.take("a", 2), "0x1 1x1");
    assert_eq!(world.take("b", 9), "2x1 3x1 4x1");
    assert_eq!(world.take("c", 9), "");
    assert_eq!(world.ack(1), Ok(Settled::Done));
    assert_eq!(world.ledger.start(), Offset(0));
    assert_eq!(world.ack(0), Ok(Settled::Done));
    assert_eq!(world.ledger.start(), Offset(2));
    assert_eq!(
        world.ack(0),
        Err(SettleError::NotHeld(Offset(0))),
        "once only"
    );
    assert_eq!(world.ledger.held_count(), 3);
}

#[test]
fn three_attempts_are_three_deliveries() {
    let mut world = World::new(policy(), plain(1));
    for attempt in 1..=3 {
        assert_eq!(world.take("a", 9), format!("0x{attempt}"));
        let expected = match attempt {
            3 => Settled::GivenUp,
            _ => Settled::Again(TimestampMs(world.wall_ms)),
        };
        assert_eq!(world.nack(0), Ok(expected));
    }
    assert_eq!(world.take("a", 9), "");
    assert_eq!((world.counts.delivered, world.counts.given_up), (3, 1));
    let mut world = World::new(
        Policy {
            attempts_max: 0,
            ..policy()
        },
        plain(1),
    );
    for attempt in 1..=40 {
        assert_eq!(world.take("a", 9), format!("0x{attempt}"));
        assert!(matches!(world.nack(0), Ok(Settled::Again(_))));
    }
}

#[test]
fn a_release_burns_no_attempt() {
    let mut world = World::new(policy(), plain(1));
    for _ in 0..20 {
        assert_eq!(world.take("a", 9), "0x1");
        assert!(matches!(world.release(0), Ok(Settled::Again(_))));
    }
    assert_eq!(world.take("a", 9), "0x1");
    world.nack(0).unwrap();
    assert_eq!(world.take("a", 9), "0x2");
    let delay = Some(Duration::from_millis(50));
    world.end(0, Outcome::Release { delay }).unwrap();
    assert_eq!(world.take("a", 9), "", "it rests as long as was said");
    world.pass(50);
    assert_eq!(world.take("a", 9), "0x2");
    assert_eq!(world.counts.failed, 1);
}

#[test]
fn a_plain_nack_rests_as_the_backoff_says() {
    let backoff = Backoff::Exponential {
        first: Duration::from_millis(100),
        max: Duration::from_secs(9),
        jitter_percent: 0,
    };
    let mut world = World::new(
        Policy {
            backoff,
            ..policy()
        },
        plain(2),
    );
    assert_eq!(world.take("a", 1), "0x1");
    let due = TimestampMs(world.wall_ms + 100);
    assert_eq!(world.nack(0), Ok(Settled::Again(due)));
    assert_eq!(world.take("a", 1), "1x1", "the one behind goes meanwhile");
    world.pass(99);
    assert_eq!(world.take("a", 1), "");
    world.pass(1);
    assert_eq!(world.take("a", 1), "0x2");
    world.nack(0).unwrap();
    world.pass(199);
    assert_eq!(world.take("a", 1), "");
    world.pass(1);
    assert_eq!(world.take("a", 1), "0x3");
    let delay = Some(Duration::from_millis(7));
    let reason = "later";
    world.end(1, Outcome::Nack { delay, reason }).unwrap();
    world.pass(6);
    assert_eq!(world.take("a", 1), "");
    world.pass(1);
    assert_eq!(world.take("a", 1), "1x2", "the consumer's own delay counts");
}

#[test]
fn a_lock_that_ran_out_is_a_failed_attempt_and_its_receipt_is_void() {
    let mut world = World::new(policy(), plain(1));
    let first = world.receive("a", 1);
    world.pass(LOCK_MS - 1);
    assert_eq!(world.take("b", 1), "");
    world.wall_ms += 1;
    world.monotonic_ms += 1;
    let late = world.settle(&[item(&first[0], Outcome::Ack)]);
    assert_eq!(
        late,
        [Err(SettleError::NotHeld(Offset(0)))],
        "before the tick, too"
    );
    world.tick();
    let second = world.receive("b", 1);
    assert_eq!((second.len(), second[0].attempt), (1, 2));
    let late = world.settle(&[item(&first[0], Outcome::Ack)]);
    assert_eq!(late, [Err(SettleError::NotHeld(Offset(0)))]);
    let good = world.settle(&[item(&second[0], Outcome::Ack)]);
    assert_eq!(good, [Ok(Settled::Done)]);
}

#[test]
fn a_lock_that_is_extended_lasts() {
    let mut world = World::new(policy(), plain(1));
    assert_eq!(world.take("a", 1), "0x1");
    world.pass(900);
    let until = TimestampMs(world.wall_ms + 2_000);
    let extended = world.end(0, Outcome::Extend(Duration::from_secs(2)));
    assert_eq!(extended, Ok(Settled::Held(until)));
    world.pass(1_999);
    assert_eq!(world.take("b", 1), "");
    assert_eq!(world.ledger.held_count(), 1);
    world.pass(1);
    assert_eq!(world.take("b", 1), "0x2");
    assert_eq!(world.counts.delivered, 2, "an extension is no delivery");
}

#[test]
fn what_a_consumer_holds_comes_back_when_it_goes() {
    let mut world = World::new(policy(), plain(4));
    assert_eq!(world.take("a", 2), "0x1 1x1");
    assert_eq!(world.take("b", 1), "2x1");
    world.step(Input::Release { consumer: "a" });
    assert_eq!(world.take("b", 9), "0x2 1x2 3x1");
    let attempts = history(&world.ledger, Offset(0));
    assert_eq!((&*attempts[0].consumer, attempts.len()), ("a", 1));
    assert_eq!(&*attempts[0].reason, "the consumer went away");
}

#[test]
fn the_window_and_a_pause_hold_back() {
    let window = 3;
    let mut world = World::new(Policy { window, ..policy() }, plain(9));
    assert_eq!(world.take("a", 9), "0x1 1x1 2x1");
    assert_eq!(world.take("a", 9), "");
    world.ack(1).unwrap();
    assert!(world.last.as_ref().unwrap().has_freed);
    assert_eq!(world.take("b", 9), "3x1");
    world.policy.is_paused = true;
    world.ack(0).unwrap();
    assert_eq!(world.take("b", 9), "");
    world.policy.is_paused = false;
    assert_eq!(world.take("b", 9), "4x1");
}

#[test]
fn a_bad_record_is_found_by_halves_and_its_last_attempt_goes_alone() {
    let attempts_max = 4;
    let mut world = World::new(
        Policy {
            attempts_max,
            ..policy()
        },
        plain(8),
    );
    for size in [8, 8, 4, 1, 1, 1, 1, 4, 1, 1, 1, 1] {
        let given = world.receive("a", 8);
        assert_eq!(given.len(), size);
        let items: Vec<_> = given.iter().map(|grant| item(grant, NACK)).collect();
        let settled = world.settle(&items);
        assert!(settled.iter().all(Result::is_ok));
    }
    let mut world = World::new(policy(), plain(3));
    assert_eq!(world.take("a", 1), "0x1");
    world.nack(0).unwrap();
    assert_eq!(world.take("a", 1), "0x2");
    world.nack(0).unwrap();
    let found = world.found(Offset(0));
    let more = world.step(Input::Acquire(Acquire {
        consumer: "b",
        records_max: 5,
        lock: None,
        found: &found,
        is_first: false,
    }));
    assert_eq!(more, Reply::Acquired(vec![]), "not with others");
    assert!(world.last.as_ref().unwrap().is_answer_over);
    assert_eq!(world.take("b", 5), "0x3");
    assert_eq!(world.take("b", 5), "1x1 2x1");
}

#[test]
fn what_nobody_wants_and_gaps_are_done_with_at_once() {
    let mut topic = plain(6);
    topic[0].is_unwanted = true;
    topic[2].is_gap = true;
    topic[3].is_gap = true;
    topic[5].is_unwanted = true;
    let mut world = World::new(policy(), topic);
    assert_eq!(world.take("a", 9), "1x1 4x1");
    assert_eq!(world.counts.filtered, 2);
    world.ack(1).unwrap();
    assert_eq!(world.ledger.start(), Offset(4));
    world.ack(4).unwrap();
    assert_eq!(world.ledger.start(), Offset(6));
    assert_eq!(world.ledger.runs(), 0);
}

#[test]
fn an_atomic_settlement_counts_as_a_whole() {
    let mut world = World::new(policy(), plain(3));
    let given = world.receive("a", 2);
    let by_name = |offset, claim| Settle {
        offset: Offset(offset),
        claim: Claim::Consumer(claim),
        outcome: Outcome::Ack,
    };
    let refused = world.settle_as(&[by_name(0, "a"), by_name(2, "a")], true);
    assert_eq!(
        refused,
        [
            Err(SettleError::Undone),
            Err(SettleError::NotHeld(Offset(2)))
        ]
    );
    let refused = world.settle_as(&[by_name(0, "a"), by_name(0, "a")], true);
    assert!(refused.iter().all(Result::is_err), "twice the same");
    let refused = world.settle_as(&[by_name(0, "b")], true);
    assert_eq!(refused, [Err(SettleError::NotHeld(Offset(0)))]);
    assert_eq!(world.ledger.held_count(), 2);
    let done = world.settle_as(&[by_name(1, "a"), item(&given[0], Outcome::Ack)], true);
    assert_eq!(done, [Ok(Settled::Done); 2]);
}

#[test]
fn what_is_cancelled_never_comes_back() {
    let mut world = World::new(policy(), plain(6));
    assert_eq!(world.take("a", 2), "0x1 1x1");
    world.ack(0).unwrap();
    let offsets = [0, 1, 2, 5].map(Offset);
    let taken = world.taken(Input::Cancel(&offsets));
    assert_eq!(taken, [false, true, true, true]);
    assert_eq!(world.take("b", 9), "3x1 4x1");
    assert_eq!(
        world.nack(1),
        Ok(Settled::Done),
        "it was held, and does not come back"
    );
    world.pass(LOCK_MS);
    let again = world.receive("b", 9);
    let offsets: Vec<_> = again.iter().map(|grant| grant.offset.0).collect();
    assert_eq!(offsets, [3, 4]);
    assert_eq!(world.counts.cancelled, 3);
    assert_eq!(world.ledger.start(), Offset(3));
}

#[test]
fn what_the_log_loses_is_counted() {
    let mut world = World::new(policy(), plain(9));
    assert_eq!(world.take("a", 4), "0x1 1x1 2x1 3x1");
    world.ack(1).unwrap();
    world.ack(6).unwrap_err();
    world.taken(Input::Cancel(&[Offset(5)]));
    world.step(Input::LogStart(Offset(5)));
    assert_eq!(world.counts.lost, 4);
    assert_eq!(world.ledger.start(), Offset(6));
    let gone = world.ack(2);
    assert_eq!(gone, Ok(Settled::Done), "there is nothing left to say");
    assert_eq!(world.take("a", 9), "6x1 7x1 8x1");
    world.step(Input::LogStart(Offset(3)));
    assert_eq!(world.counts.lost, 4);
    world.step(Input::LogStart(Offset(500)));
    assert_eq!(world.counts.lost, 4 + 494);
    assert_eq!(world.ledger.held_count(), 0);
}

#[test]
fn attempts_are_remembered_and_no_more_than_sixteen() {
    let attempts_max = 0;
    let mut world = World::new(
        Policy {
            attempts_max,
            ..policy()
        },
        plain(2),
    );
    let reason = "ü".repeat(200);
    for _ in 0..20 {
        world.receive("a", 1);
        let outcome = Outcome::Nack {
            delay: None,
            reason: &reason,
        };
        world.end(0, outcome).unwrap();
    }
    let attempts = history(&world.ledger, Offset(0));
    assert_eq!(attempts.len(), ATTEMPTS_REMEMBERED);
    assert_eq!((attempts[0].attempt, attempts[15].attempt), (5, 20));
    assert_eq!(attempts[0].reason.len(), REASON_BYTES_MAX);
    assert_eq!(history(&world.ledger, Offset(1)), []);
    world.receive("a", 1);
    world.ack(0).unwrap();
    assert_eq!(history(&world.ledger, Offset(0)), []);
    assert_eq!(world.ledger.histories.bytes(), 0);
}

#[test]
fn a_filter_that_changes_takes_nothing_that_was_delivered_before() {
    let mut world = World::new(policy(), plain(3));
    assert_eq!(world.take("a", 2), "0x1 1x1");
    world.nack(0).unwrap();
    for record in &mut world.topic {
        record.is_unwanted = true;
    }
    assert_eq!(world.take("a", 9), "0x2");
    world.nack(1).unwrap();
    world.restart(0);
    assert_eq!(world.take("a", 9), "1x2");
    assert_eq!(world.counts.filtered, 1, "the last one only");
}

#[test]
fn a_lock_of_zero_counts_an_attempt_and_the_record_can_go_at_once() {
    let mut world = World::new(policy(), plain(2));
    let unlocked = |world: &mut World| {
        let now = world.now();
        let next = next_read(&world.ledger, &mut world.waiting, &world.policy, now).unwrap();
        let found = world.found(next.from);
        let reply = world.step(Input::Acquire(Acquire {
            consumer: "a",
            records_max: 9,
            lock: Some(Duration::ZERO),
            found: &found,
            is_first: true,
        }));
        let is_over = world.last.as_ref().unwrap().is_answer_over;
        assert!(is_over, "no record goes twice into one answer");
        let Reply::Acquired(given) = reply else {
            panic!("{reply:?}");
        };
        let late = world.settle(&[item(&given[0], Outcome::Ack)]);
        assert!(late[0].is_err(), "nobody holds it");
        world.tick();
        given.iter().map(|grant| grant.attempt).collect::<Vec<_>>()
    };
    assert_eq!(unlocked(&mut world), [1, 1]);
    assert_eq!(unlocked(&mut world), [2, 2]);
    assert_eq!(unlocked(&mut world), [3], "the last attempt goes alone");
    assert_eq!(world.counts.given_up, 1);
    world.restart(0);
    assert_eq!(world.take("b", 9), "1x3");
    assert_eq!((world.counts.delivered, world.counts.failed), (6, 5));
}

#[test]
fn each_delivery_says_when_the_first_one_was() {
    let mut world = World::new(
        Policy {
            attempts_max: 0,
            ..policy()
        },
        plain(1),
    );
    let first = world.wall_ms;
    for attempt in 1..=2 * ATTEMPTS_REMEMBERED {
        let given = world.receive("a", 1);
        assert_eq!(given[0].first_given, Some(TimestampMs(first)), "{attempt}");
        if attempt == 1 {
            // A longer lock says nothing else.
            world.pass(LOCK_MS / 2);
            let longer = Outcome::Extend(Duration::from_secs(30));
            world.end(0, longer).unwrap();
            world.restart(0);
        }
        world.pass(100);
        world.nack(0).unwrap();
        if attempt % 7 == 0 {
            world.restart(0);
        }
    }
    world.receive("a", 1);
    world.release(0).unwrap();
    let again = world.receive("a", 1);
    assert_eq!(again[0].first_given, Some(TimestampMs(first)));
    let mut fresh = World::new(policy(), plain(1));
    fresh.receive("a", 1);
    fresh.release(0).unwrap();
    fresh.pass(50);
    let given = fresh.receive("a", 1);
    assert_eq!(
        given[0].first_given,
        Some(TimestampMs(fresh.wall_ms)),
        "what was given back was never given"
    );
}

#[test]
fn what_is_purged_is_done_with_whoever_holds_it() {
    let mut topic = plain(7);
    topic[2].due = Some(500);
    let mut world = World::new(
        Policy {
            target: Some(target(50)),
            ..policy()
        },
        topic,
    );
    let given = world.receive("a", 4);
    world.end(1, Outcome::Reject { reason: "never" }).unwrap();
    world.nack(3).unwrap();
    world.step(Input::Purge(Offset(6)));
    assert_eq!(world.counts.cancelled, 5);
    let late = world.settle(&[item(&given[0], Outcome::Ack)]);
    assert_eq!(late, [Err(SettleError::NotHeld(Offset(0)))]);
    assert_eq!(moves(&world.ledger, 9).len(), 1, "it goes on");
    assert_eq!(world.take("b", 9), "6x1", "what came later stays");
    world.pass(500);
    assert_eq!(world.take("b", 9), "");
    world.moved(0);
    assert_eq!(world.ledger.start(), Offset(6));
    assert_eq!(world.ledger.runs(), 1);
    world.restart(0);
    assert_eq!(world.ledger.start(), Offset(6));
    // To purge what was purged does nothing.
    let length = world.log.len();
    world.step(Input::Purge(Offset(6)));
    assert_eq!((world.log.len(), world.counts.cancelled), (length, 5));
}

#[test]
fn a_purge_frees_all_keys() {
    let mut world = World::new(keyed(policy()), with_keys("AABBAC"));
    assert_eq!(world.take("a", 2), "0x1 1x1");
    assert_eq!(world.take("b", 1), "2x1");
    assert_eq!(world.take("c", 9), "5x1");
    world.nack(2).unwrap();
    world.step(Input::Purge(Offset(4)));
    assert_eq!(world.take("c", 9), "4x1");
    world.topic.extend(with_keys("BA"));
    assert_eq!(world.take("b", 9), "6x1");
    world.ack(4).unwrap();
    assert_eq!(world.take("b", 9), "7x1");
}

#[test]
fn records_are_counted_whether_or_not_somebody_has_looked_at_them() {
    let mut topic = with_keys("AAB-----");
    topic[2].due = Some(500);
    topic[4].is_gap = true;
    topic[5].is_unwanted = true;
    topic[6].due = Some(900);
    let mut world = World::new(
        keyed(Policy {
            target: Some(target(50)),
            ..policy()
        }),
        topic,
    );
    let counted = |world: &mut World| {
        world.tick();
        let now = world.now();
        let mut all = counts(&world.ledger, &world.waiting, now);
        let cursor = world.waiting.cursor(&world.ledger);
        let found = world.found(cursor);
        all.add(count_found(&world.ledger, now, &found));
        assert!(!all.is_estimate);
        (all.visible, all.in_flight, all.delayed)
    };
    assert_eq!(counted(&mut world), (4, 0, 2));
    assert_eq!(world.take("a", 1), "0x1");
    assert_eq!(counted(&mut world), (3, 1, 2));
    assert_eq!(world.take("b", 9), "3x1 7x1", "all was looked at");
    assert_eq!(counted(&mut world), (1, 3, 2));
    world.restart(0);
    assert_eq!(counted(&mut world), (1, 3, 2));
    world.pass(500);
    assert_eq!(counted(&mut world), (2, 3, 1));
    world.nack(0).unwrap();
    assert_eq!(counted(&mut world), (3, 2, 1));
    let reason = "never";
    world.end(3, Outcome::Reject { reason }).unwrap();
    assert_eq!(counted(&mut world), (3, 1, 1), "on its way elsewhere");
    world.pass(LOCK_MS);
    assert_eq!(counted(&mut world), (5, 0, 0));
    let unseen = count_unseen(&world.ledger, Offset(0), Offset(8));
    assert_eq!((unseen.visible, unseen.is_estimate), (5, true));
}
