//! Faults on purpose: each must be found, and soon, by the promise that it breaks.

use fanlog_simulator::{Options, Planted, simulate};

/// The first seed that finds the fault, among so many; it must be a breach of one of these promises.
fn check(planted: Planted, seeds: u64, promises: &[&str]) {
    check_in(&Options::default(), planted, seeds, promises);
}

/// As `check`, in runs with queues.
fn check_queues(planted: Planted, seeds: u64, promises: &[&str]) {
    let queues = Options {
        has_queues: true,
        ..Options::default()
    };
    check_in(&queues, planted, seeds, promises);
}

fn check_in(clean: &Options, planted: Planted, seeds: u64, promises: &[&str]) {
    let options = Options {
        planted: Some(planted),
        ..clean.clone()
    };
    let found = (0..seeds).find_map(|seed| Some((seed, simulate(seed, &options).result.err()?)));
    let Some((seed, violation)) = found else {
        panic!("{planted:?} was not found within {seeds} seeds");
    };
    println!("{planted:?}: seed {seed} finds {violation}");
    assert!(promises.contains(&violation.promise), "{violation}");
    let clean = simulate(seed, clean);
    assert!(
        clean.result.is_ok(),
        "seed {seed} fails without the fault: {clean:?}"
    );
}

#[test]
fn a_skipped_sync_is_found() {
    let promises = ["LOG-1", "LOG-2", "LOG-3", "CAT-1", "GRP-3"];
    check(Planted::SkippedSync, 10, &promises);
}

#[test]
fn a_sync_skipped_now_and_then_is_found() {
    let promises = ["LOG-1", "LOG-2", "LOG-3", "CAT-1", "GRP-3"];
    check(Planted::RarelySkippedSync, 20, &promises);
}

#[test]
fn a_skipped_sync_of_the_journal_is_found() {
    let promises = ["LOG-1", "LOG-2", "LOG-3", "CAT-1", "GRP-3"];
    check(Planted::SkippedJournalSync, 20, &promises);
}

#[test]
fn a_skipped_sync_of_segments_is_found() {
    let promises = ["LOG-1", "LOG-2", "LOG-3", "CAT-1", "GRP-3"];
    check(Planted::SkippedSegmentSync, 60, &promises);
}

#[test]
fn stale_commits_that_count_are_found() {
    check(
        Planted::AcceptedStaleCommits,
        60,
        &["LOG-1", "LOG-3", "CAT-1", "PRD-1"],
    );
}

#[test]
fn a_hole_before_what_the_journal_has_is_found() {
    check(
        Planted::OverlookedHole,
        200,
        &["LOG-1", "LOG-2", "LOG-3", "PRD-1"],
    );
}

#[test]
fn a_skipped_sync_of_folders_is_found() {
    check(
        Planted::SkippedFolderSync,
        10,
        &["LOG-1", "LOG-2", "LOG-3", "CAT-1"],
    );
}

#[test]
fn an_off_by_one_in_what_recovery_tells_the_producers_is_found() {
    check(Planted::ForgottenBatch, 100, &["PRD-1", "PRD-2"]);
}

#[test]
fn an_off_by_one_in_what_recovery_removes_is_found() {
    // The journal may give back what was removed, and nothing gives back what its producers had sent.
    check(Planted::SegmentTooMany, 400, &["LOG-1", "PRD-1", "PRD-2"]);
}

#[test]
fn an_older_record_that_compaction_keeps_is_found() {
    check(Planted::OlderRecordKept, 40, &["GRP-1", "GRP-3", "CAT-1"]);
}

#[test]
fn a_generation_check_left_out_is_found() {
    check(Planted::SkippedGenerationCheck, 60, &["GRP-2"]);
}

#[test]
fn a_partition_given_before_it_is_given_up_is_found() {
    check(Planted::GivenWhatIsOwned, 20, &["GRP-1"]);
}

#[test]
fn an_acknowledgement_answered_before_it_is_durable_is_found() {
    check_queues(Planted::AnsweredEarly, 20, &["QUE-1", "QUE-2", "QUE-4"]);
}

#[test]
fn an_acknowledgement_that_a_replay_forgets_is_found() {
    check_queues(Planted::ForgottenAcknowledgement, 20, &["QUE-1", "QUE-2"]);
}

#[test]
fn a_move_made_again_after_a_crash_is_found() {
    check_queues(Planted::RepeatedMove, 100, &["QUE-2"]);
}

#[test]
fn a_rest_that_a_restart_forgets_is_found() {
    check_queues(Planted::ForgottenRest, 40, &["QUE-4"]);
}

#[test]
fn a_key_given_to_two_is_found() {
    check_queues(Planted::SharedKey, 20, &["QUE-3"]);
}

#[test]
fn a_skipped_sync_is_found_by_queues_too() {
    check_queues(
        Planted::SkippedJournalSync,
        20,
        &["LOG-1", "LOG-2", "LOG-3", "CAT-1", "QUE-1", "QUE-2"],
    );
}
