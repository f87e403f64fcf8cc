//! A queue over HTTP, as a consumer uses it: receive, then settle what was received in one request for each outcome.

use super::http::Http;
use anyhow::{Context, ensure};
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fmt::Write;

/// One consumer and its connection.
#[derive(Debug)]
pub(crate) struct Consumer {
    http: Http,
    receive: String,
    ack: String,
    nack: String,
    extend: String,
    body: String,
}

/// A message that a consumer holds.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) partition: usize,
    pub(crate) offset: i64,
    pub(crate) key: Option<u64>,
    pub(crate) value: String,
    pub(crate) receipt: String,
}

#[derive(Deserialize)]
struct Received<'a> {
    #[serde(borrow)]
    messages: Vec<OnWire<'a>>,
}

#[derive(Deserialize)]
struct OnWire<'a> {
    id: &'a str,
    receipt: &'a str,
    key: Option<&'a str>,
    #[serde(borrow)]
    value: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Results<'a> {
    #[serde(borrow)]
    results: Vec<Outcome<'a>>,
}

#[derive(Deserialize)]
struct Outcome<'a> {
    #[serde(borrow)]
    result: Option<&'a str>,
}

impl Consumer {
    /// Connects a consumer of that name, which receives up to `max` and waits up to `wait` (as `20s`).
    ///
    /// # Errors
    /// Nobody listens there.
    pub(crate) fn open(
        address: &str,
        queue: &str,
        name: &str,
        (max, wait): (usize, &str),
    ) -> anyhow::Result<Self> {
        Ok(Self {
            http: Http::open(address)?,
            receive: format!("/v1/queues/{queue}/receive?consumer={name}&max={max}&wait={wait}"),
            ack: format!("/v1/queues/{queue}/ack"),
            nack: format!("/v1/queues/{queue}/nack"),
            extend: format!("/v1/queues/{queue}/extend"),
            body: String::new(),
        })
    }

    /// The next messages; none if none came within the wait.
    ///
    /// # Errors
    /// The broker refuses, or the connection broke.
    pub(crate) fn receive(&mut self) -> anyhow::Result<Vec<Message>> {
        let answer = self.http.post(&self.receive, &[])?.ok()?;
        let received: Received<'_> = serde_json::from_slice(answer.body)
            .with_context(|| format!("received {}", String::from_utf8_lossy(answer.body)))?;
        received.messages.into_iter().map(message).collect()
    }

    /// Acknowledges; of each whether that counted.
    ///
    /// # Errors
    /// The connection broke, or there is an answer that says nothing of some of them.
    pub(crate) fn ack(&mut self, receipts: &[&str]) -> anyhow::Result<Vec<bool>> {
        self.body.clear();
        self.body.push_str("{\"receipts\":[");
        for (at, receipt) in receipts.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            write!(self.body, "{comma}\"{receipt}\"")?;
        }
        self.body.push_str("]}");
        settled(
            &mut self.http,
            &self.ack,
            &self.body,
            receipts.len(),
            "done",
        )
    }

    /// An attempt failed; of each whether that counted.
    ///
    /// # Errors
    /// As `ack`.
    pub(crate) fn nack(&mut self, receipts: &[&str]) -> anyhow::Result<Vec<bool>> {
        let body = json!({ "receipts": receipts, "reason": "this key fails" }).to_string();
        settled(&mut self.http, &self.nack, &body, receipts.len(), "again")
    }

    /// The locks last so long from now on; of each whether that counted.
    ///
    /// # Errors
    /// As `ack`.
    pub(crate) fn extend(&mut self, receipts: &[&str], lock: &str) -> anyhow::Result<Vec<bool>> {
        let body = json!({ "receipts": receipts, "lock": lock }).to_string();
        settled(&mut self.http, &self.extend, &body, receipts.len(), "held")
    }
}

fn settled(
    http: &mut Http,
    path: &str,
    body: &str,
    count: usize,
    wanted: &str,
) -> anyhow::Result<Vec<bool>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    let answer = http.post(path, body.as_bytes())?;
    let said = || String::from_utf8_lossy(answer.body).into_owned();
    // A single one that is refused is a problem without a list.
    if count == 1 && answer.status >= 400 {
        return Ok(vec![false]);
    }
    let results: Results<'_> = serde_json::from_slice(answer.body).with_context(said)?;
    ensure!(
        results.results.len() == count,
        "{count} receipts and {} results",
        results.results.len()
    );
    let is_wanted = |outcome: &Outcome<'_>| outcome.result == Some(wanted);
    Ok(results.results.iter().map(is_wanted).collect())
}

fn message(on_wire: OnWire<'_>) -> anyhow::Result<Message> {
    let (partition, offset) = place(on_wire.id)?;
    let key = on_wire.key.map(str::parse).transpose();
    Ok(Message {
        partition,
        offset,
        key: key.with_context(|| format!("the key {:?}", on_wire.key))?,
        value: on_wire.value.map(Cow::into_owned).unwrap_or_default(),
        receipt: on_wire.receipt.to_owned(),
    })
}

/// Partition and offset in a message's id.
fn place(id: &str) -> anyhow::Result<(usize, i64)> {
    let parse = || {
        let (front, offset) = id.rsplit_once('/')?;
        let (_, partition) = front.rsplit_once('/')?;
        Some((partition.parse().ok()?, offset.parse().ok()?))
    };
    parse().with_context(|| format!("the id {id:?}"))
}

/// Makes a queue of a topic.
///
/// # Errors
/// The broker refuses.
pub(crate) fn create(
    address: &str,
    queue: &str,
    topic: &str,
    settings: &[(&str, &str)],
) -> anyhow::Result<()> {
    let mut body = json!({ "name": queue, "topic": topic, "start": "earliest" });
    for (name, value) in settings {
        body[name] = Value::from(*value);
    }
    let mut http = Http::open(address)?;
    let answer = http.post("/v1/queues", body.to_string().as_bytes())?;
    answer.ok().context("making the queue")?;
    Ok(())
}

/// How a queue stands.
///
/// # Errors
/// The broker refuses.
pub(crate) fn status(address: &str, queue: &str) -> anyhow::Result<Value> {
    let mut http = Http::open(address)?;
    let answer = http.get(&format!("/v1/queues/{queue}/status"))?.ok()?;
    Ok(serde_json::from_slice(answer.body)?)
}

/// What the broker says that queues take of memory.
///
/// # Errors
/// It says nothing of it.
pub(crate) fn memory_bytes(address: &str) -> anyhow::Result<f64> {
    let mut http = Http::open(address)?;
    let answer = http.get("/metrics")?.ok()?;
    let text = String::from_utf8_lossy(answer.body);
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("fanlog_queue_memory_bytes "));
    let value = line.and_then(|value| value.trim().parse().ok());
    value.context("no fanlog_queue_memory_bytes among the metrics")
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn an_id_ends_in_partition_and_offset() {
        assert_eq!(place("a.b/3/70000").unwrap(), (3, 70_000));
        assert!(place("a").is_err());
    }
}
