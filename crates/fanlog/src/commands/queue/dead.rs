//! `fanlog queue dead`: list, show, redrive, redrives, cancel-redrive, discard.

use super::{Queue, cell, items, path};
use crate::commands::Failure;
use crate::commands::output::Table;
use crate::commands::web::{Web, in_path};
use clap::{Args, Subcommand};
use serde_json::{Map, Value};
use std::fmt::Write as _;

#[derive(Debug, Subcommand)]
pub(in crate::commands) enum Command {
    /// List dead letters
    List(List),
    /// Show a dead letter with all that it holds
    Show(Show),
    /// Deliver dead letters again
    Redrive(Redrive),
    /// List the last redrives in the background and how far they are
    Redrives(Queue),
    /// End a redrive in the background: what it has not moved stays
    CancelRedrive(CancelRedrive),
    /// Give dead letters up for good
    Discard(Discard),
}

#[derive(Debug, Args)]
pub(in crate::commands) struct List {
    #[command(flatten)]
    queue: Queue,
    /// List those behind this one
    #[arg(long, value_name = "ID")]
    after: Option<String>,
    /// How many at most
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    max: u32,
}

#[derive(Debug, Args)]
pub(in crate::commands) struct Show {
    /// The queue's name
    queue: String,
    /// The dead letter, as list names it: topic/partition/offset
    id: String,
    #[command(flatten)]
    web: Web,
}

#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("which").required(true).args(["ids", "filter", "all"])))]
pub(in crate::commands) struct Which {
    /// The queue's name
    queue: String,
    /// Dead letters, as list names them: topic/partition/offset
    ids: Vec<String>,
    /// Those that a filter policy wants, as JSON
    #[arg(long, value_name = "POLICY")]
    filter: Option<String>,
    /// What the policy looks at: headers or body
    #[arg(long, value_name = "SCOPE", requires = "filter")]
    filter_scope: Option<String>,
    /// All that there are
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    web: Web,
}

#[derive(Debug, Args)]
pub(in crate::commands) struct Redrive {
    #[command(flatten)]
    which: Which,
    /// How many a second at most; the redrive goes on in the background, also after a restart
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    rate: Option<u32>,
    /// Go on in the background where there is no rate, too
    #[arg(long, conflicts_with = "dry_run")]
    background: bool,
    /// What was redriven so often before stays [default: 5]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    max_redrives: Option<u32>,
    /// Only say how many it would be
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Args)]
pub(in crate::commands) struct CancelRedrive {
    /// The queue's name
    queue: String,
    /// The redrive, as redrives lists it
    redrive: String,
    #[command(flatten)]
    web: Web,
}

#[derive(Debug, Args)]
pub(in crate::commands) struct Discard {
    #[command(flatten)]
    which: Which,
}

pub(super) async fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::List(arguments) => list(arguments).await,
        Command::Show(arguments) => show(arguments).await,
        Command::Redrive(arguments) => redrive(arguments).await,
        Command::Redrives(arguments) => redrives(arguments).await,
        Command::CancelRedrive(arguments) => cancel_redrive(arguments).await,
        Command::Discard(arguments) => discard(arguments).await,
    }
}

async fn list(arguments: List) -> Result<(), Failure> {
    let Queue { queue, web } = &arguments.queue;
    let mut query = format!("/dead?max={}", arguments.max);
    if let Some(after) = &arguments.after {
        let _ = write!(query, "&after={}", in_path(after));
    }
    let listed = web.get(&path(queue, &query)).await?;
    let table = || {
        let mut table = Table::new([
            "dead letter",
            "since",
            "key",
            "attempts",
            "redrives",
            "from",
            "reason",
        ]);
        for letter in items(&listed["dead_letters"]) {
            table.row([
                cell(&letter["id"]),
                cell(&letter["timestamp"]),
                cell(&letter["key"]),
                cell(&letter["attempts"]),
                cell(&letter["redrives"]),
                cell(&letter["origin"]),
                cell(&letter["reason"]),
            ]);
        }
        let more = match listed["next"].as_str() {
            Some(next) => format!("there are more: --after {next}\n"),
            None => String::new(),
        };
        format!("{}{more}", table.render())
    };
    Ok(web.output.print(table, || listed.clone())?)
}

