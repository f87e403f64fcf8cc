//! `fanlog produce`: publishes the lines of standard input.

use super::Failure;
use super::arguments::{Connect, name_and_value, topic_name};
use anyhow::{Context, anyhow};
use bytes::Bytes;
use clap::{Args, ValueEnum};
use fanlog_client::{Acks, Delivered, Delivery, Producer, ProducerConfig, ProducerRecord};
use fanlog_environment::{Clock, SystemClock};
use fanlog_model::{PartitionIndex, TopicName};
use fanlog_protocol::records::Compression;
use serde_json::json;
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, BufRead, Read};
use tokio::sync::mpsc;

/// The longest line, in bytes: the most that brokers take by default.
const LINE_BYTES_MAX: u64 = 1024 * 1024;
/// The most lines that are read ahead.
const LINES_AHEAD: usize = 1_000;
/// The most records whose acknowledgement has not been looked at.
const DELIVERIES_MAX: usize = 10_000;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The topic; one that does not exist is made, unless the broker's auto.create.topics.enable is false
    #[arg(value_parser = topic_name)]
    topic: TopicName,
    /// Split each line at the first of these: key before it, value after it
    #[arg(long, value_name = "TEXT")]
    key_separator: Option<String>,
    /// A header of every record; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = name_and_value)]
    header: Vec<(String, String)>,
    /// The partition [default: by key as Java clients do; without a key in turns]
    #[arg(long, value_parser = clap::value_parser!(i32).range(0..))]
    partition: Option<i32>,
    /// When a record counts as sent
    #[arg(long, value_enum, default_value_t = AcksFlag::All)]
    acks: AcksFlag,
    /// How batches are compressed
    #[arg(long, value_enum, default_value_t = CompressionFlag::None)]
    compression: CompressionFlag,
    #[command(flatten)]
    connect: Connect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AcksFlag {
    /// When it is on its way: it may be lost
    #[value(name = "0")]
    None,
    /// When it was appended: a crash may lose it
    #[value(name = "1")]
    Leader,
    /// When it is durable; each record is appended once
    #[value(name = "all", alias = "-1")]
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CompressionFlag {
    None,
    Gzip,
    Snappy,
    Lz4,
    Zstd,
}

impl Arguments {
    fn config(&self) -> ProducerConfig {
        ProducerConfig {
            acks: match self.acks {
                AcksFlag::None => Acks::None,
                AcksFlag::Leader => Acks::Leader,
                AcksFlag::All => Acks::All,
            },
            is_idempotent: self.acks == AcksFlag::All,
            compression: match self.compression {
                CompressionFlag::None => Compression::None,
                CompressionFlag::Gzip => Compression::Gzip,
                CompressionFlag::Snappy => Compression::Snappy,
                CompressionFlag::Lz4 => Compression::Lz4,
                CompressionFlag::Zstd => Compression::Zstd,
            },
            ..ProducerConfig::default()
        }
    }

    fn record(
        &self,
        line: Bytes,
        number: u64,
        clock: &SystemClock,
    ) -> Result<ProducerRecord, Failure> {
        let (key, value) = match &self.key_separator {
            None => (None, line),
            Some(separator) => {
                let (key, value) = split(&line, separator.as_bytes()).ok_or_else(|| {
                    anyhow!("line {number} has no key separator '{separator}'; the lines before it were sent")
                })?;
                (Some(key), value)
            }
        };
        let headers = self.header.iter();
        let headers = headers.map(|(name, value)| (name.clone(), Some(Bytes::from(value.clone()))));
        Ok(ProducerRecord {
            topic: self.topic.clone(),
            partition: self.partition.map(PartitionIndex),
            timestamp: clock.wall_ms(),
            key,
            value: Some(value),
            headers: headers.collect(),
        })
    }
}

/// What stands before and after the first `separator`.
fn split(line: &Bytes, separator: &[u8]) -> Option<(Bytes, Bytes)> {
    let at = line
        .windows(separator.len())
        .position(|window| window == separator)?;
    Some((line.slice(..at), line.slice(at + separator.len()..)))
}

/// How many records each partition got.
#[derive(Debug, Default)]
struct Tally(BTreeMap<PartitionIndex, u64>);

impl Tally {
    fn add(&mut self, delivered: &Delivered) {
        *self.0.entry(delivered.partition.partition).or_default() += 1;
    }

    fn total(&self) -> u64 {
        self.0.values().sum()
    }
}

pub(super) async fn run(arguments: Arguments) -> Result<(), Failure> {
    if arguments.key_separator.as_deref() == Some("") {
        let message = "--key-separator is empty: give the text between key and value";
        return Err(Failure::Usage(message.to_owned()));
    }
    let cluster = arguments.connect.cluster().await?;
    let producer = Producer::new(&cluster, arguments.config())?;
    let mut tally = Tally::default();
    let sent = send_lines(&arguments, &producer, &mut tally).await;
    producer.flush().await;
    sent?;
    let topic = &arguments.topic;
    let count = tally.total();
    let noun = if count == 1 { "record" } else { "records" };
    let table = || format!("{topic}: {count} {noun} sent\n");
    let json = || {
        let partitions = tally
            .0
            .iter()
            .map(|(partition, count)| json!({ "partition": partition.get(), "records": count }));
        json!({
            "topic": topic.as_str(),
            "records": count,
            "partitions": partitions.collect::<Vec<_>>(),
        })
    };
    Ok(arguments.connect.output.print(table, json)?)
}

async fn send_lines(
    arguments: &Arguments,
    producer: &Producer,
    tally: &mut Tally,
) -> Result<(), Failure> {
    let clock = SystemClock::new();
    let mut lines = read_lines();
    let mut deliveries = VecDeque::<Delivery>::new();
    let mut number = 0;
    let mut outcome = Ok(());
    while let Some(line) = lines.recv().await {
        number += 1;
        let record = line
            .with_context(|| format!("cannot read line {number} of standard input"))
            .map_err(Failure::from)
            .and_then(|line| arguments.record(line, number, &clock));
        match record {
            // The lines before it count all the same.
            Err(failure) => {
                outcome = Err(failure);
                break;
            }
            Ok(record) => deliveries.push_back(producer.send(record).await?),
        }
        if deliveries.len() >= DELIVERIES_MAX
            && let Some(oldest) = deliveries.pop_front()
        {
            tally.add(&oldest.await?);
        }
    }
    for delivery in deliveries {
        tally.add(&delivery.await?);
    }
    outcome
}

/// Reads standard input on a thread of its own: reading a terminal blocks.
fn read_lines() -> mpsc::Receiver<io::Result<Bytes>> {
    let (sender, lines) = mpsc::channel(LINES_AHEAD);
    std::thread::spawn(move || {
        let mut input = io::stdin().lock();
        while let Some(line) = read_line(&mut input).transpose() {
            let is_over = line.is_err();
            if sender.blocking_send(line).is_err() || is_over {
                return;
            }
        }
    });
    lines
}

/// The next line without its end; `None` at the end of the input.
fn read_line(input: &mut impl BufRead) -> io::Result<Option<Bytes>> {
    let mut line = Vec::new();
    let read = input
        .take(LINE_BYTES_MAX + 1)
        .read_until(b'\n', &mut line)?;
    if read == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
        if line.last() == Some(&b'\r') {
            line.pop();
        }
    } else if read as u64 > LINE_BYTES_MAX {
        let message = format!("it is longer than {LINE_BYTES_MAX} bytes");
        return Err(io::Error::other(message));
    }
    Ok(Some(line.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_with_or_without_a_carriage_return_and_the_last_needs_no_end() {
        let mut input = &b"a\nb\r\n\nlast"[..];
        let mut lines = Vec::new();
        while let Some(line) = read_line(&mut input).unwrap() {
            lines.push(line);
        }
        assert_eq!(lines, ["a", "b", "", "last"]);
    }

    #[test]
    fn a_line_has_a_limit() {
        let longest = vec![b'x'; LINE_BYTES_MAX as usize];
        assert_eq!(
            read_line(&mut &longest[..]).unwrap().unwrap().len(),
            longest.len()
        );
        let longer = vec![b'x'; LINE_BYTES_MAX as usize + 1];
        assert!(read_line(&mut &longer[..]).is_err());
    }

    #[test]
    fn a_line_is_split_at_the_first_separator() {
        let split = |line: &'static str, at: &str| split(&Bytes::from(line), at.as_bytes());
        assert_eq!(split("k:v:w", ":"), Some(("k".into(), "v:w".into())));
        assert_eq!(split("k=>v", "=>"), Some(("k".into(), "v".into())));
        assert_eq!(split(":", ":"), Some(("".into(), "".into())));
        assert_eq!(split("kv", ":"), None);
    }
}
