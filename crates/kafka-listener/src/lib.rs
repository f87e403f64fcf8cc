//! The Kafka protocol on TCP: frames, connections, one file per API.
//!
//! Why it exists: to translate. A request becomes calls of `fanlog_broker`, their results become an answer
//! in the version that the client asked for; Kafka's error codes exist only here (`errors.rs`).
//! Owns: sockets, the order of answers on a connection, fetch sessions (KIP-227).
//! Never: policy, files, offsets.
//! In -> out: bytes of a socket -> `fanlog_broker::Broker` -> bytes of a socket.
//! Invariants: OPS-1.   Read next: `connection.rs`, then `dispatch.rs`.

mod acceptor;
mod access;
mod answer_slots;
mod answer_writer;
mod apis;
mod authorized_operations;
mod config_entries;
mod connection;
mod connection_slots;
mod context;
mod decode_memory;
mod dispatch;
mod error_counts;
mod errors;
mod features;
mod fetch_sessions;
mod frame;
mod memory_budget;
mod partition_state;
mod quotas;
mod share_acks;

pub use acceptor::{BindError, KafkaListener};

use std::net::SocketAddr;
use std::time::Duration;

/// Settings of one listener.
#[derive(Clone, Debug)]
pub struct ListenerConfig {
    /// Where to listen.
    pub address: SocketAddr,
    /// Host and port that Metadata names; `None`: the address that each client reached.
    pub advertise: Option<(String, u16)>,
    /// The largest frame accepted, in bytes (`socket.request.max.bytes`).
    pub frame_bytes_max: usize,
    /// Memory for all requests under way, in bytes (`fanlog.request.memory.bytes`).
    pub request_memory_bytes: usize,
    /// Connections served at once (`max.connections`).
    pub connections_max: usize,
    /// A connection without requests for this long is closed (`connections.max.idle.ms`).
    pub idle_max: Duration,
    /// Fetch sessions kept at once (`max.incremental.fetch.session.cache.slots`).
    pub fetch_sessions_max: usize,
    /// Records of one partition that are this many bytes or more are sent from their file, fewer are copied.
    pub sent_from_file_min: usize,
}

/// Below this, copying records into the answer takes less time than sending them from the file: `docs/decisions/sendfile.md`.
pub const SENT_FROM_FILE_MIN: usize = 256 * 1024;
