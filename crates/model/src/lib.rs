//! Nouns, newtypes, limits and invariant names that every crate shares.
//!
//! Why it exists: numbers that could be swapped (an offset for an epoch) must not compile when they are.
//! Owns: nothing; these are values.   Never: clocks, randomness, I/O, protocol error codes.
//! Read next: `numbers.rs`.

mod ids;
pub mod invariants;
pub mod limits;
mod numbers;
pub mod settings;
pub mod times;
mod topic;

pub use ids::{BrokerId, GroupId, TopicId};
pub use numbers::{
    BaseSequence, LeaderEpoch, Offset, PartitionIndex, ProducerEpoch, ProducerId, TimestampMs,
};
pub use topic::{InvalidTopicName, TopicName, TopicPartition};
