//! `fanlog topic`: create, list, describe, alter, delete.

use super::Failure;
use super::arguments::{Connect, name_and_value, topic_name};
use super::output::{Table, or_dash};
use clap::{Args, Subcommand};
use fanlog_client::{
    Admin, ClientError, ConfigChange, ConfigEntry, ConfigSource, ListedOffset, NewTopic,
    OffsetSpec, PartitionView, TopicView,
};
use fanlog_model::{Offset, TopicName, TopicPartition};
use serde_json::json;
use std::collections::BTreeMap;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Create a topic
    Create(Create),
    /// List topics
    List(List),
    /// Show a topic's partitions and settings
    Describe(Describe),
    /// Change a topic's settings, or give it more partitions
    Alter(Alter),
    /// Delete a topic with its records
    Delete(Delete),
}

#[derive(Debug, Args)]
pub(super) struct Create {
    /// The topic's name
    #[arg(value_parser = topic_name)]
    topic: TopicName,
    /// How many partitions [default: the broker's num.partitions]
    #[arg(long, value_parser = clap::value_parser!(i32).range(1..))]
    partitions: Option<i32>,
    /// How many brokers hold each partition [default: the broker's]
    #[arg(long, value_parser = clap::value_parser!(i16).range(1..))]
    replication_factor: Option<i16>,
    /// A setting of the topic; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = name_and_value)]
    config: Vec<(String, String)>,
    /// Do nothing, and succeed, if the topic exists
    #[arg(long)]
    if_not_exists: bool,
    /// Only say whether it could be created
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    connect: Connect,
}

#[derive(Debug, Args)]
pub(super) struct List {
    /// Show the brokers' own topics too
    #[arg(long)]
    internal: bool,
    #[command(flatten)]
    connect: Connect,
}

#[derive(Debug, Args)]
pub(super) struct Describe {
    /// The topic's name
    #[arg(value_parser = topic_name)]
    topic: TopicName,
    /// Show settings that have their default too
    #[arg(long)]
    all_configs: bool,
    #[command(flatten)]
    connect: Connect,
}

#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("change").args(["partitions", "set", "unset"]).required(true).multiple(true)))]
pub(super) struct Alter {
    /// The topic's name
    #[arg(value_parser = topic_name)]
    topic: TopicName,
    /// The new number of partitions; keys then go to other partitions than before
    #[arg(long, value_parser = clap::value_parser!(i32).range(1..))]
    partitions: Option<i32>,
    /// Give a setting a value; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = name_and_value)]
    set: Vec<(String, String)>,
    /// Give a setting its default back; may be repeated
    #[arg(long, value_name = "NAME")]
    unset: Vec<String>,
    #[command(flatten)]
    connect: Connect,
}

#[derive(Debug, Args)]
pub(super) struct Delete {
    /// The topic's name
    #[arg(value_parser = topic_name)]
    topic: TopicName,
    /// Do nothing, and succeed, if there is no such topic
    #[arg(long)]
    if_exists: bool,
    #[command(flatten)]
    connect: Connect,
}

pub(super) async fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Create(arguments) => create(arguments).await,
        Command::List(arguments) => list(arguments).await,
        Command::Describe(arguments) => describe(arguments).await,
        Command::Alter(arguments) => alter(arguments).await,
        Command::Delete(arguments) => delete(arguments).await,
    }
}

/// Prints what was done to a topic.
fn report(connect: &Connect, topic: &TopicName, done: &str) -> Result<(), Failure> {
    let json = || json!({ "topic": topic.as_str(), "result": done });
    Ok(connect
        .output
        .print(|| format!("{topic}: {done}\n"), json)?)
}

async fn create(arguments: Create) -> Result<(), Failure> {
    let admin = Admin::new(arguments.connect.cluster().await?);
    let new = NewTopic {
        name: arguments.topic.to_string(),
        partitions: arguments.partitions.unwrap_or(-1),
        replication_factor: arguments.replication_factor.unwrap_or(-1),
        configs: arguments.config,
    };
    let done = match admin.create_topic(&new, arguments.dry_run).await {
        Err(error) if arguments.if_not_exists && has_code(&error, "TOPIC_ALREADY_EXISTS") => {
            "exists already"
        }
        created => {
            created?;
            if arguments.dry_run {
                "could be created"
            } else {
                "created"
            }
        }
    };
    report(&arguments.connect, &arguments.topic, done)
}

fn has_code(error: &ClientError, name: &str) -> bool {
    error.code().is_some_and(|code| code.name() == name)
}

async fn list(arguments: List) -> Result<(), Failure> {
    let view = arguments.connect.cluster().await?.all_topics().await?;
    let shown = |topic: &TopicView| arguments.internal || !topic.is_internal;
    let topics: Vec<_> = view
        .topics
        .iter()
        .filter(|(_, topic)| shown(topic))
        .collect();
    let table = || {
        let mut table = Table::new(["topic", "partitions", "replicas"]);
        for (name, topic) in &topics {
            let partitions = topic.partitions.len().to_string();
            table.row([(*name).clone(), partitions, replicas(topic).to_string()]);
        }
        table.render()
    };
    let json = || {
        let topics = topics.iter().map(|(name, topic)| {
            json!({
                "topic": name,
                "id": topic.id.to_string(),
                "partitions": topic.partitions.len(),
                "replicas": replicas(topic),
                "internal": topic.is_internal,
            })
        });
        topics.collect()
    };
    Ok(arguments.connect.output.print(table, json)?)
}

