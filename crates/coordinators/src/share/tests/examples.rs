//! What a share-partition does, by example.

use super::world::{World, ack, found, key, shown};
use crate::share::*;
use fanlog_model::{Offset, TimestampMs};
use std::time::Duration;

const WHOLE: AcquireMode = AcquireMode::WholeRanges;

#[test]
fn a_range_is_given_whole_and_its_answer_is_cut_where_ranges_end() {
    let mut world = World::begun(Policy::default());
    let log = [found(0, 299), found(300, 599), found(600, 899)];
    let given = world.acquire("a", 400, WHOLE, &log);
    assert_eq!(shown(&given), "0-599 x1");
    let given = world.acquire("b", 10, AcquireMode::RecordLimit, &log);
    assert_eq!(shown(&given), "600-609 x1");
    let given = world.acquire("c", 1, WHOLE, &log);
    assert_eq!(shown(&given), "610-899 x1");
}

#[test]
fn records_that_fail_come_in_ever_smaller_numbers_and_the_last_time_alone() {
    let mut world = World::begun(Policy::default());
    let log = [found(0, 99), found(100, 199)];
    for expected in [
        "0-199 x1", "0-199 x2", "0-199 x3", "0-99 x4", "0-0 x5", "1-1 x5",
    ] {
        let given = world.acquire("a", 500, WHOLE, &log);
        assert_eq!(shown(&given), expected);
        let (first, last) = (given[0].first.0, given[0].last.0);
        let release = [ack(first, last, AckType::Release)];
        assert_eq!(world.acknowledge("a", &release), Ok(()));
    }
    assert_eq!(world.given_up, 2);
    assert_eq!(world.ledger.start(), Some(Offset(2)));
}

#[test]
fn what_failed_often_does_not_join_what_an_answer_holds_already() {
    let mut world = World::begun(Policy::default());
    for _ in 0..3 {
        world.acquire("a", 500, WHOLE, &[found(4, 9)]);
        let release = [ack(4, 9, AckType::Release)];
        assert_eq!(world.acknowledge("a", &release), Ok(()));
    }
    assert_eq!(
        shown(&world.acquire("b", 500, WHOLE, &[found(0, 3)])),
        "0-3 x1"
    );
    let more = world.acquire_more("b", (500, false), WHOLE, &[found(4, 9), found(10, 19)]);
    assert_eq!(shown(&more), "");
    let alone = world.acquire("b", 500, WHOLE, &[found(4, 9), found(10, 19)]);
    assert_eq!(shown(&alone), "4-6 x4");
}

#[test]
fn only_the_holder_has_a_say_and_all_of_it_counts_or_nothing() {
    let mut world = World::begun(Policy::default());
    world.acquire("a", 10, WHOLE, &[found(0, 9)]);
    world.acquire("b", 10, WHOLE, &[found(10, 19)]);
    let accept = |first, last| [ack(first, last, AckType::Accept)];
    assert_eq!(
        world.acknowledge("b", &accept(5, 12)),
        Err(AckError::NotHeld(Offset(5)))
    );
    assert_eq!(
        world.acknowledge("a", &accept(5, 12)),
        Err(AckError::NotHeld(Offset(10)))
    );
    assert_eq!(
        world.acknowledge("a", &accept(5, 30)),
        Err(AckError::NeverDelivered(Offset(30)))
    );
    assert_eq!(world.log.len(), 2, "nothing was logged but the beginning");
    assert_eq!(world.acknowledge("a", &accept(0, 9)), Ok(()));
    assert_eq!(world.ledger.start(), Some(Offset(10)));
    // What the start has passed is done with, whoever says so again.
    assert_eq!(world.acknowledge("b", &accept(0, 19)), Ok(()));
}

#[test]
fn a_lock_runs_out_and_a_renewed_one_later() {
    let mut world = World::begun(Policy::default());
    world.acquire("a", 10, WHOLE, &[found(0, 9)]);
    world.now_ms += 20_000;
    let renew = [ack(3, 4, AckType::Renew)];
    assert_eq!(world.acknowledge("a", &renew), Ok(()));
    assert_eq!(
        next_deadline(&world.waiting),
        Some(Duration::from_millis(31_000))
    );
    world.now_ms = 31_000;
    world.step(Input::Tick);
    let given = world.acquire("b", 10, WHOLE, &[found(0, 9)]);
    assert_eq!(shown(&given), "0-2 x2 5-9 x2");
    assert_eq!(world.waiting.held_count(), 10);
}

