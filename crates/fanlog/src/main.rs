//! The Fanlog broker and its command line.
//!
//! In -> out: arguments -> one of `commands/`, one file each.   Read next: `commands/mod.rs`.

mod commands;
mod demo;
mod serve;
mod usage;

use std::process::ExitCode;

fn main() -> ExitCode {
    commands::main()
}
