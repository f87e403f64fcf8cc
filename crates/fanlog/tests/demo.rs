//! The demo when whoever watches has seen enough: it leaves no process and no file.

#![allow(clippy::unwrap_used, reason = "this is a test")]

use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

/// Processes whose command line names `folder`.
fn processes_of(folder: &Path) -> Vec<String> {
    let named = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let command = std::fs::read(entry.ok()?.path().join("cmdline")).ok()?;
        Some(String::from_utf8_lossy(&command).replace('\0', " "))
    });
    let folder = folder.to_str().unwrap();
    named.filter(|command| command.contains(folder)).collect()
}

#[test]
fn stopped_in_the_middle_it_says_so_and_leaves_nothing() {
    let temporary = tempfile::tempdir().unwrap();
    let mut demo = Command::new(env!("CARGO_BIN_EXE_fanlog"))
        .args(["demo", "--seconds", "60"])
        .env("TMPDIR", temporary.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut shown = BufReader::new(demo.stdout.take().unwrap());
    shown.read_line(&mut line).unwrap();
    assert!(line.contains("selling"), "{line}");
    assert!(!processes_of(temporary.path()).is_empty());

    let pid = Pid::from_child(&demo);
    kill_process(pid, Signal::INT).unwrap();
    // Read to its end, so that the demo never waits for a reader.
    shown.read_to_string(&mut line).unwrap();
    let output = demo.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("stopped before the end"), "{said}");
    assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0);
    // A killed process is gone a moment later, and only its parent is told: look again, a thousand times at most.
    let is_over = (0..1_000).any(|_| processes_of(temporary.path()).is_empty());
    assert!(is_over, "{:?}", processes_of(temporary.path()));
}
