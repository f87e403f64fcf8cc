//! Binds the port, accepts connections up to the limit, and ends them at shutdown.

use crate::ListenerConfig;
use crate::answer_slots::AnswerSlots;
use crate::connection::Connection;
use crate::connection_slots::{ConnectionSlot, ConnectionSlots};
use crate::context::{ConnectionContext, ListenerContext};
use crate::decode_memory::DecodeSlots;
use crate::fetch_sessions::FetchSessions;
use crate::memory_budget::MemoryBudget;
use fanlog_broker::Broker;
use parking_lot::Mutex;
use rustix::net::sockopt::set_socket_send_buffer_size;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::time::Duration;
use thiserror::Error;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tracing::{debug, warn};

/// This listener's name in metrics.
const LISTENER: &str = "kafka";
/// How many batches that may hold very much are unpacked at once.
const UNPACKING_MAX: usize = 4;
/// How long to wait after a failed accept (out of file descriptors) before the next.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);
/// How long the same warning is not repeated.
const WARN_AGAIN_AFTER: Duration = Duration::from_secs(10);
/// What the system may hold of an answer that goes to a program on the same machine, which takes it at once. More makes a congestion control
/// that paces slower, and nothing faster: `docs/decisions/sendfile.md`. Linux doubles it.
const NEAR_SEND_BUFFER_BYTES: usize = 200 * 1024;
/// How long connections may take to answer what is under way when the broker shuts down.
const DRAIN_MAX: Duration = Duration::from_secs(5);

/// Why the listener could not start.
#[derive(Debug, Error)]
pub enum BindError {
    /// Another program listens there.
    #[error(
        "address {0} is in use by another program; stop that one or choose another address with --kafka"
    )]
    InUse(SocketAddr),
    /// Anything else that the system said.
    #[error("cannot listen on {address}: {source}; choose another address with --kafka")]
    Other {
        /// The address asked for.
        address: SocketAddr,
        /// The system's reason.
        source: io::Error,
    },
}

/// A bound port that speaks the Kafka protocol.
pub struct KafkaListener {
    socket: TcpListener,
    context: Arc<ListenerContext>,
    slots: ConnectionSlots,
    refusals: Seldom,
    failures: Seldom,
}

/// Keeps a flood of connections from filling the disk with warnings.
#[derive(Default)]
struct Seldom(Mutex<Option<Instant>>);

impl Seldom {
    fn may_be_told(&self) -> bool {
        let mut told_at = self.0.lock();
        let may = told_at.is_none_or(|at| at.elapsed() >= WARN_AGAIN_AFTER);
        if may {
            *told_at = Some(Instant::now());
        }
        may
    }
}

impl KafkaListener {
    /// Binds the configured address.
    ///
    /// # Errors
    /// The address is taken or can't be had.
    pub async fn bind(config: ListenerConfig, broker: Arc<Broker>) -> Result<Self, BindError> {
        let address = config.address;
        let socket = TcpListener::bind(address)
            .await
            .map_err(|source| match source.kind() {
                io::ErrorKind::AddrInUse => BindError::InUse(address),
                _ => BindError::Other { address, source },
            })?;
        let context = ListenerContext {
            unpacking: Semaphore::new(UNPACKING_MAX),
            answer_slots: AnswerSlots::default(),
            decode_slots: DecodeSlots::default(),
            request_memory: MemoryBudget::new(config.request_memory_bytes),
            fetch_sessions: Mutex::new(FetchSessions::new(config.fetch_sessions_max)),
            broker,
            config,
        };
        Ok(Self {
            socket,
            context: Arc::new(context),
            slots: ConnectionSlots::default(),
            refusals: Seldom::default(),
            failures: Seldom::default(),
        })
    }

