//! `cargo xtask test`: THE test command, the one that README and CI name.
//!
//! Why it exists: what passes here may land. It goes on after a failure, so that one run names everything that is wrong.
//! In -> out: the work tree -> progress lines and, last, `N passed, N failed` over everything.

use crate::shell::{self, Usage, step};
use crate::tally::Tally;
use crate::{
    bench, check, codegen, compat, differ, documented, golden, laws, simulate, toolchains, torture,
};

/// Runs the command.
pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    if !args.is_empty() {
        return Err(Usage("usage: cargo xtask test".into()).into());
    }
    let mut tally = Tally::default();
    check::static_checks(&mut tally);
    tally.record(
        "generated code",
        step("generated code has not drifted from schemas/", || {
            codegen::run(&["--check".to_owned()])
        }),
    );
    rust_tests(&mut tally);
    tally.record(
        "golden bytes",
        step("golden bytes are what Kafka's own classes write", || {
            golden::run(&["--check".to_owned()])
        }),
    );
    kafka_reads_our_files(&mut tally);
    planted_faults_are_found(&mut tally);
    tally.record("the history checker's own tests", torture::self_test());
    tally.record("the differential runner's own tests", differ::self_test());
    compat::smoke(&mut tally);
    tally.record("a short torture", torture::smoke());
    bench::example_smoke(&mut tally);
    documented::run(&mut tally);
    tally.close()
}

fn rust_tests(tally: &mut Tally) {
    // One seed for generated input: a change is judged by what it changes. `cargo xtask laws` takes others.
    let seed = std::env::var(laws::SEED).unwrap_or_else(|_| laws::FIXED_SEED.to_owned());
    let outcome = step(
        &format!("cargo test --workspace, {}={seed}", laws::SEED),
        || {
            let mut test = shell::cargo();
            test.args(["test", "--workspace", "--no-fail-fast"]);
            test.env(laws::SEED, &seed);
            shell::run_lines(&mut test, |line| tally.add_cargo_line(line))
        },
    );
    // Failed tests are counted already; this also catches a crate that does not compile, which counts no test.
    if let Err(error) = outcome {
        tally.fail("cargo test", &format!("{error:#}"));
    }
}

fn planted_faults_are_found(tally: &mut Tally) {
    if let Err(error) = simulate::finds_planted_faults(|line| tally.add_cargo_line(line)) {
        tally.fail("planted faults", &format!("{error:#}"));
    }
}

/// The storage tests that need Kafka's own DumpLogSegments.
fn kafka_reads_our_files(tally: &mut Tally) {
    let outcome = toolchains::kafka().and_then(|class_path| {
        step("Kafka's DumpLogSegments reads what storage wrote", || {
            let mut test = shell::cargo();
            // The whole workspace, so that dependencies are not built anew with other features.
            test.args(["test", "--workspace", "--test", "dump_log_segments"]);
            test.args(["--test", "dump_cleaned_segments"]);
            test.args(["--features", "fanlog-storage/kafka-tools-tests"]);
            test.env("FANLOG_KAFKA_CLASSPATH", class_path);
            shell::run_lines(&mut test, |line| tally.add_cargo_line(line))
        })
    });
    if let Err(error) = outcome {
        tally.fail("DumpLogSegments", &format!("{error:#}"));
    }
}
