//! Load on queues: over HTTP, as consumers of a queue use it.
//!
//! In -> out: a filled topic, a shape of work -> figures, and what promises were broken meanwhile.
//! Read next: `ordered.rs`.

mod api;
mod drain;
mod fill;
mod held;
mod http;
mod order_check;
mod ordered;

pub use drain::{Acked, Drain};
pub use fill::Fill;
pub use held::{Hold, How, first, make};
pub use ordered::Ordered;
