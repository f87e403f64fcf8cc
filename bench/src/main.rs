//! `fanlog-bench`: one run of one load, its figures on standard output as `name value` lines.

mod queue_commands;

use anyhow::Context;
use clap::{Args, Parser, Subcommand, ValueEnum};
use fanlog_bench::burst::{Baseline, Burst, Held};
use fanlog_bench::cold::{Cold, Steady};
use fanlog_bench::compaction::Compaction;
use fanlog_bench::end_to_end::EndToEnd;
use fanlog_bench::fetch::Fetch;
use fanlog_bench::latency::Latency;
use fanlog_bench::load::Shape;
use fanlog_bench::pace::Stop;
use fanlog_bench::produce::Produce;
use fanlog_bench::sink::Sink;
use fanlog_bench::{Figures, limits, topic};
use fanlog_protocol::records::Compression;
use queue_commands::QueueArgs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

#[derive(Parser)]
#[command(
    about = "Load on a broker that speaks Kafka's protocol. `cargo xtask bench` runs it on several, in turns."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// What the machine gives without a broker.
    Limits {
        /// A directory on the disk to be measured.
        dir: PathBuf,
        /// Seconds for each figure.
        #[arg(long, default_value_t = 2.0)]
        seconds: f64,
    },
    /// Creates a topic.
    Topic {
        #[command(flatten)]
        at: At,
        /// name=value, any number of times.
        #[arg(long, value_parser = setting)]
        config: Vec<(String, String)>,
    },
    /// Deletes a topic.
    Delete {
        #[command(flatten)]
        at: At,
    },
    /// Sends batches that were encoded once, as fast as they are acknowledged.
    Produce {
        #[command(flatten)]
        at: At,
        #[command(flatten)]
        shape: ShapeArgs,
        /// Connections, a thread each.
        #[arg(long, default_value_t = 4)]
        connections: usize,
        /// Requests under way on each connection.
        #[arg(long, default_value_t = 5)]
        in_flight: usize,
        /// acks: -1 or 1.
        #[arg(long, default_value_t = -1, allow_hyphen_values = true, value_parser = acks)]
        acks: i16,
        /// How long.
        #[arg(long, default_value_t = 5.0)]
        seconds: f64,
        /// Ends earlier after so many bytes.
        #[arg(long, default_value_t = u64::MAX)]
        bytes_max: u64,
    },
    /// Records at a given rate; how long each takes to be acknowledged.
    Latency {
        #[command(flatten)]
        at: At,
        /// Bytes of a record's value.
        #[arg(long, default_value_t = 100)]
        record_bytes: usize,
        /// Records a second in all.
        #[arg(long, default_value_t = 5000)]
        rate: u32,
        /// Records that go together in a batch.
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
        batch_records: u32,
        /// Connections.
        #[arg(long, default_value_t = 4)]
        connections: usize,
        /// How long.
        #[arg(long, default_value_t = 5.0)]
        seconds: f64,
        /// How much of it at the beginning is not counted.
        #[arg(long, default_value_t = 1.0)]
        warm_up: f64,
    },
    /// Single records at a given rate; how long each takes until a consumer has it. The topic must be new.
    EndToEnd {
        #[command(flatten)]
        at: At,
        /// Bytes of a record's value; 16 at least.
        #[arg(long, default_value_t = 100)]
        record_bytes: usize,
        /// Records a second.
        #[arg(long, default_value_t = 5000)]
        rate: u32,
        /// How long.
        #[arg(long, default_value_t = 5.0)]
        seconds: f64,
        /// How much of it at the beginning is not counted.
        #[arg(long, default_value_t = 1.0)]
        warm_up: f64,
    },
    /// The worked example: a burst by the clock, groups that check every record, one of them held back. The topic must be new.
    Burst {
        #[command(flatten)]
        at: At,
        /// Bytes of a record's value; 16 at least.
        #[arg(long, default_value_t = 1000)]
        record_bytes: usize,
        /// Records that go together in a batch.
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
        batch_records: u32,
        /// Records a second in the burst.
        #[arg(long, default_value_t = 50_000, value_parser = clap::value_parser!(u32).range(1..))]
        rate: u32,
        /// How long the burst lasts.
        #[arg(long, default_value_t = 180.0)]
        seconds: f64,
        /// Connections that publish.
        #[arg(long, default_value_t = 2)]
        connections: usize,
        /// The groups' names.
        #[arg(
            long,
            value_delimiter = ',',
            default_value = "billing,shipping,analytics,email"
        )]
        groups: Vec<String>,
        /// A group that is held back, as NAME=RECORDS_A_SECOND.
        #[arg(long, value_parser = setting)]
        held: Option<(String, String)>,
        /// Records a second after the burst; none ends with it.
        #[arg(long)]
        baseline: Option<u32>,
        /// How long the baseline is measured before the group is let go.
        #[arg(long, default_value_t = 30.0)]
        baseline_seconds: f64,
        /// The broker's process, to say what it costs.
        #[arg(long)]
        broker_process: Option<u32>,
    },
    /// A reader of old records that are not in memory, beside a steady load: what it does to the load. Needs root.
    Cold(ColdArgs),
    /// Load on queues, over HTTP.
    Queue(QueueArgs),
    /// A broker that stores nothing, for what a client reaches at most; it prints its address, and serves until it is ended.
    Sink {
        /// Where it listens.
        #[arg(long, default_value = "127.0.0.1:0")]
        listen: String,
        /// How many partitions every topic has.
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(i32).range(1..))]
        partitions: i32,
    },
    /// Records with keys, compacted while there is load: what is left is compared with a model. The broker must be Fanlog, on this
    /// machine.
    Compaction {
        #[command(flatten)]
        at: At,
        /// The broker's data directory, where it notes how far a log is compacted.
        #[arg(long)]
        data: PathBuf,
        /// Records to be compacted.
        #[arg(long, default_value_t = 10_000_000)]
        records: u64,
        /// Keys that they have.
        #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..))]
        keys: u64,
        /// Bytes of a record's value; 16 at least.
        #[arg(long, default_value_t = 100)]
        record_bytes: usize,
        /// Bytes of a segment.
        #[arg(long, default_value_t = 64 * 1024 * 1024)]
        segment_bytes: u64,
        /// Records of 1 KiB a second on another topic; 0 for as many as are acknowledged.
        #[arg(long, default_value_t = 0)]
        rate: u32,
        /// Records of that load in a batch.
        #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..))]
        batch_records: u32,
        /// Seconds of load without compaction.
        #[arg(long, default_value_t = 20.0)]
        seconds: f64,
        /// Compacts first, then measures without.
        #[arg(long)]
        compact_first: bool,
    },
    /// Waits until every partition of a topic answers.
    Ready {
        #[command(flatten)]
        at: At,
    },
    /// Reads a topic from its beginning, again and again.
    Fetch {
        #[command(flatten)]
        at: At,
        /// Readers, each of which reads all.
        #[arg(long, default_value_t = 1)]
        readers: usize,
        /// How long.
        #[arg(long, default_value_t = 5.0)]
        seconds: f64,
        /// Ends at the end of the topic.
        #[arg(long)]
        once: bool,
    },
}