#[test]
fn a_lock_is_not_renewed_where_the_rules_forbid_it() {
    let mut world = World::begun(Policy {
        may_renew: false,
        ..Policy::default()
    });
    world.acquire("a", 10, WHOLE, &[found(0, 9)]);
    let renew = [ack(3, 4, AckType::Renew)];
    assert_eq!(
        world.acknowledge("a", &renew),
        Err(AckError::RenewalDisabled)
    );
}

#[test]
fn a_distance_of_a_billion_records_costs_nothing() {
    let mut world = World::begun(Policy::default());
    let far = 1_000_000_000_i64;
    world.acquire("a", 1, AcquireMode::RecordLimit, &[found(0, 9)]);
    world.acquire("b", 1, WHOLE, &[found(1, far)]);
    let done = [ack(1, far, AckType::Accept)];
    assert_eq!(world.acknowledge("b", &done), Ok(()));
    assert_eq!(world.ledger.runs(), 1);
    assert_eq!(world.ledger.start(), Some(Offset(0)));
    assert_eq!(world.ledger.delivery_complete_count(), far);
    let policy = world.policy.clone();
    let next = world.waiting.next_available(&world.ledger, &policy);
    assert_eq!(next, Some(Offset(far + 1)));
    assert_eq!(
        world.acknowledge("a", &[ack(0, 0, AckType::Accept)]),
        Ok(())
    );
    assert_eq!(world.ledger.start(), Some(Offset(far + 1)));
    assert_eq!(world.ledger.runs(), 0);
}

#[test]
fn a_full_window_gives_nothing_new_and_what_comes_back() {
    let policy = Policy {
        window: 4,
        ..Policy::default()
    };
    let mut world = World::begun(policy.clone());
    let log = [
        found(0, 0),
        found(1, 1),
        found(2, 2),
        found(3, 3),
        found(4, 4),
    ];
    assert_eq!(
        shown(&world.acquire("a", 9, AcquireMode::RecordLimit, &log)),
        "0-3 x1"
    );
    assert_eq!(world.waiting.next_available(&world.ledger, &policy), None);
    let release = [ack(2, 2, AckType::Release)];
    assert_eq!(world.acknowledge("a", &release), Ok(()));
    assert_eq!(
        world.waiting.next_available(&world.ledger, &policy),
        Some(Offset(2))
    );
    assert_eq!(shown(&world.acquire("b", 9, WHOLE, &log)), "2-2 x2");
    assert_eq!(
        world.acknowledge("a", &[ack(0, 0, AckType::Accept)]),
        Ok(())
    );
    assert_eq!(shown(&world.acquire("b", 9, WHOLE, &log)), "4-4 x1");
}

#[test]
fn a_key_is_held_by_one_and_what_is_not_due_waits() {
    let mut world = World::begun(Policy::default());
    let one = |offset: i64, key: u64, due: i64| Found {
        key: Some(key),
        due: Some(TimestampMs(due)),
        ..found(offset, offset)
    };
    let log = [
        one(0, 7, 0),
        one(1, 7, 0),
        one(2, 8, 9_000),
        one(3, 8, 0),
        one(4, 9, 0),
    ];
    assert_eq!(shown(&world.acquire("a", 9, WHOLE, &log)), "0-0 x1 4-4 x1");
    assert_eq!(shown(&world.acquire("b", 9, WHOLE, &log)), "");
    assert_eq!(
        world.acknowledge("a", &[ack(0, 0, AckType::Accept)]),
        Ok(())
    );
    world.now_ms = 9_000;
    // One of each key, in order.
    assert_eq!(shown(&world.acquire("b", 9, WHOLE, &log)), "1-1 x1 2-2 x1");
}

