//! Commands that ask over HTTP, as a user types them.

#[allow(dead_code, reason = "this test talks HTTP alone")]
mod support;

use serde_json::Value;
use std::io::Write;
use std::process::{Command, Output, Stdio};
use support::Broker;

impl Broker {
    /// Publishes lines of `key:value`.
    fn produce(&self, topic: &str, lines: &str) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fanlog"));
        command.args([
            "produce",
            topic,
            "--key-separator",
            ":",
            "--bootstrap",
            &self.address,
        ]);
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        let mut process = command.spawn().expect("cargo has built the binary");
        let mut input = process.stdin.take().expect("it was asked to be piped");
        input.write_all(lines.as_bytes()).expect("it reads");
        drop(input);
        assert!(process.wait().expect("it ends").success());
    }
}

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

/// The receipts of what a receive prints.
fn receipts(received: &Value) -> Vec<String> {
    let messages = received.as_array().expect("a list of messages");
    let receipt = |message: &Value| message["receipt"].as_str().expect("a receipt").to_owned();
    messages.iter().map(receipt).collect()
}

#[test]
fn a_queue_from_its_making_to_its_end() {
    let broker = Broker::start();
    broker.produce("orders", "anna:1\nbert:2\ncarl:3\n");
    let create = [
        "queue", "create", "mail", "--topic", "orders", "--start", "earliest",
    ];
    let created = json(&broker, &[&create[..], &["--set", "backoff=none"]].concat());
    assert_eq!(created["settings"]["backoff"], "none");
    let said = failing(&broker, &create);
    assert!(said.contains("'mail'"), "{said}");
    let receive = [
        "queue",
        "receive",
        "mail",
        "--max",
        "10",
        "--wait",
        "20s",
        "--consumer",
        "me",
    ];
    let mut held = Vec::new();
    while held.len() < 3 {
        held.extend(receipts(&json(&broker, &receive)));
    }
    let status = json(&broker, &["queue", "status", "mail"]);
    assert_eq!(
        (&status["depth"], &status["in_flight"][0]["consumer"]),
        (&3.into(), &"me".into())
    );
    let printed = fanlog(&broker, &["queue", "status", "mail"]).stdout;
    let printed = String::from_utf8(printed).expect("it prints text");
    assert!(
        printed.contains("depth 3: 0 ready, 3 in flight"),
        "{printed}"
    );
    let acked = json(&broker, &["queue", "ack", "mail", &held[0]]);
    assert_eq!(acked[0]["result"], "done");
    let said = failing(&broker, &["queue", "ack", "mail", &held[0]]);
    assert!(said.contains("not held"), "{said}");
    let rejected = [
        "queue",
        "reject",
        "mail",
        &held[1],
        "--reason",
        "no address",
    ];
    assert_eq!(json(&broker, &rejected)[0]["result"], "dead-letter");
    json(
        &broker,
        &["queue", "extend", "mail", &held[2], "--lock", "5m"],
    );
    json(&broker, &["queue", "release", "mail", &held[2]]);
    let again = receipts(&json(&broker, &receive));
    assert_eq!(
        json(
            &broker,
            &["queue", "nack", "mail", &again[0], "--delay", "1h"]
        )[0]["result"],
        "again"
    );
    let message = json(&broker, &["queue", "status", "mail"])["oldest"]["id"].clone();
    let message = message.as_str().expect("one is left").to_owned();
    let cancelled = json(&broker, &["queue", "cancel", "mail", &message]);
    assert_eq!(cancelled[0]["queues"][0]["cancelled"], true);
    let list = ["queue", "dead", "list", "mail"];
    let letters = loop {
        let listed = json(&broker, &list);
        if listed["dead_letters"]
            .as_array()
            .is_some_and(|all| !all.is_empty())
        {
            break listed["dead_letters"].clone();
        }
    };
    let letter = letters[0]["id"].as_str().expect("an id").to_owned();
    let shown = json(&broker, &["queue", "dead", "show", "mail", &letter]);
    assert_eq!(shown["reason"], "no address");
    let redriven = json(&broker, &["queue", "dead", "redrive", "mail", &letter]);
    assert_eq!(redriven["done"], 1);
    let receive_and_ack = [&receive[..], &["--ack"]].concat();
    assert_eq!(receipts(&json(&broker, &receive_and_ack)).len(), 1);
    let discarded = json(&broker, &["queue", "dead", "discard", "mail", "--all"]);
    assert_eq!(discarded["done"], 0);
    let background = ["queue", "dead", "redrive", "mail", "--all", "--background"];
    let redrive = json(&broker, &background);
    assert_eq!(redrive["state"], "completed");
    let listed = json(&broker, &["queue", "dead", "redrives", "mail"]);
    assert_eq!(listed[0]["redrive"], redrive["redrive"]);
    let id = redrive["redrive"].as_str().expect("an id");
    let said = failing(&broker, &["queue", "dead", "cancel-redrive", "mail", id]);
    assert!(said.contains("is over"), "{said}");
    assert_eq!(json(&broker, &["queue", "pause", "mail"])["paused"], true);
    assert_eq!(json(&broker, &["queue", "resume", "mail"])["paused"], false);
    let altered = [
        "queue", "alter", "mail", "--set", "lock=1m", "--unset", "backoff",
    ];
    assert_eq!(json(&broker, &altered)["settings"]["lock"], "1m");
    assert_eq!(
        json(&broker, &["queue", "delete", "mail"])["result"],
        "deleted"
    );
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
