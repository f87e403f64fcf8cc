//! Commands that ask over HTTP, as a user types them.

#[allow(dead_code, reason = "this test talks HTTP alone")]
mod support;

use serde_json::Value;
use std::process::{Command, Output, Stdio};
use support::Broker;

fn fanlog(broker: &Broker, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fanlog"));
    command.args(arguments).args(["--http", &broker.http]);
    let output = command.stdin(Stdio::null()).output();
    output.expect("cargo has built the binary")
}

/// What a command prints that succeeds, as JSON.
fn json(broker: &Broker, arguments: &[&str]) -> Value {
    let arguments = [arguments, &["--output", "json"]].concat();
    let output = fanlog(broker, &arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    serde_json::from_slice(&output.stdout).expect("it prints JSON")
}

/// What a command says that fails.
fn failing(broker: &Broker, arguments: &[&str]) -> String {
    let output = fanlog(broker, arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    String::from_utf8(output.stderr).expect("it says text")
}

#[test]
fn what_is_not_there_is_named() {
    let broker = Broker::start();
    assert_eq!(json(&broker, &["queue", "list"]), Value::Array(Vec::new()));
    let said = failing(&broker, &["group", "status", "nobody"]);
    assert!(said.contains("group 'nobody' does not exist"), "{said}");
    let said = failing(&broker, &["queue", "describe", "none"]);
    assert!(said.contains("'none'"), "{said}");
}

#[test]
fn a_broker_that_is_not_there_is_one_line() {
    let socket = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = socket.local_addr().expect("it is bound").to_string();
    drop(socket);
    let mut command = Command::new(env!("CARGO_BIN_EXE_fanlog"));
    let output = command.args(["queue", "list", "--http", &address]).output();
    let output = output.expect("cargo has built the binary");
    let said = String::from_utf8(output.stderr).expect("it says text");
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains(&address) && said.contains("--http"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}
