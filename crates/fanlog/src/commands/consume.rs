//! `fanlog consume`: prints records, alone or as a member of a group.

use super::Failure;
use super::arguments::{Connect, duration, topic_name};
use super::output::Output;
use super::record_format::RecordFormat;
use super::timestamps::parse_timestamp;
use anyhow::anyhow;
use clap::Args;
use fanlog_client::{
    Cluster, ConsumedRecord, FetchConfig, Fetcher, GroupConfig, GroupConsumer, GroupEvent,
    OffsetReset, OffsetSpec, StartAt,
};
use fanlog_model::{Offset, PartitionIndex, TimestampMs, TopicName, TopicPartition};
use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::time::Duration;
use tokio::time::Instant;

/// How long one call for records may wait, so that the end of the time is noticed.
const POLL: Duration = Duration::from_millis(500);
/// How often a group's offsets are committed while records come.
const COMMIT_INTERVAL: Duration = Duration::from_secs(5);

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The topics; without another flag, what comes from now on is printed until Ctrl-C
    #[arg(required = true, value_parser = topic_name)]
    topics: Vec<TopicName>,
    /// Read as a member of this group, and commit what was printed
    #[arg(long, conflicts_with_all = ["partition", "offset", "from_datetime", "to_end"])]
    group: Option<String>,
    /// Begin at the first record; in a group only where it has committed nothing
    #[arg(long, conflicts_with_all = ["offset", "from_datetime"])]
    from_beginning: bool,
    /// Begin at this offset of every partition read; -5 begins five before the end
    #[arg(long, allow_hyphen_values = true, conflicts_with = "from_datetime")]
    offset: Option<i64>,
    /// Begin at the first record of this time or later, as 2026-11-30T01:02:03Z
    #[arg(long, value_name = "TIME", value_parser = parse_timestamp)]
    from_datetime: Option<TimestampMs>,
    /// Read only this partition; may be repeated
    #[arg(long, value_parser = clap::value_parser!(i32).range(0..))]
    partition: Vec<i32>,
    /// Stop after so many records; fewer within --timeout is a failure
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    max_messages: Option<u64>,
    /// Stop when no record came for so long: 500ms, 30s, 10m
    #[arg(long, value_name = "TIME", value_parser = duration)]
    timeout: Option<Duration>,
    /// Stop at what was the end when reading began
    #[arg(long)]
    to_end: bool,
    /// How a record is printed [default: value; json with --output json]
    #[arg(long, value_enum)]
    format: Option<RecordFormat>,
    #[command(flatten)]
    connect: Connect,
}

impl Arguments {
    fn format(&self) -> RecordFormat {
        self.format.unwrap_or(match self.connect.output {
            Output::Table => RecordFormat::Value,
            Output::Json => RecordFormat::Json,
        })
    }
}

pub(super) async fn run(arguments: Arguments) -> Result<(), Failure> {
    let cluster = arguments.connect.cluster().await?;
    match arguments.group.clone() {
        Some(group) => in_group(&cluster, &arguments, group).await,
        None => alone(&cluster, &arguments).await,
    }
}

/// Prints records and keeps account of them.
struct Printer<'a> {
    arguments: &'a Arguments,
    out: BufWriter<io::Stdout>,
    printed: u64,
    last_record: Instant,
    /// Of each partition, the offset after the last record printed.
    next: BTreeMap<TopicPartition, Offset>,
}

impl<'a> Printer<'a> {
    fn new(arguments: &'a Arguments) -> Self {
        Self {
            arguments,
            out: BufWriter::new(io::stdout()),
            printed: 0,
            last_record: Instant::now(),
            next: BTreeMap::new(),
        }
    }

