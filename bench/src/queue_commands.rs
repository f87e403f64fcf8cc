//! The commands `fanlog-bench queue ...`.

use clap::{Args, Subcommand, ValueEnum};
use fanlog_bench::Figures;
use fanlog_bench::queues::{self, Acked, Drain, Fill, Hold, How, Ordered};
use std::time::Duration;

/// Load on queues.
#[derive(Debug, Args)]
pub(crate) struct QueueArgs {
    #[command(subcommand)]
    command: QueueCommand,
}

#[derive(Debug, Subcommand)]
enum QueueCommand {
    /// Fills a topic that is there.
    Fill {
        /// host:port of the broker.
        #[arg(long)]
        bootstrap: String,
        #[command(flatten)]
        topic: OfTopic,
        /// The bytes of each value.
        #[arg(long, default_value_t = 100)]
        record_bytes: usize,
        /// How many keys there are; 0 for none.
        #[arg(long, default_value_t = 0)]
        keys: u64,
        /// Records of a batch.
        #[arg(long, default_value_t = 500)]
        batch_records: u64,
        /// The header `deliver-after` of each.
        #[arg(long)]
        deliver_after: Option<String>,
    },
    /// Works a queue in the order of its keys; of the keys a hundredth part may fail.
    Ordered {
        #[command(flatten)]
        at: OfQueue,
        #[command(flatten)]
        topic: OfTopic,
        /// How many keys the topic was filled with.
        #[arg(long, default_value_t = 100_000)]
        keys: u64,
        /// Consumers, a connection and a thread each.
        #[arg(long, default_value_t = 64)]
        consumers: usize,
        /// How many messages each asks for.
        #[arg(long, default_value_t = 50)]
        max: usize,
        /// How often those keys fail.
        #[arg(long, default_value_t = 0)]
        failures: u32,
        /// The broker's process, to measure its processor time.
        #[arg(long)]
        broker_process: Option<u32>,
    },
    /// Receives and acknowledges what a topic holds.
    Drain {
        #[command(flatten)]
        at: OfQueue,
        #[command(flatten)]
        topic: OfTopic,
        /// Consumers, a connection and a thread each.
        #[arg(long, default_value_t = 4)]
        consumers: usize,
        /// How many messages each asks for.
        #[arg(long, default_value_t = 500)]
        max: usize,
    },
    /// Sends records at a rate, and measures until each is acknowledged.
    Acked {
        /// host:port of the broker.
        #[arg(long)]
        bootstrap: String,
        #[command(flatten)]
        at: OfQueue,
        /// A topic that is new.
        #[arg(long)]
        topic: String,
        /// Its partitions.
        #[arg(long, default_value_t = 4)]
        partitions: usize,
        /// Consumers, a connection and a thread each.
        #[arg(long, default_value_t = 4)]
        consumers: usize,
        /// How many messages each asks for.
        #[arg(long, default_value_t = 500)]
        max: usize,
        /// Records a second.
        #[arg(long, default_value_t = 2000.0)]
        rate: f64,
        /// The bytes of each value.
        #[arg(long, default_value_t = 100)]
        record_bytes: usize,
        /// How long.
        #[arg(long, default_value_t = 10.0)]
        seconds: f64,
        /// How much of that does not count.
        #[arg(long, default_value_t = 2.0)]
        warm_up: f64,
    },
    /// Has so many messages held, or finds that they wait for their time.
    Hold {
        #[command(flatten)]
        at: OfQueue,
        #[command(flatten)]
        topic: OfTopic,
        /// What becomes of them.
        #[arg(long, value_enum)]
        how: HowArg,
    },
    /// Makes a queue that begins with what its topic holds.
    Make {
        #[command(flatten)]
        at: OfQueue,
        #[command(flatten)]
        topic: OfTopic,
    },
    /// Asks for one message until it is there.
    First {
        #[command(flatten)]
        at: OfQueue,
    },
}

#[derive(Debug, Args)]
struct OfQueue {
    /// host:port of the broker's HTTP.
    #[arg(long)]
    http: String,
    /// The queue.
    #[arg(long)]
    queue: String,
}

#[derive(Debug, Args)]
struct OfTopic {
    /// The topic.
    #[arg(long)]
    topic: String,
    /// Its partitions.
    #[arg(long, default_value_t = 4)]
    partitions: usize,
    /// Its records.
    #[arg(long)]
    records: u64,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum HowArg {
    /// All are held.
    Held,
    /// Every other one is acknowledged.
    Scattered,
    /// Every other one has another lock.
    Unlike,
    /// They wait for their time.
    Delayed,
}

impl QueueArgs {
    pub(crate) fn run(self) -> anyhow::Result<Figures> {
        match self.command {
            QueueCommand::Fill {
                bootstrap,
                topic,
                record_bytes,
                keys,
                batch_records,
                deliver_after,
            } => Fill {
                broker: bootstrap,
                topic: topic.topic,
                partitions: topic.partitions,
                records: topic.records,
                record_bytes,
                keys,
                batch_records,
                deliver_after,
            }
            .run(),
            QueueCommand::Ordered {
                at,
                topic,
                keys,
                consumers,
                max,
                failures,
                broker_process,
            } => Ordered {
                http: at.http,
                queue: at.queue,
                topic: topic.topic,
                partitions: topic.partitions,
                records: topic.records,
                keys,
                consumers,
                max,
                failures,
                broker_process,
            }
            .run(),
            QueueCommand::Drain {
                at,
                topic,
                consumers,
                max,
            } => Drain {
                http: at.http,
                queue: at.queue,
                topic: topic.topic,
                records: topic.records,
                consumers,
                max,
            }
            .run(),
            QueueCommand::Acked {
                bootstrap,
                at,
                topic,
                partitions,
                consumers,
                max,
                rate,
                record_bytes,
                seconds,
                warm_up,
            } => Acked {
                broker: bootstrap,
                http: at.http,
                queue: at.queue,
                topic,
                partitions,
                consumers,
                max,
                rate,
                record_bytes,
                span: Duration::try_from_secs_f64(seconds)?,
                warm_up: Duration::try_from_secs_f64(warm_up)?,
            }
            .run(),
            QueueCommand::Hold { at, topic, how } => Hold {
                http: at.http,
                queue: at.queue,
                topic: topic.topic,
                records: topic.records,
                how: match how {
                    HowArg::Held => How::Held,
                    HowArg::Scattered => How::Scattered,
                    HowArg::Unlike => How::Unlike,
                    HowArg::Delayed => How::Delayed,
                },
            }
            .run(),
            QueueCommand::Make { at, topic } => queues::make(&at.http, &at.queue, &topic.topic),
            QueueCommand::First { at } => queues::first(&at.http, &at.queue),
        }
    }
}
