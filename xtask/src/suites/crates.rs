//! Suites whose sources lie in crates: fetched by cargo, as `compat/suites/crates/Cargo.lock` pins them.
//!
//! In -> out: a crate's name and version -> its source, a copy of it that can be built, its tests' outcomes.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, bail};

use super::case::{Case, Outcome};
use super::{Bench, Suite, cache, ours};
use crate::compat::broker::{JVM_SMALL, Setup, wait_bounded};
use crate::shell;
use crate::toolchains::{need, once};

/// How long one test program may take.
const TIME_LIMIT: Duration = Duration::from_secs(300);

pub(super) const RDKAFKA: Suite = Suite {
    name: "rust-rdkafka",
    source: "crates.io rdkafka 0.39.0",
    setup: Setup {
        node_id: 0,
        settings: &["num.partitions=3", "auto.create.topics.enable=true"],
        extra: &[],
        // Some of the tests have it written in them.
        jvm: JVM_SMALL,
        port: Some(9092),
    },
    prepare: || prepare("rdkafka-0.39.0", RDKAFKA.name, &[]),
    run: |bench| run(bench, &[("KAFKA_HOST", &bench.bootstrap)]),
};

pub(super) const RSKAFKA: Suite = Suite {
    name: "rskafka",
    source: "crates.io rskafka 0.6.0",
    setup: Setup {
        node_id: 0,
        settings: &["num.partitions=3", "auto.create.topics.enable=false"],
        extra: &[],
        jvm: JVM_SMALL,
        port: None,
    },
    prepare: || {
        need("javac", &["default-jdk-headless"])?;
        prepare("rskafka-0.6.0", RSKAFKA.name, &["--all-features"])
    },
    run: |bench| {
        let environment = [
            ("TEST_INTEGRATION", "1"),
            ("TEST_BROKER_IMPL", "kafka"),
            ("KAFKA_CONNECT", &bench.bootstrap),
            // Java's client takes turns with this one, fetched by the suite itself from Maven Central.
            ("TEST_JAVA_INTEROPT", "1"),
        ];
        run(bench, &environment)
    },
};

/// What pins the crates.
pub(super) fn pins() -> PathBuf {
    ours("crates")
}

