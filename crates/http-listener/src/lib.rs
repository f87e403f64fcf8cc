//! HTTP on one port: metrics for Prometheus, health for whoever restarts us.
//!
//! Why it exists: an operator asks "is it up, may it have traffic, which promise is failing?" without a Kafka client.
//! Owns: the HTTP socket.   Never: what a figure means (`fanlog_broker` counts), anything that changes state.
//! In -> out: GET -> text.
//! Read next: `health.rs`.

mod bounded;
mod health;

use crate::bounded::BoundedListener;
use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use fanlog_broker::Broker;
use std::future::IntoFuture;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::sync::watch;

/// What `/metrics` answers: the OpenMetrics text format, which Prometheus reads.
const METRICS_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// How long requests under way may take when the broker shuts down.
const DRAIN_MAX: Duration = Duration::from_secs(1);

/// Why the HTTP port could not be opened.
#[derive(Debug, Error)]
pub enum BindError {
    /// Another program listens there.
    #[error(
        "address {0} is in use by another program; stop that one, choose another address with --http, or switch \
         HTTP off with --http off"
    )]
    InUse(SocketAddr),
    /// Anything else that the system said.
    #[error("cannot listen on {address}: {source}; choose another address with --http")]
    Other {
        /// The address asked for.
        address: SocketAddr,
        /// The system's reason.
        source: io::Error,
    },
}

/// A bound HTTP port.
pub struct HttpListener {
    socket: TcpListener,
    broker: Arc<Broker>,
}

impl HttpListener {
    /// Binds `address`.
    ///
    /// # Errors
    /// The address is taken or can't be had.
    pub async fn bind(address: SocketAddr, broker: Arc<Broker>) -> Result<Self, BindError> {
        match TcpListener::bind(address).await {
            Ok(socket) => Ok(Self { socket, broker }),
            Err(source) if source.kind() == io::ErrorKind::AddrInUse => {
                Err(BindError::InUse(address))
            }
            Err(source) => Err(BindError::Other { address, source }),
        }
    }

    /// The address bound, with the port that the system chose where 0 was asked for.
    ///
    /// # Errors
    /// The system's own.
    pub fn local_address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Serves until `shutdown` turns true; requests that do not end soon after that are cut.
    ///
    /// # Errors
    /// The socket failed.
    pub async fn serve(self, mut shutdown: watch::Receiver<bool>) -> io::Result<()> {
        let mut cutting = shutdown.clone();
        let stop = async move {
            let _ = shutdown.wait_for(|stop| *stop).await.map(|_| ());
        };
        let cut = async move {
            let _ = cutting.wait_for(|stop| *stop).await.map(|_| ());
            tokio::time::sleep(DRAIN_MAX).await;
        };
        let serving = axum::serve(BoundedListener::new(self.socket), router(self.broker))
            .with_graceful_shutdown(stop);
        tokio::select! {
            served = serving.into_future() => served,
            () = cut => Ok(()),
        }
    }
}

fn router(broker: Arc<Broker>) -> Router {
    Router::new()
        .route("/metrics", get(metrics))
        .route("/health/live", get(health::live))
        .route("/health/ready", get(health::ready))
        .fallback(unknown_path)
        .with_state(broker)
}

/// Lag ages are read from the disk, so the work is done where waiting for it holds nobody up.
async fn metrics(State(broker): State<Arc<Broker>>) -> Response {
    match tokio::task::spawn_blocking(move || broker.metrics().encode()).await {
        Ok(Ok(text)) => ([(header::CONTENT_TYPE, METRICS_TYPE)], text).into_response(),
        Ok(Err(error)) => failed(&error.to_string()),
        Err(error) => failed(&error.to_string()),
    }
}

fn failed(reason: &str) -> Response {
    let text = format!("metrics can't be written: {reason}\n");
    (StatusCode::INTERNAL_SERVER_ERROR, text).into_response()
}

async fn unknown_path() -> (StatusCode, &'static str) {
    let known = "not found; here are /metrics, /health/live and /health/ready\n";
    (StatusCode::NOT_FOUND, known)
}
