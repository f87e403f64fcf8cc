//! Cancel: messages that are not to be delivered any more, in one queue or in all on a topic.

use crate::context::{Context, InPath, group_id, topic_name};
use crate::each;
use crate::fields::{Fields, missing};
use crate::problem::{Kind, Problem};
use axum::extract::{Request, State};
use axum::response::Response;
use fanlog_broker::{CancelOutcome, MessageId, MessageIdError};
use fanlog_model::{GroupId, Offset, PartitionIndex, TopicName};
use serde_json::{Value, json};

/// How many messages one request cancels at most.
pub(crate) const MESSAGES_MAX: usize = 10_000;

/// POST /v1/queues/{queue}/cancel
pub(crate) async fn in_queue(
    State(context): State<Context>,
    InPath(name): InPath<String>,
    request: Request,
) -> Result<Response, Problem> {
    let queue = group_id(&name);
    let topic = context.broker.queues().describe(&queue)?.topic;
    cancel(&context, Some(&queue), &topic, request).await
}

/// POST /v1/topics/{topic}/cancel
pub(crate) async fn in_topic(
    State(context): State<Context>,
    InPath(name): InPath<String>,
    request: Request,
) -> Result<Response, Problem> {
    cancel(&context, None, &topic_name(&name)?, request).await
}

async fn cancel(
    context: &Context,
    queue: Option<&GroupId>,
    topic: &TopicName,
    request: Request,
) -> Result<Response, Problem> {
    let mut fields = Fields::of_request(context, request).await?;
    let messages = fields.list("messages", MESSAGES_MAX)?;
    let messages = messages.ok_or_else(|| missing("messages"))?;
    fields.done()?;
    let meant = messages.into_iter().map(|message| meant(topic, message));
    let meant = meant.collect::<Result<Vec<_>, _>>()?;
    // A queue may read a second topic, that of its redriven messages.
    let mut places = meant.iter().filter_map(Meant::place);
    if let Some(id) = places.find(|id| queue.is_none() && id.topic != *topic) {
        return Err(Problem::of_field(
            "messages",
            format!("message '{id}' is not of topic '{topic}'; cancel it in its own topic"),
        ));
    }
    let found = meant.iter().map(|meant| meant.find(context, topic));
    let found: Vec<_> = found.collect();
    let ids = found.iter().filter_map(|id| id.as_ref().ok()).cloned();
    let cancelled = context.broker.queues().cancel(queue, ids.collect()).await?;
    let mut cancelled = cancelled.into_iter();
    let outcomes = meant.into_iter().zip(found).map(|(meant, found)| {
        found?;
        let outcome = cancelled.next().expect("each message has its outcome");
        shown(outcome).map(|mut shown| {
            if let Meant::Named(name) = meant {
                shown["message_id"] = name.into();
            }
            shown
        })
    });
    each::answer("results", outcomes.collect())
}

/// How a message was named.
enum Meant {
    Place(MessageId),
    /// By the id that its producer gave it.
    Named(String),
}

impl Meant {
    fn place(&self) -> Option<&MessageId> {
        match self {
            Self::Place(id) => Some(id),
            Self::Named(_) => None,
        }
    }

    fn find(&self, context: &Context, topic: &TopicName) -> Result<MessageId, Problem> {
        match self {
            Self::Place(id) => Ok(id.clone()),
            Self::Named(name) => {
                let found = context.broker.message_with_id(topic, name);
                found.map_err(|error| Problem::from(error).with("message_id", name.as_str()))
            }
        }
    }
}

/// A message by the id that publish and receive have answered, by partition and offset, or by its producer's id.
fn meant(topic: &TopicName, value: Value) -> Result<Meant, Problem> {
    if let Value::String(text) = &value {
        return message_id("messages", text).map(Meant::Place);
    }
    let mut fields = Fields::of_item("messages", value)?;
    if let Some(name) = fields.text("message_id")? {
        fields.done()?;
        return Ok(Meant::Named(name));
    }
    let partition = fields.whole("partition", 0..=i32::MAX.into())?;
    let offset = fields.whole("offset", 0..=i64::MAX)?;
    fields.done()?;
    let partition = partition.ok_or_else(|| missing("partition"))?;
    Ok(Meant::Place(MessageId {
        topic: topic.clone(),
        partition: PartitionIndex(i32::try_from(partition).unwrap_or(i32::MAX)),
        offset: Offset(offset.ok_or_else(|| missing("offset"))?),
    }))
}

/// Reads `topic/partition/offset`.
pub(crate) fn message_id(field: &str, text: &str) -> Result<MessageId, Problem> {
    text.parse()
        .map_err(|error: MessageIdError| Problem::of_field(field, error.to_string()))
}

/// Of what was cancelled in no queue nothing is said that could be taken for success.
fn shown(outcome: CancelOutcome) -> Result<Value, Problem> {
    let id = outcome.id.to_string();
    let mut failed = None;
    let (mut queues, mut has_any) = (Vec::new(), false);
    for (queue, outcome) in outcome.queues {
        let queue = queue.as_str();
        queues.push(match outcome.map_err(Problem::from) {
            Ok(was_waiting) => {
                has_any = true;
                json!({ "queue": queue, "cancelled": was_waiting })
            }
            Err(problem) => {
                let shown = json!({ "queue": queue, "problem": problem.to_json() });
                failed = failed.or(Some(problem));
                shown
            }
        });
    }
    if has_any {
        return Ok(json!({ "id": id, "queues": queues }));
    }
    let problem = failed.unwrap_or_else(|| {
        let detail = format!("no queue has message '{id}': its topic has no queues");
        Problem::new(Kind::UnknownMessage, detail)
    });
    Err(problem.with("id", id).with("queues", queues))
}
