//! `cargo xtask bench compaction`: many records of fewer keys are compacted while there is load; what is left is compared with a
//! model, and acknowledgements with compaction are compared with those without, in turns.
//!
//! In -> out: `fanlog-bench compaction`, on a broker of its own for each load -> medians and ranges, printed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::measure::figures;
use super::results::Spread;
use crate::compat::broker::{Broker, End, JVM_SMALL, Kind, Setup};
use crate::shell::{self, Usage, step};
use crate::toolchains;

const HELP: &str = "\
usage: cargo xtask bench compaction [--rounds N] [--seconds S] [--records N] [--keys N] [--rates R,...]

  --rounds    how often the records are written and compacted under each load; default 3
  --seconds   how long each load lasts without compaction; default 20
  --records   records to be compacted; default 10000000
  --keys      keys that they have; default 1000000
  --rates     loads: records of 1 KiB a second, 0 for as many as are acknowledged; default 0,5000";

/// A log is looked at often; files of a deleted topic go at once, and retention holds the load's topic small.
const SETUP: Setup = Setup {
    node_id: 1,
    settings: &[
        "auto.create.topics.enable=false",
        "log.segment.delete.delay.ms=100",
        "log.retention.check.interval.ms=1000",
        "log.cleaner.backoff.ms=200",
    ],
    extra: &[],
    jvm: JVM_SMALL,
    port: None,
};

/// What the two are compared by.
const COMPARED: &[&str] = &[
    "p50_ms",
    "p99_ms",
    "p999_ms",
    "max_ms",
    "own_p99_ms",
    "megabytes_per_second",
];
/// What is printed of the rest.
const OTHERS: &[&str] = &[
    "compacting_took_seconds",
    "log_before_mb",
    "log_after_mb",
    "records_written",
    "compacted_to",
    "records_left",
    "keys_left",
];

/// The values of a figure in the order of the rounds, by load and name.
type Samples = BTreeMap<(String, String), Vec<f64>>;

struct Options {
    rounds: usize,
    seconds: String,
    records: String,
    keys: String,
    rates: Vec<u32>,
}

impl Options {
    fn parse(args: &[String]) -> anyhow::Result<Self> {
        let mut options = Self {
            rounds: 3,
            seconds: "20".to_owned(),
            records: "10000000".to_owned(),
            keys: "1000000".to_owned(),
            rates: vec![0, 5000],
        };
        for pair in args.chunks(2) {
            let usage = || Usage(format!("{pair:?} was not understood\n{HELP}"));
            let [name, value] = pair else {
                return Err(usage().into());
            };
            let number = value.parse::<u64>().map(|_| value.clone());
            match name.as_str() {
                "--rounds" => options.rounds = value.parse().map_err(|_| usage())?,
                "--seconds" => options.seconds = number.map_err(|_| usage())?,
                "--records" => options.records = number.map_err(|_| usage())?,
                "--keys" => options.keys = number.map_err(|_| usage())?,
                "--rates" => {
                    let rates = value.split(',').map(str::parse);
                    options.rates = rates.collect::<Result<_, _>>().map_err(|_| usage())?;
                }
                _ => return Err(usage().into()),
            }
        }
        if options.rounds == 0 {
            return Err(Usage(format!("rounds lie above 0\n{HELP}")).into());
        }
        Ok(options)
    }
}

/// Runs the command.
pub(super) fn run(args: &[String]) -> anyhow::Result<()> {
    let options = Options::parse(args)?;
    let fanlog = super::build_release()?;
    let dir = toolchains::cache().join("bench-compaction");
    let mut samples = Samples::new();
    for rate in &options.rates {
        let load = load_name(*rate);
        for round in 1..=options.rounds {
            let what = format!("round {round} of {}: {load}", options.rounds);
            step(&what, || {
                for (name, value) in one(&fanlog, &dir, &options, *rate, round)? {
                    samples.entry((load.clone(), name)).or_default().push(value);
                }
                Ok(())
            })?;
        }
    }
    for rate in &options.rates {
        print(&samples, &load_name(*rate))?;
    }
    Ok(())
}

fn load_name(rate: u32) -> String {
    match rate {
        0 => "as many records as are acknowledged".to_owned(),
        _ => format!("{rate} records a second"),
    }
}

fn one(
    fanlog: &Path,
    dir: &Path,
    options: &Options,
    rate: u32,
    round: usize,
) -> anyhow::Result<Vec<(String, f64)>> {
    let mut broker = Broker::start_as(SETUP, &Kind::Fanlog(fanlog.to_owned()), dir)?;
    let mut command = shell::command(tool(fanlog));
    command
        .args(["compaction", "--topic", "compacted"])
        .args(["--bootstrap", broker.bootstrap()])
        .arg("--data")
        .arg(broker.data_dir())
        .args(["--records", &options.records, "--keys", &options.keys])
        .args(["--seconds", &options.seconds, "--rate", &rate.to_string()]);
    if rate > 0 {
        command.args(["--batch-records", "1"]);
    }
    // Whatever the first load does to the machine, the second has it from each of them in turn.
    if round.is_multiple_of(2) {
        command.arg("--compact-first");
    }
    let found = figures(&shell::output(&mut command)?)?;
    broker.stop(End::Terminate)?;
    std::fs::remove_dir_all(dir)?;
    Ok(found)
}

fn tool(fanlog: &Path) -> PathBuf {
    fanlog.with_file_name("fanlog-bench")
}

fn print(samples: &Samples, load: &str) -> anyhow::Result<()> {
    let spread = |name: &str| {
        let values = samples.get(&(load.to_owned(), name.to_owned()));
        let spread = values.and_then(|values| Spread::of(values));
        spread.with_context(|| format!("{name} was not measured"))
    };
    println!("\n{load}: median (least to most)");
    println!("| figure | without | compacting | ratio |\n|---|---|---|---|");
    for name in COMPARED {
        let idle = spread(&format!("idle_{name}"))?;
        let compacting = spread(&format!("compacting_{name}"))?;
        let ratio = compacting.median / idle.median;
        println!(
            "| {name} | {} | {} | {ratio:.2} |",
            text(idle),
            text(compacting)
        );
    }
    for name in OTHERS {
        println!("{name}: {}", text(spread(name)?));
    }
    Ok(())
}

fn text(spread: Spread) -> String {
    let Spread {
        median,
        least,
        most,
    } = spread;
    format!("{median:.2} ({least:.2} to {most:.2})")
}

#[cfg(test)]
mod tests {
    use super::Options;

    #[test]
    fn options_without_sense_are_refused() {
        let parse = |args: &[&str]| {
            let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
            Options::parse(&args)
        };
        for args in [
            &["--rounds", "0"][..],
            &["--keys"],
            &["--rates", "a"],
            &["--what", "1"],
        ] {
            assert!(parse(args).is_err(), "{args:?}");
        }
        assert_eq!(parse(&["--rates", "0,7"]).unwrap().rates, [0, 7]);
    }
}
