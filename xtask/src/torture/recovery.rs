//! `cargo xtask torture --only recovery`: how long a start takes after `kill -9` over much data, beside an empty broker's.
//!
//! Why it exists: a start may take as long as what was not synced, and no longer because a log is large, or has many segments, or
//! because there are many logs.
//! In -> out: a release build -> a line for each case, an error where a start takes two seconds more than an empty one.
//! Never: 100 GB of disk: the large log is sparse (`bench/examples/large_log.rs`). It needs about 6 GB in the target folder.

use crate::compat::broker::{Broker, End, JVM_SMALL, Kind, Setup};
use crate::shell;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How much longer than an empty broker's a start may take.
const LONGER_MAX: Duration = Duration::from_secs(2);
/// Starts of the empty broker, of which the middle one counts.
const EMPTY_STARTS: usize = 5;

const SETUP: Setup = Setup {
    node_id: 1,
    settings: &["auto.create.topics.enable=false"],
    extra: &[],
    jvm: JVM_SMALL,
    port: None,
};

/// What is there before the broker is killed.
struct Case {
    name: &'static str,
    partitions: u32,
    /// Bytes of the first partition's log that are made before, and of each of its segments.
    made: Option<(u64, u64)>,
    /// What is produced then: seconds, bytes at most, bytes of a batch.
    load: (u32, u64, u32),
}

const GB: u64 = 1_000_000_000;

const CASES: &[Case] = &[
    Case {
        name: "100 GB in one partition",
        partitions: 1,
        made: Some((100 * GB, 1 << 30)),
        load: (3, 2 * GB, 65_536),
    },
    Case {
        name: "1,000 segments in one partition",
        partitions: 1,
        made: Some((1_050 << 20, 1 << 20)),
        load: (3, GB / 2, 65_536),
    },
    Case {
        name: "100 partitions, 64 KiB batches",
        partitions: 100,
        made: None,
        load: (10, 4 * GB, 65_536),
    },
    Case {
        name: "1,000 partitions, 64 KiB batches",
        partitions: 1_000,
        made: None,
        load: (10, 2 * GB, 65_536),
    },
    Case {
        name: "1,000 partitions, single records",
        partitions: 1_000,
        made: None,
        load: (10, GB, 1),
    },
];

struct Tools {
    fanlog: PathBuf,
    load: PathBuf,
    large_log: PathBuf,
    dir: PathBuf,
}

/// Runs the command.
pub(super) fn run() -> anyhow::Result<()> {
    let tools = build()?;
    let kind = Kind::Fanlog(tools.fanlog.clone());
    let mut empty = Broker::start_as(SETUP, &kind, &tools.dir)?;
    let mut starts = Vec::new();
    for _ in 0..EMPTY_STARTS {
        starts.push(empty.restart(End::Kill)?);
    }
    empty.stop(End::Kill)?;
    starts.sort_unstable();
    let empty = starts[EMPTY_STARTS / 2];
    println!(
        "    an empty broker after kill -9: {} ms",
        empty.as_millis()
    );
    let mut slow = Vec::new();
    for case in CASES {
        let start = shell::step(case.name, || case.measure(&kind, &tools))?;
        println!("    {} after kill -9: {} ms", case.name, start.as_millis());
        if start > empty + LONGER_MAX {
            slow.push(case.name);
        }
    }
    let _ = std::fs::remove_dir_all(&tools.dir);
    anyhow::ensure!(
        slow.is_empty(),
        "a start took more than two seconds longer than an empty one: {slow:?}"
    );
    Ok(())
}

fn build() -> anyhow::Result<Tools> {
    let release = shell::target_dir().join("release");
    shell::step("cargo build --release", || {
        let build = ["build", "--release", "--package"];
        shell::run(shell::cargo().args(build).arg("fanlog"))?;
        let what = ["fanlog-bench", "--bins", "--example", "large_log"];
        shell::run(shell::cargo().args(build).args(what))
    })?;
    Ok(Tools {
        fanlog: release.join("fanlog"),
        load: release.join("fanlog-bench"),
        large_log: release.join("examples/large_log"),
        dir: shell::target_dir().join("torture-recovery"),
    })
}

impl Case {
    /// How long the start takes after the broker was killed under load.
    fn measure(&self, kind: &Kind, tools: &Tools) -> anyhow::Result<Duration> {
        let mut broker = Broker::start_as(SETUP, kind, &tools.dir)?;
        let partitions = self.partitions.to_string();
        let at = ["--topic", "t", "--partitions", &partitions, "--bootstrap"];
        let bootstrap = broker.bootstrap().to_owned();
        let mut topic = shell::command(&tools.load);
        shell::output(topic.arg("topic").args(at).arg(&bootstrap))?;
        if let Some((bytes, segment_bytes)) = self.made {
            broker.stop(End::Terminate)?;
            make_log(tools, &broker.data_dir(), bytes, segment_bytes)?;
            broker.restart(End::Kill)?;
        }
        let (seconds, bytes_max, batch_bytes) = self.load;
        let numbers = [
            ("--seconds", seconds.to_string()),
            ("--bytes-max", bytes_max.to_string()),
            ("--batch-bytes", batch_bytes.to_string()),
        ];
        let mut load = shell::command(&tools.load);
        load.arg("produce").args(at).arg(&bootstrap);
        for (name, number) in numbers {
            load.args([name, &number]);
        }
        shell::output(&mut load)?;
        broker.restart(End::Kill)
    }
}

fn make_log(tools: &Tools, data: &Path, bytes: u64, segment_bytes: u64) -> anyhow::Result<()> {
    let mut make = shell::command(&tools.large_log);
    make.arg(data).arg("t-0");
    make.args([bytes.to_string(), segment_bytes.to_string()]);
    shell::output(&mut make)?;
    // It is not what the broker left.
    let _ = std::fs::remove_file(data.join(".kafka_cleanshutdown"));
    Ok(())
}
