//! Receive: the next messages of a queue, each with a receipt, waiting for the first one if asked to.
//!
//! Who does not say which consumer it is, is another one with each receive: with order per key, no key is then handed to it twice before
//! the first message is settled. A request that is gone, or a broker that stops, ends the wait.

use crate::answers::{self, Payload};
use crate::context::{Context, InPath, group_id};
use crate::fields::Fields;
use crate::problem::Problem;
use crate::reading::{ANSWER_BYTES_MAX, RECORDS_MAX, WAIT_MAX};
use axum::extract::{Request, State};
use axum::response::Response;
use fanlog_broker::{Message, Receive};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// The longest lock that can be asked for.
pub(crate) const LOCK_MAX: Duration = Duration::from_secs(12 * 3_600);
/// The longest name of a consumer, in bytes.
const CONSUMER_BYTES_MAX: usize = 255;

struct Answer<'a>(&'a [Message]);

struct Shown<'a>(&'a Message);

/// POST /v1/queues/{queue}/receive
pub(crate) async fn receive(
    State(context): State<Context>,
    InPath(name): InPath<String>,
    request: Request,
) -> Result<Response, Problem> {
    let mut fields = Fields::of_request(&context, request).await?;
    let max = fields.whole("max", 1..=RECORDS_MAX)?.unwrap_or(1);
    let wait_max = fields.duration("wait", WAIT_MAX)?.unwrap_or_default();
    let lock = fields.duration("lock", LOCK_MAX)?;
    let consumer = match fields.text("consumer")? {
        None => someone(&context),
        Some(name) if (1..=CONSUMER_BYTES_MAX).contains(&name.len()) => name.into(),
        Some(name) => {
            let detail = format!(
                "consumer has {} bytes; give it 1 to {CONSUMER_BYTES_MAX}, or leave it out",
                name.len()
            );
            return Err(Problem::of_field("consumer", detail));
        }
    };
    fields.done()?;
    let wanted = Receive {
        consumer,
        records_max: usize::try_from(max).unwrap_or(usize::MAX),
        bytes_max: ANSWER_BYTES_MAX,
        wait_max,
        lock,
    };
    let queue = group_id(&name);
    let receiving = context.broker.queues().receive(&queue, wanted);
    match context.until_stop(receiving).await {
        Some(received) => {
            let received = received?;
            answers::with_memory(&Answer(&received.messages), received.memory)
        }
        None => answers::ok(&json!({ "messages": [] })),
    }
}

/// A name that no one has had.
fn someone(context: &Context) -> Arc<str> {
    let mut draw = [0; 8];
    context.broker.environment().entropy.fill(&mut draw);
    format!("http-{:016x}", u64::from_be_bytes(draw)).into()
}

impl Serialize for Answer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let messages: Vec<_> = self.0.iter().map(Shown).collect();
        let mut members = serializer.serialize_map(Some(1))?;
        members.serialize_entry("messages", &messages)?;
        members.end()
    }
}

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(message) = self;
        let mut members = serializer.serialize_map(None)?;
        members.serialize_entry("id", &message.id.to_string())?;
        members.serialize_entry("receipt", message.receipt.as_str())?;
        members.serialize_entry("attempt", &message.attempt)?;
        members.serialize_entry("lock_until", &answers::time(message.lock_until))?;
        members.serialize_entry("timestamp", &answers::time(message.timestamp))?;
        let payload = Payload {
            key: message.key.as_ref(),
            value: message.value.as_ref(),
            headers: &message.headers,
        };
        payload.put(&mut members)?;
        members.end()
    }
}
