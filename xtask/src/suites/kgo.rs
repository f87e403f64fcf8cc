//! franz-go's kgo suite, from the Go module that `compat/go` pins.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, bail};

use super::case::{Case, Outcome};
use super::{Bench, Suite, cache};
use crate::compat::broker::{JVM_SMALL, Setup};
use crate::shell;
use crate::toolchains::once;

const PACKAGE: &str = "github.com/twmb/franz-go/pkg/kgo";
/// How long the whole suite may take; what has not ended by then has failed.
const TIME_LIMIT: &str = "9m";

pub(super) const SUITE: Suite = Suite {
    name: "kgo",
    source: "Go module github.com/twmb/franz-go v1.22.3",
    setup: Setup {
        node_id: 1,
        settings: &["num.partitions=3", "auto.create.topics.enable=true"],
        extra: &[],
        jvm: JVM_SMALL,
        port: None,
    },
    prepare,
    run,
};

/// Builds the package's tests; Go checks the module against compat/go/go.sum.
fn prepare() -> anyhow::Result<PathBuf> {
    let module = shell::repository().join("compat/go");
    let root = cache().join(SUITE.name);
    let pins = [module.join("go.mod"), module.join("go.sum")];
    once(
        "kgo's tests (go test -c)",
        &root,
        &[&pins[0], &pins[1]],
        || {
            if shell::find_program("go").is_none() {
                bail!(
                    "go is missing: install Go 1.26 or later (https://go.dev/dl) and run this again"
                );
            }
            let version = SUITE.source.rsplit(' ').next().unwrap_or_default();
            let pinned = std::fs::read_to_string(&pins[0])?;
            let line = format!("github.com/twmb/franz-go {version}");
            anyhow::ensure!(
                pinned.contains(&line),
                "compat/go/go.mod pins another version than {line}"
            );
            std::fs::create_dir_all(&root)?;
            shell::run(
                shell::command("go")
                    .args(["test", "-mod=readonly", "-c", "-o"])
                    .arg(root.join("kgo.test"))
                    .arg(PACKAGE)
                    .current_dir(&module),
            )
        },
    )?;
    Ok(root)
}

fn run(bench: &Bench) -> anyhow::Result<Vec<Case>> {
    let program = bench.installed.join("kgo.test");
    let listed = shell::output(shell::command(&program).args(["-test.list", "."]))?;
    let names = || listed.lines().filter(|line| line.starts_with("Test"));
    let left_out: Vec<&str> = names()
        .filter(|name| bench.expectations.leaves_out(name))
        .collect();
    // One test reads the package's source beside it.
    let module = shell::repository().join("compat/go");
    let mut list = shell::command("go");
    list.args(["list", "-mod=readonly", "-f", "{{.Dir}}", PACKAGE])
        .current_dir(module);
    let package = shell::output(&mut list)?;
    let log = bench.logs.join("kgo.log");
    let file = std::fs::File::create(&log)?;
    let mut command = shell::command(&program);
    command
        .args(["-test.v", "-test.timeout", TIME_LIMIT])
        .current_dir(package.trim())
        .env("KGO_SEEDS", &bench.bootstrap)
        .env("KGO_TEST_RF", "1")
        .env("KGO_TEST_RECORDS", "10000")
        .stdout(file.try_clone()?)
        .stderr(file);
    if !left_out.is_empty() {
        command
            .arg("-test.skip")
            .arg(format!("^({})$", left_out.join("|")));
    }
    // Its exit code says that something failed, which may be expected.
    command.status().context("kgo.test")?;
    let output = String::from_utf8_lossy(&std::fs::read(&log)?).into_owned();
    let mut cases = outcomes(names().filter(|name| !left_out.contains(name)), &output);
    cases.extend(
        left_out
            .iter()
            .map(|name| Case::new(name, Outcome::LeftOut, "")),
    );
    Ok(cases)
}

/// Reads what `go test -v` writes; a test without an outcome has failed.
fn outcomes<'a>(names: impl Iterator<Item = &'a str>, output: &'a str) -> Vec<Case> {
    const NONE: (Outcome, &str) = (Outcome::Failed, "has no outcome: it did not end in time");
    let mut found: BTreeMap<&str, (Outcome, &str)> = names.map(|name| (name, NONE)).collect();
    let mut before = "";
    for line in output.lines() {
        if let Some(name) = line.strip_prefix("=== RUN ") {
            found.insert(name.trim(), NONE);
        }
        if let Some((outcome, name)) = ended(line) {
            found.insert(name, (outcome, before));
        }
        before = line;
    }
    let case = |(name, (outcome, said)): (&str, (Outcome, &str))| match outcome {
        Outcome::Passed => Case::new(name, outcome, ""),
        _ => Case::new(name, outcome, said),
    };
    found.into_iter().map(case).collect()
}

/// A line such as `    --- PASS: TestGroupETL/range (15.31s)`.
fn ended(line: &str) -> Option<(Outcome, &str)> {
    let (word, rest) = line.trim_start().strip_prefix("--- ")?.split_once(": ")?;
    let name = rest.split_whitespace().next()?;
    let outcome = match word {
        "PASS" => Outcome::Passed,
        "FAIL" => Outcome::Failed,
        "SKIP" => Outcome::Skipped,
        _ => return None,
    };
    Some((outcome, name))
}

#[cfg(test)]
mod tests {
    use super::outcomes;
    use crate::suites::case::Outcome;

    #[test]
    fn tests_subtests_skips_and_what_never_ended_are_told_apart() {
        let output = "=== RUN   TestA\n=== RUN   TestA/x\n    --- PASS: TestA/x (0.00s)\n\
                      --- PASS: TestA (0.10s)\n=== RUN   TestB\nx_test.go:1: wrong\n--- FAIL: TestB (0.00s)\n\
                      === RUN   TestC\nno share groups\n--- SKIP: TestC (0.00s)\n=== RUN   TestD\npanic: timed out\n";
        let cases = outcomes(
            ["TestA", "TestB", "TestC", "TestD", "TestE"].into_iter(),
            output,
        );
        let found: Vec<_> = cases
            .iter()
            .map(|case| (case.name.as_str(), case.outcome, case.said.as_str()))
            .collect();
        let none = "has no outcome: it did not end in time";
        assert_eq!(
            found,
            [
                ("TestA", Outcome::Passed, ""),
                ("TestA/x", Outcome::Passed, ""),
                ("TestB", Outcome::Failed, "x_test.go:1: wrong"),
                ("TestC", Outcome::Skipped, "no share groups"),
                ("TestD", Outcome::Failed, none),
                ("TestE", Outcome::Failed, none),
            ]
        );
    }
}
