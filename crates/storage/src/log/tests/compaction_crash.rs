//! A cleaning is cut off after each of its disk operations, by a power cut or by `kill -9`: the log is as it was before a swap or as it
//! is after it, and nothing else.

use super::compaction::{Seen, all, clean_with, compacted, keyed, memory, seal, swap};
use super::compaction_transactions::{committed, transactional};
use super::transactions::{append_in, end};
use super::*;
use crate::compaction::CleanError;
use fanlog_environment::simulated::FailedSync;

/// All records, and those that a reader of committed ones gets.
type View = (Vec<Seen>, Vec<Seen>);

fn view(log: &Log) -> View {
    (all(log), committed(log, log.log_end_offset()))
}

/// A log of several groups of segments, durable, and some records behind that are not.
fn prepare(fixture: &Fixture) -> Log {
    let mut log = fixture.create(&compacted());
    for i in 0..24_usize {
        let key = ["a", "b", "c", "d"][i % 4];
        let value = format!("{i} {}", "x".repeat(20 * (i % 3)));
        let value = (i % 7 != 3).then_some(value.as_str());
        let sequence = i32::try_from(2 * i).unwrap();
        let builder = keyed(
            Compression::ALL[i % 5],
            &[(key, value), ("every", Some("one"))],
        );
        let producer = builder.producer(ProducerId(1), ProducerEpoch(0), BaseSequence(sequence));
        send(&mut log, producer.build().unwrap()).unwrap();
        // Transactions that reach over segments, and then over what becomes one of them.
        let id = i64::from(i % 2 == 0) + 2;
        let sequence = i32::try_from(i / 2).unwrap();
        append_in(&mut log, transactional(id, sequence, &[(key, value)]));
        if i % 5 == 4 {
            end(&mut log, id, i % 10 == 9);
        }
    }
    for (id, commit) in [(2, false), (3, true)] {
        end(&mut log, id, commit);
    }
    seal(&mut log);
    log.update_config(config());
    log
}

/// Larger segments than those in the log: several become one.
fn config() -> LogConfig {
    LogConfig {
        segment_bytes: 1200,
        ..compacted()
    }
}

/// What is in the log before and after each swap.
fn states() -> Vec<View> {
    let fixture = Fixture::new();
    let mut log = prepare(&fixture);
    let mut states = vec![view(&log)];
    let mut cleaning = log.begin_cleaning(NOW, memory()).unwrap().unwrap();
    let swapped = cleaning.run(&mut |_| true, &mut |cleaned| {
        swap(&mut log, cleaned)?;
        states.push(view(&log));
        Ok(())
    });
    swapped.unwrap();
    log.finish_cleaning(&cleaning);
    assert!(states.len() >= 4, "several swaps, each of several segments");
    assert!(cleaning.counts().segments.0 > 2 * cleaning.counts().segments.1);
    states
}

/// Opens after a crash; what is there is one of `states`, the same after another crash, and can be cleaned.
fn check(disk: SimulatedDisk, states: &[View], what: &str) {
    let fixture = Fixture::on(disk);
    let mut log = fixture.try_open(&config(), false, 1).unwrap();
    let found = view(&log);
    assert!(states.contains(&found), "{what}: {found:?}");
    assert_eq!(log.active_producers()[0].last_sequence, 47, "{what}");
    let cut = fixture.disk.fork();
    cut.crash(7);
    let again = Fixture::on(cut).try_open(&config(), false, 2).unwrap();
    assert_eq!(view(&again), found, "{what}: another power cut");
    for entry in fixture.disk.read_dir(Path::new(DIR)).unwrap() {
        let name = entry.name.to_string_lossy().into_owned();
        assert!(!name.ends_with(".cleaned"), "{what}: {name} is left");
    }
    // Whether a cleaning was left to do or not, its result is the same.
    clean_with(&mut log, NOW, memory()).unwrap();
    assert_eq!(Some(&view(&log)), states.last(), "{what}");
    log.close().unwrap();
    let log = fixture.open_clean(&config(), 3);
    assert_eq!(Some(&view(&log)), states.last(), "{what}");
}

#[test]
fn a_crash_at_any_step_leaves_the_log_before_or_after_a_swap() {
    let states = states();
    let mut operations = 0;
    for operation in 0.. {
        let fixture = Fixture::on(SimulatedDisk::new(operation));
        let mut log = prepare(&fixture);
        fixture.disk.crash_at(operation);
        let result = clean_with(&mut log, NOW, memory());
        drop(log);
        if !fixture.disk.is_crashed() {
            result.unwrap();
            break;
        }
        operations += 1;
        // Which names survive is a matter of chance, and few of the choices do harm.
        for seed in 0..12 {
            let disk = fixture.disk.fork();
            disk.crash(1000 * operation + seed);
            let what = format!("operation {operation}, seed {seed}");
            if seed < 2 {
                check(disk, &states, &what);
            } else {
                let found = view(&Fixture::on(disk).open(&config(), 1));
                assert!(states.contains(&found), "{what}: {found:?}");
            }
        }
        fixture.disk.restart();
        check(
            fixture.disk.fork(),
            &states,
            &format!("operation {operation}, killed"),
        );
    }
    assert!(operations > 60, "{operations}");
}

/// A crash in the recovery that finishes a swap.
#[test]
fn a_crash_in_finishing_a_swap_changes_nothing_either() {
    let states = states();
    let mut tried = 0;
    for operation in (0..).step_by(3) {
        let fixture = Fixture::on(SimulatedDisk::new(operation));
        let mut log = prepare(&fixture);
        fixture.disk.crash_at(operation);
        let _ = clean_with(&mut log, NOW, memory());
        drop(log);
        if !fixture.disk.is_crashed() {
            break;
        }
        fixture.disk.crash(operation);
        for step in 0.. {
            let disk = fixture.disk.fork();
            disk.crash_at(step);
            let opening = Fixture::on(disk);
            let opened = opening.try_open(&config(), false, 1);
            if !opening.disk.is_crashed() {
                opened.unwrap();
                break;
            }
            tried += 1;
            opening.disk.crash(step + 11);
            check(
                opening.disk.fork(),
                &states,
                &format!("operation {operation}, opening {step}"),
            );
        }
    }
    assert!(tried > 100, "{tried}");
}

#[test]
fn a_sync_that_fails_stops_the_cleaning_or_the_log_and_loses_nothing() {
    let states = states();
    for failing in 0.. {
        let fixture = Fixture::on(SimulatedDisk::new(failing));
        let mut log = prepare(&fixture);
        let before = fixture.disk.syncs();
        fixture.disk.fail_sync(failing, FailedSync::Either);
        let result = clean_with(&mut log, NOW, memory());
        if fixture.disk.syncs() - before <= failing {
            result.unwrap();
            return;
        }
        let error = result.unwrap_err();
        assert_eq!(
            log.failure().is_some(),
            matches!(error, CleanError::Failed(_)),
            "{error}"
        );
        if log.failure().is_none() {
            assert!(states.contains(&view(&log)), "sync {failing}");
            // As it is now, and after whatever is tried next.
            let cut = fixture.disk.fork();
            cut.crash(failing);
            check(cut, &states, &format!("sync {failing}"));
            clean_with(&mut log, NOW, memory()).unwrap();
            assert_eq!(Some(&view(&log)), states.last(), "sync {failing}");
        }
        drop(log);
        fixture.disk.crash(failing);
        check(
            fixture.disk.fork(),
            &states,
            &format!("sync {failing}, then a power cut"),
        );
    }
}
