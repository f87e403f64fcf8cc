//! `rdkafka_performance`: librdkafka's own load tool, an outsider that no broker's author wrote.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::Context;

use super::bounded::{self, Bounds};
use crate::shell;
use crate::suites::librdkafka;
use crate::toolchains::once;

/// The program and the library it runs with.
#[derive(Debug)]
pub(super) struct Tool {
    root: PathBuf,
}

/// Builds it once, from the sources that the suites use.
pub(super) fn prepare() -> anyhow::Result<Tool> {
    let root = librdkafka::prepare_crate()?;
    let program = root.join("examples/rdkafka_performance");
    once("librdkafka's load tool (make)", &program, &[], || {
        let mut make = shell::command("make");
        make.args(["-s", "-C", "examples", "rdkafka_performance"])
            .current_dir(&root);
        shell::output(&mut make).map(drop)
    })?;
    Ok(Tool { root })
}

/// What a load of it moved: figures by name.
type Figures = Vec<(String, f64)>;

impl Tool {
    /// Sends records of `bytes` each for `span`; what was acknowledged by then.
    pub(super) fn produce(
        &self,
        to: At<'_>,
        bytes: u32,
        linger_ms: u32,
        span: Duration,
    ) -> anyhow::Result<Figures> {
        let (size, linger) = (bytes.to_string(), format!("linger.ms={linger_ms}"));
        let mut command = self.command(to);
        command.args(["-P", "-s", &size, "-a", "-1", "-X", &linger]);
        command.args(["-X", "batch.num.messages=10000", "-X", "batch.size=1000000"]);
        // It knows no duration. Interrupted it drops what is under way, which it reports as a failure, and says what it had done.
        let ended = bounded::run(&mut command, to.bounds(span, Some(span)))?;
        let found = produced(&ended.stdout, bytes);
        found.with_context(|| {
            let said = shell::tail(&ended.stdout, 5) + &shell::tail(&ended.stderr, 5);
            format!(
                "librdkafka ended with {} and no summary: {said}",
                ended.status
            )
        })
    }

    /// Reads the `count` records that are there from the beginning, again and again for `span`.
    pub(super) fn consume(
        &self,
        from: At<'_>,
        count: u64,
        span: Duration,
    ) -> anyhow::Result<Figures> {
        let count = count.to_string();
        let started = Instant::now();
        let (mut records, mut bytes, mut seconds) = (0.0, 0.0, 0.0);
        while seconds == 0.0 || started.elapsed() < span {
            let mut command = self.command(from);
            command.args(["-C", "-c", &count, "-o", "beginning"]);
            let output = bounded::output(&mut command, from.bounds(span, None))?;
            let one = consumed(&output).with_context(|| {
                format!("librdkafka gave no summary: {}", shell::tail(&output, 5))
            })?;
            records += one.records;
            bytes += one.bytes;
            seconds += one.seconds;
        }
        Ok(moved(records, bytes, seconds))
    }

    fn command(&self, at: At<'_>) -> Command {
        let mut command = shell::command(self.root.join("examples/rdkafka_performance"));
        command.env("LD_LIBRARY_PATH", self.root.join("src")).args([
            "-b",
            at.bootstrap,
            "-t",
            at.topic,
            "-p",
            "0",
            "-q",
        ]);
        command
    }
}

/// Where the load goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct At<'a> {
    pub(super) bootstrap: &'a str,
    pub(super) topic: &'a str,
    /// A place on the disk that is filled.
    pub(super) disk: &'a Path,
    /// How many bytes are sent at most.
    pub(super) sent_max: f64,
}

impl<'a> At<'a> {
    fn bounds(self, span: Duration, interrupted_after: Option<Duration>) -> Bounds<'a> {
        Bounds {
            time_max: span * 2 + Duration::from_secs(120),
            interrupted_after,
            shows_progress: false,
            disk: self.disk,
            sent_max: self.sent_max,
        }
    }
}

/// One run that came to its end.
#[derive(Debug, PartialEq)]
struct Moved {
    records: f64,
    bytes: f64,
    seconds: f64,
}

fn moved(records: f64, bytes: f64, seconds: f64) -> Figures {
    let figures = [
        ("seconds", seconds),
        ("records", records),
        ("bytes", bytes),
        ("records_per_second", records / seconds),
        ("megabytes_per_second", bytes / 1e6 / seconds),
    ];
    figures
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec()
}

/// Of the last line with rates, the number before `mark`.
fn before(output: &str, mark: &str) -> Option<f64> {
    let mut lines = output.lines().rev();
    let line = lines.find(|line| line.contains(" msgs/s "))?;
    let (text, _) = line.split_once(mark)?;
    let last = text.split([' ', '(']).next_back()?;
    last.parse().ok()
}

/// `% 1000 messages produced (1024000 bytes), 990 delivered (offset 0, 0 failed) in 10ms: ...`: what was delivered counts.
fn produced(output: &str, bytes: u32) -> Option<Figures> {
    let records = before(output, " delivered").filter(|records| *records > 0.0)?;
    let seconds = before(output, "ms: ")? / 1000.0;
    Some(moved(records, records * f64::from(bytes), seconds))
}

/// `% 1000 messages (1024000 bytes) consumed in 10ms: ...`.
fn consumed(output: &str) -> Option<Moved> {
    Some(Moved {
        records: before(output, " messages")?,
        bytes: before(output, " bytes)")?,
        seconds: before(output, "ms: ")? / 1000.0,
    })
}

#[cfg(test)]
mod tests {
    use super::{Moved, consumed, moved, produced};

    #[test]
    fn what_was_delivered_counts_and_not_what_was_produced() {
        let output = "% Sending\n\
            % 1000 messages produced (1024000 bytes), 500 delivered (offset 0, 0 failed) in 10ms: 50000 msgs/s and 51.20 MB/s, 0 produce failures\n";
        assert_eq!(produced(output, 1024), Some(moved(500.0, 512_000.0, 0.01)));
        let figures = moved(500.0, 512_000.0, 0.01);
        assert!(figures.contains(&("megabytes_per_second".to_owned(), 51.2)));
        assert_eq!(produced("% nothing\n", 1), None);
    }

    #[test]
    fn what_was_consumed_is_read_from_the_last_line() {
        let output =
            "% 1000 messages (1024000 bytes) consumed in 10ms: 100000 msgs/s (102.40 MB/s)\n";
        let expected = Moved {
            records: 1000.0,
            bytes: 1_024_000.0,
            seconds: 0.01,
        };
        assert_eq!(consumed(output), Some(expected));
        assert_eq!(consumed("% nothing\n"), None);
    }
}
