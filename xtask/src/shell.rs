//! Child processes: announced, and with the failing command in the error.

use std::fmt;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::Context;

/// The command line was wrong: exit code 2.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// The root of the repository.
pub(crate) fn repository() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask
        .parent()
        .expect("xtask lies in the repository's root")
        .to_path_buf()
}

/// Where build output goes, `CARGO_TARGET_DIR` respected.
pub(crate) fn target_dir() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(dir) => repository().join(dir),
        None => repository().join("target"),
    }
}

/// Prints a progress line.
pub(crate) fn say(what: &str) {
    println!("==> {what}");
}

/// Prints `what`, runs `work`, and prints how long it took.
pub(crate) fn step<T>(what: &str, work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    say(what);
    let started = Instant::now();
    let outcome = work();
    let word = if outcome.is_ok() { "done" } else { "FAILED" };
    println!(
        "    {word}: {what} ({:.1} s)",
        started.elapsed().as_secs_f32()
    );
    outcome
}

/// A command that starts in the repository's root.
pub(crate) fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(repository()).stdin(Stdio::null());
    command
}

/// The cargo that runs this xtask.
pub(crate) fn cargo() -> Command {
    command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Runs to the end; an error that names the command if it fails.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<()> {
    let status = command
        .status()
        .with_context(|| format!("cannot start {command:?}"))?;
    anyhow::ensure!(status.success(), "{command:?} ended with {status}");
    Ok(())
}

/// Runs to the end and returns its standard output; on failure the error carries what it wrote to standard error.
pub(crate) fn output(command: &mut Command) -> anyhow::Result<String> {
    let output = command
        .output()
        .with_context(|| format!("cannot start {command:?}"))?;
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        anyhow::bail!(
            "{command:?} ended with {}\n{}\n{}",
            output.status,
            tail(&stdout, 5),
            tail(&stderr, 30)
        );
    }
    Ok(stdout)
}

/// The pages that runs write: what they say changes nothing of what is tried.
const RESULTS: &[&str] = &[
    ":!compat/RESULTS.md",
    ":!compat/DIFFERENTIAL.md",
    ":!compat/SUITES.md",
    ":!compat/TORTURE.md",
    ":!compat/SIMULATED.md",
    ":!compat/FUZZED.md",
    ":!bench/RESULTS.md",
    ":!bench/QUEUES.md",
    ":!bench/results.jsonl",
    ":!docs/bench",
];

/// The commit of the work tree, marked where the tree differs from it beside `result` and other results, and the date.
pub(crate) fn commit_and_date(result: &str) -> anyhow::Result<(String, String)> {
    let head = output(command("git").args(["rev-parse", "--short=12", "HEAD"]))?;
    let others = format!(":!{result}");
    let status = ["status", "--porcelain", "--untracked-files=no", "--", "."];
    let changes = output(command("git").args(status).args(RESULTS).arg(&others))?;
    let mark = if changes.is_empty() { "" } else { "+changes" };
    let date = output(command("date").args(["-u", "+%Y-%m-%d %H:%M UTC"]))?;
    Ok((format!("{}{mark}", head.trim()), date.trim().to_owned()))
}

/// Adds a row to a page of results, which must be there with its table at the end.
pub(crate) fn append_row(page: &str, cells: &[String]) -> anyhow::Result<()> {
    let file = repository().join(page);
    let mut text =
        std::fs::read_to_string(&file).with_context(|| format!("no {}", file.display()))?;
    text.push_str(&format!("| {} |\n", cells.join(" | ")));
    std::fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))
}

/// The last lines of a text.
pub(crate) fn tail(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}

/// Runs to the end, shows its standard output as it comes, and hands each line to `on_line`.
pub(crate) fn run_lines(
    command: &mut Command,
    mut on_line: impl FnMut(&str),
) -> anyhow::Result<()> {
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {command:?}"))?;
    let stdout = child.stdout.take().expect("stdout was asked to be piped");
    for line in BufReader::new(stdout).lines() {
        let line = line.context("output that is not text")?;
        println!("{line}");
        on_line(&line);
    }
    let status = child.wait()?;
    anyhow::ensure!(status.success(), "{command:?} ended with {status}");
    Ok(())
}

/// The full path of a program on PATH.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|dir| dir.join(name))
        .find(|file| file.is_file())
}
