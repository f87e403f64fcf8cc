//! Load on a broker that speaks Kafka's protocol, and the limits of the machine beside it.
//!
//! Why it exists: a client library costs more than a broker, so that with one it is the client that is measured. Here batches are
//! encoded once and fetched bytes are skimmed, by plain threads on blocking sockets.
//! In -> out: a broker's address and a shape of load -> a [`Figures`], printed as `name value` lines.
//! Never: two brokers, rounds, medians; `cargo xtask bench` has them.
//! Read next: `produce.rs`.

pub mod burst;
pub mod cold;
pub mod compaction;
pub mod connection;
pub mod end_to_end;
pub mod fetch;
pub mod figures;
mod gaps;
mod keyed;
pub mod latency;
pub mod limits;
pub mod load;
pub mod pace;
mod processor;
pub mod produce;
pub mod queues;
mod reader;
pub mod sink;
mod stamp;
mod threads;
pub mod topic;

pub use figures::Figures;
