//! `fanlog queue receive`, `ack`, `nack`, `reject`, `release`, `extend`, `cancel`.

use super::{cell, items, path};
use crate::commands::Failure;
use crate::commands::arguments::duration;
use crate::commands::output::Table;
use crate::commands::web::Web;
use anyhow::anyhow;
use clap::Args;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::time::Duration;

#[derive(Debug, Args)]
pub(in crate::commands) struct Receive {
    /// The queue's name
    queue: String,
    /// How many messages at most
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    max: u32,
    /// How long to wait for the first message, such as 20s; 30s at most
    #[arg(long, value_parser = duration, default_value = "0s")]
    wait: Duration,
    /// How long the messages are held, if not as the queue says
    #[arg(long, value_parser = duration)]
    lock: Option<Duration>,
    /// Who receives; if not given, somebody new
    #[arg(long)]
    consumer: Option<String>,
    /// Acknowledge the messages once they are printed
    #[arg(long)]
    ack: bool,
    #[command(flatten)]
    web: Web,
}

#[derive(Debug, Args)]
pub(in crate::commands) struct Receipts {
    /// The queue's name
    queue: String,
    /// Receipts, as receive has printed them
    #[arg(required = true)]
    receipts: Vec<String>,
    #[command(flatten)]
    web: Web,
}

#[derive(Debug, Args)]
pub(in crate::commands) struct Ack {
    #[command(flatten)]
    receipts: Receipts,
}

#[derive(Debug, Args)]
pub(in crate::commands) struct Nack {
    #[command(flatten)]
    receipts: Receipts,
    /// How long they rest, if not as the queue's backoff says
    #[arg(long, value_parser = duration)]
    delay: Option<Duration>,
    /// What went wrong, for people
    #[arg(long)]
    reason: Option<String>,
}

#[derive(Debug, Args)]
pub(in crate::commands) struct Reject {
    #[command(flatten)]
    receipts: Receipts,
    /// What is wrong with them, for people
    #[arg(long)]
    reason: Option<String>,
}

#[derive(Debug, Args)]
pub(in crate::commands) struct Release {
    #[command(flatten)]
    receipts: Receipts,
    /// How long they rest
    #[arg(long, value_parser = duration)]
    delay: Option<Duration>,
}

#[derive(Debug, Args)]
pub(in crate::commands) struct Extend {
    #[command(flatten)]
    receipts: Receipts,
    /// How long the locks last from now on
    #[arg(long, value_parser = duration)]
    lock: Duration,
}

#[derive(Debug, Args)]
pub(in crate::commands) struct Cancel {
    /// The queue's name
    queue: String,
    /// Messages, as receive and publish name them: topic/partition/offset
    #[arg(required_unless_present = "message_ids")]
    messages: Vec<String>,
    /// A message by the id that its producer gave it, where the topic has dedup.window.ms; may be repeated
    #[arg(long = "message-id", value_name = "ID")]
    message_ids: Vec<String>,
    #[command(flatten)]
    web: Web,
}

pub(super) async fn receive(arguments: Receive) -> Result<(), Failure> {
    let mut wanted = Map::from_iter([
        ("max".to_owned(), Value::from(arguments.max)),
        ("wait".to_owned(), ms(arguments.wait)),
    ]);
    put(&mut wanted, "lock", arguments.lock.map(ms));
    put(&mut wanted, "consumer", arguments.consumer.map(Value::from));
    let (web, queue) = (&arguments.web, &arguments.queue);
    let received = web.post(&path(queue, "/receive"), wanted.into()).await?;
    let messages = items(&received["messages"]);
    web.output
        .print(|| shown(messages), || Value::from(messages))?;
    if arguments.ack && !messages.is_empty() {
        let receipts: Vec<_> = messages.iter().map(|message| &message["receipt"]).collect();
        let body = json!({ "receipts": receipts });
        check(&web.post(&path(queue, "/ack"), body).await?)?;
    }
    Ok(())
}

fn shown(messages: &[Value]) -> String {
    let mut text = String::new();
    for message in messages {
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "{}  attempt {}  until {}",
            cell(&message["id"]),
            cell(&message["attempt"]),
            cell(&message["lock_until"]),
        );
        for (label, name) in [("key", "key"), ("key in base64", "key_base64")] {
            if let Some(key) = message[name].as_str() {
                let _ = write!(text, "  {label} {key}");
            }
        }
        let _ = writeln!(text, "\nreceipt {}", cell(&message["receipt"]));
        for (name, value) in message["headers"].as_object().into_iter().flatten() {
            let _ = writeln!(text, "header {name}: {}", cell(value));
        }
        let value = match message["value_base64"].as_str() {
            Some(base64) => format!("base64 {base64}"),
            None => cell(&message["value"]),
        };
        let _ = writeln!(text, "{value}");
    }
    text
}

