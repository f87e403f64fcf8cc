//! Internal Kafka client for the command line, the demo and the benchmarks; not published.
//!
//! Why it exists: our own tools reach a broker as everybody's do, over TCP in Kafka's protocol, so that they test what users meet.
//! Owns: connections, what is known of the cluster, batches that wait to be sent, positions.   Never: policy of a broker, terminal output.
//! In -> out: records, groups and administrative wishes -> requests; answers -> typed results and errors.
//! Invariants: OPS-1 (every buffer and every wait has a limit).   Read next: `cluster.rs`.

mod admin;
mod backoff;
mod cluster;
mod connection;
mod error;
mod fetcher;
mod group;
mod offsets;
mod partitioner;
mod producer;
mod timestamp_at;

pub use admin::{
    Admin, Committed, ConfigChange, ConfigEntry, ConfigSource, GroupMember, GroupView, ListedGroup,
    ListedTransaction, NewTopic, PartitionLag, ProducerView, ShareGroupMember, ShareGroupView,
    ShareOffset, TransactionView,
};
pub(crate) use backoff::Backoff;
pub use cluster::{ClientConfig, Cluster, ClusterView, PartitionView, TopicView};
pub use error::{ClientError, Refusal};
pub use fanlog_protocol::records::{murmur2, partition_for_key};
pub use fetcher::{ConsumedRecord, FetchConfig, Fetcher, OffsetReset, StartAt};
pub use group::{GroupConfig, GroupConsumer, GroupEvent};
pub use offsets::{ListedOffset, OffsetSpec};
pub use producer::{Acks, Delivered, Delivery, Producer, ProducerConfig, ProducerRecord};
