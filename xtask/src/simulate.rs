//! `cargo xtask simulate`: the simulator, over as many seeds as asked for.

use crate::shell::{self, step};

/// Runs the command; the simulator reads the arguments itself.
pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    step("the broker over a simulated clock and disk", || {
        let mut simulate = shell::cargo();
        simulate.args(["run", "--quiet", "--package", "fanlog-simulator", "--"]);
        simulate.args(args);
        shell::run(&mut simulate)
    })
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
