//! `cargo xtask cold`: what a reader of old records does to everybody else.
//!
//! Why it exists: the claim that a slow reader harms nobody is one command away from being checked.
//! In -> out: a broker of its own, `fanlog-bench cold` -> its figures on standard output. As root, as the page cache is dropped.
//! Read next: `bench/src/cold/mod.rs`.

use crate::compat::broker::{Broker, End, JVM_SMALL, Kind, Setup};
use crate::shell::{self, Usage, step};
use crate::toolchains;

const HELP: &str = "\
usage: cargo xtask cold [--gigabytes N] [--seconds S] [--rate R] [--batch-records N] [--record-bytes N] [--again]

  --gigabytes      old records to be read; default 20
  --seconds        how long the load is measured alone, and beside a reader that has stopped; default 30
  --rate           records a second that are written meanwhile; default 20000
  --batch-records  how many of them go together; default 10
  --record-bytes   their size; default 1024
  --again          the old records are read a second time, from memory";

const SETUP: Setup = Setup {
    node_id: 1,
    settings: &[],
    extra: &[],
    jvm: JVM_SMALL,
    port: None,
};

/// Runs the command.
pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    if args.iter().any(|arg| arg == "--help") {
        println!("{HELP}");
        return Ok(());
    }
    check(args)?;
    step("building, release profile", || {
        let mut build = shell::cargo();
        build.args(["build", "--release", "-p", "fanlog", "-p", "fanlog-bench"]);
        shell::run(&mut build)
    })?;
    let fanlog = shell::target_dir().join("release/fanlog");
    let dir = toolchains::cache().join("cold");
    let mut broker = Broker::start_as(SETUP, &Kind::Fanlog(fanlog.clone()), &dir)?;
    let measured = step("a steady load, alone and beside readers", || {
        let mut load = shell::command(fanlog.with_file_name("fanlog-bench"));
        load.args(["cold", "--bootstrap", broker.bootstrap()]);
        load.arg("--data").arg(broker.data_dir()).args(args);
        shell::run(&mut load)
    });
    broker.stop(End::Terminate)?;
    std::fs::remove_dir_all(&dir)?;
    measured
}

/// The load tool knows what the values mean.
fn check(args: &[String]) -> anyhow::Result<()> {
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let is_known = match arg.as_str() {
            "--again" => true,
            "--gigabytes" | "--seconds" | "--rate" | "--batch-records" | "--record-bytes" => {
                args.next().is_some()
            }
            _ => false,
        };
        if !is_known {
            return Err(Usage(format!("{arg:?} was not understood\n{HELP}")).into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn options_that_nobody_knows_are_refused() {
        let of = |args: &[&str]| {
            let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
            check(&args)
        };
        assert!(of(&["--gigabytes", "4", "--again"]).is_ok());
        assert!(of(&["--gigabytes"]).is_err());
        assert!(of(&["--data", "/"]).is_err());
    }
}
