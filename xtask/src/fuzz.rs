//! `cargo xtask fuzz`: libFuzzer against everything that reads bytes from a network or a disk (`fuzz/`).
//!
//! Why it exists: what no test thought of. It begins with the golden bytes that Kafka's own classes wrote.
//! Owns: `target/fuzz*`; nothing of it is committed. An input that breaks something becomes a unit test.
//! In -> out: names of targets and seconds for each -> `N passed, N failed`, the inputs that failed, and rows in
//! `compat/FUZZED.md`.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::ensure;

use crate::shell::{self, Usage, step};
use crate::tally::Tally;

const USAGE: &str = "usage: cargo xtask fuzz [--seconds 60] [--only messages,batches,...]";
const CARGO_FUZZ_VERSION: &str = "0.13.2";
/// What one target may take: inputs are small, and so is what they may cost.
const MEMORY_MIB_MAX: u32 = 768;
const SECONDS_PER_INPUT_MAX: u32 = 10;
/// Longer inputs find nothing that these do not, and slow everything down.
const INPUT_BYTES_MAX: u32 = 16 * 1024;

/// What a target that ran long enough adds a row to.
const RESULTS: &str = "compat/FUZZED.md";
const SECONDS_WORTH_A_ROW: u32 = 60;

struct Options {
    seconds: u32,
    only: Vec<String>,
}

/// Runs the command.
pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    let options = options(args)?;
    let program = cargo_fuzz()?;
    let corpus = shell::target_dir().join("fuzz-corpus");
    step("seeds from the golden bytes", || {
        shell::run(
            manifest(shell::cargo().args(["run", "--quiet"]))
                .args(["--example", "seed", "--"])
                .arg(&corpus),
        )
    })?;
    let all = targets(&program)?;
    for name in &options.only {
        ensure!(
            all.contains(name),
            "no target {name}; there are: {}",
            all.join(", ")
        );
    }
    let mut tally = Tally::default();
    for target in all {
        if options.only.is_empty() || options.only.contains(&target) {
            let what = format!("fuzz {target}, {} s", options.seconds);
            let (commit, date) = shell::commit_and_date(RESULTS)?;
            let mut inputs = "?".to_owned();
            let outcome = step(&what, || {
                fuzz(&program, &target, options.seconds, &mut inputs)
            });
            if options.seconds >= SECONDS_WORTH_A_ROW {
                let found = if outcome.is_ok() {
                    "nothing"
                } else {
                    "an input that fails"
                };
                let seconds = options.seconds.to_string();
                let row = [date, commit, target, seconds, inputs, found.to_owned()];
                shell::append_row(RESULTS, &row)?;
            }
            tally.record(&what, outcome);
        }
    }
    tally.close()
}

fn options(args: &[String]) -> Result<Options, Usage> {
    let mut options = Options {
        seconds: 60,
        only: Vec::new(),
    };
    let wrong = || Usage(USAGE.into());
    let mut args = args.iter();
    while let Some(flag) = args.next() {
        let value = args.next().ok_or_else(wrong)?;
        match flag.as_str() {
            "--seconds" => options.seconds = value.parse().map_err(|_| wrong())?,
            "--only" => options.only = value.split(',').map(str::to_owned).collect(),
            _ => return Err(wrong()),
        }
    }
    Ok(options)
}

/// cargo-fuzz, built once below target/.
fn cargo_fuzz() -> anyhow::Result<PathBuf> {
    let root = shell::target_dir().join("tools");
    let program = root.join("bin/cargo-fuzz");
    if !program.is_file() {
        step(
            "installing cargo-fuzz below target/tools (some minutes, once)",
            || {
                shell::run(
                    shell::cargo()
                        .args(["install", "--quiet", "--locked", "--root"])
                        .arg(&root)
                        .args(["cargo-fuzz", "--version", CARGO_FUZZ_VERSION]),
                )
            },
        )?;
    }
    Ok(program)
}

fn manifest(command: &mut Command) -> &mut Command {
    let fuzz = shell::repository().join("fuzz/Cargo.toml");
    command
        .arg("--manifest-path")
        .arg(fuzz)
        .arg("--target-dir")
        .arg(shell::target_dir().join("fuzz"))
}

fn targets(program: &PathBuf) -> anyhow::Result<Vec<String>> {
    let list = shell::output(shell::command(program).args(["fuzz", "list"]))?;
    Ok(list.lines().map(str::to_owned).collect())
}

/// Runs one target. No sanitizer: our code has no unsafe code for one to watch, and without it the stable compiler does.
fn fuzz(
    program: &PathBuf,
    target: &str,
    seconds: u32,
    inputs_run: &mut String,
) -> anyhow::Result<()> {
    let inputs = shell::target_dir().join("fuzz-corpus").join(target);
    let failures = shell::target_dir().join("fuzz-failures").join(target);
    std::fs::create_dir_all(&inputs)?;
    std::fs::create_dir_all(&failures)?;
    let mut run = shell::command(program);
    run.args(["fuzz", "run", "--sanitizer", "none", "--target-dir"])
        .arg(shell::target_dir().join("fuzz"))
        .arg(target)
        .arg(&inputs)
        .arg("--")
        .arg(format!("-artifact_prefix={}/", failures.display()))
        .args(["-verbosity=0", "-print_final_stats=1"])
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-rss_limit_mb={MEMORY_MIB_MAX}"))
        .arg(format!("-timeout={SECONDS_PER_INPUT_MAX}"))
        .arg(format!("-max_len={INPUT_BYTES_MAX}"));
    let mut child = run.stderr(Stdio::piped()).spawn()?;
    let stderr = child.stderr.take().expect("stderr was asked to be piped");
    for line in BufReader::new(stderr).split(b'\n') {
        let line = String::from_utf8_lossy(&line?).into_owned();
        eprintln!("{line}");
        if let Some(count) = line.strip_prefix("stat::number_of_executed_units:") {
            count.trim().clone_into(inputs_run);
        }
    }
    let status = child.wait()?;
    ensure!(
        status.success(),
        "{run:?} ended with {status}; the input that did it lies in {}",
        failures.display()
    );
    Ok(())
}
