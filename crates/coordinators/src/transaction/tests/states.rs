//! What each request is answered in each state, as Apache Kafka 4.4 answers it.

use super::world::*;
use crate::transaction::*;
use ClientVersion::{First, Second};
use fanlog_model::{ProducerEpoch, ProducerId};

fn name<T>(result: Result<T, TransactionError>) -> &'static str {
    match result {
        Ok(_) => "ok",
        Err(TransactionError::InvalidId { .. }) => "invalid id",
        Err(TransactionError::InvalidTimeout { .. }) => "invalid timeout",
        Err(TransactionError::ProducerIdMapping { .. }) => "mapping",
        Err(TransactionError::Fenced { .. }) => "fenced",
        Err(TransactionError::Concurrent { .. }) => "concurrent",
        Err(TransactionError::InvalidState { .. }) => "invalid state",
        Err(TransactionError::NotInTransaction { .. }) => "not in transaction",
        Err(TransactionError::NotFound { .. }) => "not found",
        Err(TransactionError::MemoryFull { .. }) => "memory",
        Err(TransactionError::NeedsProducerId) => "needs an id",
    }
}

/// A machine whose id stands in a state, and the producer that has it.
fn in_state(state: TransactionState, version: ClientVersion) -> (World, Producer) {
    let mut world = World::new();
    let producer = world.init("x");
    if state == TransactionState::Empty {
        return (world, producer);
    }
    world.add("x", producer, version, false).unwrap();
    let is_commit = match state {
        TransactionState::PrepareCommit | TransactionState::CompleteCommit => true,
        TransactionState::PrepareAbort | TransactionState::CompleteAbort => false,
        _ => return (world, producer),
    };
    if state.is_ending() {
        world.ask_end("x", producer, is_commit, version);
        return (world, producer);
    }
    let next = world.end("x", producer, is_commit, version).unwrap();
    (world, next)
}

fn end_in(state: TransactionState, version: ClientVersion, is_commit: bool) -> &'static str {
    let (mut world, producer) = in_state(state, version);
    let (_, answer) = world.ask_end("x", producer, is_commit, version);
    answer.map_or("ends", name)
}

#[test]
fn the_first_generation_ends_by_the_state_alone() {
    use TransactionState::*;
    for (state, commit, abort) in [
        (Empty, "invalid state", "invalid state"),
        (Ongoing, "ends", "ends"),
        (PrepareCommit, "concurrent", "invalid state"),
        (PrepareAbort, "invalid state", "concurrent"),
        (CompleteCommit, "ok", "invalid state"),
        (CompleteAbort, "invalid state", "ok"),
    ] {
        assert_eq!(end_in(state, First, true), commit, "commit in {state:?}");
        assert_eq!(end_in(state, First, false), abort, "abort in {state:?}");
    }
}

#[test]
fn the_second_generation_tells_a_repetition_from_a_new_request_by_the_epoch() {
    use TransactionState::*;
    for (state, commit, abort) in [
        (Empty, "invalid state", "ends"),
        (Ongoing, "ends", "ends"),
        // The producer of these is the one that asked, an epoch behind: it repeats itself.
        (PrepareCommit, "concurrent", "invalid state"),
        (PrepareAbort, "invalid state", "concurrent"),
        (CompleteCommit, "invalid state", "ends"),
        (CompleteAbort, "invalid state", "ends"),
    ] {
        assert_eq!(end_in(state, Second, true), commit, "commit in {state:?}");
        assert_eq!(end_in(state, Second, false), abort, "abort in {state:?}");
    }
    for (was_commit, is_commit, expected) in [
        (true, true, "ok"),
        (true, false, "invalid state"),
        (false, false, "ok"),
        (false, true, "invalid state"),
    ] {
        let mut world = World::new();
        let first = world.init("x");
        world.add("x", first, Second, false).unwrap();
        let next = world.end("x", first, was_commit, Second).unwrap();
        assert_eq!(next.epoch, ProducerEpoch(first.epoch.get() + 1));
        let (_, again) = world.ask_end("x", first, is_commit, Second);
        assert_eq!(name(again.clone().unwrap()), expected);
        if expected == "ok" {
            assert_eq!(again, Some(Ok(next)), "the answer that was lost");
        }
    }
}

