//! `cargo xtask check`: what can be judged without running anything.

use std::process::Command;

use crate::shell::{self, Usage, step};
use crate::tally::Tally;

const CARGO_DENY_VERSION: &str = "0.20.2";

/// Runs the command.
pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    let deny = match args {
        [] => false,
        [flag] if flag == "--deny" => true,
        _ => return Err(Usage("usage: cargo xtask check [--deny]".into()).into()),
    };
    let mut tally = Tally::default();
    static_checks(&mut tally);
    tally.record("rustdoc", step("rustdoc, warnings are errors", rustdoc));
    if deny {
        tally.record(
            "cargo deny",
            step("licences, sources and bans", dependency_rules),
        );
    }
    tally.close()
}

/// Format and lints, which `test` runs as well.
pub(crate) fn static_checks(tally: &mut Tally) {
    tally.record(
        "format",
        step("format", || {
            shell::run(shell::cargo().args(["fmt", "--all", "--check"]))
        }),
    );
    tally.record(
        "clippy",
        step("clippy, warnings are errors", || {
            shell::run(shell::cargo().args([
                "clippy",
                "--workspace",
                "--all-targets",
                "--",
                "-D",
                "warnings",
            ]))
        }),
    );
}

fn rustdoc() -> anyhow::Result<()> {
    shell::run(
        shell::cargo()
            .args(["doc", "--workspace", "--no-deps", "--quiet"])
            .env("RUSTDOCFLAGS", "-D warnings"),
    )
}

/// `cargo deny`, built once below target/; its advisory database needs the open internet, so only the rules that lie in the repository run.
pub(crate) fn dependency_rules() -> anyhow::Result<()> {
    let root = shell::target_dir().join("tools");
    let program = root.join("bin/cargo-deny");
    if !program.is_file() {
        shell::say("building cargo-deny (some minutes, once)");
        shell::run(
            shell::cargo()
                .args(["install", "--quiet", "--locked", "--root"])
                .arg(&root)
                .args(["cargo-deny", "--version", CARGO_DENY_VERSION]),
        )?;
    }
    let mut deny: Command = shell::command(program);
    shell::run(deny.args(["--offline", "check", "licenses", "bans", "sources"]))
}
