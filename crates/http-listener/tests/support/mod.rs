//! A broker with an HTTP port, and a client that writes its requests by hand.

#![allow(dead_code, reason = "each test uses a part of it")]

use fanlog_broker::{Broker, BrokerConfig};
use fanlog_environment::{Environment, OsEntropy, RealDisk, SystemClock};
use fanlog_http_listener::{HttpConfig, HttpListener};
use fanlog_model::BrokerId;
use serde_json::Value;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::Instant;

pub(crate) struct Served {
    pub(crate) broker: Arc<Broker>,
    pub(crate) address: SocketAddr,
    pub(crate) stop: watch::Sender<bool>,
    pub(crate) serving: tokio::task::JoinHandle<()>,
    folder: Option<TempDir>,
}

pub(crate) async fn serve() -> Served {
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    serve_with(HttpConfig::new(any_port)).await
}

pub(crate) async fn serve_with(config: HttpConfig) -> Served {
    serve_in(TempDir::new().unwrap(), config, &[]).await
}

/// Over a data directory, with these settings of the broker.
pub(crate) async fn serve_in(
    folder: TempDir,
    config: HttpConfig,
    settings: &[(&str, &str)],
) -> Served {
    let environment = Environment {
        clock: Arc::new(SystemClock::new()),
        entropy: Arc::new(OsEntropy),
        disk: Arc::new(open_again(folder.path()).await),
    };
    let path = folder.path().display().to_string();
    let mut of_broker = BrokerConfig::new(BrokerId(1), path);
    for (name, value) in settings {
        of_broker.statics.insert((*name).into(), (*value).into());
    }
    let broker = Broker::start(of_broker, environment).unwrap();
    let listener = HttpListener::bind(config, broker.clone()).await.unwrap();
    let address = listener.local_address().unwrap();
    let (stop, stopping) = watch::channel(false);
    let serving = tokio::spawn(listener.serve(stopping));
    Served {
        broker,
        address,
        stop,
        serving,
        folder: Some(folder),
    }
}

/// The directory of a broker that may just have ended: its last tasks let go of it.
async fn open_again(folder: &Path) -> RealDisk {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        match RealDisk::open(folder) {
            Ok(disk) => return disk,
            Err(error) => assert!(Instant::now() < until, "{error}"),
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Status, head and body of what a request is answered with.
pub(crate) async fn ask(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> (u16, String, String) {
    let mut socket = TcpStream::connect(address).await.unwrap();
    let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    if !headers.iter().any(|(name, _)| *name == "host") {
        head.push_str(&format!("host: {address}\r\n"));
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
    socket.write_all(head.as_bytes()).await.unwrap();
    // A refusal may come, and the connection end, before all is sent.
    let _ = socket.write_all(body).await;
    let mut answer = Vec::new();
    let _ = socket.read_to_end(&mut answer).await;
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, head.to_owned(), body.to_owned())
}

/// Status, head and body of a GET.
pub(crate) async fn get(address: SocketAddr, path: &str) -> (u16, String, String) {
    ask(address, "GET", path, &[], b"").await
}

impl Served {
    /// Stops, and gives the data directory back.
    pub(crate) async fn end(mut self) -> TempDir {
        self.stop.send_replace(true);
        self.serving.await.unwrap();
        self.broker.shutdown().await;
        self.folder.take().unwrap()
    }

    /// Asks again until the answer is as wanted: what goes on behind an answer tells nobody when it is done.
    pub(crate) async fn until(&self, path: &str, holds: impl Fn(&Value) -> bool) -> Value {
        let look = async {
            loop {
                let found = self.done("GET", path, Value::Null).await;
                if holds(&found) {
                    return found;
                }
            }
        };
        let found = tokio::time::timeout(Duration::from_secs(20), look).await;
        found.expect("it never came to be")
    }

    /// Status and JSON of a request with a JSON body, or none.
    pub(crate) async fn json(&self, method: &str, path: &str, body: Value) -> (u16, Value) {
        let text = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let json = [("content-type", "application/json")];
        let (status, head, body) = ask(self.address, method, path, &json, text.as_bytes()).await;
        if body.is_empty() {
            return (status, Value::Null);
        }
        let kind = if status < 400 {
            "application/json"
        } else {
            "application/problem+json"
        };
        assert!(head.contains(kind), "{head}");
        let value: Value = serde_json::from_str(&body).unwrap();
        if status >= 400 {
            assert_eq!(value["status"], status, "{value}");
            assert!(
                value["type"]
                    .as_str()
                    .unwrap()
                    .starts_with("urn:fanlog:problem:")
            );
            assert!(!value["detail"].as_str().unwrap().is_empty(), "{value}");
        }
        (status, value)
    }

    /// As `json`, of what must succeed.
    pub(crate) async fn done(&self, method: &str, path: &str, body: Value) -> Value {
        let (status, value) = self.json(method, path, body).await;
        assert!(status < 300, "{method} {path}: {status} {value}");
        value
    }

    /// As `json`, of what must be refused: the name of the problem, and the whole of it.
    pub(crate) async fn refused(&self, method: &str, path: &str, body: Value) -> (String, Value) {
        let (status, value) = self.json(method, path, body).await;
        assert!(status >= 400, "{method} {path}: {status} {value}");
        let name = value["type"].as_str().unwrap().rsplit(':').next().unwrap();
        (name.to_owned(), value)
    }
}
