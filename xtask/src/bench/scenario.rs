//! The loads, each on a topic of its own.

use super::system::{Running, System};
use super::{Tools, figures};
use crate::shell;

/// The most that one load may leave on the disk.
const BYTES_MAX: u64 = 2_000_000_000;
/// Single records as fast as they are acknowledged: two seconds of them, to warm up.
const SINGLE: &[&str] = &[
    "--record-bytes",
    "100",
    "--batch-bytes",
    "1",
    "--seconds",
    "2",
];
/// What the readers read.
const FETCH_BYTES: u64 = 1_000_000_000;

/// One load.
#[derive(Debug)]
pub(super) struct Scenario {
    pub(super) name: &'static str,
    /// In a reader's words.
    pub(super) about: &'static str,
    /// The figure that is compared, and whether more is better.
    pub(super) figure: (&'static str, bool),
    partitions: u32,
    load: Load,
}

#[derive(Debug)]
enum Load {
    /// `fanlog-bench produce` with these arguments.
    Produce(&'static [&'static str]),
    /// `fanlog-bench latency` with these arguments.
    Latency(&'static [&'static str]),
    /// So many readers of a topic that was filled before.
    Fetch(u32),
    /// librdkafka: bytes of a record, and how many of them for each second asked for.
    LibrdkafkaProduce(u32, u64),
    /// The same, read back.
    LibrdkafkaConsume(u32, u64),
}

const MB_PER_SECOND: (&str, bool) = ("megabytes_per_second", true);
const RECORDS_PER_SECOND: (&str, bool) = ("records_per_second", true);
const P99: (&str, bool) = ("p99_ms", false);

const fn produce(
    name: &'static str,
    about: &'static str,
    partitions: u32,
    arguments: &'static [&'static str],
) -> Scenario {
    let load = Load::Produce(arguments);
    Scenario {
        name,
        about,
        figure: MB_PER_SECOND,
        partitions,
        load,
    }
}

/// All of them, in the order in which they run.
pub(super) const SCENARIOS: &[Scenario] = &[
    produce(
        "produce-64k-p1",
        "64 KiB batches of 1 KiB records, 4 connections with 5 in flight, 1 partition",
        1,
        &["--batch-bytes", "65536"],
    ),
    produce(
        "produce-64k-p16",
        "the same, 16 partitions",
        16,
        &["--batch-bytes", "65536"],
    ),
    produce(
        "produce-64k-p100",
        "the same, 100 partitions",
        100,
        &["--batch-bytes", "65536"],
    ),
    produce(
        "produce-64k-lz4-p16",
        "the same in lz4, 16 partitions; megabytes as stored",
        16,
        &["--batch-bytes", "65536", "--compression", "lz4"],
    ),
    produce(
        "produce-1m-p1",
        "1 MB batches, 4 connections with 5 in flight, 1 partition",
        1,
        &["--batch-bytes", "1000000"],
    ),
    Scenario {
        name: "produce-single-p16",
        about: "single 1 KiB records, 16 producers that wait for each acknowledgement, 16 partitions",
        figure: RECORDS_PER_SECOND,
        partitions: 16,
        load: Load::Produce(&[
            "--batch-bytes",
            "1",
            "--connections",
            "16",
            "--in-flight",
            "1",
        ]),
    },
    Scenario {
        name: "latency-5000-p1",
        about: "5,000 single records of 100 B a second, 1 partition",
        figure: P99,
        partitions: 1,
        load: Load::Latency(&["--rate", "5000"]),
    },
    Scenario {
        name: "latency-5000-p100",
        about: "the same, 100 partitions",
        figure: P99,
        partitions: 100,
        load: Load::Latency(&["--rate", "5000"]),
    },
    Scenario {
        name: "fetch-1",
        about: "one reader of what is in the page cache, 4 partitions",
        figure: MB_PER_SECOND,
        partitions: 4,
        load: Load::Fetch(1),
    },
    Scenario {
        name: "fetch-4",
        about: "four readers of the same",
        figure: MB_PER_SECOND,
        partitions: 4,
        load: Load::Fetch(4),
    },
    Scenario {
        name: "librdkafka-produce-1k",
        about: "librdkafka, 1 KiB records, linger 5 ms, 1 partition",
        figure: MB_PER_SECOND,
        partitions: 1,
        load: Load::LibrdkafkaProduce(1024, 300_000),
    },
    Scenario {
        name: "librdkafka-produce-100b",
        about: "librdkafka, 100 B records, linger 5 ms, 1 partition",
        figure: RECORDS_PER_SECOND,
        partitions: 1,
        load: Load::LibrdkafkaProduce(100, 1_500_000),
    },
    Scenario {
        name: "librdkafka-consume-1k",
        about: "librdkafka, 1 KiB records from the page cache, 1 partition",
        figure: MB_PER_SECOND,
        partitions: 1,
        load: Load::LibrdkafkaConsume(1024, 400_000),
    },
];

