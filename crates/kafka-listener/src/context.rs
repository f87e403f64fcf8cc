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
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
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
    /// Its number among the connections that have opened share sessions; 0 while it has not.
    pub(crate) share_connection: AtomicU64,
}

/// Records that members hold over a connection come back when it ends.
impl Drop for ConnectionContext {
    fn drop(&mut self) {
        let connection = *self.share_connection.get_mut();
        if connection != 0 {
            self.broker().shares().connection_closed(connection);
        }
    }
}

impl ConnectionContext {
    pub(crate) fn broker(&self) -> &Arc<Broker> {
        &self.listener.broker
    }

    /// Its number, by which its share sessions are found when it ends.
    pub(crate) fn share_connection(&self) -> u64 {
        let known = self.share_connection.load(Ordering::Relaxed);
        if known != 0 {
            return known;
        }
        // A connection has one ShareFetch under way at a time.
        let drawn = self.broker().shares().new_connection();
        self.share_connection.store(drawn, Ordering::Relaxed);
        drawn
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
