//! Bodies of requests: read within bounds of size, time and memory.
//!
//! Why it exists: whoever reaches the port may send anything, slowly.
//! Invariants: OPS-1.

use crate::context::Context;
use crate::problem::{Kind, Problem};
use axum::body::{Body, HttpBody};
use axum::http::{HeaderMap, header};
use bytes::{Bytes, BytesMut};
use fanlog_model::times::format_duration;
use http_body_util::BodyExt;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

/// The largest body: a batch of messages.
pub(crate) const BATCH_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The largest body of any other request.
pub(crate) const SMALL_BYTES_MAX: usize = 1024 * 1024;

/// A body, and the share of memory that it takes.
pub(crate) struct Whole {
    pub(crate) bytes: Bytes,
    _memory: Option<OwnedSemaphorePermit>,
}

/// Reads a body.
///
/// # Errors
/// It is too large, too slow, or breaks off.
pub(crate) async fn read(
    context: &Context,
    headers: &HeaderMap,
    body: Body,
    bytes_max: usize,
) -> Result<Whole, Problem> {
    let stated = headers.get(header::CONTENT_LENGTH);
    let stated = stated.and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if stated.is_some_and(|stated| stated > bytes_max as u64) {
        return Err(too_large(bytes_max));
    }
    if body.is_end_stream() {
        return Ok(Whole {
            bytes: Bytes::new(),
            _memory: None,
        });
    }
    // Of what does not say how long it is, the most is taken for its length.
    let length = stated.and_then(|stated| usize::try_from(stated).ok());
    let length = length.unwrap_or(bytes_max);
    let taken = match bytes_max > SMALL_BYTES_MAX {
        // Held until its messages are durable, beside what they are made into.
        true => timeout(context.patience, context.batches.take(2 * length)).await,
        false => timeout(context.patience, context.small.take(length)).await,
    };
    let memory = taken.map_err(|_| {
        Problem::new(
            Kind::Unavailable,
            "other requests take all the memory there is for requests; retry",
        )
    })?;
    let collected = timeout(context.patience, collect(body, length.min(bytes_max))).await;
    let bytes = collected.map_err(|_| {
        Problem::new(
            Kind::SlowBody,
            format!(
                "the body did not arrive within {}; send less at once, or faster",
                format_duration(context.patience)
            ),
        )
    })??;
    Ok(Whole {
        bytes,
        _memory: Some(memory),
    })
}

async fn collect(mut body: Body, bytes_max: usize) -> Result<Bytes, Problem> {
    let mut bytes = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let broken = |error: axum::Error| {
            Problem::new(Kind::BrokenBody, format!("the body broke off: {error}"))
        };
        // Trailers say nothing that is wanted.
        let Ok(piece) = frame.map_err(broken)?.into_data() else {
            continue;
        };
        if bytes.len() + piece.len() > bytes_max {
            return Err(too_large(bytes_max));
        }
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes.freeze())
}

fn too_large(bytes_max: usize) -> Problem {
    Problem::new(
        Kind::BodyTooLarge,
        format!("the body is larger than {bytes_max} bytes; send less at once"),
    )
    .with("limit", bytes_max)
}

/// What kind of body a request has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MediaType {
    /// JSON.
    Json,
    /// What `curl -d` says if it is not told otherwise, or nothing.
    Unsaid,
    /// Anything else.
    Other,
}

impl MediaType {
    /// What the head says.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let Some(value) = headers.get(header::CONTENT_TYPE) else {
            return Self::Unsaid;
        };
        let text = value.to_str().unwrap_or_default();
        let essence = text.split(';').next().unwrap_or_default().trim();
        let essence = essence.to_ascii_lowercase();
        match essence.as_str() {
            "application/json" => Self::Json,
            other if other.starts_with("application/") && other.ends_with("+json") => Self::Json,
            "" | "application/x-www-form-urlencoded" => Self::Unsaid,
            _ => Self::Other,
        }
    }
}
