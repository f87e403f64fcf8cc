//! What a request handler may know: the broker, the listener's settings, and whom it talks to.

use crate::ListenerConfig;
use crate::answer_slots::AnswerSlots;
use crate::decode_memory::DecodeSlots;
use crate::fetch_sessions::FetchSessions;
use crate::memory_budget::MemoryBudget;
use fanlog_broker::Broker;
use parking_lot::Mutex;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;
use tokio::sync::Semaphore;

/// Shared by all connections of one listener.
pub(crate) struct ListenerContext {
    pub(crate) broker: Arc<Broker>,
    pub(crate) config: ListenerConfig,
    pub(crate) request_memory: MemoryBudget,
    pub(crate) answer_slots: AnswerSlots,
    /// Requests that take much memory once they are decoded.
    pub(crate) decode_slots: DecodeSlots,
    /// Turns at unpacking batches that may hold very much: each may take memory and a processor for a while.
    pub(crate) unpacking: Semaphore,
    pub(crate) fetch_sessions: Mutex<FetchSessions>,
}

/// One connection.
pub(crate) struct ConnectionContext {
    pub(crate) listener: Arc<ListenerContext>,
    pub(crate) peer: SocketAddr,
    /// The address that the client reached.
    pub(crate) local: SocketAddr,
    /// Counts its fetches outside of sessions, each of which begins with another partition.
    pub(crate) fetches: AtomicUsize,
}

impl ConnectionContext {
    pub(crate) fn broker(&self) -> &Arc<Broker> {
        &self.listener.broker
    }

    /// Monotonic time.
    pub(crate) fn now(&self) -> Duration {
        self.broker().environment().clock.monotonic()
    }

    /// Whom the client connects from, as Kafka shows it to operators.
    pub(crate) fn peer_host(&self) -> String {
        format!("/{}", self.peer.ip().to_canonical())
    }

    /// The address that Metadata names: the advertised one, else the one that this client reached.
    pub(crate) fn advertised(&self) -> (String, u16) {
        match &self.listener.config.advertise {
            Some((host, port)) => (host.clone(), *port),
            None => (
                self.local.ip().to_canonical().to_string(),
                self.local.port(),
            ),
        }
    }
}
