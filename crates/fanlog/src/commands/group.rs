//! `fanlog group`: list, describe, status, reset-offsets, delete.

use super::arguments::Connect;
use super::output::{Table, or_dash};
use super::timestamps::format_lag;
use super::{Failure, group_reset, group_status};
use clap::{Args, Subcommand};
use fanlog_client::{Admin, GroupMember, GroupView, PartitionLag};
use fanlog_environment::{Clock, SystemClock};
use fanlog_model::{Offset, TimestampMs, TopicPartition};
use serde_json::{Value, json};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List consumer groups
    List(List),
    /// Show a group's members and how far it is behind, in records and in time
    Describe(Describe),
    /// Why is it stuck? Lag, rates, when retention reaches what was not read; of share groups too
    Status(group_status::Arguments),
    /// Move a group's offsets; without --execute only show what would change
    ResetOffsets(group_reset::Arguments),
    /// Delete a group that has no members, with its offsets
    Delete(Delete),
}

#[derive(Debug, Args)]
pub(super) struct List {
    #[command(flatten)]
    connect: Connect,
}

#[derive(Debug, Args)]
pub(super) struct Describe {
    /// The group's name
    group: String,
    #[command(flatten)]
    connect: Connect,
}

#[derive(Debug, Args)]
pub(super) struct Delete {
    /// The group's name
    group: String,
    #[command(flatten)]
    connect: Connect,
}

pub(super) async fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::List(arguments) => list(arguments).await,
        Command::Describe(arguments) => describe(arguments).await,
        Command::Status(arguments) => group_status::run(arguments).await,
        Command::ResetOffsets(arguments) => group_reset::run(arguments).await,
        Command::Delete(arguments) => delete(arguments).await,
    }
}

async fn list(arguments: List) -> Result<(), Failure> {
    let groups = Admin::new(arguments.connect.cluster().await?)
        .list_groups()
        .await?;
    let table = || {
        let mut table = Table::new(["group", "type", "state", "protocol type"]);
        for group in &groups {
            let text = |cell: &String| or_dash(Some(cell).filter(|cell| !cell.is_empty()));
            let cells = [&group.kind, &group.state, &group.protocol_type].map(text);
            let [kind, state, protocol_type] = cells;
            table.row([group.id.clone(), kind, state, protocol_type]);
        }
        table.render()
    };
    let json = || {
        let groups = groups.iter().map(|group| {
            json!({
                "group": group.id,
                "type": group.kind,
                "state": group.state,
                "protocol_type": group.protocol_type,
            })
        });
        groups.collect()
    };
    Ok(arguments.connect.output.print(table, json)?)
}

async fn describe(arguments: Describe) -> Result<(), Failure> {
    let admin = Admin::new(arguments.connect.cluster().await?);
    let group = admin.describe_group(&arguments.group).await?;
    let lags = admin.group_lag(&group).await?;
    let now = SystemClock::new().wall_ms();
    let table = || described_table(&group, &lags, now);
    Ok(arguments
        .connect
        .output
        .print(table, || described_json(&group, &lags, now))?)
}

fn owner<'a>(group: &'a GroupView, lag: &PartitionLag) -> Option<&'a GroupMember> {
    group
        .members
        .iter()
        .find(|member| member.partitions.contains(&lag.partition))
}

/// How long the oldest record that is still to be read has waited; nothing to read is no wait.
fn behind_ms(lag: &PartitionLag, now: TimestampMs) -> Option<i64> {
    match lag.oldest_unread {
        Some(TimestampMs::NONE) => None,
        Some(oldest) => Some((now.get() - oldest.get()).max(0)),
        None => Some(0),
    }
}

