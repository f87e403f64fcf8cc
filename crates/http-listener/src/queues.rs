//! Queues: create, list, describe, alter, delete, pause and resume.
//!
//! Settings stand beside the name and the topic, with `-` or `_` in their names; a filter may be JSON instead of text.

use crate::answers;
use crate::context::{Context, InPath, group_id, topic_name};
use crate::fields::{Fields, time};
use crate::problem::Problem;
use axum::extract::{Request, State};
use axum::response::Response;
use fanlog_broker::{NewQueue, QueueDescription, Start};
use fanlog_model::Offset;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

const PAUSED: &str = "paused";

/// POST /v1/queues
pub(crate) async fn create(
    State(context): State<Context>,
    request: Request,
) -> Result<Response, Problem> {
    let mut fields = Fields::of_request(&context, request).await?;
    let name = fields.needed_text("name")?;
    let topic = topic_name(&fields.needed_text("topic")?)?;
    let start = fields.text("start")?;
    let start = start.as_deref().map(start_of).transpose()?;
    let given = settings(fields.rest())?;
    let given = given
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)));
    let queue = NewQueue {
        name: group_id(&name),
        topic,
        settings: given.collect(),
        start: start.unwrap_or_default(),
    };
    let created = context.broker.queues().create(queue).await?;
    answers::created(&described(&created))
}

/// GET /v1/queues
pub(crate) async fn list(
    State(context): State<Context>,
    request: Request,
) -> Result<Response, Problem> {
    Fields::of_query(request.uri())?.done()?;
    let queues = context.broker.queues().list();
    let queues: Vec<_> = queues.iter().map(described).collect();
    answers::ok(&json!({ "queues": queues }))
}

/// GET /v1/queues/{queue}
pub(crate) async fn describe(
    State(context): State<Context>,
    InPath(name): InPath<String>,
    request: Request,
) -> Result<Response, Problem> {
    Fields::of_query(request.uri())?.done()?;
    answers::ok(&described(
        &context.broker.queues().describe(&group_id(&name))?,
    ))
}

/// PATCH /v1/queues/{queue}
pub(crate) async fn alter(
    State(context): State<Context>,
    InPath(name): InPath<String>,
    request: Request,
) -> Result<Response, Problem> {
    let fields = Fields::of_request(&context, request).await?;
    let changes = settings(fields.rest())?;
    if changes.is_empty() {
        let detail = "nothing to change: give a setting, or null to take one back to its default";
        return Err(Problem::of_field("settings", detail));
    }
    alter_to(&context, &name, changes).await
}

/// DELETE /v1/queues/{queue}
pub(crate) async fn delete(
    State(context): State<Context>,
    InPath(name): InPath<String>,
    request: Request,
) -> Result<Response, Problem> {
    Fields::of_query(request.uri())?.done()?;
    context.broker.queues().delete(&group_id(&name)).await?;
    Ok(answers::nothing())
}

/// POST /v1/queues/{queue}/pause
pub(crate) async fn pause(
    State(context): State<Context>,
    InPath(name): InPath<String>,
    request: Request,
) -> Result<Response, Problem> {
    Fields::of_request(&context, request).await?.done()?;
    alter_to(&context, &name, paused(true)).await
}

/// POST /v1/queues/{queue}/resume
pub(crate) async fn resume(
    State(context): State<Context>,
    InPath(name): InPath<String>,
    request: Request,
) -> Result<Response, Problem> {
    Fields::of_request(&context, request).await?.done()?;
    alter_to(&context, &name, paused(false)).await
}

type Changes = BTreeMap<String, Option<String>>;

fn paused(is_paused: bool) -> Changes {
    BTreeMap::from([(PAUSED.to_owned(), Some(is_paused.to_string()))])
}

async fn alter_to(context: &Context, name: &str, changes: Changes) -> Result<Response, Problem> {
    let queues = context.broker.queues();
    answers::ok(&described(&queues.alter(&group_id(name), changes).await?))
}

/// Settings by their names; which there are, the broker says.
fn settings(given: Map<String, Value>) -> Result<Changes, Problem> {
    let mut settings = Changes::new();
    for (name, value) in given {
        let name = name.replace('_', "-");
        let text = match value {
            Value::Null => None,
            Value::String(text) => Some(text),
            other => Some(other.to_string()),
        };
        if settings.insert(name.clone(), text).is_some() {
            let detail = format!("setting {name} is given more than once; give it once");
            return Err(Problem::of_field(&name, detail));
        }
    }
    Ok(settings)
}

fn start_of(text: &str) -> Result<Start, Problem> {
    let wrong = || {
        Problem::of_field(
            "start",
            format!(
                "start is '{text}'; give latest, earliest, offset:42 or time:2026-11-30T18:00:00Z"
            ),
        )
    };
    match text.split_once(':') {
        None if text == "latest" => Ok(Start::Latest),
        None if text == "earliest" => Ok(Start::Earliest),
        Some(("offset", offset)) => {
            let offset = offset.parse().ok().filter(|offset| *offset >= 0);
            offset
                .map(|offset| Start::Offset(Offset(offset)))
                .ok_or_else(wrong)
        }
        Some(("time", at)) => Ok(Start::Time(time("start", at)?)),
        _ => Err(wrong()),
    }
}

fn described(queue: &QueueDescription) -> Value {
    json!({
        "name": queue.name.as_str(),
        "topic": queue.topic.as_str(),
        "topic_id": queue.topic_id.to_string(),
        "partitions": queue.partitions,
        "paused": queue.is_paused,
        "dead_letter": queue.dead_letter.as_ref().map(|topic| topic.as_str()),
        "settings": queue.settings,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fanlog_model::TimestampMs;

    #[test]
    fn a_start_is_one_of_four() {
        let check = |text: &str, expected: Option<Start>| {
            assert_eq!(start_of(text).ok(), expected, "{text}");
        };
        check("latest", Some(Start::Latest));
        check("earliest", Some(Start::Earliest));
        check("offset:42", Some(Start::Offset(Offset(42))));
        check(
            "time:1970-01-01T00:00:01Z",
            Some(Start::Time(TimestampMs(1_000))),
        );
        check("time:5", Some(Start::Time(TimestampMs(5))));
        for wrong in ["", "offset:-1", "offset:x", "time:soon", "42"] {
            check(wrong, None);
        }
    }

    #[test]
    fn settings_are_texts_and_a_filter_may_be_json() {
        let given =
            json!({ "max_attempts": 3, "paused": true, "filter": {"kind": ["a"]}, "lock": null });
        let Value::Object(given) = given else {
            unreachable!("it is an object")
        };
        let settings = settings(given).unwrap();
        let text = |name: &str| settings[name].as_deref();
        assert_eq!(text("max-attempts"), Some("3"));
        assert_eq!(text("paused"), Some("true"));
        assert_eq!(text("filter"), Some(r#"{"kind":["a"]}"#));
        assert_eq!(text("lock"), None);
    }
}
