//! `cargo xtask differ`: the same script of raw requests, and the same calls of real clients, against Fanlog and against
//! Apache Kafka 4.4, field by field.
//!
//! Why it exists: what a client may expect of an answer is what Kafka answers; no document says it as exactly.
//! In -> out: both brokers side by side, `compat/differ/` -> a verdict, and `compat/DIFFERENTIAL.md`.
//! Read next: `compat/differ/run.py`.

use std::path::Path;

use anyhow::Context;

use crate::compat::{End, Kind, SideBySide, build_fanlog};
use crate::shell::{self, Usage, step};
use crate::toolchains;

const HELP: &str = "\
usage: cargo xtask differ [--only CASE[,CASE...]] [--release]

  --only      some of the cases in compat/differ/cases/, or real_clients; writes no report
  --release   Fanlog in the release profile";

/// What a whole run writes.
const REPORT: &str = "compat/DIFFERENTIAL.md";

/// Runs the command.
pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    let (mut only, mut is_release) = (None, false);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match (arg.as_str(), args.as_slice().first()) {
            ("--help", _) => {
                println!("{HELP}");
                return Ok(());
            }
            ("--release", _) => is_release = true,
            ("--only", Some(cases)) => {
                only = Some(cases.clone());
                args.next();
            }
            _ => return Err(Usage(format!("no option {arg:?}, or no value\n{HELP}")).into()),
        }
    }
    self_test()?;
    let python = toolchains::python()?;
    let fanlog = Kind::Fanlog(build_fanlog(is_release)?);
    let kafka = Kind::Kafka(toolchains::kafka()?);
    // A folder of its own for each run; kept when something differs, for the logs.
    let dir = toolchains::cache().join(format!("differ-{}", std::process::id()));
    let mut brokers = step("starting Fanlog and Kafka", || {
        SideBySide::start(&fanlog, &kafka, &dir)
    })?;
    step("the script, on both", || {
        compare(&python, &brokers, only.as_deref())
    })?;
    brokers.stop(End::Terminate)?;
    let _ = std::fs::remove_dir_all(dir);
    Ok(())
}

/// The runner's own tests: it must find what differs. Needs Python and nothing else.
pub(crate) fn self_test() -> anyhow::Result<()> {
    step("the differential runner's own tests", || {
        let mut tests = shell::command("python3");
        tests
            .current_dir(shell::repository().join("compat/differ"))
            .args([
                "-B", "-m", "unittest", "discover", "-q", "-s", "tests", "-t", ".",
            ]);
        shell::run(&mut tests).context("needs python3 (on Debian: `apt-get install python3`)")
    })
}

fn compare(python: &Path, brokers: &SideBySide, only: Option<&str>) -> anyhow::Result<()> {
    let mut command = shell::command(python);
    command
        .arg(shell::repository().join("compat/differ/run.py"))
        .args(["--fanlog", brokers.fanlog(), "--kafka", brokers.kafka()])
        .env("PYTHONDONTWRITEBYTECODE", "1");
    match only {
        Some(cases) => command.args(["--only", cases]),
        None => {
            let (commit, date) = shell::commit_and_date(REPORT)?;
            command
                .arg("--report")
                .arg(shell::repository().join(REPORT))
                .args(["--commit", &commit, "--date", &date])
        }
    };
    shell::run(&mut command)
}
