//! Runs with queues: seeds that every change must pass, and the promise that a seed is a run.

use fanlog_simulator::{Options, Reached, simulate};

fn options() -> Options {
    Options {
        has_queues: true,
        ..Options::default()
    }
}

/// Fails with the command that shows the run again.
fn check(seed: u64) -> Reached {
    match simulate(seed, &options()).result {
        Ok(reached) => reached,
        Err(violation) => panic!(
            "seed {seed}: {violation}\nto see it again: cargo xtask simulate --seed {seed} --queues --trace"
        ),
    }
}

#[test]
fn fixed_seeds_break_no_promise_of_queues_and_come_to_something() {
    let mut total = Reached::default();
    for seed in 0..40 {
        total.add(&check(seed));
    }
    println!("{total:?}");
    let each = [
        total.acknowledged,
        total.received,
        total.acked,
        total.given_back,
        total.words_refused,
        total.broken_off,
        total.cancelled,
        total.dead_letters,
        total.redriven,
        total.discarded,
        total.queues_ended,
        total.power_cuts,
        total.kills,
        total.shutdowns,
    ];
    assert!(each.iter().all(|count| *count >= 3), "{total:?}");
}

#[test]
fn the_same_seed_gives_the_same_events_and_the_same_bytes_with_queues() {
    for seed in 1_000..1_004 {
        let first = simulate(seed, &options());
        let second = simulate(seed, &options());
        assert_eq!(first.hash, second.hash, "seed {seed}");
        assert_eq!(first.events, second.events, "seed {seed}");
        assert_eq!(first.result, second.result, "seed {seed}");
    }
}
