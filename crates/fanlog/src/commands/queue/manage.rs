//! `fanlog queue create`, `list`, `describe`, `alter`, `delete`, `pause`, `resume`.

use super::{Queue, cell, items, path};
use crate::commands::Failure;
use crate::commands::arguments::{name_and_value, topic_name};
use crate::commands::output::Table;
use crate::commands::web::Web;
use clap::Args;
use fanlog_model::TopicName;
use serde_json::{Map, Value, json};

#[derive(Debug, Args)]
pub(in crate::commands) struct Create {
    /// The queue's name
    queue: String,
    /// The topic that it reads
    #[arg(long, value_parser = topic_name)]
    topic: TopicName,
    /// Where it begins: latest, earliest, offset:42 or time:2026-11-30T18:00:00Z
    #[arg(long, default_value = "latest")]
    start: String,
    /// A setting, such as lock=30s; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = name_and_value)]
    set: Vec<(String, String)>,
    #[command(flatten)]
    web: Web,
}

#[derive(Debug, Args)]
pub(in crate::commands) struct Alter {
    /// The queue's name
    queue: String,
    /// A setting, such as lock=30s; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = name_and_value)]
    set: Vec<(String, String)>,
    /// A setting that goes back to its default; may be repeated
    #[arg(long, value_name = "NAME")]
    unset: Vec<String>,
    #[command(flatten)]
    web: Web,
}

pub(super) async fn create(arguments: Create) -> Result<(), Failure> {
    let mut body = Map::from_iter([
        ("name".to_owned(), arguments.queue.into()),
        ("topic".to_owned(), arguments.topic.as_str().into()),
        ("start".to_owned(), arguments.start.into()),
    ]);
    for (name, value) in arguments.set {
        if body.insert(name.clone(), value.into()).is_some() {
            let message = format!("{name} is given twice, or is no setting");
            return Err(Failure::Usage(message));
        }
    }
    let created = arguments.web.post("/v1/queues", body.into()).await?;
    show(&arguments.web, &created)
}

pub(super) async fn list(web: Web) -> Result<(), Failure> {
    let listed = web.get("/v1/queues").await?;
    let table = || {
        let mut table = Table::new([
            "queue",
            "topic",
            "partitions",
            "order",
            "dead letters",
            "paused",
        ]);
        for queue in items(&listed["queues"]) {
            table.row([
                cell(&queue["name"]),
                cell(&queue["topic"]),
                cell(&queue["partitions"]),
                cell(&queue["settings"]["order"]),
                cell(&queue["dead_letter"]),
                cell(&queue["paused"]),
            ]);
        }
        table.render()
    };
    Ok(web.output.print(table, || listed["queues"].clone())?)
}

pub(super) async fn describe(arguments: Queue) -> Result<(), Failure> {
    let described = arguments.web.get(&path(&arguments.queue, "")).await?;
    show(&arguments.web, &described)
}

pub(super) async fn alter(arguments: Alter) -> Result<(), Failure> {
    if arguments.set.is_empty() && arguments.unset.is_empty() {
        let message = "nothing to change: give --set or --unset".to_owned();
        return Err(Failure::Usage(message));
    }
    let set = arguments.set.into_iter();
    let set = set.map(|(name, value)| (name, Value::from(value)));
    let unset = arguments.unset.into_iter().map(|name| (name, Value::Null));
    let mut changes = Map::new();
    for (name, value) in set.chain(unset) {
        if changes.insert(name.clone(), value).is_some() {
            return Err(Failure::Usage(format!("{name} is given more than once")));
        }
    }
    let path = path(&arguments.queue, "");
    let altered = arguments.web.patch(&path, changes.into()).await?;
    show(&arguments.web, &altered)
}

pub(super) async fn delete(arguments: Queue) -> Result<(), Failure> {
    arguments.web.delete(&path(&arguments.queue, "")).await?;
    let queue = &arguments.queue;
    let json = || json!({ "queue": queue, "result": "deleted" });
    let output = arguments.web.output;
    Ok(output.print(|| format!("{queue}: deleted\n"), json)?)
}

pub(super) async fn pause(arguments: Queue) -> Result<(), Failure> {
    let path = path(&arguments.queue, "/pause");
    let paused = arguments.web.post(&path, json!({})).await?;
    show(&arguments.web, &paused)
}

pub(super) async fn resume(arguments: Queue) -> Result<(), Failure> {
    let path = path(&arguments.queue, "/resume");
    let resumed = arguments.web.post(&path, json!({})).await?;
    show(&arguments.web, &resumed)
}

fn show(web: &Web, queue: &Value) -> Result<(), Failure> {
    let table = || {
        let mut text = format!(
            "{}  on topic {} with {} partitions{}\n",
            cell(&queue["name"]),
            cell(&queue["topic"]),
            cell(&queue["partitions"]),
            if queue["paused"] == true {
                ", paused"
            } else {
                ""
            },
        );
        let mut table = Table::new(["setting", "value"]);
        for (name, value) in queue["settings"].as_object().into_iter().flatten() {
            table.row([name.clone(), cell(value)]);
        }
        text.push_str(&table.render());
        text
    };
    Ok(web.output.print(table, || queue.clone())?)
}
