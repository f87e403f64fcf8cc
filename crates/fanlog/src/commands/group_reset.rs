//! `fanlog group reset-offsets`: moves what a group has committed, or shows what would move.

use super::Failure;
use super::arguments::{Connect, duration, topic_name};
use super::output::{Table, or_dash};
use super::timestamps::parse_timestamp;
use anyhow::anyhow;
use clap::Args;
use fanlog_client::{Admin, Committed, ListedOffset, OffsetSpec};
use fanlog_environment::{Clock, SystemClock};
use fanlog_model::{Offset, PartitionIndex, TimestampMs, TopicName, TopicPartition};
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;

#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("where").required(true)
    .args(["to_earliest", "to_latest", "to_offset", "to_datetime", "by_duration", "shift_by"])))]
#[command(group(clap::ArgGroup::new("what").required(true).args(["topic", "all_topics"])))]
pub(super) struct Arguments {
    /// The group's name
    group: String,
    /// A topic, or some of its partitions as topic:0,2; may be repeated
    #[arg(long, value_name = "TOPIC[:PARTITIONS]", value_parser = topic_partitions)]
    topic: Vec<(TopicName, Option<Vec<PartitionIndex>>)>,
    /// Every topic that the group has committed offsets of
    #[arg(long)]
    all_topics: bool,
    /// To the first record that is kept
    #[arg(long)]
    to_earliest: bool,
    /// To the end: skip everything that is there
    #[arg(long)]
    to_latest: bool,
    /// To this offset
    #[arg(long, value_name = "OFFSET", value_parser = clap::value_parser!(i64).range(0..))]
    to_offset: Option<i64>,
    /// To the first record of this time or later, as 2026-11-30T01:02:03Z
    #[arg(long, value_name = "TIME", value_parser = parse_timestamp)]
    to_datetime: Option<TimestampMs>,
    /// To the first record that is no older than this: 500ms, 30s, 10m, 6h, 2d
    #[arg(long, value_name = "TIME", value_parser = duration)]
    by_duration: Option<Duration>,
    /// Forward by so many offsets, or back when negative
    #[arg(long, value_name = "OFFSETS", allow_hyphen_values = true)]
    shift_by: Option<i64>,
    /// Do it; without this flag nothing changes
    #[arg(long)]
    execute: bool,
    #[command(flatten)]
    connect: Connect,
}

fn topic_partitions(text: &str) -> Result<(TopicName, Option<Vec<PartitionIndex>>), String> {
    let Some((topic, partitions)) = text.split_once(':') else {
        return Ok((topic_name(text)?, None));
    };
    let partition = |text: &str| match text.parse() {
        Ok(index) if index >= 0 => Ok(PartitionIndex(index)),
        _ => Err(format!("'{text}' is not a partition's number")),
    };
    let partitions = partitions
        .split(',')
        .map(partition)
        .collect::<Result<_, _>>()?;
    Ok((topic_name(topic)?, Some(partitions)))
}

/// What moves: of each partition, from where to where.
type Moves = BTreeMap<TopicPartition, (Option<Offset>, Offset)>;

pub(super) async fn run(arguments: Arguments) -> Result<(), Failure> {
    let admin = Admin::new(arguments.connect.cluster().await?);
    let committed = admin.committed_offsets(&arguments.group).await?;
    let partitions = chosen_partitions(&admin, &arguments, &committed).await?;
    if partitions.is_empty() {
        let group = &arguments.group;
        return Err(
            anyhow!("group '{group}' has committed no offsets; name a topic with --topic").into(),
        );
    }
    let moves = plan(&admin, &arguments, &partitions, &committed).await?;
    if arguments.execute {
        refuse_active(&admin, &arguments.group).await?;
        let offsets = moves
            .iter()
            .map(|(partition, (_, after))| (partition.clone(), *after));
        admin
            .commit_offsets(&arguments.group, &offsets.collect())
            .await?;
    }
    print(&arguments, &moves)
}

/// Members go on from where they are, and their next commit would undo the reset.
async fn refuse_active(admin: &Admin, group: &str) -> Result<(), Failure> {
    let members = match admin.describe_group(group).await {
        Ok(view) => view.members.len(),
        // A group that does not exist yet gets its first offsets.
        Err(error)
            if error
                .code()
                .is_some_and(|code| code.name() == "GROUP_ID_NOT_FOUND") =>
        {
            0
        }
        Err(error) => return Err(error.into()),
    };
    if members == 0 {
        return Ok(());
    }
    let message = "offsets can be reset only while it has none: stop its consumers first";
    Err(anyhow!("group '{group}' has {members} members; {message}").into())
}

