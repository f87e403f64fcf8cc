use super::*;
use fanlog_model::LeaderEpoch;
use fanlog_protocol::records::EndMarker;

fn batch(epoch: i16, sequence: i32, count: i32, base_offset: i64) -> BatchHeader {
    BatchHeader {
        base_offset: Offset(base_offset),
        last_offset: Offset(base_offset + i64::from(count) - 1),
        bytes: 100,
        leader_epoch: LeaderEpoch(0),
        crc: 0,
        is_transactional: false,
        is_control: false,
        max_timestamp: TimestampMs(1000 + base_offset),
        producer_id: ProducerId(7),
        producer_epoch: ProducerEpoch(epoch),
        base_sequence: sequence,
        last_offset_delta: count - 1,
        is_empty: false,
        marker: None,
    }
}

/// Appends as a log would, and says what came of it.
fn send(state: &mut ProducerState, epoch: i16, sequence: i32, count: i32, at: i64) -> String {
    let header = batch(epoch, sequence, count, at);
    match state.check(&header, None) {
        Ok(Verdict::New) => {
            state.apply(&header, header.max_timestamp);
            "new".into()
        }
        Ok(Verdict::Duplicate(original)) => format!("duplicate of {}", original.first_offset()),
        Err(AppendError::OutOfOrderSequence { expected, .. }) => format!("expected {expected}"),
        Err(AppendError::InvalidProducerEpoch { current, .. }) => format!("fenced by {current}"),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn the_last_five_batches_are_answered_as_duplicates() {
    let mut state = ProducerState::default();
    for i in 0..7 {
        assert_eq!(send(&mut state, 0, i * 3, 3, i64::from(i) * 3), "new");
    }
    for i in 2..7 {
        let expected = format!("duplicate of {}", i * 3);
        assert_eq!(send(&mut state, 0, i * 3, 3, 99), expected);
    }
    assert_eq!(send(&mut state, 0, 3, 3, 99), "expected 21", "forgotten");
    assert_eq!(
        send(&mut state, 0, 18, 2, 99),
        "expected 21",
        "another length"
    );
    assert_eq!(send(&mut state, 0, 24, 3, 99), "expected 21", "a gap");
}

#[test]
fn a_producer_without_state_begins_at_any_sequence() {
    let mut state = ProducerState::default();
    assert_eq!(send(&mut state, 3, 500, 2, 0), "new");
    assert_eq!(send(&mut state, 3, 502, 1, 2), "new");
    assert_eq!(state.expire(TimestampMs(1001)), 0);
    assert_eq!(state.expire(TimestampMs(1002)), 1);
    assert_eq!(send(&mut state, 3, 77, 1, 3), "new");
}

#[test]
fn a_higher_epoch_begins_at_zero_and_fences_the_lower() {
    let mut state = ProducerState::default();
    assert_eq!(send(&mut state, 1, 0, 4, 0), "new");
    assert_eq!(send(&mut state, 2, 4, 1, 4), "expected 0");
    assert_eq!(send(&mut state, 2, 0, 1, 4), "new");
    assert_eq!(send(&mut state, 1, 4, 1, 5), "fenced by 2");
    assert_eq!(send(&mut state, 2, 0, 1, 5), "duplicate of 4");
    assert_eq!(send(&mut state, 2, 1, 1, 5), "new");
}

#[test]
fn sequences_wrap_to_zero_within_and_between_batches() {
    let mut state = ProducerState::default();
    assert_eq!(send(&mut state, 0, i32::MAX - 1, 4, 0), "new");
    assert_eq!(send(&mut state, 0, i32::MAX - 1, 4, 9), "duplicate of 0");
    assert_eq!(send(&mut state, 0, 2, 3, 4), "new");
    assert_eq!(send(&mut state, 0, i32::MAX, 1, 9), "expected 5");
    let mut other = ProducerState::default();
    assert_eq!(send(&mut other, 0, i32::MAX, 1, 0), "new");
    assert_eq!(send(&mut other, 0, 0, 1, 1), "new");
}

#[test]
fn a_snapshot_keeps_all_remembered_batches() {
    let mut state = ProducerState::default();
    for i in 0..7 {
        send(&mut state, 0, i, 1, i.into());
    }
    let mut other = batch(4, 10, 2, 50);
    other.producer_id = ProducerId(3);
    other.is_transactional = true;
    state.apply(&other, other.max_timestamp);
    assert_eq!(state.first_unstable_offset(), Some(Offset(50)));
    let entries = state.to_snapshot();
    assert_eq!(entries.len(), 6);
    assert_eq!(ProducerState::from_snapshot(&entries), state);
    let mut marker = batch(4, -1, 1, 52);
    marker.producer_id = ProducerId(3);
    (marker.is_transactional, marker.is_control) = (true, true);
    marker.marker = Some(EndMarker {
        is_commit: false,
        coordinator_epoch: 9,
    });
    let ended = state.apply(&marker, marker.max_timestamp).unwrap();
    assert_eq!(ended.first_offset, Offset(50));
    assert_eq!(ended.last_stable_offset, Offset(53));
    assert!(ended.is_aborted);
    assert_eq!(state.first_unstable_offset(), None);
    assert_eq!(state.active()[0].last_sequence, 11);
}

/// One batch of each producer, in the order of their ids.
fn producers(state: &mut ProducerState, ids: std::ops::Range<i64>) {
    for id in ids {
        let header = BatchHeader {
            producer_id: ProducerId(id),
            ..batch(0, 0, 1, id)
        };
        state.apply(&header, header.max_timestamp);
    }
}

#[test]
fn of_too_many_producers_those_that_wrote_longest_ago_are_forgotten() {
    let mut state = ProducerState::default();
    let open = BatchHeader {
        is_transactional: true,
        producer_id: ProducerId(1),
        ..batch(0, 0, 1, 1)
    };
    state.apply(&open, open.max_timestamp);
    producers(&mut state, 2..200_000);
    assert!(state.producers.len() <= PRODUCERS_MAX);
    assert!(state.producers.contains_key(&ProducerId(199_999)));
    let newest = 200_000 - (PRODUCERS_MAX - FORGOTTEN_AT_ONCE) as i64;
    assert!(state.producers.contains_key(&ProducerId(newest + 1)));
    assert!(!state.producers.contains_key(&ProducerId(2)));
    assert_eq!(state.first_unstable_offset(), Some(Offset(1)));
    let reloaded = ProducerState::from_snapshot(&state.to_snapshot());
    assert_eq!(reloaded.first_unstable_offset(), Some(Offset(1)));
    let end = BatchHeader {
        is_control: true,
        marker: Some(EndMarker {
            is_commit: true,
            coordinator_epoch: 0,
        }),
        ..open
    };
    state.apply(&end, end.max_timestamp);
    assert_eq!(state.first_unstable_offset(), None);
}

fn marker(epoch: i16, at: i64, is_commit: bool, coordinator_epoch: i32) -> BatchHeader {
    BatchHeader {
        is_transactional: true,
        is_control: true,
        marker: Some(EndMarker {
            is_commit,
            coordinator_epoch,
        }),
        ..batch(epoch, -1, 1, at)
    }
}

fn in_transaction(epoch: i16, sequence: i32, at: i64) -> BatchHeader {
    BatchHeader {
        is_transactional: true,
        ..batch(epoch, sequence, 1, at)
    }
}

#[test]
fn a_batch_begins_a_transaction_only_where_it_was_allowed_since_the_last_marker() {
    let mut state = ProducerState::default();
    let first = in_transaction(0, 0, 0);
    let refused = |state: &ProducerState, header: &BatchHeader, at: Option<i64>| {
        matches!(
            state.check(header, at.map(Offset)),
            Err(AppendError::NotInTransaction { .. })
        )
    };
    assert!(refused(&state, &first, None));
    assert!(matches!(
        state.check(&first, Some(Offset(0))),
        Ok(Verdict::New)
    ));
    state.apply(&first, TimestampMs(1));
    // What goes on with it needs no leave; what is outside of it is refused.
    assert!(matches!(
        state.check(&in_transaction(0, 1, 1), None),
        Ok(Verdict::New)
    ));
    assert!(matches!(
        state.check(&batch(0, 1, 1, 1), None),
        Err(AppendError::OutsideTransaction { .. })
    ));
    // With a new epoch too: the transaction is open, and its marker would decide on the batch.
    assert!(matches!(
        state.check(&batch(1, 0, 1, 1), None),
        Err(AppendError::OutsideTransaction { .. })
    ));
    state.apply(&marker(0, 1, true, 3), TimestampMs(1));
    assert!(matches!(
        state.check(&batch(1, 0, 1, 2), None),
        Ok(Verdict::New)
    ));
    let next = in_transaction(0, 1, 2);
    assert!(refused(&state, &next, None));
    // It was on its way while the transaction ended (KIP-890).
    assert!(refused(&state, &next, Some(1)));
    assert!(matches!(
        state.check(&next, Some(Offset(2))),
        Ok(Verdict::New)
    ));
    // A duplicate of what was decided is still one.
    assert!(matches!(
        state.check(&first, None),
        Ok(Verdict::Duplicate(_))
    ));
}

#[test]
fn a_marker_fences_the_epochs_below_its_own_and_coordinators_that_led_before() {
    let mut state = ProducerState::default();
    state.apply(&in_transaction(4, 0, 0), TimestampMs(1));
    state.apply(&marker(5, 1, false, 3), TimestampMs(1));
    assert!(matches!(
        state.check(&in_transaction(4, 1, 2), Some(Offset(2))),
        Err(AppendError::InvalidProducerEpoch { .. })
    ));
    assert!(matches!(
        state.check(&in_transaction(5, 1, 2), Some(Offset(2))),
        Err(AppendError::OutOfOrderSequence { expected: 0, .. })
    ));
    assert!(
        state
            .check_coordinators(CoordinatorsBatch::of(&marker(5, 2, true, 3), false), None)
            .is_ok()
    );
    assert!(matches!(
        state.check_coordinators(CoordinatorsBatch::of(&marker(4, 2, true, 3), false), None),
        Err(AppendError::InvalidProducerEpoch { .. })
    ));
    assert!(matches!(
        state.check_coordinators(CoordinatorsBatch::of(&marker(5, 2, true, 2), false), None),
        Err(AppendError::CoordinatorFenced { .. })
    ));
}

#[test]
fn a_marker_of_the_second_generation_ends_no_transaction_of_its_own_epoch() {
    let mut state = ProducerState::default();
    let check = |state: &ProducerState, epoch, is_later| {
        let batch = CoordinatorsBatch::of(&marker(epoch, 1, false, 3), is_later);
        state.check_coordinators(batch, None).is_ok()
    };
    assert!(check(&state, 4, true), "of a producer that nobody knows");
    state.apply(&in_transaction(4, 0, 0), TimestampMs(1));
    assert!(!check(&state, 3, true) && !check(&state, 4, true));
    assert!(check(&state, 4, false), "of the first generation");
    assert!(check(&state, 5, true));
    state.apply(&marker(5, 1, false, 3), TimestampMs(1));
    assert!(check(&state, 5, true), "once more");
    // The next transaction, under the epoch that the marker gave: what comes late of the marker must not end it.
    state.apply(&in_transaction(5, 0, 2), TimestampMs(1));
    assert!(!check(&state, 5, true));
    assert!(check(&state, 6, true));
}
