//! Kafka bytes to messages and back, and record batch v2; pure.
//!
//! Why it exists: a broker reads what strangers send. Here bytes become typed messages that borrow from the frame, with
//! every length checked, and messages become slices for a vectored write, without a copy of record bytes.
//! Owns: nothing.   Never: sockets, policy, clocks.
//! In -> out: bytes <-> `messages`, `records`.
//! Read next: `wire/mod.rs`, then `messages/fetch_request.rs` as an example.

mod error_code;
mod message;
pub mod messages;
pub mod records;
pub mod wire;

pub use error_code::ErrorCode;
pub use message::{Message, Request};
pub use messages::ApiKey;
