//! Metrics and health as a scraper and a probe see them, over a real socket.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use fanlog_http_listener::{BindError, HttpConfig, HttpListener};
use support::{get, serve};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

#[tokio::test(flavor = "multi_thread")]
async fn metrics_are_open_metrics_text() {
    let served = serve().await;
    let (status, head, body) = get(served.address, "/metrics").await;
    assert_eq!(status, 200);
    assert!(head.contains("application/openmetrics-text"), "{head}");
    assert!(body.contains("fanlog_partitions_offline 0"), "{body}");
    assert!(body.contains("# EOF"), "{body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_stops_is_live_and_not_ready() {
    let served = serve().await;
    assert_eq!(get(served.address, "/health/ready").await.0, 200);
    served.broker.shutdown().await;
    let (status, _, body) = get(served.address, "/health/ready").await;
    assert_eq!(status, 503);
    assert!(body.contains("the broker is stopping"), "{body}");
    assert_eq!(get(served.address, "/health/live").await.0, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_path_is_told_what_there_is() {
    let served = serve().await;
    let (status, head, body) = get(served.address, "/nothing").await;
    assert_eq!(status, 404);
    assert!(head.contains("application/problem+json"), "{head}");
    assert!(body.contains("/metrics"), "{body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn it_stops_when_told_and_a_taken_port_is_named() {
    let served = serve().await;
    let taken = HttpListener::bind(HttpConfig::new(served.address), served.broker.clone()).await;
    let error = taken.err().expect("the port is taken");
    assert!(matches!(error, BindError::InUse(address) if address == served.address));
    assert!(error.to_string().contains("--http"), "{error}");
    served.stop.send_replace(true);
    served.serving.await.unwrap();
}

/// Half a request from each of many connections neither takes every place for good nor keeps the broker from stopping.
#[tokio::test(flavor = "multi_thread")]
async fn half_a_request_does_not_hold_up_the_stop() {
    let served = serve().await;
    let mut halves = Vec::new();
    for _ in 0..20 {
        let mut socket = TcpStream::connect(served.address).await.unwrap();
        socket.write_all(b"GET /met").await.unwrap();
        halves.push(socket);
    }
    assert_eq!(get(served.address, "/health/live").await.0, 200);
    served.stop.send_replace(true);
    let stopped = tokio::time::timeout(std::time::Duration::from_secs(20), served.serving);
    stopped.await.expect("it stops").unwrap();
}
