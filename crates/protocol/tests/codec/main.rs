//! What must hold for every message in every version.
//!
//! Random bytes are drawn from the schemas by `sample.rs`, which knows nothing of the generated code: that they come
//! back byte for byte says that the code does what the schemas say, and that the `kafka-protocol` crate writes the same
//! bytes says that the schemas are right.

#![allow(
    clippy::unwrap_used,
    reason = "this is all tests, and clippy knows only their entry points as such"
)]

mod golden;
mod golden_batches;
mod hostile;
mod oracle;
mod promises;
mod round_trip;
mod sample;
#[allow(dead_code, reason = "the generator uses what these tests do not")]
#[path = "../../../../xtask/src/codegen/schema.rs"]
mod schema;
mod table;
