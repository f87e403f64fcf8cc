//! Moves to another topic: once, whatever happens on the way.

use super::world::*;
use crate::queue::*;
use fanlog_model::{BaseSequence, Offset, ProducerEpoch, TimestampMs};
use std::time::Duration;

fn with_target() -> Policy {
    Policy {
        attempts_max: 1,
        target: Some(target(50)),
        ..policy()
    }
}

/// `offset@sequence` each.
fn pending(world: &World) -> String {
    let pending = moves(&world.ledger, 100);
    let each = |one: &PendingMove| format!("{}@{}", one.offset, one.sequence);
    pending.iter().map(each).collect::<Vec<_>>().join(" ")
}

#[test]
fn what_failed_too_often_is_moved_in_the_order_of_its_sequences() {
    let mut world = World::new(with_target(), plain(6));
    assert!(mover(&world.ledger).is_none());
    assert_eq!(world.receive("a", 6).len(), 6);
    let reason = "no such address";
    for offset in [4, 1, 2] {
        let outcome = Outcome::Nack {
            delay: None,
            reason,
        };
        assert_eq!(world.end(offset, outcome), Ok(Settled::Moving));
        assert!(world.last.as_ref().unwrap().has_moves);
    }
    assert_eq!(
        world.end(3, Outcome::Reject { reason }),
        Ok(Settled::Moving)
    );
    assert_eq!(pending(&world), "4@0 1@1 2@2 3@3");
    let first = &moves(&world.ledger, 1)[0];
    assert_eq!((first.attempts, &*first.history[0].reason), (1, reason));
    let by = mover(&world.ledger).unwrap();
    assert_eq!(
        (by.target, by.epoch, by.next_sequence),
        (target(50), ProducerEpoch(0), BaseSequence(4))
    );
    world.restart(0);
    assert_eq!(
        pending(&world),
        "4@0 1@1 2@2 3@3",
        "a crash changes nothing"
    );
    world.moved(1);
    assert_eq!(pending(&world), "2@2 3@3");
    world.moved(1);
    world.moved(9);
    assert_eq!(
        pending(&world),
        "2@2 3@3",
        "what was not asked for says nothing"
    );
    world.moved(3);
    assert_eq!((pending(&world).as_str(), world.counts.moved), ("", 4));
    assert_eq!(world.ack(0), Ok(Settled::Done));
    assert_eq!(world.ledger.start(), Offset(5));
    assert_eq!(world.nack(5), Ok(Settled::Moving));
    assert_eq!(pending(&world), "5@4");
}

#[test]
fn a_redrive_moves_what_nobody_holds() {
    let mut world = World::new(with_target(), plain(5));
    assert_eq!(world.take("a", 1), "0x1");
    let offsets = [0, 1, 3, 3].map(Offset);
    assert_eq!(
        world.taken(Input::Move(&offsets)),
        [false, true, true, false]
    );
    assert_eq!(world.taken(Input::Cancel(&[Offset(3)])), [false]);
    assert_eq!(world.take("a", 9), "2x1 4x1");
    assert_eq!(pending(&world), "1@0 3@1");
    world.policy.target = None;
    assert_eq!(world.taken(Input::Move(&[Offset(4)])), [false]);
}

#[test]
fn a_target_made_anew_is_filled_under_the_next_epoch() {
    let mut world = World::new(with_target(), plain(5));
    assert_eq!(world.receive("a", 5).len(), 5);
    for offset in [0, 1, 2] {
        world.nack(offset).unwrap();
    }
    world.moved(0);
    world.policy.target = Some(target(51));
    world.nack(3).unwrap();
    assert_eq!(
        pending(&world),
        "1@1 2@2 3@3",
        "to the old one, while something is on its way there"
    );
    world.renumber(None);
    assert_eq!(pending(&world), "1@0 2@1 3@2");
    let by = mover(&world.ledger).unwrap();
    assert_eq!(
        (by.target, by.epoch, by.needs_renumber),
        (target(51), ProducerEpoch(1), false)
    );
    world.renumber(Some(0));
    assert_eq!(pending(&world), "2@0 3@1", "one was there");
    assert_eq!(mover(&world.ledger).unwrap().epoch, ProducerEpoch(2));
    world.moved(1);
    world.policy.target = Some(target(52));
    world.nack(4).unwrap();
    let by = mover(&world.ledger).unwrap();
    assert_eq!(
        (by.target, by.epoch),
        (target(52), ProducerEpoch(3)),
        "nothing was on its way"
    );
    assert_eq!(pending(&world), "4@0");
    assert_eq!(world.counts.moved, 4);
}

#[test]
fn another_partition_of_the_same_target_is_not_taken() {
    let mut world = World::new(with_target(), plain(2));
    assert_eq!(world.take("a", 2), "0x1 1x1");
    world.nack(0).unwrap();
    world.moved(0);
    let mut other = target(50);
    other.partition.0 = 4;
    world.policy.target = Some(other);
    world.nack(1).unwrap();
    assert_eq!(mover(&world.ledger).unwrap().target, target(50));
    assert_eq!(pending(&world), "1@1");
}

