//! What damage, a full disk, or a change in the meantime does to a cleaning.

use super::compaction::{all, clean, clean_with, compacted, memory, put_keyed, seal, some, swap};
use super::*;
use crate::compaction::CleanError;
use crate::error::ChangeError;

#[test]
fn a_damaged_segment_stops_the_cleaning_and_nothing_goes() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&compacted());
    for i in 0..20 {
        put_keyed(&mut log, &[("a", Some(&format!("{i}")))]);
    }
    seal(&mut log);
    let path = log.segments[1].log_path();
    fixture.disk.corrupt(&path, 70, &[1]).unwrap();
    let before = fixture.disk.live_files();
    let error = clean_with(&mut log, NOW, memory()).unwrap_err();
    assert!(
        matches!(&error, CleanError::Corrupt { path: at, .. } if *at == path),
        "{error}"
    );
    assert!(!error.may_pass());
    assert_eq!(fixture.disk.live_files(), before);
    assert!(log.failure().is_none());
    fixture.disk.corrupt(&path, 70, &[1]).unwrap();
    clean(&mut log);
    assert_eq!(all(&log), [some(19, "a", "19")]);
}

#[test]
fn what_retention_takes_meanwhile_is_not_brought_back() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&compacted());
    for i in 0..20 {
        put_keyed(&mut log, &[("a", Some(&format!("{i}")))]);
    }
    seal(&mut log);
    let mut cleaning = log.begin_cleaning(NOW, memory()).unwrap().unwrap();
    let second = log.segments[1].base_offset;
    let mut installs = 0;
    let result = cleaning.run(&mut |_| true, &mut |cleaned| {
        installs += 1;
        log.delete_records_before(second).unwrap();
        swap(&mut log, cleaned)
    });
    assert!(matches!(result, Err(CleanError::Overtaken)));
    assert_eq!(installs, 1);
    log.finish_cleaning(&cleaning);
    assert_eq!(all(&log).len() as i64, 20 - second.get());
    assert!(clean(&mut log).records_removed > 0);
    drop(log);
    assert_eq!(all(&fixture.open(&compacted(), 1)), [some(19, "a", "19")]);
}

#[test]
fn what_is_deleted_while_a_swap_is_decided_goes_behind_it() {
    for crashes in [false, true] {
        let fixture = Fixture::new();
        let mut log = fixture.create(&compacted());
        for i in 0..20 {
            put_keyed(&mut log, &[("a", Some(&format!("{i}")))]);
        }
        seal(&mut log);
        let mut cleaning = log.begin_cleaning(NOW, memory()).unwrap().unwrap();
        let mut is_first = true;
        let result = cleaning.run(&mut |_| true, &mut |cleaned| {
            let begun = log.begin_swap(cleaned)?;
            let decided = begun.decide();
            if std::mem::take(&mut is_first) {
                let segments = log.segments.len();
                log.delete_records_before(Offset(19)).unwrap();
                assert_eq!(log.segments.len(), segments, "they are being replaced");
                if crashes {
                    return Err(CleanError::Interrupted);
                }
            }
            log.install_cleaned(cleaned, &begun, decided)
        });
        assert_eq!(result.is_err(), crashes);
        if !crashes {
            log.finish_cleaning(&cleaning);
            log.apply_retention(NOW).unwrap();
            assert_eq!(all(&log), [some(19, "a", "19")]);
        }
        drop(log);
        let log = fixture.open(&compacted(), 1);
        assert_eq!(log.log_start_offset(), Offset(19));
        assert_eq!(all(&log), [some(19, "a", "19")]);
    }
}

