//! A program that makes load, and that ends whatever happens: by itself, by the clock, or before the disk is full.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use rustix::process::Signal;

use crate::compat::broker::signal;
use crate::shell;

/// What one load may take of the disk at most.
const DISK_BYTES_MAX: u64 = 12_000_000_000;
/// What is taken whatever is sent: the files of a journal, which are written before they are used.
const DISK_BYTES_BASE: u64 = 1_200_000_000;
/// What the load before has not given back yet: nothing before a small one, this before a large one.
const DISK_BYTES_BEFORE_MAX: u64 = 2_000_000_000;
/// What stays free.
const DISK_BYTES_LEFT: u64 = 1_000_000_000;
/// How often the program and the disk are looked at.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);

/// Limits of a program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds<'a> {
    /// How long it may take in all.
    pub(super) time_max: Duration,
    /// When it is asked to end (SIGINT), for programs that know no duration.
    pub(super) interrupted_after: Option<Duration>,
    /// Whether what it writes to standard error is shown as it comes, instead of kept.
    pub(super) shows_progress: bool,
    /// A place on the disk that it fills.
    pub(super) disk: &'a Path,
    /// How many bytes it sends at most.
    pub(super) sent_max: f64,
}

/// How it ended, and what it wrote.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// Runs to the end; an error that says what it wrote, if it fails.
pub(super) fn output(command: &mut Command, bounds: Bounds<'_>) -> anyhow::Result<String> {
    let ended = run(command, bounds)?;
    if !ended.status.success() {
        let said = shell::tail(&ended.stderr, 10);
        bail!("{} ended with {}: {said}", name(command), ended.status);
    }
    Ok(ended.stdout)
}

/// Runs to the end, whatever that is.
pub(super) fn run(command: &mut Command, bounds: Bounds<'_>) -> anyhow::Result<Ended> {
    let free = free_bytes(bounds.disk)?;
    let taken_max = taken_max(bounds.sent_max);
    let needed = taken_max + DISK_BYTES_LEFT;
    anyhow::ensure!(
        free >= needed,
        "{} has {:.1} GB free, and this load needs {:.1}: make room",
        bounds.disk.display(),
        free as f64 / 1e9,
        needed as f64 / 1e9
    );
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(if bounds.shows_progress {
            Stdio::inherit()
        } else {
            Stdio::piped()
        })
        .spawn()
        .with_context(|| format!("cannot start {command:?}"))?;
    let stdout = read(child.stdout.take());
    let stderr = read(child.stderr.take());
    let status = wait(&mut child, bounds, free - taken_max);
    if status.is_err() {
        let _ = child.kill();
        let _ = child.wait();
    }
    let text = |thread: thread::JoinHandle<String>| thread.join().unwrap_or_default();
    let (stdout, stderr) = (text(stdout), text(stderr));
    Ok(Ended {
        status: status.with_context(|| name(command))?,
        stdout,
        stderr,
    })
}

fn wait(child: &mut Child, bounds: Bounds<'_>, free_min: u64) -> anyhow::Result<ExitStatus> {
    let started = Instant::now();
    let mut is_interrupted = false;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        let took = started.elapsed();
        if took > bounds.time_max {
            bail!("did not end within {:?}", bounds.time_max);
        }
        if free_bytes(bounds.disk)? < free_min {
            bail!("took more of the disk than the load may");
        }
        if !is_interrupted && bounds.interrupted_after.is_some_and(|after| took >= after) {
            signal(child, Signal::INT)?;
            is_interrupted = true;
        }
        thread::sleep(LOOK_INTERVAL);
    }
}

/// What a load that sends so many bytes may take of the disk: a third more, for headers and what is dropped late.
fn taken_max(sent: f64) -> u64 {
    let before = (sent as u64).min(DISK_BYTES_BEFORE_MAX);
    ((sent * 4.0 / 3.0) as u64 + DISK_BYTES_BASE + before).min(DISK_BYTES_MAX)
}

fn read(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // What came before an error is what there is.
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn free_bytes(path: &Path) -> anyhow::Result<u64> {
    let disk = rustix::fs::statvfs(path).with_context(|| format!("{}", path.display()))?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// The program and its first argument, without its folder.
fn name(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name();
    let program = program.unwrap_or_default().to_string_lossy();
    let first = command.get_args().next().unwrap_or_default();
    format!("{program} {}", first.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(time_max: Duration, interrupted_after: Option<Duration>) -> Bounds<'static> {
        Bounds {
            time_max,
            interrupted_after,
            shows_progress: false,
            disk: Path::new("/"),
            sent_max: 0.0,
        }
    }

    #[test]
    fn a_program_that_does_not_end_is_ended_and_named() {
        let mut sleep = Command::new("sleep");
        let error = run(sleep.arg("60"), bounds(Duration::from_millis(100), None)).unwrap_err();
        let said = format!("{error:#}");
        assert!(
            said.contains("sleep 60") && said.contains("100ms"),
            "{said}"
        );
    }

    /// A shell that can be interrupted. One whose parent ignores that, as behind `&` in a script, could not even trap it.
    fn shell_that_hears() -> Command {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let ignored = ignored.and_then(|set| u64::from_str_radix(set.trim(), 16).ok());
        let bit = 1_u64 << (Signal::INT.as_raw() - 1);
        if ignored.is_none_or(|set| set & bit == 0) {
            return Command::new("sh");
        }
        let mut shell = Command::new("env");
        shell.args(["--default-signal=INT", "sh"]);
        shell
    }

    #[test]
    fn a_program_is_interrupted_in_time_and_what_it_wrote_is_kept() {
        let mut shell = shell_that_hears();
        shell.args([
            "-c",
            "trap 'echo ended; exit 3' INT; echo begun; while :; do sleep 0.02; done",
        ]);
        let after = Some(Duration::from_millis(300));
        let ended = run(&mut shell, bounds(Duration::from_secs(20), after)).unwrap();
        assert_eq!(ended.stdout, "begun\nended\n");
        assert_eq!(ended.status.code(), Some(3));
    }

    #[test]
    fn a_load_takes_by_what_it_sends_and_never_more_than_there_is() {
        assert_eq!(taken_max(0.0), 1_200_000_000);
        assert_eq!(taken_max(3e7), 1_270_000_000);
        assert_eq!(taken_max(3e9), 7_200_000_000);
        assert_eq!(taken_max(1e12), 12_000_000_000);
    }

    #[test]
    fn what_a_failed_program_said_is_in_the_error() {
        let mut shell = Command::new("sh");
        shell.args(["-c", "echo no broker >&2; exit 1"]);
        let error = output(&mut shell, bounds(Duration::from_secs(20), None)).unwrap_err();
        assert!(error.to_string().contains("no broker"), "{error}");
    }
}