fn replicas(topic: &TopicView) -> usize {
    topic.partitions.first().map_or(0, |one| one.replicas.len())
}

/// A topic with what its leaders and its settings say.
struct Described {
    topic: TopicView,
    partitions: Vec<PartitionLine>,
    configs: Vec<ConfigEntry>,
}

struct PartitionLine {
    view: PartitionView,
    start: Option<Offset>,
    end: Option<Offset>,
}

impl PartitionLine {
    fn records(&self) -> Option<i64> {
        Some(self.end?.get() - self.start?.get())
    }
}

async fn describe(arguments: Describe) -> Result<(), Failure> {
    let cluster = arguments.connect.cluster().await?;
    let name = &arguments.topic;
    let topic = cluster.topic(name.as_str()).await?;
    let partitions = cluster.partitions(name).await?;
    let starts = cluster
        .list_offsets(&partitions, OffsetSpec::Earliest)
        .await?;
    let ends = cluster
        .list_offsets(&partitions, OffsetSpec::Latest)
        .await?;
    let mut configs = Admin::new(cluster).topic_configs(name.as_str()).await?;
    configs.retain(|one| arguments.all_configs || one.source == ConfigSource::Topic);
    configs.sort_by(|one, other| one.name.cmp(&other.name));
    let offset = |listed: &BTreeMap<TopicPartition, ListedOffset>, partition: &TopicPartition| {
        listed.get(partition).and_then(|one| one.offset)
    };
    let lines = partitions.iter().zip(&topic.partitions);
    let lines = lines.map(|(partition, view)| PartitionLine {
        view: view.clone(),
        start: offset(&starts, partition),
        end: offset(&ends, partition),
    });
    let described = Described {
        partitions: lines.collect(),
        topic,
        configs,
    };
    let json = || described_json(name, &described);
    Ok(arguments
        .connect
        .output
        .print(|| described_table(name, &described), json)?)
}

fn described_table(name: &TopicName, described: &Described) -> String {
    let id = described.topic.id;
    let mut text = format!(
        "{name}  id {id}  partitions {}\n",
        described.partitions.len()
    );
    let mut table = Table::new([
        "partition",
        "leader",
        "epoch",
        "replicas",
        "in sync",
        "start",
        "end",
        "records",
    ]);
    for line in &described.partitions {
        table.row([
            line.view.index.to_string(),
            or_dash(Some(line.view.leader).filter(|leader| *leader >= 0)),
            line.view.leader_epoch.to_string(),
            joined(&line.view.replicas),
            joined(&line.view.in_sync),
            or_dash(line.start),
            or_dash(line.end),
            or_dash(line.records()),
        ]);
    }
    text.push_str(&table.render());
    if described.configs.is_empty() {
        return text;
    }
    let mut table = Table::new(["setting", "value", "source"]);
    for one in &described.configs {
        let (name, source) = (one.name.clone(), one.source.name().to_owned());
        table.row([name, or_dash(one.value.as_ref()), source]);
    }
    text + "\n" + &table.render()
}

fn described_json(name: &TopicName, described: &Described) -> serde_json::Value {
    let partitions = described.partitions.iter().map(|line| {
        json!({
            "partition": line.view.index,
            "leader": line.view.leader,
            "leader_epoch": line.view.leader_epoch,
            "replicas": line.view.replicas,
            "in_sync": line.view.in_sync,
            "start_offset": line.start.map(Offset::get),
            "end_offset": line.end.map(Offset::get),
        })
    });
    let configs = described.configs.iter().map(|one| {
        json!({
            "name": one.name,
            "value": one.value,
            "source": one.source.name(),
            "read_only": one.is_read_only,
        })
    });
    json!({
        "topic": name.as_str(),
        "id": described.topic.id.to_string(),
        "internal": described.topic.is_internal,
        "partitions": partitions.collect::<Vec<_>>(),
        "configs": configs.collect::<Vec<_>>(),
    })
}

fn joined(brokers: &[i32]) -> String {
    let brokers: Vec<_> = brokers.iter().map(i32::to_string).collect();
    brokers.join(",")
}

async fn alter(arguments: Alter) -> Result<(), Failure> {
    let admin = Admin::new(arguments.connect.cluster().await?);
    let name = arguments.topic.as_str();
    let set = arguments
        .set
        .into_iter()
        .map(|(name, value)| ConfigChange::Set(name, value));
    let changes: Vec<_> = set
        .chain(arguments.unset.into_iter().map(ConfigChange::Delete))
        .collect();
    if !changes.is_empty() {
        admin.alter_topic_configs(name, &changes, false).await?;
    }
    if let Some(count) = arguments.partitions {
        admin.create_partitions(name, count).await?;
    }
    report(&arguments.connect, &arguments.topic, "altered")
}

async fn delete(arguments: Delete) -> Result<(), Failure> {
    let admin = Admin::new(arguments.connect.cluster().await?);
    let deleted = admin.delete_topic(arguments.topic.as_str()).await;
    let done = match deleted {
        Err(error) if arguments.if_exists && has_code(&error, "UNKNOWN_TOPIC_OR_PARTITION") => {
            "does not exist"
        }
        deleted => {
            deleted?;
            "deleted"
        }
    };
    report(&arguments.connect, &arguments.topic, done)
}