#[test]
fn a_producer_that_comes_back_fences_the_one_before() {
    let mut world = World::new();
    let first = world.init("x");
    world.add("x", first, First, false).unwrap();
    // A transaction is under way: it is aborted first.
    let (again, timeout) = (world.try_init("x", 60_000, None), 60_000);
    assert_eq!(name(again), "concurrent");
    assert_eq!(world.state("x"), "PrepareAbort");
    assert_eq!(name(world.try_init("x", timeout, None)), "concurrent");
    assert_eq!(world.markers[0].producer, producer(first.id.get(), 1));
    world.write_markers();
    let second = world.init("x");
    assert_eq!(second, producer(first.id.get(), 2));
    assert_eq!(name(world.add("x", first, First, false)), "fenced");
    assert_eq!(name(world.end_now("x", first)), "fenced");
    assert_eq!(
        name(world.add("x", producer(7, 0), First, false)),
        "mapping"
    );
    assert_eq!(name(world.add("y", second, First, false)), "mapping");
}

#[test]
fn a_producer_that_says_what_it_is_goes_on_unless_another_came_in_between() {
    let mut world = World::new();
    let first = world.init("x");
    let second = world.try_init("x", 1, Some(first)).unwrap();
    assert_eq!(second, producer(first.id.get(), 1));
    // The answer was lost: it asks again as what it was.
    assert_eq!(world.try_init("x", 1, Some(first)), Ok(second));
    let third = world.try_init("x", 1, Some(second)).unwrap();
    assert_eq!(third.epoch, ProducerEpoch(2));
    world.init("x");
    assert_eq!(name(world.try_init("x", 1, Some(third))), "fenced");
    assert_eq!(name(world.try_init("x", 1, Some(producer(1, 0)))), "fenced");
}

#[test]
fn names_and_timeouts_are_bounded() {
    let mut world = World::new();
    assert_eq!(name(world.try_init("", 1, None)), "invalid id");
    let long = "x".repeat(TRANSACTIONAL_ID_BYTES_MAX + 1);
    assert_eq!(name(world.try_init(&long, 1, None)), "invalid id");
    for timeout in [0, -1, 900_001] {
        assert_eq!(name(world.try_init("x", timeout, None)), "invalid timeout");
    }
    world.settings.memory_bytes_max = 3_800;
    for i in 0..4 {
        world.init(&i.to_string());
    }
    assert_eq!(name(world.try_init("one more", 1, None)), "memory");
    let known = world.init("0");
    // What is known goes on.
    assert_eq!(name(world.add("0", known, First, false)), "ok");
}

#[test]
fn a_transaction_past_its_time_is_aborted_and_its_producer_fenced() {
    let mut world = World::new();
    let first = world.try_init("x", 5_000, None).unwrap();
    world.add("x", first, First, false).unwrap();
    world.pass(3_000);
    // Going on with it does not give it more time.
    let other = AddPartitions {
        call: crate::CallId(9_999),
        id: "x".into(),
        producer: first,
        partitions: vec![partition("t", 1)],
        verify_only: false,
        version: First,
    };
    world.hand_in(Input::AddPartitions(other));
    world.pass(1_999);
    assert_eq!(world.state("x"), "Ongoing");
    world.pass(1);
    assert_eq!(world.state("x"), "PrepareAbort");
    assert_eq!(world.markers[0].partitions.len(), 2);
    world.write_markers();
    assert_eq!(world.state("x"), "CompleteAbort");
    assert_eq!(name(world.end_now("x", first)), "fenced");
    assert_eq!(world.init("x"), producer(first.id.get(), 2));
}

#[test]
fn what_is_left_of_a_transactions_time_outlives_a_crash() {
    let mut world = World::new();
    let first = world.try_init("x", 5_000, None).unwrap();
    world.add("x", first, First, false).unwrap();
    world.pass(4_000);
    world.crash(usize::MAX);
    world.pass(999);
    assert_eq!(world.state("x"), "Ongoing");
    world.pass(1);
    assert_eq!(world.state("x"), "PrepareAbort");
}

#[test]
fn an_end_is_answered_without_its_markers_where_these_take_long() {
    let mut world = World::new();
    let first = world.init("x");
    world.add("x", first, Second, false).unwrap();
    let (call, answer) = world.ask_end("x", first, true, Second);
    assert_eq!(answer, None);
    world.pass(1_000);
    let next = producer(first.id.get(), 1);
    assert_eq!(world.ended(call), Some(Ok(next)));
    assert_eq!(name(world.add("x", next, Second, false)), "concurrent");
    world.write_markers();
    assert_eq!(name(world.add("x", next, Second, false)), "ok");
}