async fn chosen_partitions(
    admin: &Admin,
    arguments: &Arguments,
    committed: &BTreeMap<TopicPartition, Committed>,
) -> Result<Vec<TopicPartition>, Failure> {
    if arguments.all_topics {
        return Ok(committed.keys().cloned().collect());
    }
    let mut chosen = Vec::new();
    for (topic, wanted) in &arguments.topic {
        let mut partitions = admin.cluster().partitions(topic).await?;
        let count = partitions.len();
        if let Some(wanted) = wanted {
            partitions.retain(|one| wanted.contains(&one.partition));
            let is_present = |index: &&PartitionIndex| {
                usize::try_from(index.get()).is_ok_and(|index| index < count)
            };
            if let Some(missing) = wanted.iter().find(|index| !is_present(index)) {
                return Err(anyhow!(
                    "topic '{topic}' has {count} partitions; partition {missing} does not exist"
                )
                .into());
            }
        }
        chosen.extend(partitions);
    }
    Ok(chosen)
}

async fn plan(
    admin: &Admin,
    arguments: &Arguments,
    partitions: &[TopicPartition],
    committed: &BTreeMap<TopicPartition, Committed>,
) -> Result<Moves, Failure> {
    let cluster = admin.cluster();
    let starts = cluster
        .list_offsets(partitions, OffsetSpec::Earliest)
        .await?;
    let ends = cluster.list_offsets(partitions, OffsetSpec::Latest).await?;
    let timestamp = arguments.to_datetime.or_else(|| {
        let back = i64::try_from(arguments.by_duration?.as_millis()).unwrap_or(i64::MAX);
        let now = SystemClock::new().wall_ms().get();
        Some(TimestampMs(now.saturating_sub(back).max(0)))
    });
    let at_time = match timestamp {
        Some(timestamp) => {
            cluster
                .list_offsets(partitions, OffsetSpec::Timestamp(timestamp))
                .await?
        }
        None => BTreeMap::new(),
    };
    let mut moves = Moves::new();
    for partition in partitions {
        let offset =
            |listed: &BTreeMap<_, ListedOffset>| listed.get(partition).and_then(|one| one.offset);
        let start = offset(&starts).unwrap_or(Offset::ZERO);
        let end = offset(&ends).unwrap_or(start);
        let before = committed.get(partition).map(|one| one.offset);
        let after = match (arguments.to_offset, arguments.shift_by) {
            (Some(offset), _) => Offset(offset),
            (_, Some(shift)) => {
                let before = before.ok_or_else(|| {
                    anyhow!(
                        "group '{}' has committed no offset of {partition} that could be shifted",
                        arguments.group
                    )
                })?;
                Offset(before.get().saturating_add(shift))
            }
            _ if arguments.to_earliest => start,
            _ if arguments.to_latest => end,
            // No record is so young: what comes next will be.
            _ => offset(&at_time).unwrap_or(end),
        };
        // Beyond the log there is nothing to read.
        moves.insert(partition.clone(), (before, after.clamp(start, end)));
    }
    Ok(moves)
}

fn print(arguments: &Arguments, moves: &Moves) -> Result<(), Failure> {
    let table = || {
        let mut table = Table::new(["topic", "partition", "before", "after"]);
        for (partition, (before, after)) in moves {
            let topic = partition.topic.to_string();
            let index = partition.partition.to_string();
            table.row([topic, index, or_dash(*before), after.to_string()]);
        }
        let done = if arguments.execute {
            "offsets were reset"
        } else {
            "dry run, nothing was changed: add --execute to do it"
        };
        format!("{}{done}\n", table.render())
    };
    let json = || {
        let moves = moves.iter().map(|(partition, (before, after))| {
            json!({
                "topic": partition.topic.as_str(),
                "partition": partition.partition.get(),
                "before": before.map(Offset::get),
                "after": after.get(),
            })
        });
        json!({
            "group": arguments.group,
            "executed": arguments.execute,
            "partitions": moves.collect::<Vec<_>>(),
        })
    };
    Ok(arguments.connect.output.print(table, json)?)
}
