//! The log: what it says is the state, each prefix of it is legal, and hand-overs that it lost are never mistaken for new ones.

use super::world::*;
use crate::queue::*;
use crate::share::ShareKey;
use fanlog_model::{Offset, ProducerId};
use proptest::prelude::*;
use uuid::Uuid;

#[test]
fn a_receipt_from_a_lost_hand_over_fits_no_new_one() {
    let mut world = World::new(policy(), plain(3));
    let before = world.log.len();
    let lost = world.receive("a", 3);
    for _ in 0..3 {
        // Each life loses all that it has logged, and begins later.
        world.wall_ms += 1;
        world.restart(world.log.len() - before);
        let given = world.receive("b", 3);
        assert_eq!(given.len(), 3);
        let stale: Vec<_> = lost.iter().map(|grant| item(grant, Outcome::Ack)).collect();
        assert!(world.settle(&stale).iter().all(Result::is_err));
    }
}

#[test]
fn hand_overs_have_new_numbers_though_the_wall_clock_went_back() {
    let mut world = World::new(policy(), plain(3));
    let lost = world.receive("a", 1);
    let before = world.log.len();
    world.wall_ms = 0;
    world.restart(1);
    for _ in 0..3 {
        world.receive("b", 3);
        let stale = world.settle(&[item(&lost[0], Outcome::Ack)]);
        assert!(stale[0].is_err());
        // What the start of this life has logged is there; what it has handed out is not.
        world.restart(world.log.len() - before);
    }
}

#[test]
fn a_snapshot_of_which_pieces_are_missing_counts_for_nothing() {
    let attempts_max = 0;
    let mut world = World::new(
        Policy {
            attempts_max,
            updates_per_snapshot: 1 << 30,
            ..policy()
        },
        plain(9000),
    );
    world.found_max = 9000;
    world.receive("a", 9000);
    let reason = "x".repeat(256);
    let grants: Vec<_> = (0..9000).filter(|at| at % 2 == 0).collect();
    for some in grants.chunks(1000) {
        let items: Vec<_> = some
            .iter()
            .map(|at| Settle {
                offset: Offset(*at),
                claim: Claim::Consumer("a"),
                outcome: Outcome::Nack {
                    delay: None,
                    reason: &reason,
                },
            })
            .collect();
        world.settle(&items);
    }
    let pieces = snapshot(&world.ledger);
    assert!(pieces.len() > 3);
    assert!(pieces[0].begins_snapshot() && !pieces[1].begins_snapshot());
    for piece in &pieces {
        let (_, value) = record_format::encode(&key(), piece);
        assert!(value.unwrap().len() <= 256 << 10);
    }
    let mut whole = Ledger::default();
    pieces.iter().for_each(|piece| apply(&mut whole, piece));
    assert_eq!(whole.states, world.ledger.states);
    assert_eq!(whole.histories, world.ledger.histories);
    let mut fresh = World::new(policy(), plain(9));
    let before = fresh.ledger.clone();
    for piece in &pieces[..pieces.len() - 1] {
        apply(&mut fresh.ledger, piece);
    }
    assert_eq!(fresh.take("a", 1), "0x1", "the machine is as it was");
    let mut without_second = before.clone();
    for piece in pieces.iter().take(1).chain(&pieces[2..]) {
        apply(&mut without_second, piece);
    }
    assert_eq!(without_second, before);
}

#[test]
fn a_new_queue_of_the_name_knows_nothing_of_the_old_one() {
    let mut world = World::new(policy(), plain(3));
    let old = world.receive("a", 3);
    world.ack(0).unwrap();
    world.step(Input::Initialize {
        incarnation: Uuid::from_u128(2),
        start: Offset(0),
        producer: ProducerId(78),
    });
    let new = world.receive("a", 3);
    assert_eq!(new.len(), 3);
    let stale: Vec<_> = old.iter().map(|grant| item(grant, Outcome::Ack)).collect();
    assert!(world.settle(&stale).iter().all(Result::is_err));
    apply(&mut world.ledger, &QueueRecord::Deleted);
    world.waiting = Waiting::default();
    assert_eq!(world.take("a", 3), "");
    assert_eq!(world.ack(1), Err(SettleError::NotHeld(Offset(1))));
    assert_eq!(world.taken(Input::Cancel(&[Offset(1)])), [false]);
}

fn held() -> impl Strategy<Value = Held> {
    (
        1..u16::MAX,
        any::<u32>(),
        any::<u64>(),
        any::<i64>(),
        any::<u32>(),
        any::<u64>(),
        any::<bool>(),
        proptest::option::of(any::<i64>()),
    )
        .prop_map(
            |(attempts, consumer, grant, until, lock_ms, key, is_cancelled, given)| Held {
                attempts,
                consumer,
                grant,
                until: until.into(),
                lock_ms,
                given: given.unwrap_or(until.saturating_sub(lock_ms.into())).into(),
                key: std::num::NonZeroU64::new(key),
                is_cancelled,
            },
        )
}

fn to() -> impl Strategy<Value = To> {
    prop_oneof![
        Just(To::State(State::Fresh)),
        (any::<u16>(), any::<i64>()).prop_map(|(attempts, due)| To::State(State::Resting {
            attempts,
            due: due.into()
        })),
        held().prop_map(|held| To::State(State::Held(held))),
        (any::<u16>(), any::<u64>())
            .prop_map(|(attempts, number)| To::State(State::Moving { attempts, number })),
        prop_oneof![
            Just(Why::Acknowledged),
            Just(Why::GivenUp),
            Just(Why::Moved),
            Just(Why::Filtered),
            Just(Why::Gap),
            Just(Why::Cancelled),
        ]
        .prop_map(To::Done),
    ]
}