    /// The address bound, with the port that the system chose where 0 was asked for.
    ///
    /// # Errors
    /// The system's own.
    pub fn local_address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Serves until `shutdown` turns true; then stops accepting and lets connections answer what is under way.
    pub async fn serve(self, shutdown: watch::Receiver<bool>) {
        let mut stopping = shutdown.clone();
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                accepted = self.socket.accept() => match accepted {
                    Ok((socket, peer)) => self.admit(socket, peer, &mut connections, &shutdown),
                    Err(error) => {
                        if self.failures.may_be_told() {
                            warn!("accepting connections fails: {error}; retrying");
                        }
                        tokio::time::sleep(ACCEPT_RETRY).await;
                    }
                },
                _ = connections.join_next(), if !connections.is_empty() => {}
                () = stopped(&mut stopping) => break,
            }
        }
        drop(self.socket);
        let drained = async { while connections.join_next().await.is_some() {} };
        if tokio::time::timeout(DRAIN_MAX, drained).await.is_err() {
            warn!(
                "some connections did not finish within {} s and are cut",
                DRAIN_MAX.as_secs()
            );
        }
    }

    fn admit(
        &self,
        socket: TcpStream,
        peer: SocketAddr,
        connections: &mut JoinSet<()>,
        shutdown: &watch::Receiver<bool>,
    ) {
        let Some(slot) = self.slot_for(peer) else {
            return;
        };
        // Answers are small and awaited: never held back for company.
        if let Err(error) = socket.set_nodelay(true) {
            debug!("TCP_NODELAY on {peer}: {error}");
        }
        let Ok(local) = socket.local_addr() else {
            return;
        };
        if is_near(peer, local)
            && let Err(error) = set_socket_send_buffer_size(&socket, NEAR_SEND_BUFFER_BYTES)
        {
            debug!("SO_SNDBUF on {peer}: {error}");
        }
        let context = ConnectionContext {
            listener: Arc::clone(&self.context),
            peer,
            local,
            fetches: AtomicUsize::new(0),
            share_connection: AtomicU64::new(0),
        };
        connections.spawn(serve_one(socket, Arc::new(context), slot, shutdown.clone()));
    }
}

impl KafkaListener {
    /// Room for one more connection, by the limits as they are now; told and counted where there is none.
    fn slot_for(&self, peer: SocketAddr) -> Option<ConnectionSlot> {
        let settings = self.context.broker.settings();
        let in_all_max =
            (settings.max_connections as usize).min(self.context.config.connections_max);
        let per_address_max = settings.max_connections_per_ip as usize;
        let full = match self.slots.take(peer.ip(), in_all_max, per_address_max) {
            Ok(slot) => return Some(slot),
            Err(full) => full,
        };
        if self.refusals.may_be_told() {
            let setting = full.setting();
            warn!(
                "refused a connection from {peer}: as many as {setting}, or the limit of open files, allows are open"
            );
        }
        let metrics = self.context.broker.metrics().listeners();
        metrics.connection_refused(LISTENER, full.setting());
        None
    }
}

/// Whether a peer is on this machine. To all others as much may be under way as the system finds that the distance needs.
fn is_near(peer: SocketAddr, local: SocketAddr) -> bool {
    let ip = peer.ip().to_canonical();
    ip.is_loopback() || ip == local.ip().to_canonical()
}

/// Completes when the broker shuts down, or whoever would say so is gone.
pub(crate) async fn stopped(shutdown: &mut watch::Receiver<bool>) {
    // The value is not held on to: it is a lock.
    let _ = shutdown.wait_for(|stop| *stop).await.map(|_| ());
}

async fn serve_one(
    socket: TcpStream,
    context: Arc<ConnectionContext>,
    slot: ConnectionSlot,
    shutdown: watch::Receiver<bool>,
) {
    let peer = context.peer;
    let open = OpenConnection::count(context.broker());
    if let Err(error) = Connection::new(socket, context).run(shutdown).await {
        open.refused(error.label());
        debug!("connection from {peer} closed: {error}");
    }
    drop(open);
    drop(slot);
}

/// A connection in the metrics, for as long as it is open, however it ends.
struct OpenConnection(Arc<Broker>);

impl OpenConnection {
    fn count(broker: &Arc<Broker>) -> Self {
        broker.metrics().listeners().connection_opened(LISTENER);
        Self(Arc::clone(broker))
    }

    fn refused(&self, reason: &'static str) {
        self.0
            .metrics()
            .listeners()
            .connection_refused(LISTENER, reason);
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.metrics().listeners().connection_closed(LISTENER);
    }
}

#[cfg(test)]
mod tests {
    use super::is_near;

    #[test]
    fn only_programs_on_this_machine_are_near() {
        let check =
            |peer: &str, local: &str| is_near(peer.parse().unwrap(), local.parse().unwrap());
        assert!(check("127.0.0.1:50000", "127.0.0.1:9092"));
        assert!(check("[::1]:50000", "[::1]:9092"));
        assert!(check("[::ffff:127.0.0.1]:50000", "[::ffff:127.0.0.1]:9092"));
        assert!(check("10.0.0.5:50000", "10.0.0.5:9092"));
        assert!(!check("10.0.0.6:50000", "10.0.0.5:9092"));
        assert!(!check("[2001:db8::6]:50000", "[2001:db8::5]:9092"));
    }
}