    fn print(&mut self, records: &[ConsumedRecord]) -> io::Result<()> {
        let most = self.arguments.max_messages.unwrap_or(u64::MAX) - self.printed;
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let records = &records[..records.len().min(most)];
        for record in records {
            self.arguments.format().write(&mut self.out, record)?;
        }
        self.out.flush()?;
        // Only what has left this process counts as done.
        for record in records {
            let next = record.offset.plus(1);
            self.next.insert(record.partition.clone(), next);
        }
        self.printed += records.len() as u64;
        self.last_record = Instant::now();
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.arguments
            .max_messages
            .is_some_and(|most| self.printed >= most)
    }

    fn is_timed_out(&self) -> bool {
        let silent = self.last_record.elapsed();
        self.arguments
            .timeout
            .is_some_and(|timeout| silent >= timeout)
    }

    /// How long to wait for records at the most.
    fn wait(&self) -> Duration {
        let left = |timeout: Duration| timeout.saturating_sub(self.last_record.elapsed());
        self.arguments
            .timeout
            .map_or(POLL, |timeout| left(timeout).min(POLL))
    }

    /// Fewer records than asked for are a failure.
    fn verdict(&self) -> Result<(), Failure> {
        match (self.arguments.max_messages, self.arguments.timeout) {
            (Some(most), Some(timeout)) if self.printed < most => Err(anyhow!(
                "{} of {most} records came, then none for {timeout:?} (--timeout)",
                self.printed
            )
            .into()),
            _ => Ok(()),
        }
    }
}

async fn alone(cluster: &Cluster, arguments: &Arguments) -> Result<(), Failure> {
    let config = FetchConfig {
        reset: if arguments.from_beginning {
            OffsetReset::Earliest
        } else {
            OffsetReset::Fail
        },
        ..FetchConfig::default()
    };
    let mut fetcher = Fetcher::new(cluster, config);
    let partitions = partitions(cluster, arguments).await?;
    for (partition, start) in starts(cluster, arguments, &partitions).await? {
        fetcher.assign(partition, start).await?;
    }
    let ends = match arguments.to_end {
        true => {
            cluster
                .list_offsets(&partitions, OffsetSpec::Latest)
                .await?
        }
        false => BTreeMap::new(),
    };
    let is_at_end = |fetcher: &Fetcher| {
        arguments.to_end
            && fetcher.positions().iter().all(|(partition, position)| {
                ends.get(partition)
                    .and_then(|end| end.offset)
                    .is_none_or(|end| *position >= end)
            })
    };
    let mut printer = Printer::new(arguments);
    let mut interrupted = std::pin::pin!(tokio::signal::ctrl_c());
    while !printer.is_full() && !printer.is_timed_out() && !is_at_end(&fetcher) {
        let records = tokio::select! {
            records = fetcher.poll(printer.wait()) => records?,
            _ = &mut interrupted => return Ok(()),
        };
        if !records.is_empty() {
            // Records that came after the end was asked for are not part of it.
            let wanted = |record: &ConsumedRecord| {
                let end = ends.get(&record.partition).and_then(|end| end.offset);
                end.is_none_or(|end| record.offset < end)
            };
            let records: Vec<_> = records.into_iter().filter(wanted).collect();
            printer.print(&records)?;
        }
    }
    printer.verdict()
}

async fn partitions(
    cluster: &Cluster,
    arguments: &Arguments,
) -> Result<Vec<TopicPartition>, Failure> {
    let mut partitions = Vec::new();
    for topic in &arguments.topics {
        let all = cluster.partitions(topic).await?;
        let count = all.len();
        for wanted in &arguments.partition {
            if !all
                .iter()
                .any(|one| one.partition == PartitionIndex(*wanted))
            {
                return Err(anyhow!(
                    "topic '{topic}' has {count} partitions; partition {wanted} does not exist"
                )
                .into());
            }
        }
        let is_wanted = |one: &TopicPartition| {
            arguments.partition.is_empty() || arguments.partition.contains(&one.partition.get())
        };
        partitions.extend(all.into_iter().filter(is_wanted));
    }
    Ok(partitions)
}

