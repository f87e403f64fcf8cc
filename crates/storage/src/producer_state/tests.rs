use super::*;
use fanlog_model::LeaderEpoch;

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
    }
}

/// Appends as a log would, and says what came of it.
fn send(state: &mut ProducerState, epoch: i16, sequence: i32, count: i32, at: i64) -> String {
    let header = batch(epoch, sequence, count, at);
    match state.check(&header) {
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
    state.apply(&marker, marker.max_timestamp);
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
        ..open
    };
    state.apply(&end, end.max_timestamp);
    assert_eq!(state.first_unstable_offset(), None);
}