#[test]
fn a_move_that_the_log_lost_leaves_a_hole_that_is_closed() {
    let mut world = World::new(with_target(), plain(6));
    assert_eq!(world.receive("a", 6).len(), 6);
    for offset in [3, 0, 4] {
        world.nack(offset).unwrap();
    }
    world.step(Input::LogStart(Offset(2)));
    assert_eq!(
        (pending(&world).as_str(), world.counts.lost),
        ("3@0 4@2", 2)
    );
    assert!(mover(&world.ledger).unwrap().needs_renumber);
    world.renumber(Some(0));
    assert_eq!(pending(&world), "4@0");
    assert!(!mover(&world.ledger).unwrap().needs_renumber);
    world.step(Input::LogStart(Offset(5)));
    assert_eq!(pending(&world), "");
    world.nack(5).unwrap();
    assert_eq!(pending(&world), "5@0");
    let by = mover(&world.ledger).unwrap();
    assert_eq!(
        (by.epoch, by.needs_renumber),
        (ProducerEpoch(2), false),
        "its end was lost"
    );
}

#[test]
fn a_rejected_record_and_the_last_attempt_by_time_are_moved_too() {
    let mut world = World::new(with_target(), plain(2));
    assert_eq!(world.take("a", 2), "0x1 1x1");
    world.pass(LOCK_MS);
    assert_eq!(pending(&world), "0@0 1@1");
    assert!(world.last.as_ref().unwrap().has_moves);
    let lock = history(&world.ledger, Offset(0));
    assert_eq!(&*lock[0].reason, "the lock ran out");
    world.policy.lock = Duration::from_secs(9);
    assert_eq!(world.take("b", 2), "");
}

#[test]
fn sequences_go_on_at_zero_after_the_largest() {
    let mut world = World::new(with_target(), plain(4));
    let head = Head {
        row: MoveRow {
            target: Some(target(50)),
            next: (1 << 31) - 1,
            ..MoveRow::default()
        },
        moved_below: (1 << 31) - 1,
        ..*world.ledger.head()
    };
    let piece = SnapshotPiece {
        count: 1,
        head: Some(head),
        ..SnapshotPiece::default()
    };
    apply(&mut world.ledger, &QueueRecord::Snapshot(piece.clone()));
    world.log.push(QueueRecord::Snapshot(piece));
    assert_eq!(world.receive("a", 3).len(), 3);
    for offset in [0, 1, 2] {
        world.nack(offset).unwrap();
    }
    assert_eq!(pending(&world), "0@2147483647 1@0 2@1");
    world.moved(0);
    assert_eq!(pending(&world), "2@1");
}

#[test]
fn a_word_about_an_earlier_row_says_nothing_of_this_one() {
    let mut world = World::new(with_target(), plain(3));
    assert_eq!(world.receive("a", 3).len(), 3);
    world.nack(0).unwrap();
    let row = world.row();
    // While its copy is appended the log loses it, and the next one begins another row.
    world.step(Input::LogStart(Offset(1)));
    world.nack(1).unwrap();
    assert_ne!(world.row(), row);
    world.step(Input::Moved { row, through: 0 });
    assert_eq!((pending(&world).as_str(), world.counts.moved), ("1@0", 0));
    let through = Some(0);
    world.step(Input::Renumber { row, through });
    assert_eq!((pending(&world).as_str(), world.counts.moved), ("1@0", 0));
    world.moved(0);
    assert_eq!((pending(&world).as_str(), world.counts.moved), ("", 1));
}

#[test]
fn a_word_about_a_row_of_an_earlier_queue_of_the_name_says_nothing() {
    let mut world = World::new(with_target(), plain(2));
    assert_eq!(world.receive("a", 1).len(), 1);
    world.nack(0).unwrap();
    let row = world.row();
    world.step(Input::Initialize {
        incarnation: uuid::Uuid::from_u128(2),
        start: Offset(0),
        producer: fanlog_model::ProducerId(78),
    });
    assert_eq!(world.receive("a", 2).len(), 2);
    world.nack(1).unwrap();
    world.step(Input::Moved { row, through: 0 });
    assert_eq!((pending(&world).as_str(), world.counts.moved), ("1@0", 0));
}

#[test]
fn what_is_withdrawn_goes_by_its_own_bound_and_not_by_whether_memory_is_full() {
    let mut world = World::new(with_target(), plain(9));
    world.policy.tracked_max = 0;
    let taken = |world: &mut World, input: Input<'_>| match world.step(input) {
        Reply::Taken(taken) => taken[0],
        other => panic!("{other:?}"),
    };
    assert_eq!(taken(&mut world, Input::Cancel(&[Offset(2)])), Taken::Taken);
    assert_eq!(taken(&mut world, Input::Move(&[Offset(4)])), Taken::Taken);
    assert_eq!(taken(&mut world, Input::Move(&[Offset(2)])), Taken::Over);
    world.policy.scattered_max = world.ledger.runs();
    assert_eq!(
        taken(&mut world, Input::Cancel(&[Offset(6)])),
        Taken::NoRoom
    );
    assert_eq!(taken(&mut world, Input::Move(&[Offset(6)])), Taken::NoRoom);
    assert_eq!(taken(&mut world, Input::Cancel(&[Offset(4)])), Taken::Over);
    world.policy.target = None;
    assert_eq!(
        taken(&mut world, Input::Move(&[Offset(6)])),
        Taken::NoTarget
    );
}

