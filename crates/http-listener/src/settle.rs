//! What became of messages: ack, nack, reject, release, extend; one at a time or many.
//!
//! A request has `receipt`, or `receipts`, for which what else it says holds; or `items`, each with its own. Answered once durable, but for
//! what a power cut may take of locks.

use crate::answers;
use crate::context::{Context, InPath, group_id};
use crate::each;
use crate::fields::{Fields, missing};
use crate::problem::Problem;
use crate::receive::LOCK_MAX;
use axum::extract::{Request, State};
use axum::response::Response;
use fanlog_broker::{Receipt, SettleOutcome};
use fanlog_coordinators::queue::Settled;
use serde_json::{Value, json};
use std::time::Duration;

/// How many receipts one request has at most.
pub(crate) const RECEIPTS_MAX: usize = 10_000;
/// The longest rest that can be asked for.
const DELAY_MAX: Duration = Duration::from_secs(7 * 86_400);
/// The longest reason, in bytes: longer ones are cut.
const REASON_BYTES_MAX: usize = 1_024;

/// POST /v1/queues/{queue}/ack
pub(crate) async fn ack(
    State(context): State<Context>,
    InPath(name): InPath<String>,
    request: Request,
) -> Result<Response, Problem> {
    settle(&context, &name, request, |_| Ok(SettleOutcome::Ack)).await
}

/// POST /v1/queues/{queue}/nack
pub(crate) async fn nack(
    State(context): State<Context>,
    InPath(name): InPath<String>,
    request: Request,
) -> Result<Response, Problem> {
    let outcome = |fields: &mut Fields| {
        Ok(SettleOutcome::Nack {
            delay: fields.duration("delay", DELAY_MAX)?,
            reason: reason(fields)?,
        })
    };
    settle(&context, &name, request, outcome).await
}

/// POST /v1/queues/{queue}/reject
pub(crate) async fn reject(
    State(context): State<Context>,
    InPath(name): InPath<String>,
    request: Request,
) -> Result<Response, Problem> {
    let outcome = |fields: &mut Fields| {
        let reason = reason(fields)?;
        Ok(SettleOutcome::Reject { reason })
    };
    settle(&context, &name, request, outcome).await
}

/// POST /v1/queues/{queue}/release
pub(crate) async fn release(
    State(context): State<Context>,
    InPath(name): InPath<String>,
    request: Request,
) -> Result<Response, Problem> {
    let outcome = |fields: &mut Fields| {
        let delay = fields.duration("delay", DELAY_MAX)?;
        Ok(SettleOutcome::Release { delay })
    };
    settle(&context, &name, request, outcome).await
}

/// POST /v1/queues/{queue}/extend
pub(crate) async fn extend(
    State(context): State<Context>,
    InPath(name): InPath<String>,
    request: Request,
) -> Result<Response, Problem> {
    let outcome = |fields: &mut Fields| {
        let lock = fields.duration("lock", LOCK_MAX)?;
        lock.map(SettleOutcome::Extend)
            .ok_or_else(|| missing("lock"))
    };
    settle(&context, &name, request, outcome).await
}

fn reason(fields: &mut Fields) -> Result<String, Problem> {
    let mut reason = fields.text("reason")?.unwrap_or_default();
    reason.truncate(reason.floor_char_boundary(REASON_BYTES_MAX));
    Ok(reason)
}

type Item = Result<(Receipt, SettleOutcome), Problem>;

async fn settle(
    context: &Context,
    name: &str,
    request: Request,
    outcome: impl Fn(&mut Fields) -> Result<SettleOutcome, Problem>,
) -> Result<Response, Problem> {
    let fields = Fields::of_request(context, request).await?;
    let (mut formed, mut malformed) = (Vec::new(), Vec::new());
    for item in items(fields, outcome)? {
        malformed.push(item.map(|item| formed.push(item)).err());
    }
    let queues = context.broker.queues();
    let settled = queues.settle(&group_id(name), formed).await?;
    let mut settled = settled.into_iter();
    let mut next = || {
        let outcome = settled.next().expect("every receipt has one outcome");
        outcome.map(shown).map_err(Problem::from)
    };
    let outcomes = malformed.into_iter().map(|problem| match problem {
        Some(problem) => Err(problem),
        None => next(),
    });
    each::answer("results", outcomes.collect())
}

fn items(
    mut fields: Fields,
    outcome: impl Fn(&mut Fields) -> Result<SettleOutcome, Problem>,
) -> Result<Vec<Item>, Problem> {
    let receipt = fields.text("receipt")?;
    let receipts = fields.list("receipts", RECEIPTS_MAX)?;
    let items = fields.list("items", RECEIPTS_MAX)?;
    let receipts = match (receipt, receipts, items) {
        (Some(receipt), None, None) => vec![Ok(receipt)],
        (None, Some(receipts), None) => receipts.into_iter().map(receipt_of).collect(),
        (None, None, Some(items)) => {
            fields.done()?;
            let item = |item| {
                let mut fields = Fields::of_item("items", item)?;
                let receipt = fields.needed_text("receipt")?;
                let outcome = outcome(&mut fields)?;
                fields.done()?;
                Ok((Receipt(receipt), outcome))
            };
            return Ok(items.into_iter().map(item).collect());
        }
        (None, None, None) => {
            let detail = "no receipt is given: give receipt, receipts or items";
            return Err(Problem::of_field("receipt", detail));
        }
        _ => {
            let detail = "give one of receipt, receipts and items";
            return Err(Problem::of_field("receipt", detail));
        }
    };
    let outcome = outcome(&mut fields)?;
    fields.done()?;
    let item = |receipt: Result<String, Problem>| Ok((Receipt(receipt?), outcome.clone()));
    Ok(receipts.into_iter().map(item).collect())
}

fn receipt_of(value: Value) -> Result<String, Problem> {
    match value {
        Value::String(receipt) => Ok(receipt),
        _ => Err(Problem::of_field("receipts", "a receipt must be a text")),
    }
}

fn shown(settled: Settled) -> Value {
    match settled {
        Settled::Done => json!({ "result": "done" }),
        Settled::Again(at) => json!({ "result": "again", "not_before": answers::time(at) }),
        Settled::Moving => json!({ "result": "dead-letter" }),
        Settled::GivenUp => json!({ "result": "given-up" }),
        Settled::Held(until) => json!({ "result": "held", "lock_until": answers::time(until) }),
    }
}