#[test]
fn a_cleaning_that_is_stopped_leaves_the_log_as_it_is_so_far() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&compacted());
    for i in 0..20 {
        put_keyed(&mut log, &[("a", Some(&format!("{i}")))]);
    }
    seal(&mut log);
    for allowed in 0.. {
        let Some(mut cleaning) = log.begin_cleaning(NOW, memory()).unwrap() else {
            break;
        };
        assert!(
            log.begin_cleaning(NOW, memory()).unwrap().is_none(),
            "one at a time"
        );
        let busy = log.truncate_to(Offset(1)).unwrap_err();
        assert!(matches!(busy, ChangeError::Io { .. }), "{busy}");
        let mut steps = 0;
        let mut pace = |_| {
            steps += 1;
            steps <= allowed
        };
        let result = cleaning.run(&mut pace, &mut |cleaned| swap(&mut log, cleaned));
        log.finish_cleaning(&cleaning);
        assert!(result.is_ok() || matches!(result, Err(CleanError::Interrupted)));
        assert_eq!(all(&log).last(), Some(&some(19, "a", "19")));
    }
    assert_eq!(all(&log), [some(19, "a", "19")]);
}

#[test]
fn what_is_appended_behind_a_cut_is_dirty() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&compacted());
    put_keyed(&mut log, &[("a", Some("1"))]);
    put_keyed(&mut log, &[("b", Some("1"))]);
    seal(&mut log);
    clean(&mut log);
    log.truncate_to(Offset(1)).unwrap();
    for _ in 0..2 {
        put_keyed(&mut log, &[("a", Some("2"))]);
    }
    seal(&mut log);
    clean(&mut log);
    assert_eq!(all(&log), [some(2, "a", "2")]);
}

#[test]
fn a_full_disk_stops_a_cleaning_and_nothing_else() {
    for free in (0..3000).step_by(50) {
        let fixture = Fixture::new();
        let mut log = fixture.create(&compacted());
        for i in 0..20 {
            put_keyed(
                &mut log,
                &[("a", Some(&format!("{i}"))), (&format!("{i}"), Some("x"))],
            );
        }
        seal(&mut log);
        let before = all(&log);
        fixture.disk.set_free_bytes(Some(free));
        let result = clean_with(&mut log, NOW, memory());
        if let Err(error) = &result {
            assert!(error.may_pass(), "{error}");
            assert!(all(&log).len() <= before.len());
        }
        assert!(log.failure().is_none());
        fixture.disk.set_free_bytes(None);
        if result.is_err() {
            clean(&mut log);
        }
        assert_eq!(all(&log).len(), 21);
        drop(log);
        assert_eq!(all(&fixture.open(&compacted(), 1)).len(), 21);
    }
}

#[test]
fn a_missing_segment_shows_in_a_compacted_log_too() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&compacted());
    for i in 0..40 {
        put_keyed(&mut log, &[("a", Some(&format!("{i}")))]);
        if i % 8 == 0 {
            put_keyed(&mut log, &[(&format!("key {i}"), Some(&"x".repeat(300)))]);
        }
    }
    seal(&mut log);
    clean(&mut log);
    assert!(log.segment_count() > 3);
    let path = log.segments[1].log_path();
    log.close().unwrap();
    fixture.disk.remove_file(&path).unwrap();
    let error = fixture.try_open(&compacted(), false, 1).unwrap_err();
    assert!(matches!(error, OpenLogError::Corrupt { .. }), "{error}");
}

#[test]
fn a_damaged_state_of_compaction_is_an_error_and_deletes_nothing() {
    let fixture = Fixture::new();
    let mut log = fixture.create(&compacted());
    for i in 0..20 {
        put_keyed(&mut log, &[("a", Some(&format!("{i}")))]);
    }
    seal(&mut log);
    clean(&mut log);
    log.close().unwrap();
    let path = Path::new(DIR).join(file_names::COMPACTION_STATE);
    fixture.disk.corrupt(&path, 9, &[1]).unwrap();
    let before = fixture.disk.live_files();
    let error = fixture.try_open(&compacted(), true, 1).unwrap_err();
    assert!(error.to_string().contains("compaction-state"), "{error}");
    assert_eq!(fixture.disk.live_files(), before);
    // The other checkpoint only costs work.
    fixture.disk.corrupt(&path, 9, &[1]).unwrap();
    let path = Path::new(DIR).join(file_names::CLEANER_OFFSET_CHECKPOINT);
    fixture.disk.corrupt(&path, 2, &[0x40]).unwrap();
    let mut log = fixture.open(&compacted(), 1);
    assert_eq!(clean(&mut log).from, Offset(0));
    assert_eq!(all(&log), [some(19, "a", "19")]);
}