async fn show(arguments: Show) -> Result<(), Failure> {
    let web = &arguments.web;
    let id: Vec<_> = arguments.id.split('/').map(in_path).collect();
    if id.len() != 3 {
        let message = format!(
            "'{}' is no dead letter: write topic/partition/offset",
            arguments.id
        );
        return Err(Failure::Usage(message));
    }
    let rest = format!("/dead/{}", id.join("/"));
    let letter = web.get(&path(&arguments.queue, &rest)).await?;
    let table = || {
        let mut text = String::new();
        for (name, value) in letter.as_object().into_iter().flatten() {
            if name != "headers" {
                // Writing to a string does not fail.
                let _ = writeln!(text, "{name}: {}", cell(value));
            }
        }
        for (name, value) in letter["headers"].as_object().into_iter().flatten() {
            let _ = writeln!(text, "header {name}: {}", cell(value));
        }
        text
    };
    Ok(web.output.print(table, || letter.clone())?)
}

async fn redrive(arguments: Redrive) -> Result<(), Failure> {
    let mut body = arguments.which.body();
    let numbers = [
        ("rate", arguments.rate),
        ("max_redrives", arguments.max_redrives),
    ];
    for (name, number) in numbers {
        body.extend(number.map(|number| (name.to_owned(), number.into())));
    }
    let Which { queue, web, .. } = &arguments.which;
    if arguments.background {
        let started = web
            .post(&path(queue, "/dead/redrives"), body.into())
            .await?;
        let jobs = std::slice::from_ref(&started);
        return Ok(web.output.print(|| jobs_shown(jobs), || started.clone())?);
    }
    body.insert("dry_run".to_owned(), arguments.dry_run.into());
    let done = web.post(&path(queue, "/dead/redrive"), body.into()).await?;
    let verb = match arguments.dry_run {
        true => "would be redriven: a dry run",
        false => "redriven",
    };
    Ok(web.output.print(|| counted(&done, verb), || done.clone())?)
}

async fn redrives(arguments: Queue) -> Result<(), Failure> {
    let Queue { queue, web } = &arguments;
    let listed = web.get(&path(queue, "/dead/redrives")).await?;
    let jobs = items(&listed["redrives"]);
    Ok(web
        .output
        .print(|| jobs_shown(jobs), || Value::from(jobs))?)
}

async fn cancel_redrive(arguments: CancelRedrive) -> Result<(), Failure> {
    let CancelRedrive {
        queue,
        redrive,
        web,
    } = &arguments;
    let rest = format!("/dead/redrives/{}", in_path(redrive));
    let job = web.delete(&path(queue, &rest)).await?;
    let jobs = std::slice::from_ref(&job);
    Ok(web.output.print(|| jobs_shown(jobs), || job.clone())?)
}

fn jobs_shown(jobs: &[Value]) -> String {
    let names = [
        "redrive", "state", "moved", "to_move", "rate", "started", "ended", "reason",
    ];
    let mut table = Table::new([
        "redrive", "state", "moved", "of", "rate", "started", "ended", "reason",
    ]);
    for job in jobs {
        table.row(names.map(|name| cell(&job[name])));
    }
    table.render()
}

async fn discard(arguments: Discard) -> Result<(), Failure> {
    let Which { queue, web, .. } = &arguments.which;
    let body = arguments.which.body();
    let done = web.post(&path(queue, "/dead/discard"), body.into()).await?;
    Ok(web
        .output
        .print(|| counted(&done, "discarded"), || done.clone())?)
}

impl Which {
    fn body(&self) -> Map<String, Value> {
        let mut body = Map::new();
        if !self.ids.is_empty() {
            body.insert("ids".to_owned(), self.ids.clone().into());
        }
        if let Some(filter) = &self.filter {
            body.insert("filter".to_owned(), filter.as_str().into());
        }
        if let Some(scope) = &self.filter_scope {
            body.insert("filter_scope".to_owned(), scope.as_str().into());
        }
        if self.all {
            body.insert("all".to_owned(), true.into());
        }
        body
    }
}

fn counted(done: &Value, verb: &str) -> String {
    let mut text = format!(
        "{} of {} {verb}",
        cell(&done["done"]),
        cell(&done["chosen"])
    );
    if done["guarded"].as_u64().is_some_and(|guarded| guarded > 0) {
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "; {} stay, for they were redriven too often (--max-redrives)",
            cell(&done["guarded"])
        );
    }
    if done["goes_on"] == true {
        text.push_str("; the broker goes on with the rest");
        if let Some(redrive) = done["redrive"].as_str() {
            // Writing to a string does not fail.
            let _ = write!(text, ": redrive {redrive}");
        }
    }
    text.push('\n');
    for id in items(&done["not_found"]) {
        let _ = writeln!(text, "{}: no such dead letter", cell(id));
    }
    text
}
