//! HTTP on one port: topics and queues below `/v1`, SQS and SNS at `/`, metrics for Prometheus, health for whoever restarts us.
//!
//! Why it exists: a service that has work to be done wants the next message and a library for HTTP, which it has; an operator asks "is it
//! up, is it stuck?" without a Kafka client.
//! Owns: the HTTP socket.   Never: what a record, a queue or a figure means (`fanlog_broker` says so).
//! In -> out: requests -> JSON, and problems (RFC 9457); GET -> text.
//! Invariants: OPS-1.   Read next: `routes.rs`.

mod connections;
mod context;
mod cross_site;
mod routes;

mod body;
mod fields;
mod json;

mod answers;
mod base64;
mod each;
mod openapi;
mod problem;
mod redrives;
mod refusals;

mod aws;
mod cancel;
mod dead;
mod health;
mod publish;
mod queues;
mod reading;
mod receive;
mod settle;
mod status;
mod topics;

use crate::connections::Serving;
use crate::context::Context;
use crate::problem::{Kind, Problem};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use fanlog_broker::Broker;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::Instant;

/// What `/metrics` answers: the OpenMetrics text format, which Prometheus reads.
const METRICS_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

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

/// How the port is served.
#[derive(Clone, Debug)]
pub struct HttpConfig {
    /// Where to listen.
    pub address: SocketAddr,
    /// The most connections at once; others are told so, and probes are answered still.
    pub connections_max: usize,
    /// The most bytes of requests that are held at once.
    pub request_memory_bytes: usize,
    /// Names under which `/v1` may be asked, beside addresses and localhost; `*` for any.
    pub hosts: Vec<String>,
    /// How long a request's head and its body may each take to arrive, and a connection may be idle or take nothing of its answer.
    pub patience: Duration,
}

impl HttpConfig {
    /// The settings' defaults at an address.
    pub fn new(address: SocketAddr) -> Self {
        Self {
            address,
            connections_max: 4096,
            request_memory_bytes: 128 * 1024 * 1024,
            hosts: Vec::new(),
            patience: Duration::from_secs(60),
        }
    }
}

/// A bound HTTP port.
pub struct HttpListener {
    socket: TcpListener,
    config: HttpConfig,
    broker: Arc<Broker>,
}

impl HttpListener {
    /// Binds the address.
    ///
    /// # Errors
    /// The address is taken or can't be had.
    pub async fn bind(config: HttpConfig, broker: Arc<Broker>) -> Result<Self, BindError> {
        let address = config.address;
        match TcpListener::bind(address).await {
            Ok(socket) => Ok(Self {
                socket,
                config,
                broker,
            }),
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

    /// Serves until `shutdown` turns true: who waits for messages is answered then, and requests that do not end soon after are cut.
    pub async fn serve(self, shutdown: watch::Receiver<bool>) {
        let context = Context::new(self.broker, &self.config, shutdown.clone());
        let aws = context.aws.clone();
        let recovering = aws.clone();
        tokio::spawn(async move { recovering.recover().await });
        let serving = Serving {
            router: router(context.clone()),
            router_beside: probes().fallback(no_place).with_state(context),
            connections_max: self.config.connections_max,
            patience: self.config.patience,
        };
        connections::serve(self.socket, serving, shutdown).await;
        aws.stop();
    }
}

/// What is answered whatever else is asked of the broker.
fn probes() -> Router<Context> {
    Router::new()
        .route("/metrics", get(metrics))
        .route("/health/live", get(health::live))
        .route("/health/ready", get(health::ready))
}

async fn no_place() -> Problem {
    Problem::new(
        Kind::Unavailable,
        "all connections are taken: retry, close connections, or raise the broker's fanlog.http.connections.max",
    )
    .with("setting", "fanlog.http.connections.max")
}

fn router(context: Context) -> Router {
    let from_elsewhere = middleware::from_fn_with_state(context.clone(), refuse_from_elsewhere);
    let of_v1 = routes::router(&context).route_layer(from_elsewhere);
    probes()
        .merge(of_v1)
        .fallback(elsewhere)
        .method_not_allowed_fallback(method_not_allowed)
        .with_state(context)
}

async fn refuse_from_elsewhere(
    State(context): State<Context>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let (head, body) = request.into_parts();
    if let Err(problem) = context.hosts.check(&head) {
        count_none(&context, &problem);
        return Err(problem);
    }
    Ok(next.run(Request::from_parts(head, body)).await)
}

/// What is refused before an operation sees it is counted under none.
fn count_none(context: &Context, problem: &Problem) {
    let listeners = context.broker.metrics().listeners();
    listeners.http_answered("none", problem.kind.status().as_u16(), Duration::ZERO);
}

async fn method_not_allowed(State(context): State<Context>, request: Request) -> Problem {
    let (method, path) = (request.method(), request.uri().path());
    let problem = Problem::new(
        Kind::MethodNotAllowed,
        format!("{path} does not take {method}; see the header allow, or GET /v1/openapi.json"),
    );
    count_none(&context, &problem);
    problem
}

/// SQS and SNS, whose requests are told by more than their path; or nothing.
async fn elsewhere(State(context): State<Context>, request: Request) -> Response {
    if aws::is_for_aws(&request) {
        let began = Instant::now();
        let answer = aws::answer(&context, request).await;
        let listeners = context.broker.metrics().listeners();
        listeners.http_answered("aws", answer.status().as_u16(), began.elapsed());
        return answer;
    }
    if let Some(file) = aws::certificate_file(&request)
        && let Some(certificate) = aws::certificate(&context, &file).await
    {
        return certificate;
    }
    let path = request.uri().path();
    let detail = format!(
        "there is nothing at {path}; here are /metrics, /health/live, /health/ready, what GET /v1/openapi.json lists, and SQS and SNS at POST /"
    );
    let problem = Problem::new(Kind::UnknownPath, detail);
    count_none(&context, &problem);
    problem.into_response()
}

/// Lag ages are read from the disk, so the work is done where waiting for it holds nobody up.
async fn metrics(State(context): State<Context>) -> Response {
    match tokio::task::spawn_blocking(move || context.broker.metrics().encode()).await {
        Ok(Ok(text)) => ([(header::CONTENT_TYPE, METRICS_TYPE)], text).into_response(),
        Ok(Err(error)) => failed(&error.to_string()),
        Err(error) => failed(&error.to_string()),
    }
}

fn failed(reason: &str) -> Response {
    let text = format!("metrics can't be written: {reason}\n");
    (StatusCode::INTERNAL_SERVER_ERROR, text).into_response()
}
