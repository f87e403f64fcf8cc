//! `cargo xtask laws`: the crates' tests over generated input, again and again, each time from another seed.
//!
//! Why it exists: the test command must say the same of the same tree, so its seed is fixed; new input is for a long run like this one.
//! In -> out: how many seeds, the first of them -> a verdict; a failing seed prints the command that replays it.

use crate::shell::{self, Usage, step};

/// The variable that proptest reads its seed from.
pub(crate) const SEED: &str = "PROPTEST_RNG_SEED";
/// The seed of the test command, unless the variable says another.
pub(crate) const FIXED_SEED: &str = "1";

const USAGE: &str = "usage: cargo xtask laws [--seeds N] [--from S]";
/// The crates with tests over generated input.
const PACKAGES: [&str; 5] = [
    "fanlog-environment",
    "fanlog-protocol",
    "fanlog-coordinators",
    "fanlog-storage",
    "fanlog-client",
];

/// Runs the command.
pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    let (seeds, first) = parse(args)?;
    let mut failed = Vec::new();
    for seed in first..first.saturating_add(seeds) {
        let outcome = step(&format!("the laws from seed {seed}"), || {
            shell::run(test(seed).arg("--quiet"))
        });
        if let Err(error) = outcome {
            println!("    {error:#}");
            println!("    replay: {SEED}={seed} cargo test --lib -p <the crate named above>");
            failed.push(seed.to_string());
        }
    }
    anyhow::ensure!(
        failed.is_empty(),
        "{} of {seeds} seeds failed: {}",
        failed.len(),
        failed.join(", ")
    );
    println!("{seeds} seeds, 0 failed");
    Ok(())
}

fn test(seed: u64) -> std::process::Command {
    let mut test = shell::cargo();
    test.args(["test", "--lib"]).env(SEED, seed.to_string());
    for package in PACKAGES {
        test.args(["--package", package]);
    }
    test
}

/// How many seeds, and the first. Without a word of it the clock says which, so that no two runs are alike.
fn parse(args: &[String]) -> anyhow::Result<(u64, u64)> {
    let (mut seeds, mut first) = (20, None);
    let mut args = args.iter();
    while let Some(option) = args.next() {
        let value = args.next().and_then(|value| value.parse().ok());
        match (option.as_str(), value) {
            ("--seeds", Some(value)) if value > 0 => seeds = value,
            ("--from", Some(value)) => first = Some(value),
            _ => return Err(Usage(USAGE.into()).into()),
        }
    }
    let now = || {
        let since = std::time::SystemTime::UNIX_EPOCH.elapsed();
        since.map_or(0, |since| since.as_secs())
    };
    Ok((seeds, first.unwrap_or_else(now)))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn options_are_read_and_wrong_ones_refused() {
        let parsed = |line: &str| {
            let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            parse(&args)
        };
        assert_eq!(parsed("--seeds 3 --from 7").unwrap(), (3, 7));
        assert_eq!(parsed("").unwrap().0, 20);
        for wrong in ["--seeds", "--seeds 0", "--seeds x", "--rounds 1", "5"] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }
}
