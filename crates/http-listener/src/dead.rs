//! Dead letters of a queue: list, show, redrive, discard. Those that a queue of SQS takes are that queue's messages.

use crate::answers::{self, Payload, put_bytes};
use crate::cancel::message_id;
use crate::context::{Context, InPath, group_id};
use crate::fields::Fields;
use crate::problem::{Kind, Problem};
use crate::reading::RECORDS_MAX;
use axum::extract::{Request, State};
use axum::response::Response;
use fanlog_broker::{DeadDone, DeadLetter, DeadLetterShown, DeadSelection, MessageId, Redrive};
use fanlog_model::GroupId;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

/// How many one list has where nobody says.
const LISTED_USUAL: i64 = 100;
/// How often a dead letter is redriven where nobody says: what fails again and again is not helped by another turn.
const REDRIVES_USUAL: i64 = 5;
/// How many dead letters are chosen by name at once.
const IDS_MAX: usize = 10_000;

struct Listed<'a>(&'a DeadLetter);

struct Shown<'a>(&'a DeadLetterShown);

/// GET /v1/queues/{queue}/dead
pub(crate) async fn list(
    State(context): State<Context>,
    InPath(name): InPath<String>,
    request: Request,
) -> Result<Response, Problem> {
    let mut fields = Fields::of_query(request.uri())?;
    let after = fields.text("after")?;
    let after = after.map(|id| message_id("after", &id)).transpose()?;
    let max = fields
        .whole("max", 1..=RECORDS_MAX)?
        .unwrap_or(LISTED_USUAL);
    fields.done()?;
    let max = usize::try_from(max).unwrap_or(usize::MAX);
    let queue = with_own(&context, &name)?;
    let queues = context.broker.queues();
    let dead = queues.dead_list(&queue, after, max).await?;
    let letters: Vec<_> = dead.letters.iter().map(Listed).collect();
    let letters =
        serde_json::to_value(letters).map_err(|error| crate::fields::invalid_json(&error))?;
    answers::ok(&json!({
        "dead_letters": letters,
        "next": dead.next.map(|id| id.to_string()),
    }))
}

/// GET /v1/queues/{queue}/dead/{topic}/{partition}/{offset}
pub(crate) async fn show(
    State(context): State<Context>,
    InPath((name, topic, partition, offset)): InPath<(String, String, String, String)>,
    request: Request,
) -> Result<Response, Problem> {
    Fields::of_query(request.uri())?.done()?;
    let id = message_id("id", &format!("{topic}/{partition}/{offset}"))?;
    let queue = with_own(&context, &name)?;
    let queues = context.broker.queues();
    answers::ok(&Shown(&queues.dead_show(&queue, id).await?))
}

/// POST /v1/queues/{queue}/dead/redrive
pub(crate) async fn redrive(
    State(context): State<Context>,
    InPath(name): InPath<String>,
    request: Request,
) -> Result<Response, Problem> {
    let redrive = redrive_of(&context, request).await?;
    let queue = with_own(&context, &name)?;
    let queues = context.broker.queues();
    answers::ok(&done(&queues.redrive(&queue, redrive).await?))
}

/// What is to be redriven, as a body says it.
pub(crate) async fn redrive_of(context: &Context, request: Request) -> Result<Redrive, Problem> {
    let mut fields = Fields::of_request(context, request).await?;
    let which = which(&mut fields)?;
    let rate = fields.whole("rate", 1..=1_000_000)?;
    let is_dry_run = fields.flag("dry_run")?;
    let redrives_max = fields.whole("max_redrives", 1..=1_000_000)?;
    fields.done()?;
    Ok(Redrive {
        which,
        rate: rate.and_then(|rate| rate.try_into().ok()),
        is_dry_run,
        redrives_max: redrives_max
            .unwrap_or(REDRIVES_USUAL)
            .try_into()
            .unwrap_or(u32::MAX),
    })
}

