//! State machines that replay from internal topics: consumer groups and the catalog; pure.
//!
//! Why it exists: what a coordinator has promised must survive a crash; so its state is what its topic says.
//! Owns: nothing; the runtime in `broker` holds each machine.   Never: clocks, randomness, I/O, threads, protocol error codes.
//! In -> out: inputs -> records to log and replies to release when those are durable.
//! Read next: `group/mod.rs`, `catalog/mod.rs`.

mod call;
pub mod catalog;
pub mod filter;
pub mod group;
#[cfg(feature = "planted-faults")]
pub mod planted;
pub mod queue;
mod runs;
pub mod share;
pub mod transaction;

pub use call::{CallId, Now};
