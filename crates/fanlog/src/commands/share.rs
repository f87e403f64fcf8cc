//! `fanlog share`: list, describe, alter, delete; offsets describe, reset and delete.

use super::Failure;
use super::arguments::{Connect, duration, name_and_value, topic_name};
use super::output::{Table, or_dash};
use super::timestamps::parse_timestamp;
use anyhow::anyhow;
use clap::{Args, Subcommand};
use fanlog_client::{Admin, ConfigChange, OffsetSpec, ShareGroupView, ShareOffset};
use fanlog_environment::{Clock, SystemClock};
use fanlog_model::{Offset, TimestampMs, TopicName, TopicPartition};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List share groups
    List(Connect),
    /// Show a share group's members, and how many records it is not done with
    Describe(Group),
    /// Change a share group's settings, such as share.auto.offset.reset; it need not exist yet
    Alter(Alter),
    /// Look at, move and forget where a share group stands
    #[command(subcommand)]
    Offsets(Offsets),
    /// Delete a share group that has no members, with all that it knows
    Delete(Group),
}

#[derive(Debug, Subcommand)]
pub(super) enum Offsets {
    /// Show where a share group stands
    Describe(Group),
    /// Begin anew elsewhere; without --execute only show what would change
    Reset(Reset),
    /// Forget topics: they are read anew from where share.auto.offset.reset says
    Delete(DeleteOffsets),
}

#[derive(Debug, Args)]
pub(super) struct Group {
    /// The share group's name
    group: String,
    #[command(flatten)]
    connect: Connect,
}

#[derive(Debug, Args)]
pub(super) struct Alter {
    /// The share group's name
    group: String,
    /// A setting; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = name_and_value)]
    set: Vec<(String, String)>,
    /// A setting that goes back to its default; may be repeated
    #[arg(long, value_name = "NAME")]
    unset: Vec<String>,
    #[command(flatten)]
    connect: Connect,
}

#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("where").required(true)
    .args(["to_earliest", "to_latest", "to_offset", "to_datetime", "by_duration"])))]
pub(super) struct Reset {
    /// The share group's name
    group: String,
    /// A topic; may be repeated
    #[arg(long, value_name = "TOPIC", value_parser = topic_name, required = true)]
    topic: Vec<TopicName>,
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
    /// Do it; without this flag nothing changes
    #[arg(long)]
    execute: bool,
    #[command(flatten)]
    connect: Connect,
}

#[derive(Debug, Args)]
pub(super) struct DeleteOffsets {
    /// The share group's name
    group: String,
    /// A topic; may be repeated
    #[arg(long, value_name = "TOPIC", value_parser = topic_name, required = true)]
    topic: Vec<TopicName>,
    #[command(flatten)]
    connect: Connect,
}

pub(super) async fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::List(connect) => list(connect).await,
        Command::Describe(arguments) => describe(arguments).await,
        Command::Alter(arguments) => alter(arguments).await,
        Command::Offsets(Offsets::Describe(arguments)) => describe_offsets(arguments).await,
        Command::Offsets(Offsets::Reset(arguments)) => reset(arguments).await,
        Command::Offsets(Offsets::Delete(arguments)) => delete_offsets(arguments).await,
        Command::Delete(arguments) => delete(arguments).await,
    }
}

async fn list(connect: Connect) -> Result<(), Failure> {
    let admin = Admin::new(connect.cluster().await?);
    let mut groups = admin.list_groups().await?;
    groups.retain(|group| group.kind.eq_ignore_ascii_case("share"));
    let table = || {
        let mut table = Table::new(["share group", "state"]);
        for group in &groups {
            table.row([group.id.clone(), group.state.clone()]);
        }
        table.render()
    };
    let json = || {
        let groups = groups.iter();
        groups
            .map(|group| json!({ "group": group.id, "state": group.state }))
            .collect()
    };
    Ok(connect.output.print(table, json)?)
}