async fn starts(
    cluster: &Cluster,
    arguments: &Arguments,
    partitions: &[TopicPartition],
) -> Result<Vec<(TopicPartition, StartAt)>, Failure> {
    let fixed = match (arguments.offset, arguments.from_datetime) {
        (Some(offset), _) if offset < 0 => {
            let starts = cluster
                .list_offsets(partitions, OffsetSpec::Earliest)
                .await?;
            let ends = cluster.list_offsets(partitions, OffsetSpec::Latest).await?;
            let before_end = |partition: &TopicPartition| {
                let end = ends.get(partition)?.offset?;
                let start = starts.get(partition)?.offset?;
                Some(StartAt::Offset(
                    Offset(end.get().saturating_add(offset)).max(start),
                ))
            };
            let starts = partitions.iter().map(|partition| {
                let start = before_end(partition).unwrap_or(StartAt::Earliest);
                (partition.clone(), start)
            });
            return Ok(starts.collect());
        }
        (Some(offset), _) => StartAt::Offset(Offset(offset)),
        (None, Some(timestamp)) => StartAt::Timestamp(timestamp),
        // Whoever reads up to the end wants what is there.
        (None, None) if arguments.from_beginning || arguments.to_end => StartAt::Earliest,
        (None, None) => StartAt::Latest,
    };
    Ok(partitions
        .iter()
        .map(|partition| (partition.clone(), fixed))
        .collect())
}

async fn in_group(cluster: &Cluster, arguments: &Arguments, group: String) -> Result<(), Failure> {
    for topic in &arguments.topics {
        cluster.topic(topic.as_str()).await?;
    }
    let topics = arguments.topics.iter().map(TopicName::to_string).collect();
    let mut config = GroupConfig::new(group, topics);
    if arguments.from_beginning {
        config.fetch.reset = OffsetReset::Earliest;
    }
    let mut consumer = GroupConsumer::new(cluster, config);
    let mut printer = Printer::new(arguments);
    let read = read_in_group(&mut consumer, &mut printer).await;
    // What was printed is done, however the reading ended.
    let committed = commit(&consumer, &printer).await;
    let closed = consumer.close().await;
    read?;
    committed?;
    closed?;
    printer.verdict()
}

/// Commits what was printed. A group that has gone on without us is no failure of ours: it reads again what was not committed.
async fn commit(consumer: &GroupConsumer, printer: &Printer<'_>) -> Result<(), Failure> {
    match consumer.commit_offsets(&printer.next).await {
        Err(error) if error.is_rebalance() => {
            eprintln!("fanlog: some records may come again: {error}");
            Ok(())
        }
        committed => Ok(committed?),
    }
}

async fn read_in_group(
    consumer: &mut GroupConsumer,
    printer: &mut Printer<'_>,
) -> Result<(), Failure> {
    let mut interrupted = std::pin::pin!(tokio::signal::ctrl_c());
    let mut last_commit = Instant::now();
    while !printer.is_full() && !printer.is_timed_out() {
        let event = tokio::select! {
            event = consumer.poll(printer.wait()) => event?,
            _ = &mut interrupted => return Ok(()),
        };
        match event {
            // The time runs from when there is something to read from.
            Some(GroupEvent::Assigned(_)) => printer.last_record = Instant::now(),
            Some(GroupEvent::Records(records)) => printer.print(&records)?,
            Some(GroupEvent::Revoked(_)) => {
                commit(consumer, printer).await?;
                printer.next.clear();
            }
            Some(GroupEvent::Lost(_, error)) => {
                eprintln!("fanlog: lost the partitions, some records may come again: {error}");
                printer.next.clear();
            }
            None => {}
        }
        if last_commit.elapsed() >= COMMIT_INTERVAL {
            commit(consumer, printer).await?;
            last_commit = Instant::now();
        }
    }
    Ok(())
}
