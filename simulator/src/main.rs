//! `simulate`: runs seeds, and says how to run a failing one again.
//!
//! In -> out: a range of seeds -> progress, what was reached, exit code 0 (all clean), 1 (a promise was broken), 2 (wrong usage).

use fanlog_simulator::{Options, Outcome, Reached, simulate};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, mpsc};

const USAGE: &str = "usage: simulate [--seeds N] [--from S] [--seed S] [--threads N] [--lives N] [--steps N] [--queues] [--trace] [--keep-going]
  --seeds N     how many seeds, 1000 unless given; --from S is the first one, 0 unless given
  --seed S      this seed alone
  --threads N   how many at once, 2 unless given
  --queues      puts queues to the test, and not groups
  --trace       prints every event
  --keep-going  goes on after a seed that fails";

struct Arguments {
    from: u64,
    seeds: u64,
    threads: u64,
    keeps_going: bool,
    options: Options,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match parse(&arguments) {
        Ok(arguments) => run(&arguments),
        Err(error) => {
            eprintln!("simulate: {error}\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn parse(given: &[String]) -> Result<Arguments, String> {
    let mut arguments = Arguments {
        from: 0,
        seeds: 1_000,
        threads: 2,
        keeps_going: false,
        options: Options::default(),
    };
    let mut given = given.iter();
    while let Some(name) = given.next() {
        let mut number = || {
            let value = given.next().and_then(|value| value.parse::<u64>().ok());
            value.ok_or_else(|| format!("{name} needs a number"))
        };
        match name.as_str() {
            "--seeds" => arguments.seeds = number()?,
            "--from" => arguments.from = number()?,
            "--seed" => (arguments.from, arguments.seeds) = (number()?, 1),
            "--threads" => arguments.threads = number()?.max(1),
            "--lives" => arguments.options.lives = number()?.max(1),
            "--steps" => arguments.options.steps = number()?,
            "--queues" => arguments.options.has_queues = true,
            "--trace" => arguments.options.is_traced = true,
            "--keep-going" => arguments.keeps_going = true,
            _ => return Err(format!("{name} is unknown")),
        }
    }
    Ok(arguments)
}

/// What all seeds have come to.
#[derive(Default)]
struct Total {
    done: u64,
    events: u64,
    failed: Vec<u64>,
    reached: Reached,
}

fn run(arguments: &Arguments) -> ExitCode {
    let next = AtomicU64::new(arguments.from);
    let end = arguments.from.saturating_add(arguments.seeds);
    let is_over = AtomicBool::new(false);
    let (sender, outcomes) = mpsc::channel::<Outcome>();
    let total = Mutex::new(Total::default());
    std::thread::scope(|scope| {
        for _ in 0..arguments.threads.min(arguments.seeds) {
            let (sender, next, is_over) = (sender.clone(), &next, &is_over);
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= end || sender.send(simulate(seed, &arguments.options)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for outcome in outcomes {
            let mut total = total
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            take_in(&mut total, &outcome, arguments);
            if !total.failed.is_empty() && !arguments.keeps_going {
                is_over.store(true, Ordering::Relaxed);
            }
        }
    });
    let total = total
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    println!(
        "{} seeds, {} failed, {} events; {:?}",
        total.done,
        total.failed.len(),
        total.events,
        total.reached
    );
    match total.failed.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

fn take_in(total: &mut Total, outcome: &Outcome, arguments: &Arguments) {
    total.done += 1;
    total.events += outcome.events;
    match &outcome.result {
        Ok(reached) => total.reached.add(reached),
        Err(violation) => {
            total.failed.push(outcome.seed);
            println!("seed {}: {violation}", outcome.seed);
            println!(
                "  to see it again: {}",
                replay(outcome.seed, &arguments.options)
            );
        }
    }
    let step = (arguments.seeds / 20).max(1);
    if arguments.seeds == 1 {
        println!(
            "seed {}: {} events, hash {:016x}",
            outcome.seed, outcome.events, outcome.hash
        );
    } else if total.done.is_multiple_of(step) {
        println!(
            "{} of {} seeds, {} failed",
            total.done,
            arguments.seeds,
            total.failed.len()
        );
    }
}

fn replay(seed: u64, options: &Options) -> String {
    let mut command = format!("cargo xtask simulate --seed {seed}");
    let usual = Options::default();
    if options.has_queues {
        command += " --queues";
    }
    if options.lives != usual.lives {
        command += &format!(" --lives {}", options.lives);
    }
    if options.steps != usual.steps {
        command += &format!(" --steps {}", options.steps);
    }
    command + " --trace"
}
