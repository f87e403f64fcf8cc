//! What passed and what failed, over every kind of test, for the one closing line.

/// Counts of everything that was tried.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    passed: u64,
    failed: u64,
    failures: Vec<String>,
}

impl Tally {
    /// Counts one thing that held or did not.
    pub(crate) fn record(&mut self, name: &str, outcome: anyhow::Result<()>) {
        match outcome {
            Ok(()) => self.passed += 1,
            Err(error) => self.fail(name, &format!("{error:#}")),
        }
    }

    /// Counts one failure, and keeps its name for the end.
    pub(crate) fn fail(&mut self, name: &str, why: &str) {
        self.failed += 1;
        eprintln!("FAILED {name}: {why}");
        self.failures.push(format!("{name}: {why}"));
    }

    /// Counts `count` things that held.
    pub(crate) fn pass(&mut self, count: u64) {
        self.passed += count;
    }

    /// How many failed so far.
    pub(crate) fn failed(&self) -> u64 {
        self.failed
    }

    /// Adds what a `test result:` line of `cargo test` counted; any other line counts nothing.
    pub(crate) fn add_cargo_line(&mut self, line: &str) {
        let Some(counts) = line.trim_start().strip_prefix("test result:") else {
            return;
        };
        let count_before = |word: &str| -> u64 {
            counts
                .split([';', '.'])
                .filter_map(|part| part.trim().strip_suffix(word))
                .find_map(|number| number.trim().parse().ok())
                .unwrap_or(0)
        };
        self.passed += count_before("passed");
        self.failed += count_before("failed");
    }

    /// Repeats the failures and prints the closing line; an error if anything failed or nothing ran.
    pub(crate) fn close(self) -> anyhow::Result<()> {
        for failure in &self.failures {
            eprintln!("failed: {failure}");
        }
        println!("{} passed, {} failed", self.passed, self.failed);
        anyhow::ensure!(self.failed == 0, "{} failed", self.failed);
        anyhow::ensure!(self.passed > 0, "nothing ran");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Tally;

    #[test]
    fn cargo_result_lines_are_counted_and_others_are_not() {
        let mut tally = Tally::default();
        tally.add_cargo_line(
            "test result: ok. 17 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out",
        );
        tally.add_cargo_line(
            "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out",
        );
        tally.add_cargo_line("test a::b ... ok");
        assert_eq!((tally.passed, tally.failed), (20, 2));
    }

    #[test]
    fn a_run_in_which_nothing_ran_is_a_failure() {
        assert!(Tally::default().close().is_err());
    }
}