async fn describe(arguments: Group) -> Result<(), Failure> {
    let admin = Admin::new(arguments.connect.cluster().await?);
    let view = admin.describe_share_group(&arguments.group).await?;
    let offsets = admin.share_offsets(&arguments.group).await?;
    let table = || described(&view, &offsets);
    let json = || {
        json!({
            "group": view.id,
            "state": view.state,
            "epoch": view.epoch,
            "members": view.members.iter().map(|member| json!({
                "member_id": member.member_id,
                "client_id": member.client_id,
                "host": member.host,
                "partitions": member.partitions.iter().map(ToString::to_string).collect::<Vec<_>>(),
            })).collect::<Vec<_>>(),
            "partitions": offsets_json(&offsets),
        })
    };
    Ok(arguments.connect.output.print(table, json)?)
}

fn described(view: &ShareGroupView, offsets: &[ShareOffset]) -> String {
    let mut text = format!(
        "{}  state {}  epoch {}  members {}\n",
        view.id,
        view.state,
        view.epoch,
        view.members.len()
    );
    if !view.members.is_empty() {
        let mut table = Table::new(["member", "client", "host", "partitions"]);
        for member in &view.members {
            let partitions = member.partitions.iter().map(ToString::to_string);
            table.row([
                member.member_id.clone(),
                member.client_id.clone(),
                member.host.clone(),
                partitions.collect::<Vec<_>>().join(","),
            ]);
        }
        text.push_str(&table.render());
    }
    text.push_str(&offsets_table(offsets));
    text
}

fn offsets_table(offsets: &[ShareOffset]) -> String {
    let mut table = Table::new(["topic", "partition", "start", "not done with"]);
    for offset in offsets {
        table.row([
            offset.partition.topic.to_string(),
            offset.partition.partition.to_string(),
            or_dash(offset.start),
            or_dash(offset.lag),
        ]);
    }
    match table.is_empty() {
        true => String::new(),
        false => table.render(),
    }
}

fn offsets_json(offsets: &[ShareOffset]) -> Value {
    let offsets = offsets.iter().map(|offset| {
        json!({
            "topic": offset.partition.topic.as_str(),
            "partition": offset.partition.partition.get(),
            "start_offset": offset.start.map(Offset::get),
            "lag": offset.lag,
        })
    });
    offsets.collect()
}

async fn alter(arguments: Alter) -> Result<(), Failure> {
    if arguments.set.is_empty() && arguments.unset.is_empty() {
        return Err(Failure::Usage(
            "nothing to change: give --set or --unset".to_owned(),
        ));
    }
    let admin = Admin::new(arguments.connect.cluster().await?);
    let set = arguments.set.iter().cloned();
    let set = set.map(|(name, value)| ConfigChange::Set(name, value));
    let unset = arguments.unset.iter().cloned().map(ConfigChange::Delete);
    let changes: Vec<_> = set.chain(unset).collect();
    admin
        .alter_group_configs(&arguments.group, &changes)
        .await?;
    let mut settings = admin.group_configs(&arguments.group).await?;
    settings.retain(|setting| setting.name.starts_with("share."));
    let table = || {
        let mut table = Table::new(["setting", "value"]);
        for setting in &settings {
            table.row([setting.name.clone(), or_dash(setting.value.as_ref())]);
        }
        table.render()
    };
    let json = || {
        let settings = settings.iter();
        let settings = settings.map(|one| json!({ "name": one.name, "value": one.value }));
        json!({ "group": arguments.group, "settings": settings.collect::<Vec<_>>() })
    };
    Ok(arguments.connect.output.print(table, json)?)
}

async fn describe_offsets(arguments: Group) -> Result<(), Failure> {
    let admin = Admin::new(arguments.connect.cluster().await?);
    let offsets = admin.share_offsets(&arguments.group).await?;
    let json = || json!({ "group": arguments.group, "partitions": offsets_json(&offsets) });
    let output = &arguments.connect.output;
    Ok(output.print(|| offsets_table(&offsets), json)?)
}

