//! `fanlog txn`: list, describe, producers, find-hanging, abort.
//!
//! A transaction hangs where a partition has it open and no coordinator knows of it: readers of committed records wait for it for ever.

use super::Failure;
use super::arguments::Connect;
use super::output::Table;
use clap::{Args, Subcommand};
use fanlog_client::{Admin, ClientError, ProducerView, TransactionView};
use fanlog_model::{Offset, PartitionIndex, ProducerId, TopicName, TopicPartition};
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List transactional ids
    List(List),
    /// Show where a transactional id stands and what its transaction has touched
    Describe(Describe),
    /// Show the producers that a partition remembers
    Producers(Producers),
    /// Find transactions that a partition has open and no coordinator knows of
    FindHanging(FindHanging),
    /// End a transaction that hangs, as aborted
    Abort(Abort),
}

#[derive(Debug, Args)]
pub(super) struct List {
    #[command(flatten)]
    connect: Connect,
}

#[derive(Debug, Args)]
pub(super) struct Describe {
    /// The transactional id
    id: String,
    #[command(flatten)]
    connect: Connect,
}

#[derive(Debug, Args)]
pub(super) struct Producers {
    /// The topic
    topic: String,
    /// The partition
    #[arg(long, default_value_t = 0)]
    partition: i32,
    #[command(flatten)]
    connect: Connect,
}

#[derive(Debug, Args)]
pub(super) struct FindHanging {
    /// Only in this topic
    #[arg(long)]
    topic: Option<String>,
    #[command(flatten)]
    connect: Connect,
}

#[derive(Debug, Args)]
pub(super) struct Abort {
    /// The topic
    topic: String,
    /// The partition
    #[arg(long, default_value_t = 0)]
    partition: i32,
    /// Where the transaction began, as `find-hanging` and `producers` show it
    #[arg(long)]
    start_offset: i64,
    #[command(flatten)]
    connect: Connect,
}

pub(super) async fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::List(arguments) => list(arguments).await,
        Command::Describe(arguments) => describe(arguments).await,
        Command::Producers(arguments) => producers(arguments).await,
        Command::FindHanging(arguments) => find_hanging(arguments).await,
        Command::Abort(arguments) => abort(arguments).await,
    }
}

async fn list(arguments: List) -> Result<(), Failure> {
    let admin = Admin::new(arguments.connect.cluster().await?);
    let transactions = admin.list_transactions().await?;
    let table = || {
        let mut table = Table::new(["transactional id", "producer", "state"]);
        for one in &transactions {
            table.row([
                one.id.clone(),
                one.producer_id.to_string(),
                one.state.clone(),
            ]);
        }
        table.render()
    };
    let json = || {
        let transactions = transactions.iter().map(|one| {
            json!({
                "transactional_id": one.id,
                "producer_id": one.producer_id.get(),
                "state": one.state,
            })
        });
        transactions.collect()
    };
    Ok(arguments.connect.output.print(table, json)?)
}

async fn describe(arguments: Describe) -> Result<(), Failure> {
    let admin = Admin::new(arguments.connect.cluster().await?);
    let found = admin.describe_transaction(&arguments.id).await?;
    let partitions: Vec<String> = found.partitions.iter().map(ToString::to_string).collect();
    let started = found.started_at.map(|at| at.get());
    let table = || {
        format!(
            "{}  state {}  producer {}  epoch {}  timeout {} ms  partitions {}\n",
            found.id,
            found.state,
            found.producer_id,
            found.producer_epoch,
            found.timeout_ms,
            match partitions.is_empty() {
                true => "-".to_owned(),
                false => partitions.join(", "),
            }
        )
    };
    let json = || {
        json!({
            "transactional_id": found.id,
            "state": found.state,
            "producer_id": found.producer_id.get(),
            "producer_epoch": found.producer_epoch,
            "timeout_ms": found.timeout_ms,
            "started_at": started,
            "partitions": partitions,
        })
    };
    Ok(arguments.connect.output.print(table, json)?)
}

fn partition_of(topic: &str, partition: i32) -> Result<TopicPartition, Failure> {
    let topic = TopicName::new(topic).map_err(|error| Failure::Usage(error.to_string()))?;
    Ok(TopicPartition {
        topic,
        partition: PartitionIndex(partition),
    })
}

fn offset_text(offset: Option<Offset>) -> String {
    offset.map_or_else(|| "-".to_owned(), |offset| offset.to_string())
}

