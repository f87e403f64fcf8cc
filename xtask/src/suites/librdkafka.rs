//! librdkafka's own tests, of two versions: the one that the crate rdkafka-sys ships and the one that npm's
//! @confluentinc/kafka-javascript ships; one process per test, with a time limit, a few at once.
//!
//! Never: the tests that librdkafka calls local (they start no broker's client, or its own mock broker).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use anyhow::Context;

use super::case::{Case, Outcome};
use super::{Bench, Suite, cache, crates, ours};
use crate::compat::broker::{JVM_SMALL, Setup, wait_bounded};
use crate::shell;
use crate::toolchains::{self, need, once};

/// How long one process may take; the slowest test takes six minutes.
const TIME_LIMIT: Duration = Duration::from_secs(900);
/// Start first, so that nobody waits for one of them alone at the end.
const SLOWEST: [&str; 3] = ["0113", "0139", "0150"];
/// How often a test may run that the expectations say may run again.
const RUNS: usize = 3;
/// How many processes at once: the tests mostly wait, and each has topics and groups of its own, as its authors run them in
/// one process, five at once.
const WORKERS: usize = 4;
/// What the tests believe the broker to be.
const BROKER_VERSION: &str = "4.2.0";
/// Why the runner passes over a test that needs no broker.
const LOCAL: &str = "Filtered due to negative test flags";
/// How a pass over the tests differs from the default one.
#[derive(Clone, Copy, Default)]
struct Pass {
    scenario: Option<&'static str>,
    /// The group protocol of the consumers; the library's default if none.
    group_protocol: Option<&'static str>,
    /// These tests and no others; all if there are none.
    only: &'static [&'static str],
}

/// The scenario of the tests that want topics to stay absent until they are made.
const NO_AUTO_CREATE: &str = "noautocreate";
/// The tests that have it; the runner passes over all others without a word.
const NO_AUTO_CREATE_TESTS: [&str; 3] = ["0045", "0107", "0111"];
/// The tests of transactions that make topics of three replicas.
const THREE_REPLICAS_TESTS: [&str; 2] = ["0098", "0103"];

const SETUP: Setup = Setup {
    node_id: 1,
    settings: &[
        "num.partitions=4",
        "auto.create.topics.enable=true",
        "group.initial.rebalance.delay.ms=500",
        // The tests of share groups ask for locks of three seconds.
        "group.share.min.record.lock.duration.ms=1000",
    ],
    extra: &[],
    jvm: JVM_SMALL,
    port: None,
};
const NO_AUTO_CREATE_SETUP: Setup = Setup {
    settings: &["num.partitions=4", "auto.create.topics.enable=false"],
    // The tests ask for three replicas; they are about the life of topics.
    extra: &["fanlog.replication.factor.clamp=true"],
    ..SETUP
};

pub(super) const CRATE: Suite = Suite {
    name: "librdkafka-2.12.1",
    source: "crates.io rdkafka-sys 4.10.0",
    setup: SETUP,
    prepare: prepare_crate,
    run: run_default,
};
pub(super) const CRATE_NO_AUTO_CREATE: Suite = Suite {
    name: "librdkafka-2.12.1-noautocreate",
    setup: NO_AUTO_CREATE_SETUP,
    run: run_no_auto_create,
    ..CRATE
};
pub(super) const NPM: Suite = Suite {
    name: "librdkafka-2.15.1",
    source: "npm @confluentinc/kafka-javascript 1.10.1",
    setup: SETUP,
    prepare: prepare_npm,
    run: run_default,
};
/// The tests that ask for topics of three replicas, of which one broker keeps one.
pub(super) const NPM_THREE_REPLICAS: Suite = Suite {
    name: "librdkafka-2.15.1-three-replicas",
    setup: Setup {
        extra: &["fanlog.replication.factor.clamp=true"],
        ..SETUP
    },
    run: run_three_replicas,
    ..NPM
};
/// The same tests, whose consumers use the protocol of KIP-848.
pub(super) const NPM_CONSUMER: Suite = Suite {
    name: "librdkafka-2.15.1-consumer",
    run: run_consumer_protocol,
    ..NPM
};
pub(super) const NPM_NO_AUTO_CREATE: Suite = Suite {
    name: "librdkafka-2.15.1-noautocreate",
    setup: NO_AUTO_CREATE_SETUP,
    run: run_no_auto_create,
    ..NPM
};