/// The first requests pay for code that is not compiled yet and memory that was never touched: they do not count.
pub(super) fn warm_up(tools: &Tools, system: &System, broker: &Running) -> anyhow::Result<()> {
    const NAME: &str = "warm-up";
    let ours = |what, arguments: &[&str]| load(tools, broker, what, NAME, 4, arguments);
    topic(tools, system, broker, NAME, 4)?;
    ours("produce", &["--seconds", "4", "--bytes-max", "2000000000"])?;
    ours("fetch", &["--seconds", "1"])?;
    ours("produce", SINGLE)?;
    remove(tools, broker, NAME)
}

/// Runs one load; its figures, and what it cost the broker.
pub(super) fn run(
    scenario: &Scenario,
    tools: &Tools,
    system: &System,
    broker: &Running,
    seconds: f64,
) -> anyhow::Result<Vec<(String, f64)>> {
    let name = scenario.name;
    topic(tools, system, broker, name, scenario.partitions)?;
    let bytes_max = BYTES_MAX.to_string();
    let span = seconds.to_string();
    let with_span = |arguments: &[&'static str]| -> Vec<String> {
        let all = arguments.iter().copied().chain(["--seconds", &*span]);
        all.map(str::to_owned).collect()
    };
    let count = |per_second: u64| (per_second as f64 * seconds) as u64;
    let ours = |what: &str, arguments: &[String]| {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        load(tools, broker, what, name, scenario.partitions, &arguments)
    };
    let prepared = match scenario.load {
        Load::Fetch(_) => {
            let bytes = FETCH_BYTES.to_string();
            let fill = ["--seconds", "60", "--bytes-max", &bytes].map(str::to_owned);
            ours("produce", &fill).map(drop)
        }
        Load::LibrdkafkaConsume(bytes, per_second) => {
            let shape = [
                "--record-bytes",
                &bytes.to_string(),
                "--seconds",
                "60",
                "--bytes-max",
            ]
            .map(str::to_owned);
            // Headers and the last batch: a little more than is read.
            let wanted = count(per_second) * u64::from(bytes + 32) + 1_000_000;
            let mut fill = shape.to_vec();
            fill.push(wanted.to_string());
            ours("produce", &fill).map(drop)
        }
        // An open loop would count the first moments of a new topic for as long as their backlog lasts.
        Load::Latency(_) => {
            let single: Vec<String> = SINGLE.iter().map(|one| (*one).to_owned()).collect();
            ours("produce", &single).map(drop)
        }
        Load::Produce(_) | Load::LibrdkafkaProduce(..) => Ok(()),
    };
    prepared?;
    broker.write_back()?;
    let before = broker.cpu_seconds()?;
    let mut found = match scenario.load {
        Load::Produce(arguments) => {
            let mut arguments = with_span(arguments);
            arguments.extend(["--bytes-max".to_owned(), bytes_max]);
            ours("produce", &arguments)
        }
        Load::Latency(arguments) => {
            let warm_up = ["--warm-up".to_owned(), (seconds / 4.0).to_string()];
            ours(
                "latency",
                &[with_span(arguments), warm_up.to_vec()].concat(),
            )
        }
        Load::Fetch(readers) => {
            let readers = ["--readers".to_owned(), readers.to_string()];
            ours("fetch", &[with_span(&[]), readers.to_vec()].concat())
        }
        Load::LibrdkafkaProduce(bytes, per_second) => {
            tools
                .rdkafka
                .produce(broker.bootstrap(), name, bytes, count(per_second))
        }
        Load::LibrdkafkaConsume(_, per_second) => {
            tools
                .rdkafka
                .consume(broker.bootstrap(), name, count(per_second))
        }
    }?;
    let used = broker.cpu_seconds()? - before;
    let bytes = found.iter().find(|(name, _)| name == "bytes");
    let gigabytes = bytes.map_or(f64::NAN, |(_, bytes)| bytes / 1e9);
    found.push(("broker_cpu_s_per_gb".to_owned(), used / gigabytes));
    remove(tools, broker, name)?;
    Ok(found)
}

fn topic(
    tools: &Tools,
    system: &System,
    broker: &Running,
    name: &str,
    partitions: u32,
) -> anyhow::Result<()> {
    let settings: Vec<&str> = system
        .topic_settings
        .iter()
        .flat_map(|one| ["--config", one])
        .collect();
    load(tools, broker, "topic", name, partitions, &settings).map(drop)
}

fn remove(tools: &Tools, broker: &Running, name: &str) -> anyhow::Result<()> {
    load(tools, broker, "delete", name, 1, &[])?;
    broker.wait_until_gone(name)
}

fn load(
    tools: &Tools,
    broker: &Running,
    what: &str,
    topic: &str,
    partitions: u32,
    arguments: &[&str],
) -> anyhow::Result<Vec<(String, f64)>> {
    let mut command = shell::command(&tools.load);
    command
        .args([what, "--bootstrap", broker.bootstrap(), "--topic", topic])
        .args(["--partitions", &partitions.to_string()])
        .args(arguments);
    figures(&shell::output(&mut command)?)
}
