use super::*;
use crate::error::ReadError;
use crate::read_plan::{AtOnce, ReadPlan};

/// A log of batches of three records, in several segments.
fn filled(fixture: &Fixture, batches: i64) -> Log {
    let mut log = fixture.create(&small());
    for i in 0..batches {
        let values = [0, 1, 2].map(|j| (i, format!("record {}", i * 3 + j)));
        let records = values.each_ref().map(|(ms, value)| (*ms, value.as_str()));
        send(&mut log, batch(&records)).unwrap();
    }
    log
}

#[test]
fn a_plan_holds_whole_batches_from_the_one_with_the_wanted_offset() {
    let fixture = Fixture::new();
    let log = filled(&fixture, 100);
    assert!(log.segment_count() > 2);
    let end = log.log_end_offset();
    for from in 0..end.get() {
        for max_bytes in [0, 200, 1000] {
            for below in [from + 1, from + 4, end.get()] {
                let below = Offset(below.min(end.get()));
                for min_one_batch in [false, true] {
                    let limit = ReadLimit {
                        max_bytes,
                        min_one_batch,
                        below,
                    };
                    let plan = log.read(Offset(from), limit).unwrap();
                    let mut records = Vec::new();
                    for bytes in plan.read().unwrap() {
                        values(&bytes, &mut records);
                    }
                    let Some((first, _)) = records.first() else {
                        assert!(
                            max_bytes < 200 && !min_one_batch || below.get() < from / 3 * 3 + 3
                        );
                        continue;
                    };
                    assert_eq!(*first, from / 3 * 3);
                    assert!(records.last().unwrap().0 < below.get());
                    assert_eq!(records.last().unwrap().0 + 1, plan.next_offset.get());
                    assert!(plan.bytes() <= max_bytes || (min_one_batch && records.len() == 3));
                    for (offset, value) in &records {
                        assert_eq!(*value, format!("record {offset}"));
                    }
                }
            }
        }
    }
}

#[test]
fn a_plan_is_as_long_as_the_limit_allows() {
    let fixture = Fixture::new();
    let log = filled(&fixture, 100);
    let limit = ReadLimit {
        max_bytes: 1000,
        min_one_batch: true,
        below: log.log_end_offset(),
    };
    let plan = log.read(Offset(0), limit).unwrap();
    let one = plan.bytes() / (plan.next_offset.get() as usize / 3);
    assert!(
        plan.bytes() + one + 6 > 1000,
        "{} of batches of {one}",
        plan.bytes()
    );
}

#[test]
fn offsets_outside_the_log_are_refused() {
    let fixture = Fixture::new();
    let mut log = filled(&fixture, 10);
    sync(&mut log).unwrap();
    log.delete_records_before(Offset(5)).unwrap();
    let limit = ReadLimit {
        max_bytes: 1000,
        min_one_batch: true,
        below: Offset(1000),
    };
    for offset in [-1, 4, 31] {
        let error = log.read(Offset(offset), limit).unwrap_err();
        assert!(
            matches!(error, ReadError::OffsetOutOfRange { .. }),
            "{error}"
        );
    }
    assert!(log.read(Offset(30), limit).unwrap().slices.is_empty());
    let plan = log.read(Offset(5), limit).unwrap();
    assert_eq!(plan.log_start_offset, Offset(5));
    let mut records = Vec::new();
    values(&plan.read().unwrap().concat(), &mut records);
    assert_eq!(records[0].0, 3, "the whole batch that holds the offset");
}

#[test]
fn a_plan_is_readable_after_its_segment_was_deleted() {
    let fixture = Fixture::new();
    let mut log = filled(&fixture, 100);
    sync(&mut log).unwrap();
    let limit = ReadLimit {
        max_bytes: 1000,
        min_one_batch: true,
        below: Offset(300),
    };
    let plan = log.read(Offset(0), limit).unwrap();
    log.delete_records_before(Offset(300)).unwrap();
    assert_eq!(log.segment_count(), 1);
    assert!(!plan.read().unwrap().concat().is_empty());
}