/// librdkafka with its tests and examples, built once.
pub(crate) fn prepare_crate() -> anyhow::Result<PathBuf> {
    let root = cache().join(CRATE.name);
    let pins = crates::pins();
    once("librdkafka's tests (cargo, make)", &root, &[&pins], || {
        let source = crates::source("rdkafka-sys-4.10.0+2.12.1")?;
        build(&source.join("librdkafka"), &root)
    })?;
    Ok(root)
}

fn prepare_npm() -> anyhow::Result<PathBuf> {
    let root = cache().join(NPM.name);
    let package = NPM.source.trim_start_matches("npm ").replace(' ', "@");
    let stamp = ours(NPM.name).join("package.txt");
    once("librdkafka's tests (npm, make)", &root, &[&stamp], || {
        let pinned = std::fs::read_to_string(&stamp)?;
        let (name, checksum) = pinned.trim().split_once(' ').context("package.txt")?;
        anyhow::ensure!(name == package, "package.txt pins {name}, not {package}");
        need("npm", &["npm"])?;
        let unpacked = root.with_extension("npm");
        let _ = std::fs::remove_dir_all(&unpacked);
        std::fs::create_dir_all(&unpacked)?;
        let mut pack = shell::command("npm");
        pack.args(["pack", "--silent", &package])
            .current_dir(&unpacked);
        let archive = unpacked.join(shell::output(&mut pack)?.trim());
        let found = shell::output(shell::command("sha256sum").arg(&archive))?;
        anyhow::ensure!(
            found.starts_with(checksum),
            "{package} has the checksum {found}, not {checksum}"
        );
        let mut tar = shell::command("tar");
        shell::run(tar.arg("xzf").arg(archive).arg("-C").arg(&unpacked))?;
        build(&unpacked.join("package/deps/librdkafka"), &root)?;
        Ok(std::fs::remove_dir_all(unpacked)?)
    })?;
    Ok(root)
}

/// Copies the sources and builds library and tests.
fn build(source: &Path, root: &Path) -> anyhow::Result<()> {
    // What the tests are linked with; the header stands for the package.
    for (file, package) in [
        ("/usr/include/rapidjson/document.h", "rapidjson-dev"),
        ("/usr/include/openssl/ssl.h", "libssl-dev"),
        ("/usr/include/zlib.h", "zlib1g-dev"),
        ("/usr/include/zstd.h", "libzstd-dev"),
        ("/usr/include/lz4.h", "liblz4-dev"),
    ] {
        toolchains::need_file(Path::new(file), package)?;
    }
    crates::copy(source, root)?;
    let log = root.join("build.log");
    let file = std::fs::File::create(&log)?;
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = format!("-j{jobs}");
    let steps: [(&str, &[&str]); 3] = [
        ("bash", &["configure", "--disable-sasl"]),
        ("make", &[&jobs, "libs"]),
        ("make", &[&jobs, "-C", "tests", "build"]),
    ];
    for (program, arguments) in steps {
        let mut command = shell::command(program);
        command
            .args(arguments)
            .current_dir(root)
            .stdout(file.try_clone()?)
            .stderr(file.try_clone()?);
        shell::run(&mut command).with_context(|| format!("see {}", log.display()))?;
    }
    Ok(())
}

fn run_default(bench: &Bench) -> anyhow::Result<Vec<Case>> {
    run(bench, Pass::default())
}

fn run_no_auto_create(bench: &Bench) -> anyhow::Result<Vec<Case>> {
    let pass = Pass {
        scenario: Some(NO_AUTO_CREATE),
        only: &NO_AUTO_CREATE_TESTS,
        ..Pass::default()
    };
    run(bench, pass)
}