/// Where the load goes.
#[derive(Args)]
struct At {
    /// The broker, host:port.
    #[arg(long)]
    bootstrap: String,
    /// The topic.
    #[arg(long)]
    topic: String,
    /// How many partitions it has.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(i32).range(1..))]
    partitions: i32,
}

#[derive(Args)]
struct ShapeArgs {
    /// Bytes of a record's value.
    #[arg(long, default_value_t = 1024)]
    record_bytes: usize,
    /// Bytes of a batch before compression; one record at least.
    #[arg(long, default_value_t = 65536)]
    batch_bytes: usize,
    /// The codec.
    #[arg(long, value_enum, default_value_t = Codec::None)]
    compression: Codec,
}

#[derive(Clone, Copy, ValueEnum)]
enum Codec {
    None,
    Gzip,
    Snappy,
    Lz4,
    Zstd,
}

#[derive(Args)]
struct ColdArgs {
    /// The broker, host:port.
    #[arg(long)]
    bootstrap: String,
    /// Its data directory.
    #[arg(long)]
    data: PathBuf,
    /// Old records, in units of 10^9 bytes.
    #[arg(long, default_value_t = 20.0)]
    gigabytes: f64,
    /// Partitions of either topic.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(i32).range(1..))]
    partitions: i32,
    /// Bytes of a record's value.
    #[arg(long, default_value_t = 1024)]
    record_bytes: usize,
    /// Records a second in all.
    #[arg(long, default_value_t = 20_000)]
    rate: u32,
    /// Records that go together in a batch.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    batch_records: u32,
    /// Connections that send.
    #[arg(long, default_value_t = 4)]
    connections: usize,
    /// Readers at the end of the log.
    #[arg(long, default_value_t = 3)]
    tails: usize,
    /// How long a phase lasts that has no end of its own.
    #[arg(long, default_value_t = 30.0)]
    seconds: f64,
    /// The old records are read a second time, from memory.
    #[arg(long)]
    again: bool,
}

impl ColdArgs {
    fn run(self) -> anyhow::Result<Figures> {
        Cold {
            steady: Steady {
                broker: self.bootstrap,
                topic: "steady".to_owned(),
                partitions: self.partitions,
                record_bytes: self.record_bytes,
                rate: self.rate,
                batch_records: self.batch_records,
                connections: self.connections,
                tails: self.tails,
            },
            old_topic: "old".to_owned(),
            old_bytes: (self.gigabytes * 1e9) as u64,
            data: self.data,
            span: span(self.seconds)?,
            again: self.again,
        }
        .run()
    }
}

