//! The commands against a broker, as a user strings them together. With `FANLOG_TEST_BOOTSTRAP=host:port` the broker is the one there: Apache
//! Kafka proves the tests that way.

mod support;

use serde_json::Value;
use std::io::Write;
use std::process::{Command, Output, Stdio};
use support::{Broker, unique};

/// A broker, and the command line turned to it.
struct Terminal {
    broker: Broker,
}

impl Terminal {
    async fn open() -> Self {
        let broker = Broker::start();
        broker.cluster().await;
        Self { broker }
    }

    fn run(&self, arguments: &[&str], input: &str) -> Output {
        let mut child = Command::new(env!("CARGO_BIN_EXE_fanlog"))
            .args(arguments)
            .args(["--bootstrap", &self.broker.address])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("cargo has built the binary");
        let mut stdin = child.stdin.take().expect("it is piped");
        stdin
            .write_all(input.as_bytes())
            .expect("the command reads or ignores it");
        drop(stdin);
        child.wait_with_output().expect("the command ends")
    }

    fn text_with(&self, arguments: &[&str], input: &str) -> String {
        let output = self.run(arguments, input);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {said}");
        String::from_utf8(output.stdout).expect("it prints text")
    }

    fn text(&self, arguments: &[&str]) -> String {
        self.text_with(arguments, "")
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let text = self.text(&[arguments, &["--output", "json"]].concat());
        serde_json::from_str(&text).expect("it prints JSON")
    }

    /// What a command says that fails.
    fn failing(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments, "");
        let said = String::from_utf8(output.stderr).expect("it says text");
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        said
    }
}

#[tokio::test]
async fn topics_from_creation_to_deletion() {
    let terminal = Terminal::open().await;
    let topic = &unique("walk");
    let created = terminal.text(&[
        "topic",
        "create",
        topic,
        "--partitions",
        "3",
        "--config",
        "retention.ms=7200000",
    ]);
    assert_eq!(created, format!("{topic}: created\n"));
    assert!(
        terminal
            .failing(&["topic", "create", topic])
            .contains("--if-not-exists")
    );
    terminal.text(&["topic", "create", topic, "--if-not-exists"]);
    let listed = terminal.json(&["topic", "list"]);
    let line = listed
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["topic"] == **topic)
        .unwrap();
    assert_eq!(
        (&line["partitions"], &line["internal"]),
        (&3.into(), &false.into())
    );

    let described = terminal.json(&["topic", "describe", topic]);
    assert_eq!(described["partitions"].as_array().unwrap().len(), 3);
    assert_eq!(described["configs"][0]["name"], "retention.ms");
    assert_eq!(
        described["configs"].as_array().unwrap().len(),
        1,
        "defaults are left out"
    );
    let all = terminal.json(&["topic", "describe", topic, "--all-configs"]);
    assert!(all["configs"].as_array().unwrap().len() > 20);

    terminal.text(&[
        "topic",
        "alter",
        topic,
        "--partitions",
        "5",
        "--set",
        "max.message.bytes=2000",
        "--unset",
        "retention.ms",
    ]);
    let described = terminal.json(&["topic", "describe", topic]);
    assert_eq!(described["partitions"].as_array().unwrap().len(), 5);
    assert_eq!(described["configs"][0]["value"], "2000");
    assert!(
        terminal
            .failing(&["topic", "alter", topic, "--set", "no.such=1"])
            .contains("INVALID_CONFIG")
    );

    terminal.text(&["topic", "delete", topic]);
    assert!(
        terminal
            .failing(&["topic", "delete", topic])
            .contains("UNKNOWN_TOPIC_OR_PARTITION")
    );
    terminal.text(&["topic", "delete", topic, "--if-exists"]);
    assert!(
        terminal
            .failing(&["consume", topic])
            .contains("fanlog topic create")
    );
}

