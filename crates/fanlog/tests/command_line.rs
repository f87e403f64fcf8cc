//! What a user at a terminal meets: exit codes, one clear line, nothing on the wrong stream.

use std::net::TcpListener;
use std::process::{Command, Output, Stdio};

fn fanlog(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fanlog"));
    command.args(arguments).stdin(Stdio::null());
    command.output().expect("cargo has built the binary")
}

/// Runs a command that fails before it prints anything, and gives what it says.
fn failing(arguments: &[&str], code: i32) -> String {
    let output = fanlog(arguments);
    let said = String::from_utf8(output.stderr).expect("it says text");
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
    assert_eq!(output.stdout, b"", "{arguments:?}");
    said
}

#[test]
fn wrong_usage_ends_with_2_and_names_the_flag() {
    let check = |arguments: &[&str], expected: &str| {
        let said = failing(arguments, 2);
        assert!(said.contains(expected), "{arguments:?}: {said}");
    };
    check(&["--no-such-flag"], "--no-such-flag");
    check(&["no-such-command"], "no-such-command");
    check(&["topic", "create"], "<TOPIC>");
    check(&["topic", "create", "a b"], "illegal character ' '");
    check(
        &["topic", "create", "a", "--partitions", "0"],
        "--partitions",
    );
    check(
        &["topic", "create", "a", "--config", "novalue"],
        "name=value",
    );
    check(&["topic", "alter", "a"], "--set");
    check(&["queue", "create", "q"], "--topic");
    check(&["queue", "alter", "q"], "--set");
    check(&["queue", "receive", "q", "--wait", "20"], "30s");
    check(&["queue", "list", "--http", "nowhere"], "host:port");
    check(&["queue", "dead", "redrive", "q"], "--all");
    check(
        &["queue", "dead", "show", "q", "a/1"],
        "topic/partition/offset",
    );
    check(
        &["topic", "list", "--output", "xml"],
        "possible values: table, json",
    );
    check(
        &["group", "reset-offsets", "g", "--topic", "t"],
        "--to-earliest",
    );
    check(
        &["group", "reset-offsets", "g", "--to-latest"],
        "--all-topics",
    );
    check(
        &[
            "group",
            "reset-offsets",
            "g",
            "--topic",
            "t",
            "--to-latest",
            "--to-earliest",
        ],
        "--to-earliest",
    );
    check(
        &[
            "group",
            "reset-offsets",
            "g",
            "--topic",
            "t",
            "--to-datetime",
            "yesterday",
        ],
        "2026-11-30T01:02:03Z",
    );
    check(
        &[
            "group",
            "reset-offsets",
            "g",
            "--topic",
            "t:x",
            "--to-latest",
        ],
        "'x' is not a partition's number",
    );
    check(&["produce", "t", "--acks", "2"], "--acks");
    check(
        &["produce", "t", "--key-separator", ""],
        "--key-separator is empty",
    );
    check(&["consume"], "<TOPICS>");
    check(
        &["consume", "t", "--group", "g", "--partition", "1"],
        "--partition",
    );
    check(&["consume", "t", "--timeout", "10"], "30s");
}

#[test]
fn no_broker_is_one_line_that_names_the_address_and_ends_with_1() {
    // A port that was free a moment ago.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    for arguments in [
        &["topic", "list"][..],
        &["topic", "create", "t"],
        &["group", "describe", "g"],
        &["produce", "t"],
        &["consume", "t"],
    ] {
        let arguments = [arguments, &["--bootstrap", &address]].concat();
        let said = failing(&arguments, 1);
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(said.starts_with("fanlog: cannot connect to"), "{said}");
        assert!(
            said.contains(&address) && said.contains("--bootstrap"),
            "{said}"
        );
    }
}

#[test]
fn help_ends_with_0_and_lists_the_commands() {
    let output = fanlog(&["--help"]);
    assert_eq!(output.status.code(), Some(0));
    let help = String::from_utf8(output.stdout).unwrap();
    for command in ["topic", "group", "produce", "consume"] {
        assert!(help.contains(command), "{help}");
    }
}