pub(super) async fn ack(arguments: Ack) -> Result<(), Failure> {
    settle(arguments.receipts, "/ack", Map::new()).await
}

pub(super) async fn nack(arguments: Nack) -> Result<(), Failure> {
    let mut more = Map::new();
    put(&mut more, "delay", arguments.delay.map(ms));
    put(&mut more, "reason", arguments.reason.map(Value::from));
    settle(arguments.receipts, "/nack", more).await
}

pub(super) async fn reject(arguments: Reject) -> Result<(), Failure> {
    let mut more = Map::new();
    put(&mut more, "reason", arguments.reason.map(Value::from));
    settle(arguments.receipts, "/reject", more).await
}

pub(super) async fn release(arguments: Release) -> Result<(), Failure> {
    let mut more = Map::new();
    put(&mut more, "delay", arguments.delay.map(ms));
    settle(arguments.receipts, "/release", more).await
}

pub(super) async fn extend(arguments: Extend) -> Result<(), Failure> {
    let mut more = Map::new();
    put(&mut more, "lock", Some(ms(arguments.lock)));
    settle(arguments.receipts, "/extend", more).await
}

async fn settle(
    receipts: Receipts,
    what: &str,
    mut body: Map<String, Value>,
) -> Result<(), Failure> {
    let web = &receipts.web;
    body.insert("receipts".to_owned(), receipts.receipts.into());
    let settled = web.post(&path(&receipts.queue, what), body.into()).await?;
    let results = items(&settled["results"]);
    let table = || {
        let mut table = Table::new(["result", "when"]);
        for result in results {
            let when = ["not_before", "lock_until"].map(|name| &result[name]);
            let when = when.into_iter().find(|when| when.is_string());
            let detail = &result["problem"]["detail"];
            let what = if detail.is_string() {
                detail
            } else {
                &result["result"]
            };
            table.row([cell(what), cell(when.unwrap_or(&Value::Null))]);
        }
        table.render()
    };
    web.output.print(table, || Value::from(results))?;
    check(&settled)
}

pub(super) async fn cancel(arguments: Cancel) -> Result<(), Failure> {
    let web = &arguments.web;
    let by_id = arguments.message_ids.iter();
    let by_id = by_id.map(|id| json!({ "message_id": id }));
    let places = arguments.messages.iter().map(|id| Value::from(id.as_str()));
    let messages: Vec<_> = places.chain(by_id).collect();
    let body = json!({ "messages": messages });
    let cancelled = web.post(&path(&arguments.queue, "/cancel"), body).await?;
    let results = items(&cancelled["results"]);
    let table = || {
        let mut table = Table::new(["message", "queue", "result"]);
        for result in results {
            if let Some(detail) = result["problem"].get("detail") {
                let problem = &result["problem"];
                let id = problem.get("id").unwrap_or(&problem["message_id"]);
                let id = cell(id);
                table.row([id, "-".to_owned(), cell(detail)]);
            }
            for queue in items(&result["queues"]) {
                let said = match queue["cancelled"].as_bool() {
                    Some(true) => "cancelled".to_owned(),
                    Some(false) => "was not to be delivered any more".to_owned(),
                    None => cell(&queue["problem"]["detail"]),
                };
                table.row([cell(&result["id"]), cell(&queue["queue"]), said]);
            }
        }
        table.render()
    };
    web.output.print(table, || Value::from(results))?;
    let queues = results.iter().flat_map(|result| items(&result["queues"]));
    let each = results.iter().chain(queues);
    failed(each.filter(|one| one["problem"].is_object()).count())
}

/// A failure if something of it failed.
fn check(answer: &Value) -> Result<(), Failure> {
    let results = items(&answer["results"]).iter();
    failed(
        results
            .filter(|result| result["problem"].is_object())
            .count(),
    )
}

fn failed(count: usize) -> Result<(), Failure> {
    match count {
        0 => Ok(()),
        1 => Err(anyhow!("one of the messages was refused").into()),
        _ => Err(anyhow!("{count} of the messages were refused").into()),
    }
}

fn put(fields: &mut Map<String, Value>, name: &str, value: Option<Value>) {
    fields.extend(value.map(|value| (name.to_owned(), value)));
}

fn ms(duration: Duration) -> Value {
    u64::try_from(duration.as_millis())
        .unwrap_or(u64::MAX)
        .into()
}
