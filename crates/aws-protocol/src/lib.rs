//! The wire of Amazon's SQS and SNS, on the server's side: bytes of a request in, a typed call out; a typed answer in, bytes out.
//!
//! Why it exists: SQS is spoken in two protocols (AWS JSON 1.0 and the older query protocol) and SNS in one, and every SDK checks
//! what it gets: codes of errors, checksums of bodies and attributes, the names of XML elements.
//! Owns: nothing.   Never: clock, randomness, I/O, queues, what a request means; time and settings are arguments.
//! In -> out: `RequestHead` and a body -> `Parsed` or `Refused`; a result -> `Answer`.
//! Invariants: no bytes make it panic; every length has a limit in `limits`.   Read next: `parse.rs`, then `sqs/mod.rs`.

mod action;
pub mod arn;
pub mod attribute;
pub mod checks;
pub mod digest;
pub mod error;
mod fields;
mod head;
pub mod ids;
pub mod limits;
pub mod names;
mod parse;
pub mod percent;
pub mod queue_url;
pub mod sigv4;
pub mod sns;
pub mod sqs;
mod wire;
mod writer;

pub use attribute::{AttributeValue, MessageAttribute};
pub use error::{AwsError, BatchFailure};
pub use head::RequestHead;
pub use parse::{Call, Parsed, Refused, parse, wire_of};
pub use wire::{Answer, Protocol, Reply, Service, Wire};
