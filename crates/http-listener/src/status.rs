//! "Why is this stuck?": how a queue or a group stands. What is not known is null.

use crate::answers;
use crate::context::{Context, InPath, group_id};
use crate::fields::Fields;
use crate::problem::{Kind, Problem};
use axum::extract::{Request, State};
use axum::response::Response;
use fanlog_broker::{
    BlockedKey, ConsumerLoad, Drain, GroupPartitionStatus, GroupStatus, Hindrance, MessageId,
    Overtaken, QueuePartitionStatus, QueueStatus,
};
use fanlog_model::TimestampMs;
use fanlog_model::times::format_duration;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// GET /v1/queues/{queue}/status
pub(crate) async fn of_queue(
    State(context): State<Context>,
    InPath(name): InPath<String>,
    request: Request,
) -> Result<Response, Problem> {
    Fields::of_query(request.uri())?.done()?;
    let now = context.broker.environment().clock.wall_ms();
    let name = group_id(&name);
    let mut status = context.broker.queues().status(&name)?;
    if context.aws.keeper_of_dead_letters(&name).is_some() {
        // They are messages of another queue, which knows what became of them.
        status.dead_letters = None;
    }
    answers::ok(&queue(&status, now))
}

/// GET /v1/groups/{group}/status
pub(crate) async fn of_group(
    State(context): State<Context>,
    InPath(name): InPath<String>,
    request: Request,
) -> Result<Response, Problem> {
    Fields::of_query(request.uri())?.done()?;
    let now = context.broker.environment().clock.wall_ms();
    let id = group_id(&name);
    if context.broker.queues().describe(&id).is_ok() {
        let detail = format!("'{name}' is a queue; see GET /v1/queues/{name}/status");
        return Err(Problem::new(Kind::UnknownGroup, detail).with("queue", name));
    }
    let status = context.broker.group_status(&id).await?;
    answers::ok(&group(&status, now))
}

fn group(status: &GroupStatus, now: TimestampMs) -> Value {
    let behind = status.partitions.iter().map(|one| one.behind).max();
    let members = status.members.iter().map(|member| {
        let partitions = member.partitions.as_ref();
        let partitions = partitions.map(|all| all.iter().map(ToString::to_string));
        json!({
            "member": member.member,
            "client": &*member.client,
            "host": &*member.host,
            "partitions": partitions.map(Iterator::collect::<Vec<_>>),
        })
    });
    let without = status.without_position.iter().map(ToString::to_string);
    let threatened = status.most_threatened();
    json!({
        "group": status.group.as_str(),
        "type": status.kind,
        "state": status.state,
        "at": answers::time(now),
        "lag": status.lag(),
        "behind_ms": behind.flatten().map(ms),
        "rate_in": status.rate_in(),
        "rate_out": status.rate_out(),
        "overtaken": threatened.map(|one| overtaken(one.overtaken)),
        "overtaken_first": threatened.map(|one| one.partition.to_string()),
        "members": members.collect::<Vec<_>>(),
        "without_position": without.collect::<Vec<_>>(),
        "partitions": status.partitions.iter().map(group_partition).collect::<Vec<_>>(),
    })
}

fn group_partition(one: &GroupPartitionStatus) -> Value {
    json!({
        "topic": one.partition.topic.as_str(),
        "partition": one.partition.partition.0,
        "position": one.position.0,
        "start": one.start.0,
        "end": one.end.0,
        "lag": one.lag,
        "lost": one.lost,
        "behind_ms": one.behind.map(ms),
        "rate_in": one.rate_in,
        "rate_out": one.rate_out,
        "overtaken": overtaken(one.overtaken),
    })
}

fn ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// When retention reaches what was not read, if the reader stands still.
fn overtaken(overtaken: Overtaken) -> Value {
    let (estimate, after) = match overtaken {
        Overtaken::NothingUnread => ("nothing-unread", None),
        Overtaken::Never => ("never", None),
        Overtaken::In(after) => ("in", Some(after)),
        Overtaken::Unknown => ("unknown", None),
    };
    json!({ "estimate": estimate, "ms": after.map(ms) })
}