fn update() -> impl Strategy<Value = Update> {
    let offset = || (0..i64::MAX).prop_map(Offset);
    let row = (
        proptest::option::of(any::<u128>()),
        any::<i16>(),
        any::<[u32; 2]>(),
        any::<bool>(),
    );
    let row = row.prop_map(|(topic, epoch, [base, more], is_sent)| MoveRow {
        target: topic.map(target),
        is_sent: is_sent && topic.is_some(),
        epoch: epoch.into(),
        base: base.into(),
        next: u64::from(base) + u64::from(more),
    });
    let first = proptest::option::of(any::<i64>());
    let attempt = (any::<i64>(), any::<u16>(), ".{0,9}", ".{0,9}", first);
    let attempt = attempt.prop_map(|(at, attempt, consumer, reason, first)| Attempt {
        at: at.into(),
        attempt,
        consumer: consumer.into(),
        reason: reason.into(),
        first_given: first.map(Into::into),
    });
    let changes = proptest::collection::vec((0..1_000_000_i64, 0..99_i64, to()), 0..9);
    let changes = changes.prop_map(|all| {
        let mut from = 0;
        let change = |(further, more, to): (i64, i64, To)| {
            let first = Offset(from + further);
            let last = first.plus(more);
            from = last.0 + 1;
            Change { first, last, to }
        };
        all.into_iter().map(change).collect()
    });
    let consumer = (any::<u32>(), ".{0,9}").prop_map(|(number, name)| (number, name.into()));
    (
        proptest::option::of(offset()),
        proptest::option::of(any::<u64>()),
        proptest::option::of(any::<u64>()),
        proptest::option::of(row),
        proptest::collection::vec(consumer, 0..4),
        any::<u64>(),
        proptest::collection::vec((offset(), attempt), 0..4),
        changes,
    )
        .prop_map(
            |(log_start, next_grant, moved_below, row, consumers, failed, failures, changes)| {
                Update {
                    log_start,
                    next_grant,
                    moved_below,
                    row,
                    consumers,
                    failed,
                    failures,
                    changes,
                }
            },
        )
}

proptest! {
    #[test]
    fn what_is_written_is_read_and_nothing_less(update in update(), cut in any::<prop::sample::Index>()) {
        let record = QueueRecord::Update(update);
        let (key_bytes, value) = record_format::encode(&key(), &record);
        let value = value.unwrap();
        let read = record_format::decode(Some(&key_bytes), Some(&value));
        prop_assert_eq!(read, Ok(Some((key(), record))));
        let cut = cut.index(value.len());
        prop_assert!(record_format::decode(Some(&key_bytes), Some(&value[..cut])).is_err());
        let cut = cut.min(key_bytes.len() - 1);
        prop_assert!(record_format::decode(Some(&key_bytes[..cut]), None).is_err());
        let longer = [&value[..], &[0]].concat();
        prop_assert!(record_format::decode(Some(&key_bytes), Some(&longer)).is_err());
    }

    #[test]
    fn no_bytes_make_it_panic(value in proptest::collection::vec(any::<u8>(), 0..200), kind in 0..4_u8) {
        let (mut key_bytes, _) = record_format::encode(&key(), &QueueRecord::Deleted);
        key_bytes[0] = kind;
        let mut versioned = vec![1];
        versioned.extend(value);
        let _ = record_format::decode(Some(&key_bytes), Some(&versioned));
        let _ = record_format::decode(Some(&versioned), None);
    }

    #[test]
    fn updates_that_this_program_never_wrote_make_no_panic(updates in proptest::collection::vec(update(), 1..6)) {
        let mut ledger = World::new(policy(), vec![]).ledger;
        for update in updates {
            apply(&mut ledger, &QueueRecord::Update(update));
        }
        let _ = (snapshot(&ledger), moves(&ledger, 9), mover(&ledger));
    }
}

#[test]
fn the_bytes_of_a_record_stay_as_they_are() {
    let record = QueueRecord::Update(Update {
        consumers: vec![(3, "c".into())],
        failed: 1,
        changes: vec![
            Change {
                first: Offset(300),
                last: Offset(301),
                to: To::State(State::Held(Held {
                    attempts: 1,
                    consumer: 3,
                    grant: 5,
                    until: 1_000.into(),
                    lock_ms: 200,
                    given: 800.into(),
                    key: std::num::NonZeroU64::new(1),
                    is_cancelled: false,
                })),
            },
            Change {
                first: Offset(303),
                last: Offset(303),
                to: To::Done(Why::Acknowledged),
            },
        ],
        ..Update::default()
    });
    let short = ShareKey {
        group: "g".into(),
        topic: fanlog_model::TopicId(Uuid::from_u128(2)),
        partition: 1.into(),
    };
    let (key, value) = record_format::encode(&short, &record);
    let id = "000000000000000000000000000000";
    assert_eq!(
        hex(&key),
        format!("02 01 67 {id} 02 00000001").replace(' ', "")
    );
    let held = "02 01 01 03 05 d00f c801 0000000000000001";
    let expected = format!("01 00 01 01 03 01 63 00 02 ac02 01 {held} 01 00 05");
    assert_eq!(hex(&value.unwrap()), expected.replace(' ', ""));
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