#[test]
fn retention_takes_what_nobody_was_done_with_and_it_is_counted() {
    let mut world = World::begun(Policy::default());
    world.acquire("a", 10, WHOLE, &[found(0, 9)]);
    let acks = [
        ack(0, 1, AckType::Accept),
        ack(5, 5, AckType::Accept),
        ack(8, 8, AckType::Release),
    ];
    assert_eq!(world.acknowledge("a", &acks), Ok(()));
    world.step(Input::LogStart(Offset(20)));
    // 8 had come back, and 10 to 19 were never delivered; 2 to 4, 6, 7 and 9 are still held, and 5 was done with.
    assert_eq!(world.lost, 11);
    assert_eq!(world.ledger.start(), Some(Offset(20)));
    assert_eq!(world.waiting.held_count(), 0);
}

#[test]
fn how_scattered_acknowledgements_may_be_is_bounded() {
    let mut world = World::begun(Policy::default());
    let last = 99_999;
    world.acquire("a", 1, WHOLE, &[found(0, last)]);
    let scattered = [AckRange {
        first: Offset(0),
        last: Offset(last),
        types: [AckType::Release, AckType::Accept].repeat(50_000),
    }];
    let refused = world.acknowledge("a", &scattered);
    assert!(matches!(refused, Err(AckError::Malformed(_))));
    assert_eq!(world.ledger.runs(), 0);
    let whole = [ack(0, last, AckType::Accept)];
    assert_eq!(world.acknowledge("a", &whole), Ok(()));
}

#[test]
fn a_delivery_to_a_member_that_goes_counts() {
    let mut world = World::begun(Policy {
        delivery_count_max: 2,
        ..Policy::default()
    });
    let given = world.acquire("a", 10, WHOLE, &[found(0, 9)]);
    assert_eq!(shown(&given), "0-9 x1");
    world.step(Input::Release { member: "a" });
    // The last attempt: bad records are found by ones.
    let given = world.acquire("a", 10, WHOLE, &[found(0, 9)]);
    assert_eq!(shown(&given), "0-0 x2");
    world.step(Input::Release { member: "a" });
    assert_eq!(world.given_up, 1);
}

#[test]
fn what_is_known_is_not_begun_anew_by_who_only_sees_to_it() {
    let mut world = World::begun(Policy::default());
    world.acquire("a", 10, WHOLE, &[found(0, 9)]);
    let before = world.ledger.clone();
    world.step(Input::EnsureInitialized { state_epoch: 9 });
    assert_eq!(world.ledger, before);
    assert_eq!(
        world.acknowledge("a", &[ack(0, 9, AckType::Accept)]),
        Ok(())
    );
}

#[test]
fn a_new_beginning_forgets_everything() {
    let mut world = World::begun(Policy::default());
    world.acquire("a", 10, WHOLE, &[found(0, 9)]);
    world.step(Input::Initialize {
        state_epoch: 2,
        start: Some(Offset(4)),
    });
    assert_eq!(world.ledger.start(), Some(Offset(4)));
    assert_eq!(world.ledger.state_epoch(), 2);
    assert_eq!(
        world.acknowledge("a", &[ack(5, 5, AckType::Accept)]),
        Err(AckError::NeverDelivered(Offset(5)))
    );
}

#[test]
fn records_of_nobody_are_skipped_by_name() {
    let check = |key: Option<&[u8]>, value: Option<&[u8]>, expected: &str| {
        let error = record_format::decode(key, value).unwrap_err();
        assert!(error.to_string().starts_with(expected), "{error}");
    };
    check(None, None, "record without a key");
    check(Some(b"\0\x09"), None, "key of kind 9");
    check(Some(b"\0\0\0"), None, "unreadable record");
    let update = |first, last, state| {
        let record = ShareRecord::Update(Update {
            batches: vec![StateBatch {
                first: Offset(first),
                last: Offset(last),
                is: RecordState {
                    state,
                    delivery_count: 1,
                },
            }],
            ..Update::default()
        });
        let (key, value) = record_format::encode(&key(), &record).unwrap();
        record_format::decode(Some(&key), value.as_deref())
    };
    assert!(update(3, 3, DeliveryState::Archived).is_ok());
    assert!(update(4, 3, DeliveryState::Archived).is_err());
    assert!(update(-1, 3, DeliveryState::Archived).is_err());
    assert!(update(0, i64::MAX, DeliveryState::Archived).is_err());
}
