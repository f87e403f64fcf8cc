//! Topics: create, list, describe, delete. What is told of a partition is where it begins and ends.

use crate::answers;
use crate::context::{Context, InPath, topic_name};
use crate::fields::{Fields, as_text, missing};
use crate::problem::{Kind, Problem};
use axum::extract::{Request, State};
use axum::response::Response;
use fanlog_broker::{Isolation, OffsetSpec, Topic, TopicRef};
use fanlog_coordinators::catalog::{self, NewTopic};
use fanlog_model::limits::PARTITIONS_PER_TOPIC_MAX;
use fanlog_model::{TopicId, TopicName};
use serde_json::{Map, Value, json};

/// How many topics one answer lists.
const LISTED_MAX: i64 = 1_000;

/// POST /v1/topics
pub(crate) async fn create(
    State(context): State<Context>,
    request: Request,
) -> Result<Response, Problem> {
    let mut fields = Fields::of_request(&context, request).await?;
    let name = fields.needed_text("name")?;
    let partitions = fields.whole("partitions", 1..=PARTITIONS_PER_TOPIC_MAX.into())?;
    let settings = fields.object("settings")?.unwrap_or_default();
    fields.done()?;
    let overrides = settings.into_iter().map(|(name, value)| {
        let text = as_text(&name, value)?;
        Ok((name, Some(text)))
    });
    let topic = NewTopic {
        // The broker draws it.
        id: TopicId::ZERO,
        name: name.clone(),
        partitions: partitions
            .and_then(|count| count.try_into().ok())
            .unwrap_or(-1),
        replication_factor: -1,
        assignments: Vec::new(),
        overrides: overrides.collect::<Result<_, Problem>>()?,
    };
    let created = context.broker.create_topics(vec![topic], false).await?;
    let created = created.into_iter().next();
    created.ok_or_else(|| missing("name"))??;
    let topic = find(&context, &topic_name(&name)?)?;
    answers::created(&described(&context, &topic))
}

/// GET /v1/topics
pub(crate) async fn list(
    State(context): State<Context>,
    request: Request,
) -> Result<Response, Problem> {
    let mut fields = Fields::of_query(request.uri())?;
    let after = fields.text("after")?;
    let max = fields.whole("max", 1..=LISTED_MAX)?.unwrap_or(LISTED_MAX);
    let with_internal = fields.flag("internal")?;
    fields.done()?;
    let topics = context.broker.topics();
    let is_wanted = |topic: &&std::sync::Arc<Topic>| {
        (with_internal || !topic.is_internal)
            && after
                .as_deref()
                .is_none_or(|after| topic.name.as_str() > after)
    };
    let mut topics = topics.iter().filter(is_wanted);
    let listed: Vec<_> = topics
        .by_ref()
        .take(usize::try_from(max).unwrap_or(usize::MAX))
        .map(|topic| {
            json!({
                "name": topic.name.as_str(),
                "id": topic.id.to_string(),
                "partitions": topic.partitions.len(),
                "is_internal": topic.is_internal,
            })
        })
        .collect();
    let next = match topics.next() {
        Some(_) => listed.last().map(|last| last["name"].clone()),
        None => None,
    };
    answers::ok(&json!({ "topics": listed, "next": next }))
}

/// GET /v1/topics/{topic}
pub(crate) async fn describe(
    State(context): State<Context>,
    InPath(name): InPath<String>,
    request: Request,
) -> Result<Response, Problem> {
    Fields::of_query(request.uri())?.done()?;
    let topic = find(&context, &topic_name(&name)?)?;
    answers::ok(&described(&context, &topic))
}

/// DELETE /v1/topics/{topic}
pub(crate) async fn delete(
    State(context): State<Context>,
    InPath(name): InPath<String>,
    request: Request,
) -> Result<Response, Problem> {
    Fields::of_query(request.uri())?.done()?;
    let reference = catalog::TopicRef::Name(name);
    let deleted = context.broker.delete_topics(vec![reference]).await?;
    deleted
        .into_iter()
        .next()
        .ok_or_else(|| missing("topic"))??;
    Ok(answers::nothing())
}

fn find(context: &Context, name: &TopicName) -> Result<std::sync::Arc<Topic>, Problem> {
    let topics = context.broker.topics();
    topics.by_name(name).cloned().ok_or_else(|| {
        Problem::new(
            Kind::UnknownTopic,
            format!("topic '{name}' does not exist; make it with POST /v1/topics"),
        )
        .with("topic", name.as_str())
    })
}

fn described(context: &Context, topic: &Topic) -> Value {
    let settings = &topic.overrides;
    let settings: Map<String, Value> = settings
        .iter()
        .map(|(name, value)| (name.clone(), value.as_str().into()))
        .collect();
    let partitions = topic.partitions.iter().map(|partition| {
        let at = |spec| {
            let name = TopicRef::Id(topic.id);
            let isolation = Isolation::ReadCommitted;
            let listed =
                context
                    .broker
                    .list_offset(&name, partition.index(), spec, isolation, None);
            listed.ok().and_then(|listed| listed.offset)
        };
        json!({
            "partition": partition.index().0,
            "start_offset": at(OffsetSpec::Earliest).map(|offset| offset.0),
            "end_offset": at(OffsetSpec::Latest).map(|offset| offset.0),
            "problem": partition.check_serving().err().map(|error| error.to_string()),
        })
    });
    json!({
        "name": topic.name.as_str(),
        "id": topic.id.to_string(),
        "is_internal": topic.is_internal,
        "partitions": partitions.collect::<Vec<_>>(),
        "settings": settings,
    })
}
