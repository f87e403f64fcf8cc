//! `fanlog queue status`: why is it stuck?

use super::{Queue, cell, items, path};
use crate::commands::Failure;
use crate::commands::output::Table;
use crate::commands::timestamps::{format_lag, parse_timestamp};
use serde_json::Value;
use std::fmt::Write as _;

pub(super) async fn run(arguments: Queue) -> Result<(), Failure> {
    let status = arguments
        .web
        .get(&path(&arguments.queue, "/status"))
        .await?;
    let output = arguments.web.output;
    Ok(output.print(|| shown(&status), || status.clone())?)
}

fn shown(status: &Value) -> String {
    let mut text = String::new();
    put_head(&mut text, status);
    for hindrance in items(&status["hindrances"]) {
        let partition = match hindrance["partition"].as_i64() {
            Some(partition) => format!(" (partition {partition})"),
            None => String::new(),
        };
        let (kind, detail) = (cell(&hindrance["kind"]), cell(&hindrance["detail"]));
        put(&mut text, format_args!("! {kind}{partition}: {detail}"));
    }
    if let Some(hindrance) = status["moving_hindrance"].as_str() {
        put(
            &mut text,
            format_args!("! records on their way to another topic wait: {hindrance}"),
        );
    }
    for table in [
        consumers(status),
        blocked(status),
        attempts(status),
        partitions(status),
    ] {
        if !table.is_empty() {
            put(&mut text, format_args!("\n{}", table.render().trim_end()));
        }
    }
    text
}

fn put(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = writeln!(text, "{line}");
}

fn put_head(text: &mut String, status: &Value) {
    let count = |name: &str| cell(&status[name]);
    let (queue, topic) = (count("queue"), count("topic"));
    put(text, format_args!("{queue}  on topic {topic}"));
    put(
        text,
        format_args!(
            "depth {}: {} ready, {} in flight, {} wait for a time, {} for their key, {} moving, {} not looked at yet",
            count("depth"),
            count("available"),
            count("in_flight_records"),
            count("waiting_for_time"),
            count("waiting_for_key"),
            count("moving"),
            count("unread"),
        ),
    );
    let oldest = &status["oldest"];
    match oldest["age_ms"].as_i64() {
        Some(age) => {
            let (age, id) = (format_lag(age), cell(&oldest["id"]));
            put(text, format_args!("the oldest, {id}, has waited {age}"));
        }
        None if oldest.is_object() => {
            let id = cell(&oldest["id"]);
            put(
                text,
                format_args!("the oldest is {id}, which bears no time"),
            );
        }
        None => {}
    }
    if status["next_due"].is_string() {
        put(
            text,
            format_args!("next due {}", until(status, &status["next_due"])),
        );
    }
    let rate = |name: &str| match status[name].as_f64() {
        Some(rate) => format!("{rate:.1}/s"),
        None => "not known yet".to_owned(),
    };
    let drain = &status["drain"];
    let drain = match drain["estimate"].as_str() {
        Some("empty") => "it is empty".to_owned(),
        Some("never") => "more comes in than goes out: it never gets empty like this".to_owned(),
        Some("drains") => {
            let ms = drain["seconds"].as_i64().unwrap_or(0).saturating_mul(1_000);
            format!("empty in about {}", format_lag(ms))
        }
        _ => "when it gets empty is not known yet".to_owned(),
    };
    let (rate_in, rate_out) = (rate("rate_in"), rate("rate_out"));
    put(text, format_args!("in {rate_in}, out {rate_out}; {drain}"));
    put(
        text,
        format_args!(
            "dead letters {}; so far {} acknowledged, {} given up, {} lost to retention; {} with a delay that can't be read",
            count("dead_letters"),
            count("acknowledged"),
            count("given_up"),
            count("lost"),
            count("unreadable_delays"),
        ),
    );
}

