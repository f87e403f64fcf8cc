//! Read-process-write in transactions over two topics and a group, with `kill -9` of clients and broker at random.
//!
//! The rounds themselves are `compat/transactions/rounds.py`; here is what they run on. A full number of rounds is noted in
//! compat/TORTURE.md.

use crate::shell;
use crate::toolchains;
use anyhow::Context;
use std::net::TcpListener;

const ROUNDS: &str = "50";

/// Runs the rounds; `rounds` other than the usual number where given.
pub(super) fn run(rounds: Option<&str>) -> anyhow::Result<()> {
    let python = toolchains::python()?;
    shell::step("cargo build --release --package fanlog", || {
        shell::run(shell::cargo().args(["build", "--release", "--package", "fanlog"]))
    })?;
    let dir = toolchains::cache().join(format!("transactions-{}", std::process::id()));
    std::fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let port = free_port()?;
    let seed = std::process::id().to_string();
    let is_full = rounds.is_none();
    let rounds = rounds.unwrap_or(ROUNDS);
    let what = format!("{rounds} rounds of read-process-write, seed {seed}");
    shell::step(&what, || {
        let mut run = shell::command(&python);
        run.arg("-B")
            .arg(shell::repository().join("compat/transactions/rounds.py"))
            .arg(shell::target_dir().join("release/fanlog"))
            .arg(&dir)
            .args([port.to_string().as_str(), rounds, &seed]);
        if is_full {
            run.arg(shell::repository().join("compat/TORTURE.md"))
                .args([super::commit()?.as_str(), "release"]);
        }
        shell::run(&mut run)
    })?;
    // What it leaves is for whoever asks why a round failed.
    let _ = std::fs::remove_dir_all(dir);
    Ok(())
}

/// A port that is free, and the one behind it most likely too.
fn free_port() -> anyhow::Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0").context("no port is free")?;
    Ok(listener.local_addr()?.port())
}
