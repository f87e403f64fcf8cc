//! `cargo xtask torture`: crashes, power cuts, failing, full and slow disks, damaged files, wrong clocks and little memory under
//! load, with real clients whose histories are then checked.
//!
//! Why it exists: "acknowledged is on disk" is a promise about crashes, and only crashes show whether it is kept.
//! Owns: a Python environment in the target folder.   Never: the faults and checks themselves (compat/torture).
//! In -> out: a built broker -> progress lines, a row per scenario in compat/TORTURE.md, an error unless all hold.
//! Read next: compat/torture/torture/faults/.

mod churn;
mod queues;
mod recovery;
mod transactions;

use crate::shell;
use anyhow::Context;
use std::fs;
use std::path::PathBuf;

/// How many malformed frames of each kind.
const HOSTILE_FRAMES: &str = "1000";

/// The part of it that the test command runs: without root, and short.
const SMOKE: [&str; 6] = ["--only", "kill", "--rounds", "2", "--acks-between", "500"];

/// Runs the command. The arguments are those of `python -m torture` (`--help` lists them), but for `--only hostile`,
/// `--only recovery`, `--only transactions [--rounds N]`, `--only churn [--minutes N --members N ...]` and
/// `--only queues [--messages N --minutes N --kills N --cuts N ...]`.
pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    if args == ["--only", "hostile"] {
        return hostile();
    }
    if args == ["--only", "recovery"] {
        return recovery::run();
    }
    match args {
        [only, what] if only == "--only" && what == "transactions" => {
            return transactions::run(None);
        }
        [only, what, flag, rounds]
            if only == "--only" && what == "transactions" && flag == "--rounds" =>
        {
            return transactions::run(Some(rounds));
        }
        [only, what, rest @ ..] if only == "--only" && what == "churn" => {
            return churn::Churn::parse(rest)?.run();
        }
        [only, what, rest @ ..] if only == "--only" && what == "queues" => {
            return queues::Queues::parse(rest)?.run();
        }
        _ => {}
    }
    let python = python_with_clients()?;
    if args
        .iter()
        .any(|arg| matches!(arg.as_str(), "--help" | "-h"))
    {
        return shell::run(torture(&python).arg("--help"));
    }
    self_test()?;
    if !args.iter().any(|arg| arg.starts_with("--only")) {
        hostile()?;
        churn::Churn::default().run()?;
        queues::Queues::default().run()?;
    }
    let brings_a_broker = |arg: &String| arg.starts_with("--binary") || arg.starts_with("--serve");
    if !args.iter().any(brings_a_broker) {
        shell::step("cargo build --package fanlog", || {
            shell::run(shell::cargo().args(["build", "--package", "fanlog"]))
        })?;
    }
    let results = shell::repository().join("compat/TORTURE.md");
    shell::run(
        torture(&python)
            .arg("--binary")
            .arg(binary())
            .arg("--results")
            .arg(results)
            .args(["--commit", &commit()?])
            .args(args),
    )
}

/// Malformed frames against a running broker, more of them than in the test command.
fn hostile() -> anyhow::Result<()> {
    let what = format!("{HOSTILE_FRAMES} malformed frames of every kind of every API");
    shell::step(&what, || {
        let mut test = shell::cargo();
        test.args(["test", "--package", "fanlog", "--test", "hostile"]);
        test.args(["--", "--nocapture"]);
        shell::run(test.env("FANLOG_HOSTILE_FRAMES", HOSTILE_FRAMES))
    })
}

/// The checkers' own tests: they must find every kind of violation. Needs Python and nothing else.
pub(crate) fn self_test() -> anyhow::Result<()> {
    shell::step("the history checkers' own tests", || {
        for home in [home(), churn_home(), queues_home()] {
            let mut tests = shell::command("python3");
            tests.current_dir(home).args([
                "-B", "-m", "unittest", "discover", "-q", "-s", "tests", "-t", ".",
            ]);
            shell::run(&mut tests)
                .context("needs python3 (on Debian: `apt-get install python3`)")?;
        }
        Ok(())
    })
}

/// Two rounds of kill -9 under load, with a topic of each durability class; and two queues whose broker is killed.
pub(crate) fn smoke() -> anyhow::Result<()> {
    let python = python_with_clients()?;
    shell::step("kill -9 under load (a short torture)", || {
        let mut run = torture(&python);
        run.arg("--binary").arg(binary());
        shell::run(run.args(SMOKE))
    })?;
    queues::Queues::smoke()
}

fn binary() -> PathBuf {
    shell::target_dir().join("debug/fanlog")
}

fn home() -> PathBuf {
    shell::repository().join("compat/torture")
}

fn churn_home() -> PathBuf {
    shell::repository().join("compat/churn")
}

fn queues_home() -> PathBuf {
    shell::repository().join("compat/queue_torture")
}

fn torture(python: &PathBuf) -> std::process::Command {
    let mut command = shell::command(python);
    command
        .args(["-B", "-m", "torture"])
        .env("PYTHONPATH", home());
    command
}

/// A Python that has the pinned clients; made once, and again when the pins change.
fn python_with_clients() -> anyhow::Result<PathBuf> {
    let pins = home().join("requirements.txt");
    let wanted = fs::read_to_string(&pins).with_context(|| format!("cannot read {pins:?}"))?;
    let venv = shell::target_dir().join("torture-venv");
    let (python, stamp) = (venv.join("bin/python"), venv.join("installed.txt"));
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    shell::step("Python clients for torture (venv, pip)", || {
        shell::run(
            shell::command("python3")
                .args(["-m", "venv", "--clear"])
                .arg(&venv),
        )
        .context("python3 cannot make a venv: on Debian, `apt-get install python3-venv`")?;
        let mut pip = shell::command(&python);
        pip.args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--requirement",
        ]);
        shell::run(pip.arg(&pins))
    })?;
    fs::write(&stamp, wanted).with_context(|| format!("cannot write {stamp:?}"))?;
    Ok(python)
}

/// The commit under torture, marked where the work tree differs from it.
fn commit() -> anyhow::Result<String> {
    let head = shell::output(shell::command("git").args(["rev-parse", "--short", "HEAD"]))?;
    let tracked = [
        "status",
        "--porcelain",
        "--untracked-files=no",
        "--",
        ".",
        ":!compat/TORTURE.md",
    ];
    let changes = shell::output(shell::command("git").args(tracked))?;
    let mark = if changes.is_empty() { "" } else { "+changes" };
    Ok(format!("{}{mark}", head.trim()))
}