fn producer_json(partition: &TopicPartition, producer: &ProducerView) -> Value {
    json!({
        "topic": partition.topic.as_str(),
        "partition": partition.partition.get(),
        "producer_id": producer.producer_id.get(),
        "producer_epoch": producer.producer_epoch,
        "last_sequence": producer.last_sequence,
        "last_timestamp": producer.last_timestamp.get(),
        "coordinator_epoch": producer.coordinator_epoch,
        "start_offset": producer.open_since.map(Offset::get),
    })
}

async fn producers(arguments: Producers) -> Result<(), Failure> {
    let partition = partition_of(&arguments.topic, arguments.partition)?;
    let admin = Admin::new(arguments.connect.cluster().await?);
    let producers = admin.producers(&partition).await?;
    let table = || {
        let mut table = Table::new(["producer", "epoch", "last sequence", "start offset"]);
        for one in &producers {
            table.row([
                one.producer_id.to_string(),
                one.producer_epoch.to_string(),
                one.last_sequence.to_string(),
                offset_text(one.open_since),
            ]);
        }
        table.render()
    };
    let json = || {
        let producers = producers.iter();
        producers
            .map(|one| producer_json(&partition, one))
            .collect()
    };
    Ok(arguments.connect.output.print(table, json)?)
}

async fn find_hanging(arguments: FindHanging) -> Result<(), Failure> {
    let cluster = arguments.connect.cluster().await?;
    let view = cluster.all_topics().await?;
    let admin = Admin::new(cluster);
    let known = known(&admin).await?;
    let mut hanging = Vec::new();
    for (name, topic) in &view.topics {
        if arguments.topic.as_ref().is_some_and(|only| only != name) {
            continue;
        }
        for index in 0..topic.partitions.len() {
            let partition = partition_of(name, i32::try_from(index).unwrap_or(i32::MAX))?;
            for producer in admin.producers(&partition).await? {
                if producer.open_since.is_some() && !is_known(&known, &partition, &producer) {
                    hanging.push((partition.clone(), producer));
                }
            }
        }
    }
    let table = || {
        let mut table = Table::new(["partition", "producer", "epoch", "start offset"]);
        for (partition, producer) in &hanging {
            table.row([
                partition.to_string(),
                producer.producer_id.to_string(),
                producer.producer_epoch.to_string(),
                offset_text(producer.open_since),
            ]);
        }
        match table.is_empty() {
            true => "no transaction hangs\n".to_owned(),
            false => table.render(),
        }
    };
    let json = || {
        let hanging = hanging.iter();
        hanging
            .map(|(of, producer)| producer_json(of, producer))
            .collect()
    };
    Ok(arguments.connect.output.print(table, json)?)
}

/// The transactions under way, by their producers.
async fn known(admin: &Admin) -> Result<BTreeMap<ProducerId, TransactionView>, ClientError> {
    let mut known = BTreeMap::new();
    for listed in admin.list_transactions().await? {
        if matches!(
            listed.state.as_str(),
            "Ongoing" | "PrepareCommit" | "PrepareAbort"
        ) {
            let found = admin.describe_transaction(&listed.id).await?;
            known.insert(found.producer_id, found);
        }
    }
    Ok(known)
}

fn is_known(
    known: &BTreeMap<ProducerId, TransactionView>,
    partition: &TopicPartition,
    producer: &ProducerView,
) -> bool {
    known
        .get(&producer.producer_id)
        .is_some_and(|found| found.partitions.contains(partition))
}

async fn abort(arguments: Abort) -> Result<(), Failure> {
    let partition = partition_of(&arguments.topic, arguments.partition)?;
    let admin = Admin::new(arguments.connect.cluster().await?);
    let start = Offset(arguments.start_offset);
    let producers = admin.producers(&partition).await?;
    let found = producers.iter().find(|one| one.open_since == Some(start));
    let Some(producer) = found else {
        return Err(Failure::Usage(format!(
            "{partition} has no open transaction that began at offset {start}; see `fanlog txn producers {}`",
            partition.topic
        )));
    };
    admin.abort_transaction(&partition, producer).await?;
    let table = || {
        format!(
            "aborted the transaction of producer {} in {partition} from offset {start}\n",
            producer.producer_id
        )
    };
    let json = || producer_json(&partition, producer);
    Ok(arguments.connect.output.print(table, json)?)
}