/// In the first generation the next transaction has the same producer and epoch, and perhaps the same outcome.
#[test]
fn markers_of_a_machine_that_was_dropped_complete_nothing() {
    let mut world = World::new();
    let first = world.init("x");
    world.add("x", first, First, false).unwrap();
    world.ask_end("x", first, true, First);
    let stale = world.markers.remove(0);
    world.crash(usize::MAX);
    world.written(&stale);
    assert_eq!(world.state("x"), "PrepareCommit");
    world.write_markers();
    assert_eq!(world.state("x"), "CompleteCommit");
    for is_commit in [true, false] {
        world.add("x", first, First, false).unwrap();
        world.ask_end("x", first, is_commit, First);
        let before = world.state("x");
        world.written(&stale);
        assert_eq!(world.state("x"), before);
        world.write_markers();
        assert_ne!(world.state("x"), before);
    }
}

#[test]
fn a_partition_is_part_of_a_transaction_only_while_it_is_under_way() {
    let mut world = World::new();
    let first = world.init("x");
    let missing = vec![partition("t", 0)];
    assert_eq!(world.add("x", first, First, true), Ok(missing.clone()));
    world.add("x", first, First, false).unwrap();
    assert_eq!(world.add("x", first, First, true), Ok(Vec::new()));
    world.ask_end("x", first, true, First);
    assert_eq!(name(world.add("x", first, First, true)), "concurrent");
    world.write_markers();
    assert_eq!(world.add("x", first, First, true), Ok(missing));
}

/// P25: one bump for each end, also of transactions without anything in them, up to the largest epoch and over it.
#[test]
fn epochs_rise_by_one_and_run_over_into_another_producer_id() {
    let mut world = World::new();
    let first = world.init("x");
    world.set_epoch("x", i16::MAX - 1_000);
    let first = producer(first.id.get(), i16::MAX - 1_000);
    let mut present = first;
    let mut ids = vec![first.id];
    for round in 0..3_000_i32 {
        let is_empty = round % 3 == 0;
        if !is_empty {
            world.log.clear();
            let known = world.ledger.get(&"x".into()).unwrap().clone();
            world.log.push(TransactionRecord::Transaction {
                id: "x".into(),
                transaction: known,
            });
            world.add("x", present, Second, false).unwrap();
        }
        let is_commit = round % 2 == 0 && !is_empty;
        let next = world.end("x", present, is_commit, Second).unwrap();
        if next.id == present.id {
            assert_eq!(next.epoch.get(), present.epoch.get() + 1);
        } else {
            assert_eq!((present.epoch.get(), next.epoch.get()), (i16::MAX - 1, 0));
            ids.push(next.id);
            // The answer may have been lost.
            let (_, again) = world.ask_end("x", present, is_commit, Second);
            assert_eq!(again, Some(Ok(next)));
        }
        present = next;
    }
    assert_eq!(ids.len(), 2);
}

#[test]
fn an_exhausted_producer_id_is_replaced_where_its_transaction_timed_out_too() {
    let mut world = World::new();
    let first = world.init("x");
    world.set_epoch("x", i16::MAX - 1);
    let last = producer(first.id.get(), i16::MAX - 1);
    world.add("x", last, First, false).unwrap();
    world.pass(60_000);
    // Only markers have the largest epoch.
    assert_eq!(world.markers[0].producer.epoch, ProducerEpoch(i16::MAX));
    world.write_markers();
    let next = world.try_init("x", 1, Some(last));
    assert_eq!(name(next), "fenced");
    let next = world.init("x");
    assert_ne!(next.id, last.id);
    assert_eq!(next.epoch, ProducerEpoch(0));
    assert_ne!(next.id, ProducerId::NONE);
}

/// The largest epoch is for markers alone: whoever names it was never given it.
#[test]
fn who_names_the_largest_epoch_is_fenced() {
    for version in [First, Second] {
        let mut world = World::new();
        let first = world.init("x");
        world.set_epoch("x", i16::MAX - 1);
        let last = producer(first.id.get(), i16::MAX - 1);
        world.add("x", last, version, false).unwrap();
        world.pass(60_000);
        world.write_markers();
        assert_eq!(world.state("x"), "CompleteAbort");
        let thief = producer(first.id.get(), i16::MAX);
        for asked in [First, Second] {
            for is_commit in [true, false] {
                let (_, answer) = world.ask_end("x", thief, is_commit, asked);
                assert_eq!(answer.map_or("ends", name), "fenced");
            }
            for verify_only in [true, false] {
                assert_eq!(name(world.add("x", thief, asked, verify_only)), "fenced");
            }
        }
        assert_eq!(world.state("x"), "CompleteAbort");
    }
}

