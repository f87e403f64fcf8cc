//! Amazon's SQS and SNS, over the broker's topics and queues.
//!
//! Why it exists: every language has an SDK for them. An SNS topic is a topic; an SQS queue owns a topic for what is sent to it, and reads
//! it and each SNS topic that it subscribes to by queues of the broker; nothing is copied.
//! Owns: what only SQS and SNS know (documents in the catalog).   Never: sockets that listen (the HTTP listener has them), the wire
//! (`fanlog_aws_protocol`), records and leases (`fanlog_broker`).
//! In -> out: the head and the body of a request -> an answer.
//! Read next: `service.rs`, then `sqs/mod.rs`, `sns/mod.rs`.

mod config;
mod documents;
mod headers;
mod names;
mod policy;
mod service;
mod shared;
mod sns;
mod sqs;

pub use config::AwsConfig;
pub use service::{Answer, Service};