fn run_three_replicas(bench: &Bench) -> anyhow::Result<Vec<Case>> {
    let pass = Pass {
        only: &THREE_REPLICAS_TESTS,
        ..Pass::default()
    };
    run(bench, pass)
}

fn run_consumer_protocol(bench: &Bench) -> anyhow::Result<Vec<Case>> {
    let pass = Pass {
        group_protocol: Some("consumer"),
        ..Pass::default()
    };
    run(bench, pass)
}

fn run(bench: &Bench, pass: Pass) -> anyhow::Result<Vec<Case>> {
    let scenario = pass.scenario;
    let conf = bench.logs.join("test.conf");
    std::fs::write(&conf, format!("bootstrap.servers={}\n", bench.bootstrap))?;
    let class_path = toolchains::kafka()?;
    let (jobs, mut cases) = jobs(bench, pass)?;
    let (next, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let started = Instant::now();
    let work = || -> anyhow::Result<Vec<Case>> {
        let mut found = Vec::new();
        while let Some(job) = jobs.get(next.fetch_add(1, Relaxed)) {
            let mut cases = Vec::new();
            for _ in 0..RUNS {
                cases = job.process(bench, runner(bench, &conf, &class_path, pass))?;
                let mut failed = cases.iter().filter(|case| case.outcome == Outcome::Failed);
                if !failed.any(|case| bench.expectations.runs_again(&case.name)) {
                    break;
                }
            }
            let is_of_another_scenario =
                |case: &Case| case.outcome == Outcome::Skipped && case.said.is_empty();
            cases.retain(|case| scenario.is_none() || !is_of_another_scenario(case));
            let (n, m) = (ended.fetch_add(1, Relaxed) + 1, jobs.len());
            for case in &cases {
                let seconds = started.elapsed().as_secs();
                let Case {
                    name,
                    outcome,
                    said,
                } = case;
                println!("    {n} of {m}, {seconds} s: {outcome} {name} {said}");
            }
            found.extend(cases);
        }
        Ok(found)
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            cases.extend(worker.join().expect("a worker returns its errors")?);
        }
        anyhow::Ok(())
    })?;
    cases.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(cases)
}

/// One process to be: a test's number and, if it runs in parts, which.
struct Job {
    number: String,
    part: Option<String>,
}

/// What to run, the slowest first, and what is left out.
fn jobs(bench: &Bench, pass: Pass) -> anyhow::Result<(Vec<Job>, Vec<Case>)> {
    let parts = std::fs::read_to_string(ours("librdkafka").join("subtests.txt"))?;
    let mut jobs = Vec::new();
    let mut left_out = Vec::new();
    for number in numbers(&bench.installed.join("tests"))? {
        if !pass.only.is_empty() && !pass.only.contains(&number.as_str()) {
            continue;
        }
        if bench.expectations.leaves_out(&number) {
            left_out.push(Case::new(&number, Outcome::LeftOut, ""));
            continue;
        }
        let start = format!("{number} ");
        let parts = parts.lines().filter_map(|line| line.strip_prefix(&start));
        let before = jobs.len();
        if pass.scenario.is_none() {
            jobs.extend(parts.map(|part| Job {
                number: number.clone(),
                part: Some(part.to_owned()),
            }));
        }
        if jobs.len() == before {
            jobs.push(Job { number, part: None });
        }
    }
    jobs.sort_by_key(|job| !SLOWEST.contains(&job.number.as_str()));
    Ok((jobs, left_out))
}

/// The tests' numbers, from their files' names.
fn numbers(tests: &Path) -> anyhow::Result<BTreeSet<String>> {
    let mut numbers = BTreeSet::new();
    for file in std::fs::read_dir(tests)? {
        let name = file?.file_name().to_string_lossy().into_owned();
        let is_test = name.ends_with(".c") || name.ends_with(".cpp");
        // 8000 and above are run by hand only.
        if let Some((number, _)) = name.split_once('-')
            && is_test
            && number.len() == 4
            && number < "8000"
        {
            numbers.insert(number.to_owned());
        }
    }
    Ok(numbers)
}

