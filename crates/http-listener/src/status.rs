//! "Why is this stuck?": how a queue or a group stands. What is not known is null.

use crate::answers;
use crate::context::{Context, InPath, group_id};
use crate::fields::Fields;
use crate::problem::Problem;
use axum::extract::{Request, State};
use axum::response::Response;
use fanlog_broker::{
    BlockedKey, ConsumerLoad, Drain, Hindrance, MessageId, QueuePartitionStatus, QueueStatus,
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
    let status = context.broker.queues().status(&group_id(&name))?;
    answers::ok(&queue(&status, now))
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
