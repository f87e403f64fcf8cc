//! `fanlog serve`: runs the broker until SIGTERM or Ctrl-C.
//!
//! In -> out: flags and a settings file -> a broker, its listeners, and a clean stop.
//! Exit codes: 1 it could not start or stop cleanly; 2 a flag or setting is wrong. Nothing is harmed by either.

use super::UsageError;
use crate::serve::{address, settings_file};
use anyhow::Context;
use clap::Args;
use fanlog_broker::{Broker, BrokerConfig};
use fanlog_environment::{Clock, Environment, OsEntropy, RealDisk, SystemClock};
use fanlog_http_listener::HttpListener;
use fanlog_kafka_listener::{KafkaListener, ListenerConfig};
use fanlog_model::BrokerId;
use fanlog_model::settings::{BrokerLayers, BrokerSettings, Overrides, check_statics};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// Flags of `fanlog serve`.
#[derive(Args, Debug)]
pub(crate) struct ServeArgs {
    /// Where the data lies; made if missing
    #[arg(long, value_name = "DIR", default_value = "fanlog-data")]
    data: PathBuf,
    /// Where Kafka clients connect
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:9092", value_parser = address::listen)]
    kafka: SocketAddr,
    /// What clients are told to connect to; without it, the address that each reached
    #[arg(long, value_name = "HOST:PORT", value_parser = address::advertised)]
    advertise: Option<(String, u16)>,
    /// Where /metrics and /health are served, or "off"
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    http: String,
    /// Settings, a line each: name=value, as in Kafka's server.properties
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// One setting; may be repeated, and goes before the file's
    #[arg(long = "set", value_name = "NAME=VALUE")]
    settings: Vec<String>,
    /// This broker's number in its cluster
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(i32).range(0..))]
    node_id: i32,
}

/// Runs until told to stop.
pub(crate) fn run(args: ServeArgs) -> anyhow::Result<()> {
    let http = address::listen_or_off(&args.http).map_err(UsageError)?;
    let statics = statics(&args)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_name("fanlog")
        .build()
        .context("starting worker threads")?;
    raise_open_files();
    runtime.block_on(serve(args, http, statics))
}

fn statics(args: &ServeArgs) -> anyhow::Result<Overrides> {
    let mut given = match &args.config {
        Some(path) => settings_file::read(path).map_err(|error| UsageError(error.to_string()))?,
        None => Vec::new(),
    };
    for text in &args.settings {
        let wrong = || UsageError(format!("--set '{text}' is not of the form NAME=VALUE"));
        given.push(settings_file::pair(text).ok_or_else(wrong)?);
    }
    let pairs = given.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    check_statics(pairs).map_err(|errors| {
        let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
        UsageError(lines.join("\n")).into()
    })
}

/// A log has several files open; the soft limit of a login shell is small, the hard one is what the operator allows.
fn raise_open_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        tracing::warn!("the limit of open files stays at {:?}: {error}", limit.current);
    }
}

async fn serve(args: ServeArgs, http: Option<SocketAddr>, statics: Overrides) -> anyhow::Result<()> {
    let clock = Arc::new(SystemClock::new());
    let began = clock.monotonic();
    let nothing = Overrides::new();
    let settings = BrokerSettings::resolve(&BrokerLayers {
        dynamic: &nothing,
        dynamic_default: &nothing,
        statics: &statics,
    });
    let disk = RealDisk::open_identified(&args.data, fanlog_broker::IDENTITY_FILE)?;
    let environment = Environment {
        clock: clock.clone(),
        entropy: Arc::new(OsEntropy),
        disk: Arc::new(disk),
    };
    let mut config = BrokerConfig::new(BrokerId(args.node_id), args.data.display().to_string());
    config.statics = statics;
    let broker = Broker::start(config, environment).await?;
    let outcome = listen(&args, http, &settings, &broker, || clock.monotonic() - began).await;
    broker.shutdown().await.context("stopping; the next start recovers")?;
    outcome
}

async fn listen(
    args: &ServeArgs,
    http: Option<SocketAddr>,
    settings: &BrokerSettings,
    broker: &Arc<Broker>,
    elapsed: impl Fn() -> Duration,
) -> anyhow::Result<()> {
    let kafka = KafkaListener::bind(listener_config(args, settings), Arc::clone(broker)).await?;
    let web = match http {
        Some(address) => Some(HttpListener::bind(address, Arc::clone(broker)).await?),
        None => None,
    };
    let (stop, stopping) = watch::channel(false);
    warn_if_exposed(args, http);
    announce(args, kafka.local_address()?, web.as_ref(), elapsed())?;
    let kafka = tokio::spawn(kafka.serve(stopping.clone()));
    let web = web.map(|web| tokio::spawn(web.serve(stopping)));
    wait_for_signal().await?;
    tracing::info!("stopping");
    stop.send_replace(true);
    kafka.await.context("the Kafka listener stopped at an internal error")?;
    if let Some(web) = web {
        web.await.context("the HTTP listener stopped at an internal error")??;
    }
    Ok(())
}

fn listener_config(args: &ServeArgs, settings: &BrokerSettings) -> ListenerConfig {
    let bytes = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    ListenerConfig {
        address: args.kafka,
        advertise: args.advertise.clone(),
        frame_bytes_max: settings.socket_request_max_bytes as usize,
        request_memory_bytes: bytes(settings.request_memory_bytes),
        connections_max: settings.max_connections as usize,
        idle_max: settings.connections_max_idle_ms.map_or(Duration::MAX, Duration::from_millis),
        fetch_sessions_max: settings.fetch_session_slots as usize,
    }
}

/// There is no authentication yet: whoever reaches the port may read, write and delete.
fn warn_if_exposed(args: &ServeArgs, http: Option<SocketAddr>) {
    let exposed = [Some(args.kafka), http].into_iter().flatten().filter(|a| !a.ip().is_loopback());
    for address in exposed {
        tracing::warn!(
            "listening on {address} without authentication: everyone who reaches this address may read, write and \
             delete everything; bind to loopback, or let only trusted hosts reach the port"
        );
    }
}

/// One line on standard output says that clients may come; scripts wait for it.
fn announce(
    args: &ServeArgs,
    kafka: SocketAddr,
    web: Option<&HttpListener>,
    elapsed: Duration,
) -> anyhow::Result<()> {
    let web = match web {
        Some(web) => format!("http://{}/metrics", web.local_address()?),
        None => "HTTP off".to_owned(),
    };
    println!(
        "Fanlog {} is ready after {:.2} s: Kafka clients at {kafka}, {web}, data in {}",
        env!("CARGO_PKG_VERSION"),
        elapsed.as_secs_f64(),
        args.data.display()
    );
    Ok(())
}

async fn wait_for_signal() -> anyhow::Result<()> {
    let mut terminate = signal(SignalKind::terminate()).context("listening for SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("listening for SIGINT")?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}
