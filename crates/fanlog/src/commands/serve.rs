//! `fanlog serve`: runs the broker until SIGTERM or Ctrl-C.
//!
//! In -> out: flags and a settings file -> a broker, its listeners, and a clean stop.
//! Exit codes: 1 it could not start or stop cleanly; 2 a flag or setting is wrong. Nothing is harmed by either.

use super::Failure;
use crate::serve::open_files::OpenFiles;
use crate::serve::start_up::{ServeArgs, StartUp};
use anyhow::Context;
use fanlog_broker::{Broker, BrokerConfig};
use fanlog_environment::{Clock, Environment, OsEntropy, RealDisk, SystemClock};
use fanlog_http_listener::{HttpConfig, HttpListener};
use fanlog_kafka_listener::{KafkaListener, ListenerConfig};
use fanlog_model::BrokerId;
use fanlog_model::settings::{BrokerLayers, BrokerSettings, Overrides};
use std::io::IsTerminal;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tracing_subscriber::EnvFilter;

/// Runs until told to stop.
pub(super) async fn run(args: &ServeArgs) -> Result<(), Failure> {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_env_filter(log_filter())
        .init();
    let start_up = StartUp::read(args)?;
    let files = OpenFiles::raise()?;
    Ok(serve(start_up, files).await?)
}

/// `FANLOG_LOG` chooses what is logged, in the syntax of tracing's EnvFilter; by default `info`.
fn log_filter() -> EnvFilter {
    EnvFilter::try_from_env("FANLOG_LOG").unwrap_or_else(|_| EnvFilter::new("info"))
}

async fn serve(start_up: StartUp, files: OpenFiles) -> anyhow::Result<()> {
    let clock = Arc::new(SystemClock::new());
    let began = clock.monotonic();
    let nothing = Overrides::new();
    let settings = BrokerSettings::resolve(&BrokerLayers {
        dynamic: &nothing,
        dynamic_default: &nothing,
        statics: &start_up.statics,
    });
    let disk = RealDisk::open_identified(&start_up.data, fanlog_broker::IDENTITY_FILE)?
        .with_files_max(files.logs);
    let environment = Environment {
        clock: clock.clone(),
        entropy: Arc::new(OsEntropy),
        disk: Arc::new(disk),
    };
    // Kafka's tools take a log directory's name for a path from the root.
    let data = std::path::absolute(&start_up.data)?;
    let mut config = BrokerConfig::new(BrokerId(start_up.node_id), data.display().to_string());
    config.statics = start_up.statics.clone();
    let starting = tokio::task::spawn_blocking(move || Broker::start(config, environment));
    let broker = starting
        .await
        .context("starting stopped at an internal error")??;
    let mut config = listener_config(&start_up, &settings);
    config.connections_max = config.connections_max.min(files.connections);
    let web = http_config(&start_up, &settings, files.http_connections);
    let elapsed = || clock.monotonic() - began;
    let outcome = listen(&start_up, (config, web), &broker, elapsed).await;
    broker.shutdown().await;
    outcome
}

async fn listen(
    start_up: &StartUp,
    (config, web): (ListenerConfig, Option<HttpConfig>),
    broker: &Arc<Broker>,
    elapsed: impl Fn() -> Duration,
) -> anyhow::Result<()> {
    let kafka = KafkaListener::bind(config, Arc::clone(broker)).await?;
    let web = match web {
        Some(config) => Some(HttpListener::bind(config, Arc::clone(broker)).await?),
        None => None,
    };
    let (stop, stopping) = watch::channel(false);
    warn_if_exposed(start_up);
    announce(start_up, kafka.local_address()?, web.as_ref(), elapsed())?;
    let kafka = tokio::spawn(kafka.serve(stopping.clone()));
    let web = web.map(|web| tokio::spawn(web.serve(stopping)));
    wait_for_signal().await?;
    tracing::info!("stopping");
    stop.send_replace(true);
    kafka
        .await
        .context("the Kafka listener stopped at an internal error")?;
    if let Some(web) = web {
        web.await
            .context("the HTTP listener stopped at an internal error")?;
    }
    Ok(())
}

fn listener_config(start_up: &StartUp, settings: &BrokerSettings) -> ListenerConfig {
    let bytes = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    ListenerConfig {
        address: start_up.kafka,
        advertise: start_up.advertise.clone(),
        frame_bytes_max: settings.socket_request_max_bytes as usize,
        request_memory_bytes: bytes(settings.request_memory_bytes),
        connections_max: settings.max_connections as usize,
        idle_max: settings
            .connections_max_idle_ms
            .map_or(Duration::MAX, Duration::from_millis),
        fetch_sessions_max: settings.fetch_session_slots as usize,
        sent_from_file_min: fanlog_kafka_listener::SENT_FROM_FILE_MIN,
    }
}

fn http_config(
    start_up: &StartUp,
    settings: &BrokerSettings,
    connections_max: usize,
) -> Option<HttpConfig> {
    let mut hosts = settings.http_hosts.clone();
    hosts.extend(start_up.advertise.iter().map(|(host, _)| host.clone()));
    let memory = usize::try_from(settings.http_request_memory_bytes);
    Some(HttpConfig {
        connections_max: connections_max.min(settings.http_connections_max as usize),
        request_memory_bytes: memory.unwrap_or(usize::MAX),
        hosts,
        ..HttpConfig::new(start_up.http?)
    })
}

/// There is no authentication yet: whoever reaches the port may read, write and delete.
fn warn_if_exposed(start_up: &StartUp) {
    let addresses = [Some(start_up.kafka), start_up.http].into_iter().flatten();
    for address in addresses.filter(|address| !address.ip().is_loopback()) {
        tracing::warn!(
            "listening on {address} without authentication: everyone who reaches this address may read, write and \
             delete everything; bind to loopback, or let only trusted hosts reach the port"
        );
    }
}

/// One line on standard output says that clients may come; scripts wait for it.
fn announce(
    start_up: &StartUp,
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
        start_up.data.display()
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