impl ShapeArgs {
    fn shape(&self) -> Shape {
        Shape {
            record_bytes: self.record_bytes,
            batch_bytes: self.batch_bytes,
            compression: match self.compression {
                Codec::None => Compression::None,
                Codec::Gzip => Compression::Gzip,
                Codec::Snappy => Compression::Snappy,
                Codec::Lz4 => Compression::Lz4,
                Codec::Zstd => Compression::Zstd,
            },
        }
    }
}

fn setting(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=');
    let pair = pair.map(|(name, value)| (name.to_owned(), value.to_owned()));
    pair.ok_or_else(|| format!("{text:?} is not name=value"))
}

fn acks(text: &str) -> Result<i16, String> {
    match text {
        "-1" | "all" => Ok(-1),
        "1" => Ok(1),
        _ => Err(format!(
            "{text:?}: acks is all or 1; with 0 nothing is answered, so that nothing can be counted"
        )),
    }
}

fn span(seconds: f64) -> anyhow::Result<Duration> {
    Duration::try_from_secs_f64(seconds).with_context(|| format!("{seconds} seconds"))
}

fn held_back((group, rate): (String, String)) -> anyhow::Result<Held> {
    let rate = rate
        .parse()
        .with_context(|| format!("{rate:?} is no rate for group {group}"))?;
    Ok(Held { group, rate })
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(figures) => {
            print!("{figures}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("fanlog-bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> anyhow::Result<Figures> {
    match command {
        Command::Limits { dir, seconds } => limits::measure(&dir, span(seconds)?),
        Command::Topic { at, config } => {
            topic::create(&at.bootstrap, &at.topic, at.partitions, &config)?;
            Ok(Figures::default())
        }
        Command::Compaction {
            at,
            data,
            records,
            keys,
            record_bytes,
            segment_bytes,
            rate,
            batch_records,
            seconds,
            compact_first,
        } => Compaction {
            broker: at.bootstrap,
            topic: at.topic,
            data,
            records,
            keys,
            record_bytes,
            segment_bytes,
            rate,
            batch_records,
            span: span(seconds)?,
            compact_first,
        }
        .run(),
        Command::Ready { at } => {
            topic::wait_until_led(&at.bootstrap, &at.topic, at.partitions)?;
            Ok(Figures::default())
        }
        Command::Cold(args) => args.run(),
        Command::Queue(args) => args.run(),
        Command::Sink { listen, partitions } => {
            let sink = Sink::bind(&listen, partitions)?;
            println!("{}", sink.address()?);
            sink.serve()?;
            Ok(Figures::default())
        }
        Command::Burst {
            at,
            record_bytes,
            batch_records,
            rate,
            seconds,
            connections,
            groups,
            held,
            baseline,
            baseline_seconds,
            broker_process,
        } => Burst {
            broker: at.bootstrap,
            topic: at.topic,
            partitions: at.partitions,
            record_bytes,
            batch_records,
            rate,
            span: span(seconds)?,
            connections,
            groups,
            held: held.map(held_back).transpose()?,
            baseline: match baseline {
                Some(rate) => Some(Baseline {
                    rate,
                    span: span(baseline_seconds)?,
                }),
                None => None,
            },
            broker_process,
        }
        .run(),
        Command::EndToEnd {
            at,
            record_bytes,
            rate,
            seconds,
            warm_up,
        } => EndToEnd {
            broker: at.bootstrap,
            topic: at.topic,
            partitions: at.partitions,
            record_bytes,
            rate,
            span: span(seconds)?,
            warm_up: span(warm_up)?,
        }
        .run(),
        Command::Delete { at } => {
            topic::delete(&at.bootstrap, &at.topic)?;
            Ok(Figures::default())
        }
        Command::Produce {
            at,
            shape,
            connections,
            in_flight,
            acks,
            seconds,
            bytes_max,
        } => Produce {
            broker: at.bootstrap,
            topic: at.topic,
            partitions: at.partitions,
            shape: shape.shape(),
            connections,
            in_flight,
            acks,
            span: span(seconds)?,
            bytes_max,
            stop: Stop::default(),
        }
        .run(),
        Command::Latency {
            at,
            record_bytes,
            rate,
            batch_records,
            connections,
            seconds,
            warm_up,
        } => Latency {
            broker: at.bootstrap,
            topic: at.topic,
            partitions: at.partitions,
            record_bytes,
            rate,
            batch_records,
            connections,
            span: span(seconds)?,
            warm_up: span(warm_up)?,
            stop: Stop::default(),
        }
        .run(),
        Command::Fetch {
            at,
            readers,
            seconds,
            once,
        } => Fetch {
            broker: at.bootstrap,
            topic: at.topic,
            partitions: at.partitions,
            readers,
            span: span(seconds)?,
            once,
        }
        .run(),
    }
}
