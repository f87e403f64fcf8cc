//! Asking a broker over HTTP: one request, one answer of JSON, and problems as words.

use super::Failure;
use super::output::Output;
use anyhow::{Context as _, anyhow};
use bytes::Bytes;
use clap::Args;
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1;
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The most bytes of an answer.
const ANSWER_BYTES_MAX: usize = 256 * 1024 * 1024;
/// How long to try to reach the broker.
const CONNECT_WITHIN: Duration = Duration::from_secs(10);
/// How long an answer may take; the longest wait that can be asked for is half of it.
const ANSWER_WITHIN: Duration = Duration::from_secs(60);

/// How to reach the broker, and how to print.
#[derive(Clone, Debug, Args)]
pub(super) struct Web {
    /// The broker's HTTP port: host:port
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080", value_parser = address)]
    http: String,
    /// How to print
    #[arg(long, value_enum, default_value_t = Output::Table)]
    pub(super) output: Output,
}

/// Reads `host:port`, with or without what a browser writes around it.
fn address(text: &str) -> Result<String, String> {
    let text = text.trim();
    let text = text.strip_prefix("http://").unwrap_or(text);
    let text = text.strip_suffix('/').unwrap_or(text);
    let port = text.rsplit_once(':').filter(|(host, _)| !host.is_empty());
    match port.map(|(_, port)| port.parse()) {
        Some(Ok(1u16..)) => Ok(text.to_owned()),
        _ => Err("write it as host:port, for example 127.0.0.1:8080".to_owned()),
    }
}

impl Web {
    pub(super) async fn get(&self, path: &str) -> Result<Value, Failure> {
        self.ask(Method::GET, path, None).await
    }

    pub(super) async fn post(&self, path: &str, body: Value) -> Result<Value, Failure> {
        self.ask(Method::POST, path, Some(body)).await
    }

    pub(super) async fn patch(&self, path: &str, body: Value) -> Result<Value, Failure> {
        self.ask(Method::PATCH, path, Some(body)).await
    }

    pub(super) async fn delete(&self, path: &str) -> Result<Value, Failure> {
        self.ask(Method::DELETE, path, None).await
    }

    async fn ask(&self, method: Method, path: &str, body: Option<Value>) -> Result<Value, Failure> {
        let asked = timeout(ANSWER_WITHIN, self.answer(method, path, body)).await;
        let (status, body) = asked
            .map_err(|_| anyhow!("{} does not answer; see its log", self.http))?
            .map_err(Failure::Failed)?;
        if status < 400 && body.is_empty() {
            return Ok(Value::Null);
        }
        let answer: Value = serde_json::from_slice(&body).map_err(|_| {
            anyhow!(
                "{} answers {status}, and not as a broker does; is --http right?",
                self.http
            )
        })?;
        match status {
            ..400 => Ok(answer),
            _ => Err(problem(&answer, status)),
        }
    }

    async fn answer(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> anyhow::Result<(u16, Bytes)> {
        let address = &self.http;
        let unreachable = || {
            format!(
                "no broker answers HTTP at {address}; start one with `fanlog serve`, or name its port with --http"
            )
        };
        let stream = timeout(CONNECT_WITHIN, TcpStream::connect(address)).await;
        let stream = stream
            .map_err(anyhow::Error::from)
            .and_then(|connected| Ok(connected?))
            .with_context(unreachable)?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
            .await
            .with_context(unreachable)?;
        // It ends with the sender, and what goes wrong in it the request tells.
        tokio::spawn(connection);
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, address);
        if body.is_some() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        let body = body.map_or_else(Bytes::new, |body| Bytes::from(body.to_string()));
        let request = request.body(Full::new(body))?;
        let response = sender.send_request(request).await;
        let response = response.with_context(unreachable)?;
        let status = response.status().as_u16();
        let body = Limited::new(response.into_body(), ANSWER_BYTES_MAX);
        let body = body.collect().await;
        let body = body.map_err(|error| anyhow!("the answer of {address} broke off: {error}"))?;
        Ok((status, body.to_bytes()))
    }
}

/// What a problem says; of a request with many items, what is wrong with each.
fn problem(answer: &Value, status: u16) -> Failure {
    let detail = answer["detail"].as_str();
    let detail = detail.map_or_else(|| format!("the broker answers {status}"), str::to_owned);
    Failure::Failed(anyhow!(detail))
}

/// A name as a part of a path.
pub(super) fn in_path(name: &str) -> String {
    let mut part = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                part.push(char::from(byte));
            }
            other => part.push_str(&format!("%{other:02X}")),
        }
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_host_and_a_port() {
        for text in [
            "127.0.0.1:8080",
            "http://127.0.0.1:8080",
            "http://127.0.0.1:8080/",
        ] {
            assert_eq!(address(text).as_deref(), Ok("127.0.0.1:8080"));
        }
        for text in ["", "127.0.0.1", "http://", ":8080", "h:0"] {
            assert!(address(text).is_err(), "{text}");
        }
    }

    #[test]
    fn names_are_coded_where_a_path_would_take_them_for_more() {
        assert_eq!(in_path("a.b-c_1"), "a.b-c_1");
        assert_eq!(in_path("a/b?ä"), "a%2Fb%3F%C3%A4");
    }
}
