//! Retention and what is held back from it.

use super::*;
use crate::types::RetentionHold;

/// All of it is too old. How many bytes each segment has, and where it ends.
fn expired() -> (Fixture, Log, Vec<(u64, Offset)>) {
    let fixture = Fixture::new();
    let config = LogConfig {
        retention_ms: 10_000,
        ..small()
    };
    let mut log = fixture.create(&config);
    for i in 0..300 {
        send(&mut log, batch(&[(i * 1000, "some value")])).unwrap();
    }
    sync(&mut log).unwrap();
    let ends = log.segments.iter().skip(1).map(|next| next.base_offset);
    let ends = ends.chain([log.log_end]);
    let sizes = log.segments.iter().map(|segment| segment.size);
    let segments: Vec<_> = sizes.zip(ends).collect();
    assert!(segments.len() > 3);
    (fixture, log, segments)
}

fn retain(log: &mut Log, from: i64, bytes_max: Option<u64>) -> (i64, u64) {
    let hold = RetentionHold {
        from: Offset(from),
        bytes_max,
    };
    let late = TimestampMs(NOW.get() + 10_000_000);
    let retained = log.start_retention(late, Some(hold)).unwrap();
    log.finish_removals().unwrap();
    assert_eq!(retained.log_start_offset, log.log_start_offset());
    (log.log_start_offset().get(), retained.held_bytes)
}

#[test]
fn retention_stops_at_the_segment_that_is_held() {
    let (fixture, mut log, segments) = expired();
    let all: u64 = segments.iter().map(|(size, _)| size).sum();
    assert_eq!(retain(&mut log, 0, None), (0, all));
    // The first record that is held is in the second segment.
    let (first_size, first_end) = segments[0];
    let held = all - first_size;
    assert_eq!(retain(&mut log, first_end.get() - 1, None), (0, all));
    assert_eq!(
        retain(&mut log, first_end.get(), None),
        (first_end.get(), held)
    );
    assert_eq!(
        retain(&mut log, first_end.get() + 1, None),
        (first_end.get(), held)
    );
    drop(log);
    fixture.disk.crash(1);
    let mut log = fixture.open(
        &LogConfig {
            retention_ms: 10_000,
            ..small()
        },
        1,
    );
    assert_eq!(log.log_start_offset(), first_end);
    // Nobody needs anything: all of it goes, as without a hold.
    assert_eq!(retain(&mut log, 300, None), (300, 0));
    assert_eq!(log.size_bytes(), 0);
}

#[test]
fn a_hold_ends_at_its_bytes_and_the_oldest_segments_go() {
    let (_fixture, mut log, segments) = expired();
    let held: u64 = segments[2..].iter().map(|(size, _)| size).sum();
    let start = segments[1].1.get();
    assert_eq!(retain(&mut log, 0, Some(held)), (start, held));
    assert_eq!(
        retain(&mut log, 0, Some(held)),
        (start, held),
        "and no more"
    );
    let less = held - segments[2].0;
    assert_eq!(
        retain(&mut log, 0, Some(held - 1)),
        (segments[2].1.get(), less)
    );
    assert_eq!(retain(&mut log, 0, Some(0)), (300, 0));
}

#[test]
fn a_hold_keeps_nothing_from_retention_by_size_that_it_does_not_need() {
    let fixture = Fixture::new();
    let config = LogConfig {
        retention_bytes: 5000,
        retention_ms: -1,
        ..small()
    };
    let mut log = fixture.create(&config);
    for i in 0..150 {
        send(&mut log, batch(&[(i, "some value")])).unwrap();
    }
    sync(&mut log).unwrap();
    let (start, held) = retain(&mut log, 0, None);
    assert_eq!(start, 0);
    assert!(held > 0 && held <= log.size_bytes() - 5000);
    let (start, held) = retain(&mut log, 150, None);
    assert!(start > 0);
    assert_eq!(held, 0);
}

/// A partition that is deleted from by hand is not held: somebody has said so.
#[test]
fn records_deleted_by_hand_go_whatever_is_held() {
    let (_fixture, mut log, segments) = expired();
    let start = segments[1].1;
    log.delete_records_before(start).unwrap();
    let held: u64 = segments[2..].iter().map(|(size, _)| size).sum();
    assert_eq!(retain(&mut log, 0, None), (start.get(), held));
}