/// Another broker may have logged it: its end is still found.
#[test]
fn a_transaction_under_the_largest_epoch_times_out() {
    let mut world = World::new();
    let first = world.init("x");
    world.add("x", first, First, false).unwrap();
    world.set_epoch("x", i16::MAX);
    world.crash(usize::MAX);
    world.pass(60_000);
    assert_eq!(world.state("x"), "PrepareAbort");
    assert_eq!(world.markers[0].producer.epoch, ProducerEpoch(i16::MAX));
    world.write_markers();
    let next = world.init("x");
    assert_ne!(next.id, first.id);
    assert_eq!(next.epoch, ProducerEpoch(0));
}

#[test]
fn ids_that_nobody_uses_go() {
    let mut world = World::new();
    let busy = world.init("busy");
    world.add("busy", busy, First, false).unwrap();
    world.init("idle");
    let week = 7 * 24 * 60 * 60 * 1000;
    world.pass(week / 2);
    world.init("late");
    world.pass(week / 2 + 60 * 60 * 1000);
    assert_eq!(world.state("idle"), "none");
    assert_eq!(world.state("late"), "Empty");
}

/// Many at once would hold up everybody else's transactions, and be one batch without bound.
#[test]
fn ids_go_a_few_at_a_time() {
    let mut world = World::new();
    let week = 7 * 24 * 60 * 60 * 1000;
    let ids: Vec<_> = (0..2_500).map(|i| format!("id-{i}")).collect();
    ids.iter().for_each(|id| world.put_idle(id));
    world.put_idle(&"x".repeat(TRANSACTIONAL_ID_BYTES_MAX));
    world.put_idle(&"y".repeat(TRANSACTIONAL_ID_BYTES_MAX));
    let used = world.init("used");
    world.crash(usize::MAX);
    world.now_ms = week + 60 * 60 * 1000;
    world.add("used", used, First, false).unwrap();
    let mut ticks = 0;
    while next_deadline(&world.waiting).is_some_and(|at| at <= world.now().monotonic) {
        let before = world.log.len();
        world.hand_in(Input::Tick);
        let records = &world.log[before..];
        assert!(records.len() <= 1_000, "{}", records.len());
        let bytes: usize = records.iter().map(key_bytes).sum();
        assert!(bytes <= 128 * 1024, "{bytes}");
        ticks += 1;
        if ticks == 2 {
            // Whoever comes in between is served, and stays.
            world.init("id-zzz");
        }
    }
    assert!((3..10).contains(&ticks), "{ticks}");
    let left: Vec<_> = world.ledger.all().map(|(id, _)| id.as_str()).collect();
    assert_eq!(left, ["id-zzz", "used"]);
    // The next look is an interval away.
    let next = next_deadline(&world.waiting).unwrap();
    assert!(next > world.now().monotonic);
}

fn key_bytes(record: &TransactionRecord) -> usize {
    record_format::encode(record).unwrap().key.len()
}

impl World {
    /// A name whose producer is gone, without the checks of every step.
    fn put_idle(&mut self, id: &str) {
        let template = self.ledger.all().next();
        let mut transaction = match template {
            Some((_, known)) => known.clone(),
            None => {
                self.init("template");
                self.ledger.get(&"template".into()).unwrap().clone()
            }
        };
        let count = i64::try_from(self.log.len()).unwrap();
        transaction.producer_id = ProducerId(1_000_000 + count);
        let id = TransactionalId::from(id);
        let record = TransactionRecord::Transaction { id, transaction };
        apply(&mut self.ledger, &record);
        self.log.push(record);
    }

    fn set_epoch(&mut self, id: &str, epoch: i16) {
        let id = TransactionalId::from(id);
        let mut transaction = self.ledger.get(&id).unwrap().clone();
        transaction.producer_epoch = ProducerEpoch(epoch);
        let record = TransactionRecord::Transaction { id, transaction };
        apply(&mut self.ledger, &record);
        self.log.push(record);
    }

    fn end_now(&mut self, id: &str, producer: Producer) -> Result<Producer, TransactionError> {
        let (_, answer) = self.ask_end(id, producer, true, First);
        answer.expect("it is refused")
    }
}
