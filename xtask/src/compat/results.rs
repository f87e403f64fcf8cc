//! `compat/RESULTS.md`: what was run, against which build, with what outcome.

use std::fmt::Write as _;

use super::broker::Kind;
use super::scenario::Report;
use crate::shell;

/// Where the rest is.
const SUITES: &str = "
The suites that others wrote (kafka-python, kgo, librdkafka 2.12.1 and 2.15.1, rust-rdkafka, rskafka) have their counts, and a
reason for every miss, in [SUITES.md](SUITES.md).
";

/// What is known so far.
#[derive(Debug)]
pub(crate) struct Results {
    broker: String,
    reports: Vec<Report>,
    failures: Vec<String>,
    others: Vec<(String, String)>,
}

impl Results {
    /// Nothing yet.
    pub(crate) fn new(kind: &Kind) -> Results {
        let broker = match kind {
            Kind::Fanlog(_) => "Fanlog".to_owned(),
            Kind::Kafka(_) => "Apache Kafka 4.4.0".to_owned(),
            Kind::Running(bootstrap) => format!("the broker at {bootstrap}"),
        };
        Results {
            broker,
            reports: Vec::new(),
            failures: Vec::new(),
            others: Vec::new(),
        }
    }

    /// True if the broker was ours.
    pub(crate) fn is_about_fanlog(&self) -> bool {
        self.broker == "Fanlog"
    }

    /// A client that came through.
    pub(crate) fn add(&mut self, report: Report) {
        self.reports.push(report);
    }

    /// A client that did not.
    pub(crate) fn add_failure(&mut self, name: &str, error: &anyhow::Error) {
        let error = format!("{error:#}");
        let first = error.lines().next().unwrap_or_default();
        self.failures.push(format!("{name}: {first}"));
    }

    /// A suite beside the clients' scenario.
    pub(crate) fn add_other(&mut self, name: &str, outcome: &str) {
        self.others.push((name.to_owned(), outcome.to_owned()));
    }

    /// Writes the file.
    pub(crate) fn write(&self) -> anyhow::Result<()> {
        let path = shell::repository().join("compat/RESULTS.md");
        std::fs::write(&path, self.page()?)?;
        shell::say(&format!("wrote {}", path.display()));
        Ok(())
    }

    fn page(&self) -> anyhow::Result<String> {
        let commit =
            shell::output(shell::command("git").args(["rev-parse", "--short=12", "HEAD"]))?;
        let date = shell::output(shell::command("date").args(["-u", "+%Y-%m-%d %H:%M UTC"]))?;
        let mut page = format!(
            "# Real clients against {}\n\n\
             Written by `cargo xtask compat`; do not edit. Commit {}, {}.\n\n\
             Each client: topic created, every codec with every `acks`, a group of three, one member killed with `kill -9` in\n\
             mid-batch, the broker killed with `kill -9` and restarted under the members, then stopped and restarted, new\n\
             members resuming at the committed offsets. Judged by `xtask/src/compat/history.rs`: no loss, no committed record\n\
             delivered again, order per key, values, keys and headers as sent.\n\n\
             | client | version | records | repeats | commits told | checks | seconds | outcome |\n\
             |---|---|---|---|---|---|---|---|\n",
            self.broker,
            commit.trim(),
            date.trim()
        );
        for report in &self.reports {
            writeln!(
                page,
                "| {} | {} | {} | {} | {} | {} | {:.0} | passed |",
                report.product,
                report.version,
                report.sent,
                report.repeats,
                report.commits,
                report.checks.len(),
                report.seconds
            )?;
        }
        for failure in &self.failures {
            writeln!(page, "| {failure} | | | | | | | **failed** |")?;
        }
        page.push_str(
            "\nRepeats are deliveries above one per record. None came after a commit that a client was told of; kcat and Sarama do not\n\
             tell, and for them only resuming after the clean stop is held to that. kcat commits every five seconds, hence its many.\n\n",
        );
        page.push_str("| other suite | outcome |\n|---|---|\n");
        for (name, outcome) in &self.others {
            writeln!(page, "| {name} | {outcome} |")?;
        }
        page.push_str(SUITES);
        Ok(page)
    }
}
