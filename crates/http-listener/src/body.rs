//! Bodies of requests: read within bounds of size, time and memory.
//!
//! Why it exists: whoever reaches the port may send anything, slowly.
//! Invariants: OPS-1.

use crate::context::{Context, MEMORY_UNIT};
use crate::problem::{Kind, Problem};
use axum::body::Body;
use axum::http::{HeaderMap, header};
use bytes::{Bytes, BytesMut};
use fanlog_model::times::format_duration;
use http_body_util::BodyExt;
use std::sync::Arc;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

/// The largest body: a batch of messages.
pub(crate) const BATCH_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The largest body of any other request.
pub(crate) const SMALL_BYTES_MAX: usize = 1024 * 1024;

/// A body, and the share of memory that it takes.
pub(crate) struct Whole {
    pub(crate) bytes: Bytes,
    _memory: Vec<OwnedSemaphorePermit>,
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
    // The wait for memory is a part of it.
    match timeout(context.patience, collect(context, body, bytes_max)).await {
        Ok(read) => read,
        Err(_) => Err(Problem::new(
            Kind::SlowBody,
            format!(
                "the body did not arrive within {}; send less at once, or faster",
                format_duration(context.patience)
            ),
        )),
    }
}

async fn collect(context: &Context, mut body: Body, bytes_max: usize) -> Result<Whole, Problem> {
    let mut memory = Vec::new();
    let mut bytes = BytesMut::new();
    let mut reserved = 0;
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
        if bytes.len() > reserved {
            // Ahead of what comes, so that there are few permits.
            let wanted = bytes.len().next_power_of_two().max(MEMORY_UNIT);
            let units = ((wanted - reserved) / MEMORY_UNIT).max(1);
            let permit = Arc::clone(&context.memory).acquire_many_owned(units as u32);
            memory.push(permit.await.expect("this semaphore is never closed"));
            reserved = wanted;
        }
    }
    Ok(Whole {
        bytes: bytes.freeze(),
        _memory: memory,
    })
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
