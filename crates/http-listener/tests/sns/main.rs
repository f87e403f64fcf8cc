//! SNS over real sockets, as SDKs and endpoints see it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../support/mod.rs"]
mod support;

mod client;
mod endpoints;
mod queues;
mod topics;
