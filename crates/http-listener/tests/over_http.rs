//! Metrics and health as a scraper and a probe see them, over a real socket.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use fanlog_http_listener::{BindError, HttpConfig, HttpListener};
use std::time::Duration;
use support::{ask, get, serve, serve_with};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
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
async fn requests_are_counted_by_operation_and_class_of_status() {
    let served = serve().await;
    let topic = serde_json::json!({ "name": "orders" });
    served.done("POST", "/v1/topics", topic.clone()).await;
    served.refused("POST", "/v1/topics", topic).await;
    get(served.address, "/v1/queues/none").await;
    get(served.address, "/v1/nowhere/at/all").await;
    get(served.address, "/v1/openapi.json?").await;
    let (status, _, _) = ask(served.address, "PUT", "/v1/topics", &[], b"").await;
    assert_eq!(status, 405);
    let rebound = [("host", "elsewhere.example")];
    let (status, _, _) = ask(served.address, "GET", "/v1/topics", &rebound, b"").await;
    assert_eq!(status, 421);
    let (_, _, metrics) = get(served.address, "/metrics").await;
    for line in [
        r#"http_requests_total{operation="createTopic",status="2xx"} 1"#,
        r#"http_requests_total{operation="createTopic",status="4xx"} 1"#,
        r#"http_requests_total{operation="describeQueue",status="4xx"} 1"#,
        r#"http_requests_total{operation="openapi",status="2xx"} 1"#,
        r#"http_requests_total{operation="none",status="4xx"} 3"#,
        r#"http_request_seconds_count{operation="createTopic",status="2xx"} 1"#,
    ] {
        assert!(
            metrics.contains(&format!("fanlog_{line}")),
            "{line}: {metrics}"
        );
    }
    assert!(
        !metrics.contains("nowhere"),
        "labels come from the table alone"
    );
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

fn impatient() -> HttpConfig {
    let any_port = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
    HttpConfig {
        patience: Duration::from_millis(300),
        ..HttpConfig::new(any_port)
    }
}

/// What a client is answered that sends this and then nothing more.
async fn answer_to_half(address: std::net::SocketAddr, half: &str) -> String {
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket.write_all(half.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let read = socket.read_to_end(&mut answer);
    let read = tokio::time::timeout(Duration::from_secs(20), read).await;
    // It may be reset as well as closed.
    let _ = read.expect("the connection ends");
    String::from_utf8(answer).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_says_nothing_or_half_is_not_waited_for() {
    let served = serve_with(impatient()).await;
    assert_eq!(answer_to_half(served.address, "").await, "");
    assert_eq!(answer_to_half(served.address, "GET /met").await, "");
    let half = format!(
        "POST /v1/topics HTTP/1.1\r\nhost: {}\r\ncontent-length: 9\r\n\r\n{{",
        served.address
    );
    let answer = answer_to_half(served.address, &half).await;
    assert!(
        answer.starts_with("HTTP/1.1 408 ") && answer.contains("slow-body"),
        "{answer}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn large_bodies_that_do_not_come_hold_up_others_only_for_a_while() {
    let config = HttpConfig {
        request_memory_bytes: 64 * 1024,
        ..impatient()
    };
    let served = serve_with(config).await;
    let address = served.address;
    let half = format!(
        "POST /v1/topics/none/records HTTP/1.1\r\nhost: {address}\r\ncontent-length: 100000\r\n\r\n{{"
    );
    let mut halves = Vec::new();
    for _ in 0..8 {
        let half = half.clone();
        halves.push(tokio::spawn(
            async move { answer_to_half(address, &half).await },
        ));
    }
    let json = [("content-type", "application/json")];
    let topic = br#"{"name":"small"}"#;
    let (status, _, body) = ask(address, "POST", "/v1/topics", &json, topic).await;
    assert_eq!(status, 201, "{body}");
    let mut unavailable = 0;
    for half in halves {
        let answer = half.await.unwrap();
        let is_slow = answer.starts_with("HTTP/1.1 408 ");
        assert!(is_slow || answer.starts_with("HTTP/1.1 503 "), "{answer}");
        unavailable += usize::from(!is_slow);
    }
    assert!(unavailable > 0, "what waited for memory is told so");
}

/// Whoever finds no place is told so, and probes are answered.
#[tokio::test(flavor = "multi_thread")]
async fn beyond_the_last_connection_there_is_an_answer() {
    let any_port = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
    let config = HttpConfig {
        connections_max: 2,
        ..HttpConfig::new(any_port)
    };
    let served = serve_with(config).await;
    let mut kept = Vec::new();
    for _ in 0..2 {
        let mut socket = TcpStream::connect(served.address).await.unwrap();
        let request = format!(
            "GET /v1/topics HTTP/1.1\r\nhost: {}\r\n\r\n",
            served.address
        );
        socket.write_all(request.as_bytes()).await.unwrap();
        let mut first = [0; 15];
        socket.read_exact(&mut first).await.unwrap();
        assert_eq!(&first, b"HTTP/1.1 200 OK");
        kept.push(socket);
    }
    let (status, _, body) = get(served.address, "/v1/topics").await;
    assert_eq!(status, 503, "{body}");
    assert!(body.contains("fanlog.http.connections.max"), "{body}");
    assert_eq!(get(served.address, "/health/live").await.0, 200);
    drop(kept);
    let served_again =
        async { while ask(served.address, "GET", "/v1/topics", &[], b"").await.0 != 200 {} };
    let served_again = tokio::time::timeout(Duration::from_secs(20), served_again);
    served_again
        .await
        .expect("a place is free once a client is gone");
}
