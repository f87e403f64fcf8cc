//! Cancel: messages that are not to be delivered any more, in one queue or in all on a topic.

use crate::context::{Context, InPath, group_id, topic_name};
use crate::each;
use crate::fields::{Fields, missing};
use crate::problem::Problem;
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
    let ids: Result<Vec<_>, _> = messages.into_iter().map(|id| id_of(topic, id)).collect();
    let outcomes = context.broker.queues().cancel(queue, ids?).await?;
    let outcomes = outcomes.into_iter().map(shown).map(Ok);
    each::answer("results", outcomes.collect())
}

/// A message by the id that publish and receive have answered, or by partition and offset.
fn id_of(topic: &TopicName, value: Value) -> Result<MessageId, Problem> {
    if let Value::String(text) = &value {
        return message_id("messages", text);
    }
    let mut fields = Fields::of_item("messages", value)?;
    let partition = fields.whole("partition", 0..=i32::MAX.into())?;
    let offset = fields.whole("offset", 0..=i64::MAX)?;
    fields.done()?;
    let partition = partition.ok_or_else(|| missing("partition"))?;
    Ok(MessageId {
        topic: topic.clone(),
        partition: PartitionIndex(i32::try_from(partition).unwrap_or(i32::MAX)),
        offset: Offset(offset.ok_or_else(|| missing("offset"))?),
    })
}

/// Reads `topic/partition/offset`.
pub(crate) fn message_id(field: &str, text: &str) -> Result<MessageId, Problem> {
    text.parse()
        .map_err(|error: MessageIdError| Problem::of_field(field, error.to_string()))
}

fn shown(outcome: CancelOutcome) -> Value {
    let queue = |(queue, outcome): (GroupId, Result<bool, _>)| match outcome {
        Ok(was_waiting) => json!({ "queue": queue.as_str(), "cancelled": was_waiting }),
        Err(error) => {
            let problem = Problem::from(error).to_json();
            json!({ "queue": queue.as_str(), "problem": problem })
        }
    };
    let queues: Vec<_> = outcome.queues.into_iter().map(queue).collect();
    json!({ "id": outcome.id.to_string(), "queues": queues })
}
