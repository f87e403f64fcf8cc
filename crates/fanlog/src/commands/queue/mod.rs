//! `fanlog queue`: queues and their messages, over HTTP.
//!
//! Read next: `manage.rs`, `messages.rs`, `status.rs`, `dead.rs`.

mod dead;
mod manage;
mod messages;
mod status;

use super::Failure;
use super::web::{Web, in_path};
use clap::{Args, Subcommand};
use serde_json::Value;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Create a queue on a topic
    Create(manage::Create),
    /// List queues
    List(Web),
    /// Show a queue's topic and settings
    Describe(Queue),
    /// Change a queue's settings
    Alter(manage::Alter),
    /// End a queue; its topic and its dead letters stay
    Delete(Queue),
    /// Hand out no more messages
    Pause(Queue),
    /// Hand out messages again
    Resume(Queue),
    /// Take the next messages, each with a receipt
    Receive(messages::Receive),
    /// Messages are done
    Ack(messages::Ack),
    /// Attempts failed: the messages come again, or become dead letters
    Nack(messages::Nack),
    /// Messages become dead letters now
    Reject(messages::Reject),
    /// Messages were not tried: they come again, and no attempt is burnt
    Release(messages::Release),
    /// Messages are still being worked on: their locks last longer
    Extend(messages::Extend),
    /// Messages are not to be delivered any more
    Cancel(messages::Cancel),
    /// Why is it stuck? Depth, ages, who holds what, blocked keys, when it will be empty
    Status(Queue),
    /// Look at dead letters, deliver them again, or give them up
    #[command(subcommand)]
    Dead(dead::Command),
}

#[derive(Debug, Args)]
pub(super) struct Queue {
    /// The queue's name
    queue: String,
    #[command(flatten)]
    web: Web,
}

pub(super) async fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Create(arguments) => manage::create(arguments).await,
        Command::List(web) => manage::list(web).await,
        Command::Describe(arguments) => manage::describe(arguments).await,
        Command::Alter(arguments) => manage::alter(arguments).await,
        Command::Delete(arguments) => manage::delete(arguments).await,
        Command::Pause(arguments) => manage::pause(arguments).await,
        Command::Resume(arguments) => manage::resume(arguments).await,
        Command::Receive(arguments) => messages::receive(arguments).await,
        Command::Ack(arguments) => messages::ack(arguments).await,
        Command::Nack(arguments) => messages::nack(arguments).await,
        Command::Reject(arguments) => messages::reject(arguments).await,
        Command::Release(arguments) => messages::release(arguments).await,
        Command::Extend(arguments) => messages::extend(arguments).await,
        Command::Cancel(arguments) => messages::cancel(arguments).await,
        Command::Status(arguments) => status::run(arguments).await,
        Command::Dead(command) => dead::run(command).await,
    }
}

fn path(queue: &str, rest: &str) -> String {
    format!("/v1/queues/{}{rest}", in_path(queue))
}

/// A member as a cell of a table: nothing for what is not known.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The members of a list.
fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