/// A time from the broker's point of view: `in 12.0s`, or `4m 5s ago`.
fn until(status: &Value, time: &Value) -> String {
    let ms = |value: &Value| Some(parse_timestamp(value.as_str()?).ok()?.get());
    let Some((now, time)) = ms(&status["at"]).zip(ms(time)) else {
        return "-".to_owned();
    };
    match time - now {
        left @ 0.. => format!("in {}", format_lag(left)),
        passed => format!("{} ago", format_lag(-passed)),
    }
}

fn consumers(status: &Value) -> Table {
    let mut table = Table::new(["consumer", "holds", "first lock ends", "last lock ends"]);
    for load in items(&status["in_flight"]) {
        table.row([
            cell(&load["consumer"]),
            cell(&load["records"]),
            until(status, &load["first_deadline"]),
            until(status, &load["last_deadline"]),
        ]);
    }
    table
}

fn blocked(status: &Value) -> Table {
    let mut table = Table::new(["blocked key", "behind", "until", "because"]);
    for key in items(&status["blocked"]) {
        table.row([
            cell(&key["key"]),
            cell(&key["by"]),
            until(status, &key["until"]),
            cell(&key["reason"]),
        ]);
    }
    table
}

fn attempts(status: &Value) -> Table {
    let mut table = Table::new(["attempts", "records"]);
    let counts = status["attempts"].as_object().into_iter().flatten();
    let mut counts: Vec<_> = counts
        .filter_map(|(attempts, records)| Some((attempts.parse::<u32>().ok()?, records)))
        .collect();
    counts.sort_unstable_by_key(|(attempts, _)| *attempts);
    for (attempts, records) in counts {
        table.row([attempts.to_string(), cell(records)]);
    }
    table
}

fn partitions(status: &Value) -> Table {
    let mut table = Table::new([
        "topic",
        "partition",
        "done up to",
        "looked up to",
        "end",
        "in flight",
        "depth",
    ]);
    for partition in items(&status["partitions"]) {
        table.row([
            cell(&partition["topic"]),
            cell(&partition["partition"]),
            cell(&partition["start"]),
            cell(&partition["cursor"]),
            cell(&partition["end"]),
            cell(&partition["in_flight"]),
            cell(&partition["depth"]),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_status_says_what_holds_it_up() {
        let at = |seconds: i64| format!("2026-11-30T18:00:{seconds:02}.000Z");
        let status = json!({
            "queue": "mail", "topic": "orders", "at": at(0),
            "hindrances": [{ "kind": "paused", "detail": "resume it" }],
            "depth": 12, "unread": 3, "available": 4,
            "oldest": { "id": "orders/0/7", "age_ms": 245_000 },
            "in_flight": [{ "consumer": "a", "records": 2, "first_deadline": at(5), "last_deadline": at(30) }],
            "in_flight_records": 2, "resting": 1, "waiting_for_time": 2, "waiting_for_key": 1,
            "blocked": [{ "key": "anna", "by": "orders/0/7", "reason": "rests", "until": at(9) }],
            "next_due": at(9), "attempts": { "10": 1, "2": 5 }, "dead_letters": 1, "moving": 0,
            "moving_hindrance": null, "acknowledged": 9, "given_up": 0, "lost": 0, "unreadable_delays": 0,
            "rate_in": 2.0, "rate_out": null, "drain": { "estimate": "drains", "seconds": 61 },
            "partitions": [],
        });
        let text = shown(&status);
        for expected in [
            "mail  on topic orders\n",
            "depth 12: 4 ready, 2 in flight, 2 wait for a time, 1 for their key, 0 moving, 3 not looked at yet\n",
            "the oldest, orders/0/7, has waited 4m 5s\n",
            "next due in 9.0s\n",
            "in 2.0/s, out not known yet; empty in about 1m 1s\n",
            "! paused: resume it\n",
            "a         2      in 5.0s          in 30.0s\n",
            "anna         orders/0/7  in 9.0s  rests\n",
            "so far 9 acknowledged, 0 given up",
            "2         5\n10        1\n",
        ] {
            assert!(text.contains(expected), "{expected:?} in\n{text}");
        }
    }
}
