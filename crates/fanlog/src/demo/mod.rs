//! `fanlog demo`: the flash sale of an online shop, all of it over TCP through the Kafka protocol.
//!
//! Why it exists: in a minute it shows what the product is for. One publisher, four groups, each at its own
//! speed; one of them slow, one of its peers killed in mid-batch; a fifth joins late and replays from the start.
//! Owns: the processes it starts and a folder of its own.
//! In -> out: a rate and a time -> a live table, then a verdict computed from what the consumers wrote.
//! Read next: `sale.rs`, then `summary.rs`.

mod consumer;
mod effects;
mod order;
mod processes;
mod publisher;
mod sale;
mod screen;
mod summary;

pub(crate) use consumer::{ConsumerArgs, run as run_consumer};
pub(crate) use sale::{DemoArgs, run};
