//! SQS over real sockets, as SDKs see it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../support/mod.rs"]
mod support;

mod client;
mod dead_letters;
mod fifo;
mod messages;
mod queues;
mod visibility;
mod waiting;
mod with_kafka;
