//! The project's menu: `cargo xtask <command>`.
//!
//! Why it exists: one place that knows how the repository is tested, so that a developer, CI and the README say the same command.
//! In -> out: a command line -> child processes, progress lines, an exit code (0 done, 1 failed, 2 wrong usage).
//! Read next: `test.rs`.

mod bench;
mod check;
mod codegen;
mod cold;
mod compat;
mod differ;
mod documented;
mod fuzz;
mod golden;
mod laws;
mod shell;
mod simulate;
mod suites;
mod tally;
mod test;
mod toolchains;
mod torture;

use std::process::ExitCode;

/// One line of the menu.
struct Command {
    name: &'static str,
    about: &'static str,
    run: fn(&[String]) -> anyhow::Result<()>,
}

const MENU: &[Command] = &[
    Command {
        name: "codegen",
        about: "writes crates/protocol/src/messages from schemas/ [--check: only says whether they have drifted apart]",
        run: codegen::run,
    },
    Command {
        name: "test",
        about: "everything a change must pass: format, lints, tests, generated code, a smoke of every real client",
        run: test::run,
    },
    Command {
        name: "compat",
        about: "real Kafka clients against the broker; writes compat/RESULTS.md [--help]",
        run: compat::run,
    },
    Command {
        name: "golden",
        about: "writes crates/protocol/tests/golden by Kafka's own classes [--check: only says whether they have drifted apart]",
        run: golden::run,
    },
    Command {
        name: "differ",
        about: "the same requests against Fanlog and Kafka 4.4, field by field; writes compat/DIFFERENTIAL.md [--help]",
        run: differ::run,
    },
    Command {
        name: "suites",
        about: "test suites that others wrote, against the broker; writes compat/SUITES.md [--only kgo,... --help]",
        run: suites::run,
    },
    Command {
        name: "fuzz",
        about: "random bytes against everything that reads bytes, 60 s each [--seconds N --only messages,batches,...]",
        run: fuzz::run,
    },
    Command {
        name: "check",
        about: "the fast half of test: format, lints, docs, dependency rules, no tests [--deny: licences and sources too]",
        run: check::run,
    },
    Command {
        name: "examples",
        about: "what the documents tell people to type, the demo and examples/, against a broker",
        run: documented::run_alone,
    },
    Command {
        name: "simulate",
        about: "the broker over a simulated clock and disk, seed by seed [--seeds N --from S, --seed S --trace]",
        run: simulate::run,
    },
    Command {
        name: "laws",
        about: "the tests over generated input from other seeds than the test command's [--seeds N --from S]",
        run: laws::run,
    },
    Command {
        name: "bench",
        about: "speed beside Kafka 4.4 on this machine, in turns; writes bench/RESULTS.md and docs/bench/ [--journal --plots --help]",
        run: bench::run,
    },
    Command {
        name: "cold",
        about: "a steady load beside a reader of old records that are not in memory; as root [--gigabytes N --seconds S --help]",
        run: cold::run,
    },
    Command {
        name: "torture",
        about: "malformed frames; crashes, power cuts, bad disks, files, clocks and memory under load; as root [--only hostile, --only recovery, --only transactions, --only churn, --only queues, --only kill,power,... --rounds N --quick --help]",
        run: torture::run,
    },
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, rest)) = args.split_first() else {
        print_menu();
        return ExitCode::SUCCESS;
    };
    if matches!(name.as_str(), "help" | "--help" | "-h") {
        print_menu();
        return ExitCode::SUCCESS;
    }
    let Some(command) = MENU.iter().find(|command| command.name == name) else {
        eprintln!("xtask: no command \"{name}\"; `cargo xtask` lists them");
        return ExitCode::from(2);
    };
    match (command.run)(rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is::<shell::Usage>() => {
            eprintln!("xtask {name}: {error}");
            ExitCode::from(2)
        }
        Err(error) => {
            eprintln!("xtask {name}: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn print_menu() {
    println!("cargo xtask <command>\n");
    for command in MENU {
        println!("  {:<8} {}", command.name, command.about);
    }
}