fn send(world: &mut World, offsets: &[i64], to: u128) -> Vec<Taken> {
    let offsets: Vec<_> = offsets.iter().map(|offset| Offset(*offset)).collect();
    let target = target(to);
    match world.step(Input::Send {
        offsets: &offsets,
        target,
    }) {
        Reply::Taken(taken) => taken,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_sent_goes_to_one_target_at_a_time() {
    let lock = Duration::from_secs(60);
    let mut world = World::new(
        Policy {
            lock,
            ..with_target()
        },
        plain(7),
    );
    assert_eq!(world.take("a", 2), "0x1 1x1");
    let taken = send(&mut world, &[0, 2, 3], 60);
    assert_eq!(taken, [Taken::Over, Taken::Taken, Taken::Taken]);
    let by = mover(&world.ledger).unwrap();
    assert!(by.is_sent && by.target == target(60));
    assert_eq!(send(&mut world, &[4], 61), [Taken::Busy]);
    assert_eq!(send(&mut world, &[4], 60), [Taken::Taken]);
    // What fails meanwhile waits for its own row.
    let due = TimestampMs(world.wall_ms + 1_000);
    assert_eq!(world.nack(0), Ok(Settled::Again(due)));
    assert_eq!(pending(&world), "2@0 3@1 4@2");
    world.restart(0);
    assert!(mover(&world.ledger).unwrap().is_sent);
    world.pass(1_000);
    assert_eq!(world.take("a", 9), "5x1 6x1", "it had its attempt");
    assert_eq!(pending(&world), "2@0 3@1 4@2");
    world.moved(2);
    world.pass(1_000);
    assert_eq!(world.take("a", 9), "");
    assert!(!mover(&world.ledger).unwrap().is_sent);
    assert_eq!(pending(&world), "0@0");
    assert_eq!(send(&mut world, &[5], 61), [Taken::Over], "it is held");
    world.release(5).unwrap();
    assert_eq!(send(&mut world, &[5], 61), [Taken::Busy]);
    world.moved(0);
    assert_eq!(send(&mut world, &[5], 61), [Taken::Taken]);
    assert_eq!(world.counts.moved, 4);
}

#[test]
fn what_was_sent_to_a_topic_that_is_gone_comes_again() {
    let mut world = World::new(keyed(with_target()), with_keys("AAB"));
    assert_eq!(send(&mut world, &[0, 2], 60), [Taken::Taken; 2]);
    assert_eq!(world.take("a", 9), "1x1");
    let row = world.row();
    world.step(Input::Recall { row });
    assert!(world.last.as_ref().unwrap().has_freed);
    assert!(
        world.ack(1).is_err(),
        "it came back behind the first of its key"
    );
    assert_eq!(world.take("b", 9), "0x1 1x1 2x1");
    world.step(Input::Recall { row });
    assert_eq!(world.nack(0), Ok(Settled::Moving));
    let by = mover(&world.ledger).unwrap();
    assert!(!by.is_sent && !by.needs_renumber);
    // Letters of the queue's own are not recalled.
    let row = by.row();
    world.step(Input::Recall { row });
    assert_eq!(pending(&world), "0@0");
}

#[test]
fn a_record_that_had_more_attempts_than_it_may_have_now_is_not_tried_again() {
    let mut world = World::new(
        Policy {
            attempts_max: 9,
            ..with_target()
        },
        plain(2),
    );
    assert_eq!(world.take("a", 9), "0x1 1x1");
    world.nack(0).unwrap();
    world.policy.attempts_max = 1;
    assert_eq!(world.take("a", 9), "");
    assert_eq!(pending(&world), "0@0");
}

#[test]
fn rejections_that_have_to_wait_for_a_row_still_count_together() {
    let mut world = World::new(
        keyed(Policy {
            attempts_max: 9,
            ..with_target()
        }),
        with_keys("AA-"),
    );
    let given = world.receive("a", 2);
    assert_eq!(send(&mut world, &[2], 60), [Taken::Taken]);
    let reject = Outcome::Reject { reason: "never" };
    let items = [item(&given[0], reject), item(&given[1], reject)];
    let settled = world.settle_as(&items, true);
    assert!(
        settled
            .iter()
            .all(|one| matches!(one, Ok(Settled::Again(_)))),
        "{settled:?}"
    );
    world.moved(0);
    world.pass(1_000);
    assert_eq!(world.take("b", 9), "0x2 1x1");
}
