//! The commands, one file each, and what they have in common: flags, exit codes, the one line that says what went wrong.
//!
//! Exit codes: 0 done, 1 failed, 2 wrong usage.   Read next: `topic.rs`.

mod arguments;
mod consume;
mod group;
mod group_reset;
mod group_status;
mod output;
mod produce;
mod queue;
mod record_format;
mod serve;
mod share;
mod timestamps;
mod topic;
mod txn;
mod web;

use crate::demo;
use crate::serve::start_up::ServeArgs;
use crate::usage::UsageError;
use clap::{Parser, Subcommand};
use fanlog_client::ClientError;
use fanlog_protocol::ErrorCode;
use std::process::ExitCode;

/// A durable publish/subscribe broker that speaks the Kafka protocol, and its command line.
#[derive(Debug, Parser)]
#[command(name = "fanlog", version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the broker
    Serve(ServeArgs),
    /// Watch the flash sale of an online shop: what the broker is for, in a minute
    Demo(demo::DemoArgs),
    /// One consumer of the demo
    #[command(hide = true)]
    DemoConsumer(demo::ConsumerArgs),
    /// Create, list, describe, alter and delete topics
    #[command(subcommand)]
    Topic(topic::Command),
    /// Create and manage queues, receive and settle messages, see why one is stuck
    #[command(subcommand)]
    Queue(queue::Command),
    /// List and describe consumer groups, see how they stand, reset their offsets, delete them
    #[command(subcommand)]
    Group(group::Command),
    /// List and describe transactions, find those that hang, and end them
    #[command(subcommand)]
    Txn(txn::Command),
    /// List, describe and alter share groups, move where they stand, delete them
    #[command(subcommand)]
    Share(share::Command),
    /// Publish the lines of standard input, one record each
    Produce(produce::Arguments),
    /// Print the records of a topic
    Consume(consume::Arguments),
}

/// Why a command did not do what it was asked for.
#[derive(Debug)]
enum Failure {
    /// The command line makes no sense: exit code 2.
    Usage(String),
    /// It was tried and failed: exit code 1.
    Failed(anyhow::Error),
    /// Whoever read our output has stopped reading: we stop too, and all is well.
    OutputClosed,
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        Self::Failed(error.into())
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Failed(error)
    }
}

impl From<UsageError> for Failure {
    fn from(error: UsageError) -> Self {
        Self::Usage(error.0)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            Self::OutputClosed
        } else {
            Self::Failed(error.into())
        }
    }
}

/// The error and its causes, without those that the words before them already give.
fn whole_story(error: &anyhow::Error) -> String {
    let mut story = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !story.contains(&cause) {
            story.push_str(": ");
            story.push_str(&cause);
        }
    }
    story
}

/// Reads the command line and runs the command.
pub(crate) fn main() -> ExitCode {
    // A wrong flag ends here, with exit code 2.
    let cli = Cli::parse();
    match run(cli.command) {
        Ok(()) | Err(Failure::OutputClosed) => ExitCode::SUCCESS,
        Err(Failure::Failed(error)) => {
            let hint = error.downcast_ref().and_then(hint);
            let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
            eprintln!("fanlog: {}{hint}", whole_story(&error));
            ExitCode::from(1)
        }
        Err(Failure::Usage(message)) => {
            eprintln!("fanlog: {message}");
            ExitCode::from(2)
        }
    }
}

/// What to do about an error that a broker has answered with.
fn hint(error: &ClientError) -> Option<&'static str> {
    let hint = match error.code()? {
        ErrorCode::UnknownTopicOrPartition => {
            "see `fanlog topic list`, or create it with `fanlog topic create`"
        }
        ErrorCode::TopicAlreadyExists => "add --if-not-exists to accept that",
        ErrorCode::GroupIdNotFound => "see `fanlog group list`",
        ErrorCode::TransactionalIdNotFound => "see `fanlog txn list`",
        ErrorCode::OffsetOutOfRange => {
            "see `fanlog topic describe` for the offsets there are, or use --from-beginning"
        }
        ErrorCode::MessageTooLarge => {
            "send smaller records, or raise the topic's max.message.bytes with `fanlog topic alter`"
        }
        ErrorCode::InvalidConfig => {
            "see `fanlog topic describe --all-configs` for the settings there are"
        }
        ErrorCode::InvalidReplicationFactor => {
            "leave --replication-factor out to get the broker's own"
        }
        _ => return None,
    };
    Some(hint)
}

fn run(command: Command) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let done = runtime.block_on(async {
        match command {
            Command::Serve(arguments) => serve::run(&arguments).await,
            Command::Demo(arguments) => Ok(demo::run(&arguments).await?),
            Command::DemoConsumer(arguments) => Ok(demo::run_consumer(&arguments).await?),
            Command::Topic(command) => topic::run(command).await,
            Command::Queue(command) => queue::run(command).await,
            Command::Group(command) => group::run(command).await,
            Command::Txn(command) => txn::run(command).await,
            Command::Share(command) => share::run(command).await,
            Command::Produce(arguments) => produce::run(arguments).await,
            Command::Consume(arguments) => consume::run(arguments).await,
        }
    });
    // A thread that reads a terminal would keep us from ending.
    runtime.shutdown_background();
    done
}