/// What a plan reads, as numbers.
fn outline(plan: &ReadPlan) -> (Offset, Vec<(u64, usize, Offset)>) {
    let slices = plan.slices.iter();
    let slices = slices.map(|s| (s.position, s.length, s.first_offset));
    (plan.next_offset, slices.collect())
}

#[test]
fn what_memory_says_and_what_a_search_finds_are_the_same() {
    let fixture = Fixture::new();
    let mut log = filled(&fixture, 40);
    let mut are_recent = 0;
    for round in 0..3 {
        let end = log.log_end_offset();
        for from in 0..end.get() {
            for max_bytes in [0, 200, 1000, 100_000] {
                for below in [from, from + 1, from + 4, end.get() - 1, end.get()] {
                    for min_one_batch in [false, true] {
                        let limit = ReadLimit {
                            max_bytes,
                            min_one_batch,
                            below: Offset(below.min(end.get())),
                        };
                        let searched = log.read_search(Offset(from), limit).unwrap();
                        let searched = searched.run().unwrap().unwrap();
                        let read = log.read(Offset(from), limit).unwrap();
                        assert_eq!(outline(&read), outline(&searched));
                        if let Some(recent) = log.read_recent(Offset(from), limit).unwrap() {
                            assert_eq!(outline(&recent), outline(&searched));
                            are_recent += recent.slices.len();
                        }
                    }
                }
            }
        }
        assert_eq!(
            are_recent == 0,
            round == 1,
            "a log that was opened knows none"
        );
        are_recent = 0;
        if round == 0 {
            log.close().unwrap();
            log = fixture.open_clean(&small(), 0);
        } else {
            send(&mut log, batch(&[(1, "more"), (2, "yet")])).unwrap();
        }
    }
}

#[test]
fn what_was_appended_is_sent_as_it_is_and_what_was_found_is_checked_first() {
    let fixture = Fixture::new();
    let mut log = filled(&fixture, 10);
    let all = |log: &Log| {
        let limit = ReadLimit {
            max_bytes: 1 << 20,
            min_one_batch: true,
            below: log.log_end_offset(),
        };
        let from = log.active().base_offset;
        log.read(from, limit).unwrap().slices.remove(0)
    };
    assert!(all(&log).is_ready());
    log.close().unwrap();
    log = fixture.open_clean(&small(), 0);
    assert!(!all(&log).is_ready());
    send(&mut log, batch(&[(1, "more")])).unwrap();
    assert!(!all(&log).is_ready());
    all(&log).load(&AtOnce).unwrap();
    assert!(all(&log).is_ready());
}

#[test]
fn a_damaged_batch_is_found_before_it_is_sent() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&LogConfig::default());
    let large = "x".repeat(400_000);
    for n in 0..3 {
        send(&mut log, batch(&[(n, &large)])).unwrap();
    }
    let limit = ReadLimit {
        max_bytes: 1 << 30,
        min_one_batch: true,
        below: log.log_end_offset(),
    };
    let slice = log.read(Offset(0), limit).unwrap().slices.remove(0);
    assert_eq!(slice.length as u64, log.size_bytes());
    slice.load(&AtOnce).unwrap();
    let length = slice.length as u64;
    for at in [0, 7, 16, 20, 30, 300_000, 450_000, length - 1] {
        let mut byte = [0];
        slice.file.read_exact_at(&mut byte, at).unwrap();
        slice.file.write_all_at(&[byte[0] ^ 4], at).unwrap();
        let error = slice.load(&AtOnce).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidData, "{at}");
        slice.file.write_all_at(&byte, at).unwrap();
    }
    slice.load(&AtOnce).unwrap();
    slice.file.set_len(length - 1).unwrap();
    let error = slice.load(&AtOnce).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::UnexpectedEof);
}
