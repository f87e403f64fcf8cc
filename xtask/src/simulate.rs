//! `cargo xtask simulate`: the simulator, over as many seeds as asked for.
//!
//! In -> out: seeds -> a verdict; a run of `SEEDS_WORTH_A_ROW` or more adds a row to `compat/SIMULATED.md`.

use crate::shell::{self, step};

/// What a long run adds to.
const RESULTS: &str = "compat/SIMULATED.md";
const SEEDS_WORTH_A_ROW: u64 = 1_000;

/// Runs the command; the simulator reads the arguments itself.
pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    // Before the run, which takes its time: the tree may have changed when it is over.
    let (commit, date) = shell::commit_and_date(RESULTS)?;
    let (mut total, mut failed) = (None, Vec::new());
    let outcome = step("the broker over a simulated clock and disk", || {
        let mut simulate = shell::cargo();
        simulate.args(["run", "--quiet", "--package", "fanlog-simulator", "--"]);
        simulate.args(args);
        shell::run_lines(&mut simulate, |line| {
            if let Some(found) = line
                .strip_prefix("seed ")
                .filter(|_| !line.contains(" hash "))
            {
                failed.push(format!("seed {}", found.replace('|', "\\|")));
            } else if line.contains(" failed, ") && line.contains(" events; ") {
                total = Some(line.to_owned());
            }
        })
    });
    if let Some(total) = total.filter(|total| number(total, "", " seeds") >= SEEDS_WORTH_A_ROW) {
        let first = args.iter().position(|arg| arg == "--from");
        let first = first.and_then(|at| args.get(at + 1)?.parse().ok());
        let kind = match args.iter().any(|arg| arg == "--queues") {
            true => " with queues",
            false => "",
        };
        let row = row(&total, first.unwrap_or(0), kind, &failed);
        shell::append_row(RESULTS, &[&[date, commit], row.as_slice()].concat())?;
    }
    outcome
}

/// What the row says behind date and commit.
fn row(total: &str, first: u64, kind: &str, failed: &[String]) -> Vec<String> {
    let seeds = number(total, "", " seeds");
    let mut cells = vec![format!("{first} to {}{kind}", first + seeds - 1)];
    let events = number(total, " failed, ", " events");
    cells.extend([seeds, events].map(|count| count.to_string()));
    let reached = ["acknowledged", "power_cuts", "kills", "shutdowns"];
    cells.extend(reached.map(|name| number(total, &format!(" {name}: "), ",").to_string()));
    cells.push(match failed.is_empty() {
        true => "nothing".to_owned(),
        false => failed.join("; "),
    });
    cells
}

/// The number between two pieces of the simulator's closing line; 0 if it is not there.
fn number(line: &str, before: &str, after: &str) -> u64 {
    let rest = line.split_once(before).map_or("", |(_, rest)| rest);
    let digits = rest.split_once(after).map_or("", |(digits, _)| digits);
    digits.parse().unwrap_or(0)
}

/// What it takes to trust the simulator: faults on purpose, which it must find. They are compiled in for this test only.
pub(crate) fn finds_planted_faults(report: impl FnMut(&str)) -> anyhow::Result<()> {
    step("the simulator finds faults planted on purpose", || {
        let mut test = shell::cargo();
        // The whole workspace, so that dependencies are not built anew with other features.
        test.args(["test", "--workspace", "--test", "planted_faults"]);
        test.args(["--features", "fanlog-simulator/planted-faults"]);
        shell::run_lines(&mut test, report)
    })
}

#[cfg(test)]
mod tests {
    use super::row;

    const TOTAL: &str = "2500 seeds, 0 failed, 1234 events; Reached { acknowledged: 5, seen: 6, power_cuts: 7, \
                         kills: 8, shutdowns: 9, trims: 10 }";

    #[test]
    fn the_closing_line_becomes_a_row() {
        let clean = row(TOTAL, 5_000, "", &[]);
        let wanted = [
            "5000 to 7499",
            "2500",
            "1234",
            "5",
            "7",
            "8",
            "9",
            "nothing",
        ];
        assert_eq!(clean, wanted);
        let failed = row(TOTAL, 0, " with queues", &["seed 3: LOG-1".to_owned()]);
        assert_eq!(
            failed.first().map(String::as_str),
            Some("0 to 2499 with queues")
        );
        assert_eq!(failed.last().map(String::as_str), Some("seed 3: LOG-1"));
    }
}