/// The runner without local tests (-L), without those that need sockets in between (-E) or are known not to work (-K).
fn runner(bench: &Bench, conf: &Path, class_path: &str, pass: Pass) -> Command {
    let root = &bench.installed;
    let libraries = [root.join("src"), root.join("src-cpp")];
    let mut command = shell::command(root.join("tests/test-runner"));
    command
        .args(["-L", "-E", "-K", "-p1"])
        .current_dir(root.join("tests"))
        .env(
            "LD_LIBRARY_PATH",
            std::env::join_paths(libraries).unwrap_or_default(),
        )
        .env("RDKAFKA_TEST_CONF", conf)
        .env("TEST_KAFKA_VERSION", BROKER_VERSION)
        .env("BROKERS", &bench.bootstrap)
        .env("KAFKA_PATH", ours("librdkafka").join("kafka"))
        .env("KAFKA_CLASS_PATH", class_path)
        // Where the makefile of its Java programs looks for Kafka's client.
        .env("KAFKA_JARS", class_path.trim_end_matches("/*"));
    if let Some(scenario) = pass.scenario {
        command.args(["-s", scenario]);
    }
    if let Some(protocol) = pass.group_protocol {
        command.env("TEST_CONSUMER_GROUP_PROTOCOL", protocol);
    }
    command
}

impl Job {
    /// One process, to its end or the time limit.
    fn process(&self, bench: &Bench, mut command: Command) -> anyhow::Result<Vec<Case>> {
        command.env("TESTS", &self.number);
        let mut name = self.number.clone();
        if let Some(part) = &self.part {
            command.env("SUBTESTS", part);
            name = format!("{name}/{}", part.replace(' ', "-"));
        }
        let log = bench.logs.join(format!("{}.log", name.replace('/', "-")));
        let at_log = || format!("{}", log.display());
        let file = std::fs::File::create(&log).with_context(at_log)?;
        let mut child = command
            .stdout(file.try_clone()?)
            .stderr(file)
            .spawn()
            .with_context(|| format!("cannot start {command:?}"))?;
        let ended = wait_bounded(&mut child, TIME_LIMIT);
        let output = std::fs::read(&log).with_context(at_log)?;
        let output = String::from_utf8_lossy(&output);
        let broken = |how: &str| broken(&self.number, &output, how);
        let mut cases = match ended {
            Ok(status) if status.success() => summary(&output),
            Ok(status) => broken(&format!("the runner ended with {status}")),
            Err(_) => broken(&format!("did not end within {TIME_LIMIT:?}")),
        };
        if self.part.is_some() {
            cases.truncate(1);
            for case in &mut cases {
                case.name.clone_from(&name);
                if case.outcome == Outcome::Passed {
                    (case.outcome, case.said) = part_outcome(&output);
                }
            }
        }
        Ok(cases)
    }
}

/// The table that closes the output of a process in which nothing failed; local tests are left away.
fn summary(output: &str) -> Vec<Case> {
    let output = plain(output);
    let rows = output.lines().filter(|line| line.starts_with("| "));
    let case = |row: &str| {
        let mut cells = row.trim_matches('|').split('|').map(str::trim);
        let name = cells.next()?;
        let outcome = match cells.next()? {
            "PASSED" => Outcome::Passed,
            "SKIPPED" => Outcome::Skipped,
            _ => Outcome::Failed,
        };
        let said = cells.nth(1).unwrap_or_default();
        (name != "<MAIN>" && said != LOCAL).then(|| Case::new(name, outcome, said))
    };
    rows.filter_map(case).collect()
}

/// A part that did not fail passed, if it ran at all: a test of which no part is picked passes too.
fn part_outcome(output: &str) -> (Outcome, String) {
    let output = plain(output);
    if output.contains(": PASS (") {
        return (Outcome::Passed, String::new());
    }
    match output.split_once(": SKIP: ") {
        Some((_, rest)) => {
            let said = rest.lines().next().unwrap_or_default();
            (Outcome::Skipped, said.trim().to_owned())
        }
        None => (Outcome::Failed, "the test has no such part".to_owned()),
    }
}