fn described_table(group: &GroupView, lags: &[PartitionLag], now: TimestampMs) -> String {
    let protocol = or_dash(Some(&group.protocol).filter(|one| !one.is_empty()));
    let mut text = format!(
        "{}  type {}  state {}  protocol {protocol}  members {}",
        group.id,
        group.kind,
        group.state,
        group.members.len()
    );
    if let (Some(epoch), Some(target)) = (group.epoch, group.target_epoch) {
        text.push_str(&format!("  epoch {epoch}  assignment epoch {target}"));
    }
    text.push('\n');
    let mut table = Table::new([
        "topic",
        "partition",
        "committed",
        "start",
        "end",
        "lag",
        "behind",
        "client",
        "host",
        "member",
    ]);
    for lag in lags {
        let owner = owner(group, lag);
        table.row([
            lag.partition.topic.to_string(),
            lag.partition.partition.to_string(),
            or_dash(lag.committed),
            lag.log_start.to_string(),
            lag.log_end.to_string(),
            or_dash(lag.records()),
            or_dash(behind_ms(lag, now).map(format_lag)),
            or_dash(owner.map(|one| &one.client_id)),
            or_dash(owner.map(|one| &one.host)),
            or_dash(owner.map(|one| &one.member_id)),
        ]);
    }
    if !table.is_empty() {
        text.push_str(&table.render());
    }
    if group.epoch.is_some() && !group.members.is_empty() {
        text.push('\n');
        text.push_str(&members_table(group));
    }
    text
}

/// Of a group of the new protocol: how far each member has come towards its target.
fn members_table(group: &GroupView) -> String {
    let mut table = Table::new([
        "member",
        "client",
        "instance",
        "protocol",
        "epoch",
        "owns",
        "to get",
        "to give up",
    ]);
    for member in &group.members {
        let missing = |from: &[TopicPartition], of: &[TopicPartition]| {
            from.iter().filter(|one| !of.contains(one)).count()
        };
        let protocol = if member.is_classic {
            "classic"
        } else {
            "consumer"
        };
        table.row([
            member.member_id.clone(),
            member.client_id.clone(),
            or_dash(member.instance_id.as_ref()),
            protocol.to_owned(),
            or_dash(member.epoch),
            member.partitions.len().to_string(),
            missing(&member.target, &member.partitions).to_string(),
            missing(&member.partitions, &member.target).to_string(),
        ]);
    }
    table.render()
}

fn described_json(group: &GroupView, lags: &[PartitionLag], now: TimestampMs) -> Value {
    let members = group.members.iter().map(|member| {
        let named = |one: &TopicPartition| json!({ "topic": one.topic.as_str(), "partition": one.partition.get() });
        let (partitions, target) = (member.partitions.iter().map(named), member.target.iter().map(named));
        json!({
            "member_id": member.member_id,
            "instance_id": member.instance_id,
            "client_id": member.client_id,
            "host": member.host,
            "epoch": member.epoch,
            "is_classic": member.is_classic,
            "partitions": partitions.collect::<Vec<_>>(),
            "target_partitions": target.collect::<Vec<_>>(),
        })
    });
    let partitions = lags.iter().map(|lag| {
        json!({
            "topic": lag.partition.topic.as_str(),
            "partition": lag.partition.partition.get(),
            "committed_offset": lag.committed.map(Offset::get),
            "start_offset": lag.log_start.get(),
            "end_offset": lag.log_end.get(),
            "lag": lag.records(),
            "behind_ms": behind_ms(lag, now),
            "member_id": owner(group, lag).map(|one| &one.member_id),
        })
    });
    json!({
        "group": group.id,
        "type": group.kind,
        "state": group.state,
        "epoch": group.epoch,
        "assignment_epoch": group.target_epoch,
        "protocol_type": group.protocol_type,
        "protocol": group.protocol,
        "members": members.collect::<Vec<_>>(),
        "partitions": partitions.collect::<Vec<_>>(),
    })
}

async fn delete(arguments: Delete) -> Result<(), Failure> {
    let group = &arguments.group;
    Admin::new(arguments.connect.cluster().await?)
        .delete_group(group)
        .await?;
    let json = || json!({ "group": group, "result": "deleted" });
    Ok(arguments
        .connect
        .output
        .print(|| format!("{group}: deleted\n"), json)?)
}