#[tokio::test]
async fn records_there_and_back() {
    let terminal = Terminal::open().await;
    let topic = &unique("walk");
    terminal.text(&["topic", "create", topic, "--partitions", "2"]);
    let mut expected = Vec::new();
    for compression in ["none", "gzip", "snappy", "lz4", "zstd"] {
        for acks in ["0", "1", "all"] {
            let produce = [
                "produce",
                topic,
                "--partition",
                "1",
                "--compression",
                compression,
                "--acks",
                acks,
            ];
            let line = format!("{compression} {acks}");
            terminal.text_with(&produce, &format!("{line}\n"));
            expected.push(line);
        }
    }
    let consume =
        |more: &[&str]| terminal.text(&[&["consume", topic, "--timeout", "20s"], more].concat());
    let all = consume(&["--from-beginning", "--max-messages", "15"]);
    assert_eq!(all.lines().collect::<Vec<_>>(), expected);
    assert_eq!(consume(&["--to-end"]), all);
    assert_eq!(
        consume(&["--partition", "1", "--offset", "13", "--to-end"]),
        "zstd 1\nzstd all\n"
    );
    assert_eq!(
        consume(&["--partition", "1", "--offset", "-1", "--to-end"]),
        "zstd all\n"
    );
    assert_eq!(
        consume(&["--from-datetime", "2020-01-01", "--max-messages", "1"]),
        "none 0\n"
    );
    assert_eq!(consume(&["--partition", "0", "--to-end"]), "");

    let produce = [
        "produce",
        topic,
        "--key-separator",
        "=>",
        "--header",
        "h=1",
        "--header",
        "h=2",
    ];
    let sent = terminal.text_with(&produce, "key=>value\n");
    assert_eq!(sent, format!("{topic}: 1 record sent\n"));
    let consume = [
        "consume", topic, "--offset", "-1", "--to-end", "--output", "json",
    ];
    let text = terminal.text(&consume);
    let record = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let record = record
        .into_iter()
        .find(|record| record["key"] == "key")
        .unwrap();
    assert_eq!(record["value"], "value");
    assert_eq!(
        record["headers"].to_string(),
        r#"[{"name":"h","value":"1"},{"name":"h","value":"2"}]"#
    );
    let short = [
        "consume",
        topic,
        "--max-messages",
        "1",
        "--timeout",
        "100ms",
    ];
    assert!(terminal.failing(&short).contains("0 of 1 records"));
    let output = terminal.run(&["produce", topic, "--key-separator", ":"], "a:b\nnone\n");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("line 2 has no key separator"));
}

#[tokio::test]
async fn groups_from_the_first_commit_to_deletion() {
    let terminal = Terminal::open().await;
    let (topic, group) = (&unique("walk"), &unique("walk-group"));
    terminal.text(&["topic", "create", topic, "--partitions", "1"]);
    terminal.text_with(&["produce", topic], "0\n1\n2\n3\n4\n");
    let consume = |count: &str| {
        let more = ["--max-messages", count, "--timeout", "20s"];
        terminal.text(
            &[
                &["consume", topic, "--group", group, "--from-beginning"],
                &more[..],
            ]
            .concat(),
        )
    };
    assert_eq!(consume("2"), "0\n1\n");
    assert_eq!(consume("2"), "2\n3\n", "it goes on where it was");
    let described = terminal.json(&["group", "describe", group]);
    assert_eq!(described["state"], "Empty");
    let lag = &described["partitions"][0];
    assert_eq!(
        (&lag["committed_offset"], &lag["lag"]),
        (&4.into(), &1.into())
    );
    assert!(lag["behind_ms"].as_i64().unwrap() >= 0);
    let listed = terminal.json(&["group", "list"]);
    assert!(
        listed
            .as_array()
            .unwrap()
            .iter()
            .any(|one| one["group"] == **group)
    );

    let reset = |more: &[&str]| {
        let reset = ["group", "reset-offsets", group, "--topic", topic];
        let done = terminal.json(&[&reset[..], more].concat());
        let moved = &done["partitions"][0];
        (
            moved["before"].as_i64().unwrap(),
            moved["after"].as_i64().unwrap(),
        )
    };
    assert_eq!(reset(&["--to-earliest"]), (4, 0));
    assert_eq!(
        reset(&["--to-latest"]),
        (4, 5),
        "a dry run has changed nothing"
    );
    assert_eq!(
        reset(&["--to-offset", "99"]),
        (4, 5),
        "no further than the end"
    );
    assert_eq!(reset(&["--to-datetime", "2020-01-01"]), (4, 0));
    assert_eq!(reset(&["--by-duration", "1h"]), (4, 0));
    assert_eq!(reset(&["--by-duration", "0s"]), (4, 5));
    assert_eq!(reset(&["--shift-by", "-3", "--execute"]), (4, 1));
    assert_eq!(reset(&["--shift-by", "1"]), (1, 2));
    assert_eq!(consume("1"), "1\n");
    assert!(
        terminal
            .failing(&[
                "group",
                "reset-offsets",
                group,
                "--topic",
                &format!("{topic}:7"),
                "--to-latest"
            ])
            .contains("partition 7")
    );

    terminal.text(&["group", "delete", group]);
    assert!(
        terminal
            .failing(&["group", "delete", group])
            .contains("GROUP_ID_NOT_FOUND")
    );
    assert!(
        terminal
            .failing(&["group", "describe", group])
            .contains("fanlog group list")
    );
    assert!(
        terminal
            .failing(&[
                "group",
                "reset-offsets",
                group,
                "--all-topics",
                "--to-latest"
            ])
            .contains("has committed no offsets")
    );
}