async fn reset(arguments: Reset) -> Result<(), Failure> {
    let admin = Admin::new(arguments.connect.cluster().await?);
    let mut partitions = Vec::new();
    for topic in &arguments.topic {
        partitions.extend(admin.cluster().partitions(topic).await?);
    }
    let offsets = targets(&admin, &arguments, &partitions).await?;
    if arguments.execute {
        admin
            .alter_share_offsets(&arguments.group, &offsets)
            .await?;
    }
    let table = || {
        let mut table = Table::new(["topic", "partition", "start"]);
        for (partition, offset) in &offsets {
            let topic = partition.topic.to_string();
            table.row([topic, partition.partition.to_string(), offset.to_string()]);
        }
        let done = match arguments.execute {
            true => "the share group begins anew there",
            false => "dry run, nothing was changed: add --execute to do it",
        };
        format!("{}{done}\n", table.render())
    };
    let json = || {
        let offsets = offsets.iter().map(|(partition, offset)| {
            json!({
                "topic": partition.topic.as_str(),
                "partition": partition.partition.get(),
                "start_offset": offset.get(),
            })
        });
        json!({
            "group": arguments.group,
            "executed": arguments.execute,
            "partitions": offsets.collect::<Vec<_>>(),
        })
    };
    Ok(arguments.connect.output.print(table, json)?)
}

/// Where each partition is to begin; never beyond what there is.
async fn targets(
    admin: &Admin,
    arguments: &Reset,
    partitions: &[TopicPartition],
) -> Result<BTreeMap<TopicPartition, Offset>, Failure> {
    let cluster = admin.cluster();
    let starts = cluster
        .list_offsets(partitions, OffsetSpec::Earliest)
        .await?;
    let ends = cluster.list_offsets(partitions, OffsetSpec::Latest).await?;
    let since = arguments.to_datetime.or_else(|| {
        let back = i64::try_from(arguments.by_duration?.as_millis()).unwrap_or(i64::MAX);
        let now = SystemClock::new().wall_ms().get();
        Some(TimestampMs(now.saturating_sub(back).max(0)))
    });
    let at_time = match since {
        Some(since) => {
            let spec = OffsetSpec::Timestamp(since);
            cluster.list_offsets(partitions, spec).await?
        }
        None => BTreeMap::new(),
    };
    let mut targets = BTreeMap::new();
    for partition in partitions {
        let found = |listed: &BTreeMap<_, fanlog_client::ListedOffset>| {
            listed.get(partition).and_then(|one| one.offset)
        };
        let start = found(&starts).unwrap_or(Offset::ZERO);
        let end = found(&ends)
            .ok_or_else(|| anyhow!("the broker does not tell where {partition} ends"))?;
        let target = match arguments.to_offset {
            Some(offset) => Offset(offset),
            None if arguments.to_earliest => start,
            None if arguments.to_latest => end,
            // No record is so young: what comes next will be.
            None => found(&at_time).unwrap_or(end),
        };
        targets.insert(partition.clone(), target.clamp(start, end));
    }
    Ok(targets)
}

async fn delete_offsets(arguments: DeleteOffsets) -> Result<(), Failure> {
    let admin = Admin::new(arguments.connect.cluster().await?);
    let (group, topics) = (&arguments.group, &arguments.topic);
    admin.delete_share_offsets(group, topics).await?;
    let names: Vec<_> = topics.iter().map(TopicName::as_str).collect();
    let json = || json!({ "group": group, "topics": names, "result": "deleted" });
    let table = || format!("{group}: {} forgotten\n", names.join(", "));
    Ok(arguments.connect.output.print(table, json)?)
}

async fn delete(arguments: Group) -> Result<(), Failure> {
    let group = &arguments.group;
    Admin::new(arguments.connect.cluster().await?)
        .delete_group(group)
        .await?;
    let json = || json!({ "group": group, "result": "deleted" });
    let output = &arguments.connect.output;
    Ok(output.print(|| format!("{group}: deleted\n"), json)?)
}