/// POST /v1/queues/{queue}/dead/discard
pub(crate) async fn discard(
    State(context): State<Context>,
    InPath(name): InPath<String>,
    request: Request,
) -> Result<Response, Problem> {
    let mut fields = Fields::of_request(&context, request).await?;
    let which = which(&mut fields)?;
    fields.done()?;
    let queue = with_own(&context, &name)?;
    let queues = context.broker.queues();
    answers::ok(&done(&queues.discard(&queue, which).await?))
}

/// The queue, unless a queue of SQS has its dead letters: who redrives or discards them here would not keep others from receiving them.
pub(crate) fn with_own(context: &Context, name: &str) -> Result<GroupId, Problem> {
    let queue = group_id(name);
    let Some(keeper) = context.aws.keeper_of_dead_letters(&queue) else {
        return Ok(queue);
    };
    let detail = format!(
        "the dead letters of '{name}' are messages of the SQS queue '{keeper}': receive them there, or have them moved by StartMessageMoveTask"
    );
    let problem = Problem::new(Kind::DeadLettersElsewhere, detail);
    Err(problem.with("queue", name).with("keeper", keeper))
}

/// All only if that is said: nothing is discarded because a field was forgotten.
fn which(fields: &mut Fields) -> Result<DeadSelection, Problem> {
    let id = fields.text("id")?;
    let ids = fields.list("ids", IDS_MAX)?;
    let filter = fields.json_text("filter");
    let scope = fields.text("filter_scope")?;
    let all = fields.flag("all")?;
    let is_over_body = match scope.as_deref() {
        None | Some("headers") => false,
        Some("body") => true,
        Some(other) => {
            let detail = format!("filter_scope is '{other}'; give headers or body");
            return Err(Problem::of_field("filter_scope", detail));
        }
    };
    match (id, ids, filter, all) {
        (Some(id), None, None, false) => Ok(DeadSelection::Ids(vec![message_id("id", &id)?])),
        (None, Some(ids), None, false) => {
            let id = |id: Value| message_id("ids", id.as_str().unwrap_or_default());
            Ok(DeadSelection::Ids(
                ids.into_iter().map(id).collect::<Result<_, _>>()?,
            ))
        }
        (None, None, Some(policy), false) => Ok(DeadSelection::Filter {
            policy,
            is_over_body,
        }),
        (None, None, None, true) => Ok(DeadSelection::All),
        _ => Err(Problem::of_field(
            "ids",
            "say which dead letters: give one of id, ids, filter, or \"all\": true",
        )),
    }
}

fn done(done: &DeadDone) -> Value {
    let not_found: Vec<_> = done.not_found.iter().map(MessageId::to_string).collect();
    json!({
        "chosen": done.chosen,
        "done": done.done,
        "guarded": done.guarded,
        "goes_on": done.goes_on,
        "redrive": done.job.map(|id| id.to_string()),
        "not_found": not_found,
    })
}

impl Serialize for Listed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_map(None)?;
        put_letter(&mut members, self.0)?;
        put_bytes(&mut members, ("key", "key_base64"), self.0.key.as_ref())?;
        members.end()
    }
}

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_map(None)?;
        put_letter(&mut members, &self.0.letter)?;
        let payload = Payload {
            key: self.0.letter.key.as_ref(),
            value: self.0.value.as_ref(),
            headers: &self.0.headers,
        };
        payload.put(&mut members)?;
        members.end()
    }
}

fn put_letter<M: SerializeMap>(members: &mut M, letter: &DeadLetter) -> Result<(), M::Error> {
    let origin = letter.origin.as_ref().map(MessageId::to_string);
    members.serialize_entry("id", &letter.id.to_string())?;
    members.serialize_entry("origin", &origin)?;
    let timestamp = letter.origin_timestamp.and_then(answers::time);
    members.serialize_entry("origin_timestamp", &timestamp)?;
    members.serialize_entry("timestamp", &answers::time(letter.timestamp))?;
    members.serialize_entry("attempts", &letter.attempts)?;
    members.serialize_entry("reason", &letter.reason)?;
    members.serialize_entry("redrives", &letter.redrives)
}