/// A process that broke off has no table: what is said on the way counts.
fn broken(number: &str, output: &str, how: &str) -> Vec<Case> {
    let output = plain(output);
    let name_in = |line: &str, before: &str, after: &str| {
        let (_, rest) = line.split_once(before)?;
        Some(rest.split_once(after)?.0.to_owned())
    };
    let mut running = BTreeSet::new();
    let mut cases = Vec::new();
    for line in output.lines() {
        if let Some(name) = name_in(line, "=== Running test ", " ===") {
            running.insert(name);
        }
        if let Some(name) = name_in(line, "=== Test ", " PASSED ===") {
            running.remove(&name);
            cases.push(Case::new(&name, Outcome::Passed, ""));
        }
    }
    let mut lines = output.lines();
    let reason = lines
        .find(|line| line.starts_with("### Test "))
        .and_then(|_| lines.next())
        .unwrap_or(how);
    if running.is_empty() {
        running.insert(number.to_owned());
    }
    cases.extend(
        running
            .iter()
            .map(|name| Case::new(name, Outcome::Failed, reason)),
    );
    cases
}

/// The text without colours.
fn plain(output: &str) -> String {
    let mut plain = String::with_capacity(output.len());
    let mut parts = output.split('\u{1b}');
    plain.push_str(parts.next().unwrap_or_default());
    for part in parts {
        plain.push_str(part.split_once('m').map_or("", |(_, rest)| rest));
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::{broken, part_outcome, summary};
    use crate::suites::case::Outcome;

    #[test]
    fn the_closing_table_is_read_without_local_tests() {
        let output = "#====#\n|\u{1b}[32m <MAIN>    |     PASSED |   1.818s \u{1b}[0m|\n\
                      |\u{1b}[32m 0012_a      |     PASSED |   1.655s \u{1b}[0m|\n\
                      |\u{1b}[33m 0012_b      |    SKIPPED |   0.000s \u{1b}[0m| quick mode\n\
                      |\u{1b}[33m 0012_local  |    SKIPPED |   0.000s \u{1b}[0m| Filtered due to negative test flags\n";
        let found: Vec<_> = summary(output)
            .into_iter()
            .map(|case| (case.name, case.outcome, case.said))
            .collect();
        assert_eq!(
            found,
            [
                ("0012_a".to_owned(), Outcome::Passed, String::new()),
                (
                    "0012_b".to_owned(),
                    Outcome::Skipped,
                    "quick mode".to_owned()
                ),
            ]
        );
    }

    #[test]
    fn a_part_that_nobody_ran_has_not_passed() {
        let outcome = |line: &str| part_outcome(line).0;
        assert_eq!(
            outcome("[0113 / 1s] [ a_b:65: PASS (3.55s) ]\n"),
            Outcome::Passed
        );
        let skipped = part_outcome("[0113 / 1s] [ o_j:28: SKIP: no SASL here\n ]\n");
        assert_eq!(skipped, (Outcome::Skipped, "no SASL here".to_owned()));
        assert_eq!(
            outcome("[0113 / 1s] 0113: duration 1 ms\n"),
            Outcome::Failed
        );
    }

    #[test]
    fn a_process_that_broke_off_names_what_ran_and_what_had_passed() {
        let output = "[0103_a /  0.000s] ====== Running test 0103_a ======\n\
                      [0103_a /  0.000s] ====== Test 0103_a PASSED ======\n\
                      [0103_b /  0.000s] ====== Running test 0103_b ======\n\
                      ### Test \"0103_b\" failed at x.c:1: ###\nExpected this\n";
        let found: Vec<_> = broken("0103", output, "killed")
            .into_iter()
            .map(|case| (case.name, case.outcome, case.said))
            .collect();
        assert_eq!(
            found,
            [
                ("0103_a".to_owned(), Outcome::Passed, String::new()),
                (
                    "0103_b".to_owned(),
                    Outcome::Failed,
                    "Expected this".to_owned()
                ),
            ]
        );
        let nothing = broken("0103", "", "killed");
        assert_eq!(
            (nothing[0].name.as_str(), nothing[0].said.as_str()),
            ("0103", "killed")
        );
    }
}