/// Where cargo put a crate's source; it is fetched if it is not there.
pub(super) fn source(name_and_version: &str) -> anyhow::Result<PathBuf> {
    let manifest = pins().join("Cargo.toml");
    let mut metadata = shell::cargo();
    metadata
        .args(["metadata", "--locked", "--format-version", "1"])
        .arg("--manifest-path")
        .arg(manifest);
    let text = shell::output(&mut metadata)?;
    let wanted = format!("/{name_and_version}/Cargo.toml");
    let found = text
        .split("\"manifest_path\":\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .find(|path| path.ends_with(&wanted))
        .with_context(|| format!("cargo fetched no {name_and_version}"))?;
    let manifest = Path::new(found);
    Ok(manifest.parent().unwrap_or(manifest).to_path_buf())
}

/// Copies a source to where it can be built: cargo's own copy must not change.
pub(super) fn copy(source: &Path, to: &Path) -> anyhow::Result<()> {
    let _ = std::fs::remove_dir_all(to);
    std::fs::create_dir_all(to.parent().unwrap_or(to))?;
    shell::run(shell::command("cp").arg("-r").arg(source).arg(to))
}

fn prepare(name_and_version: &str, name: &str, features: &[&str]) -> anyhow::Result<PathBuf> {
    let root = cache().join(name);
    let pins = pins();
    // In place of the crate's own, where that one no longer compiles.
    let lock = ours(name).join("Cargo.lock");
    let mut sources = vec![pins.as_path()];
    sources.extend(lock.is_file().then_some(lock.as_path()));
    once(&format!("{name}'s tests (cargo)"), &root, &sources, || {
        copy(&source(name_and_version)?, &root)?;
        // Below target/ of another workspace, a package has to say that it is its own.
        let manifest = root.join("Cargo.toml");
        let text = std::fs::read_to_string(&manifest)?;
        std::fs::write(&manifest, format!("{text}\n[workspace]\n"))?;
        if lock.is_file() {
            std::fs::copy(&lock, root.join("Cargo.lock"))?;
        }
        // The compiler that is here will do.
        let _ = std::fs::remove_file(root.join("rust-toolchain.toml"));
        let mut build = shell::cargo();
        build
            .args(["test", "--locked", "--no-run", "--tests"])
            .args(features)
            .current_dir(&root)
            .env_remove("CARGO_TARGET_DIR")
            .stdout(Stdio::null());
        let built = build.stderr(Stdio::piped()).output()?;
        let said = String::from_utf8_lossy(&built.stderr).into_owned();
        if !built.status.success() {
            bail!(
                "{build:?} ended with {}\n{}",
                built.status,
                shell::tail(&said, 30)
            );
        }
        Ok(std::fs::write(root.join("programs.txt"), programs(&said))?)
    })?;
    Ok(root)
}

/// From cargo's lines `Executable tests/x.rs (target/debug/deps/x-0a)`: a line `x path` each.
fn programs(said: &str) -> String {
    let program = |line: &str| {
        let rest = line.trim().strip_prefix("Executable tests/")?;
        let (name, path) = rest.trim_end_matches(')').split_once(".rs (")?;
        Some(format!("{name} {path}\n"))
    };
    said.lines().filter_map(program).collect()
}

fn run(bench: &Bench, environment: &[(&str, &str)]) -> anyhow::Result<Vec<Case>> {
    let programs = std::fs::read_to_string(bench.installed.join("programs.txt"))?;
    let mut cases = Vec::new();
    for (name, path) in programs.lines().filter_map(|line| line.split_once(' ')) {
        cases.extend(one_program(bench, environment, name, path)?);
    }
    Ok(cases)
}

fn one_program(
    bench: &Bench,
    environment: &[(&str, &str)],
    name: &str,
    path: &str,
) -> anyhow::Result<Vec<Case>> {
    let program = bench.installed.join(path);
    let listed = shell::output(shell::command(&program).args(["--list"]))?;
    let tests = listed
        .lines()
        .filter_map(|line| line.strip_suffix(": test"));
    let (left_out, tests): (Vec<&str>, Vec<&str>) =
        tests.partition(|test| bench.expectations.leaves_out(&format!("{name}::{test}")));
    let log = bench.logs.join(format!("{name}.log"));
    let file = std::fs::File::create(&log)?;
    let mut command = shell::command(&program);
    command
        .args(["--exact", "--test-threads=4"])
        .args(&tests)
        .envs(environment.iter().copied())
        .current_dir(&bench.installed)
        .stdout(file.try_clone()?)
        .stderr(file);
    let mut child = command.spawn().with_context(|| format!("{command:?}"))?;
    // Its exit code says that something failed, which may be expected; what has no outcome by now has failed.
    let _ = wait_bounded(&mut child, TIME_LIMIT);
    let output = String::from_utf8_lossy(&std::fs::read(&log)?).into_owned();
    let named = |test: &str| format!("{name}::{test}");
    let mut cases: Vec<Case> = left_out
        .iter()
        .map(|test| Case::new(&named(test), Outcome::LeftOut, ""))
        .collect();
    cases.extend(tests.iter().map(|test| {
        let (outcome, said) = outcome(test, &output);
        Case::new(&named(test), outcome, &said)
    }));
    Ok(cases)
}

/// What libtest says of a test.
fn outcome(test: &str, output: &str) -> (Outcome, String) {
    let start = format!("test {test} ... ");
    let words = output.lines().find_map(|line| line.strip_prefix(&start));
    match words.map(str::trim) {
        Some("ok") => (Outcome::Passed, String::new()),
        Some(words) if words.starts_with("ignored") => (Outcome::Skipped, words.to_owned()),
        Some("FAILED") => (Outcome::Failed, panicked(test, output)),
        _ => (
            Outcome::Failed,
            "has no outcome: it did not end in time".to_owned(),
        ),
    }
}

/// The message under `---- test stdout ----`, without the line that names thread and place.
fn panicked(test: &str, output: &str) -> String {
    let start = format!("---- {test} stdout ----");
    let mut lines = output.lines().skip_while(|line| *line != start);
    let place = lines
        .find(|line| line.contains("panicked at"))
        .unwrap_or_default();
    format!(
        "{}, {}",
        lines.next().unwrap_or_default(),
        place.split(' ').next_back().unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::{outcome, programs};
    use crate::suites::case::Outcome;

    #[test]
    fn the_programs_of_the_test_folder_are_found() {
        let said = "  Executable unittests src/lib.rs (target/debug/deps/rdkafka-1)\n  Executable tests/test_admin.rs (target/debug/deps/test_admin-2)\n";
        assert_eq!(
            programs(said),
            "test_admin target/debug/deps/test_admin-2\n"
        );
    }

    #[test]
    fn outcomes_are_read_from_what_libtest_writes() {
        let output = "test a ... ok\ntest b ... FAILED\ntest c ... ignored, slow\n\n---- b stdout ----\n\n\
                      thread 'b' (7) panicked at tests/x.rs:9:5:\nno records\n";
        assert_eq!(outcome("a", output).0, Outcome::Passed);
        let failed = "no records, tests/x.rs:9:5:".to_owned();
        assert_eq!(outcome("b", output), (Outcome::Failed, failed));
        assert_eq!(
            outcome("c", output),
            (Outcome::Skipped, "ignored, slow".to_owned())
        );
        assert_eq!(outcome("d", output).0, Outcome::Failed);
    }
}