fn queue(status: &QueueStatus, now: TimestampMs) -> Value {
    let attempts = status.attempts.iter();
    let attempts: Map<String, Value> = attempts
        .map(|(attempts, records)| (attempts.to_string(), (*records).into()))
        .collect();
    json!({
        "queue": status.name.as_str(),
        "topic": status.topic.as_str(),
        "at": answers::time(now),
        "hindrances": status.hindrances.iter().map(hindrance).collect::<Vec<_>>(),
        "depth": status.depth,
        "unread": status.unread,
        "available": status.available,
        "oldest": status.oldest.as_ref().map(|oldest| of_oldest(oldest, now)),
        "in_flight": status.in_flight.iter().map(load).collect::<Vec<_>>(),
        "in_flight_records": status.in_flight_records,
        "resting": status.resting,
        "waiting_for_time": status.waiting_for_time,
        "waiting_for_key": status.waiting_for_key,
        "blocked": status.blocked.iter().map(blocked).collect::<Vec<_>>(),
        "next_due": status.next_due.and_then(answers::time),
        "attempts": attempts,
        "dead_letters": status.dead_letters,
        "moving": status.moving,
        "moving_hindrance": status.moving_hindrance.as_deref(),
        "acknowledged": status.acknowledged,
        "given_up": status.given_up,
        "lost": status.lost,
        "unreadable_delays": status.unreadable_delays,
        "rate_in": status.rate_in,
        "rate_out": status.rate_out,
        "drain": drain(status.drain),
        "partitions": status.partitions.iter().map(partition).collect::<Vec<_>>(),
    })
}

fn of_oldest((id, timestamp): &(MessageId, TimestampMs), now: TimestampMs) -> Value {
    let is_timed = *timestamp != TimestampMs::NONE;
    json!({
        "id": id.to_string(),
        "timestamp": answers::time(*timestamp),
        "age_ms": is_timed.then(|| (now.0 - timestamp.0).max(0)),
    })
}

fn hindrance(hindrance: &Hindrance) -> Value {
    match hindrance {
        Hindrance::Paused => json!({
            "kind": "paused",
            "detail": "the queue is paused: resume it with POST /v1/queues/{queue}/resume",
        }),
        Hindrance::Loading { partition } => json!({
            "kind": "loading",
            "partition": partition.0,
            "detail": "what became of its records is being read; this ends by itself",
        }),
        Hindrance::Unavailable { partition, reason } => json!({
            "kind": "unavailable",
            "partition": partition.0,
            "detail": &**reason,
        }),
        Hindrance::MemoryFull { bytes, limit } => json!({
            "kind": "memory-full",
            "bytes": bytes,
            "limit": limit,
            "detail": "the memory for queues is full: settle messages, or raise fanlog.queues.memory.bytes",
        }),
        Hindrance::WindowFull {
            partition,
            in_flight,
        } => json!({
            "kind": "window-full",
            "partition": partition.0,
            "in_flight": in_flight,
            "detail": "as many messages are in flight as may be: settle some, or raise max-in-flight",
        }),
    }
}

fn load(load: &ConsumerLoad) -> Value {
    json!({
        "consumer": &*load.consumer,
        "records": load.records,
        "first_deadline": load.first_deadline.and_then(answers::time),
        "last_deadline": load.last_deadline.and_then(answers::time),
    })
}

fn blocked(blocked: &BlockedKey) -> Value {
    json!({
        "key": blocked.key,
        "by": blocked.by.to_string(),
        "reason": &*blocked.reason,
        "until": answers::time(blocked.until),
    })
}

fn drain(drain: Drain) -> Value {
    let (estimate, after) = match drain {
        Drain::Empty => ("empty", Some(Duration::ZERO)),
        Drain::In(after) => ("drains", Some(after)),
        Drain::Never => ("never", None),
        Drain::Unknown => ("unknown", None),
    };
    // Whole seconds: it is an estimate.
    let after = after.map(|after| Duration::from_secs(after.as_secs_f64().ceil() as u64));
    json!({
        "estimate": estimate,
        "seconds": after.map(|after| after.as_secs()),
        "in": after.map(format_duration),
    })
}

fn partition(partition: &QueuePartitionStatus) -> Value {
    json!({
        "topic": partition.topic.as_str(),
        "partition": partition.partition.0,
        "start": partition.start,
        "cursor": partition.cursor,
        "end": partition.end,
        "in_flight": partition.in_flight,
        "depth": partition.depth,
    })
}
