//! `rdkafka_performance`: librdkafka's own load tool, an outsider that no broker's author wrote.

use std::path::PathBuf;

use anyhow::Context;

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

impl Tool {
    /// Sends `count` records of `bytes` each; the figures that it prints at the end.
    pub(super) fn produce(
        &self,
        bootstrap: &str,
        topic: &str,
        bytes: u32,
        count: u64,
    ) -> anyhow::Result<Vec<(String, f64)>> {
        let (bytes, count) = (bytes.to_string(), count.to_string());
        self.run(
            bootstrap,
            topic,
            &[
                "-P",
                "-s",
                &bytes,
                "-c",
                &count,
                "-a",
                "-1",
                "-p",
                "0",
                "-X",
                "linger.ms=5",
                "-X",
                "batch.num.messages=10000",
                "-X",
                "batch.size=1000000",
            ],
        )
    }

    /// Reads `count` records from the beginning.
    pub(super) fn consume(
        &self,
        bootstrap: &str,
        topic: &str,
        count: u64,
    ) -> anyhow::Result<Vec<(String, f64)>> {
        let count = count.to_string();
        self.run(
            bootstrap,
            topic,
            &["-C", "-c", &count, "-o", "beginning", "-p", "0"],
        )
    }

    fn run(
        &self,
        bootstrap: &str,
        topic: &str,
        arguments: &[&str],
    ) -> anyhow::Result<Vec<(String, f64)>> {
        let mut command = shell::command(self.root.join("examples/rdkafka_performance"));
        command
            .env("LD_LIBRARY_PATH", self.root.join("src"))
            .args(["-b", bootstrap, "-t", topic, "-q"])
            .args(arguments);
        let output = shell::output(&mut command)?;
        summary(&output).with_context(|| format!("no summary in:\n{}", shell::tail(&output, 10)))
    }
}

/// The last line: `... (2048000000 bytes) ... in 2345ms: 852878 msgs/s and 873.35 MB/s ...`, or with `(873.35 MB/s)` of a consumer.
fn summary(output: &str) -> Option<Vec<(String, f64)>> {
    let line = output
        .lines()
        .rev()
        .find(|line| line.contains(" msgs/s "))?;
    let before = |mark: &str| {
        let (text, _) = line.split_once(mark)?;
        let last = text.split_whitespace().next_back()?;
        last.trim_start_matches('(').parse::<f64>().ok()
    };
    Some(vec![
        ("records_per_second".to_owned(), before(" msgs/s ")?),
        ("megabytes_per_second".to_owned(), before(" MB/s")?),
        ("bytes".to_owned(), before(" bytes)")?),
    ])
}

#[cfg(test)]
mod tests {
    use super::summary;

    #[test]
    fn the_rates_are_read_from_the_last_line() {
        let output = "% Sending\n\
            % 1000 messages produced (1024000 bytes), 1000 delivered (offset 0, 0 failed) in 10ms: 100000 msgs/s and 102.40 MB/s, 0 produce failures\n";
        let found = summary(output).unwrap();
        assert_eq!(
            found,
            [
                ("records_per_second".to_owned(), 100_000.0),
                ("megabytes_per_second".to_owned(), 102.4),
                ("bytes".to_owned(), 1_024_000.0),
            ]
        );
        let consumed =
            "% 1000 messages (1024000 bytes) consumed in 10ms: 100000 msgs/s (102.40 MB/s)\n";
        assert_eq!(summary(consumed), Some(found));
        assert_eq!(summary("% nothing\n"), None);
    }
}
