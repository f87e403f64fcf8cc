//! `fanlog group status`: why is it stuck?

use super::Failure;
use super::output::Table;
use super::timestamps::format_lag;
use super::web::{Web, in_path};
use clap::Args;
use serde_json::Value;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The consumer group's or share group's name
    group: String,
    #[command(flatten)]
    web: Web,
}

pub(super) async fn run(arguments: Arguments) -> Result<(), Failure> {
    let path = format!("/v1/groups/{}/status", in_path(&arguments.group));
    let status = arguments.web.get(&path).await?;
    let output = arguments.web.output;
    Ok(output.print(|| shown(&status), || status.clone())?)
}

fn shown(status: &Value) -> String {
    let text = |name: &str| status[name].as_str().unwrap_or("-");
    let members = status["members"].as_array().map_or(0, Vec::len);
    let lag = status["lag"].as_i64();
    let lag = lag.map_or_else(|| "?".to_owned(), |lag| lag.to_string());
    let mut shown = format!(
        "{}  type {}  state {}  members {members}\nlag {lag} records, behind {}; in {}, out {}\n",
        text("group"),
        text("type"),
        text("state"),
        span(&status["behind_ms"]),
        rate(&status["rate_in"]),
        rate(&status["rate_out"]),
    );
    if let Some(first) = status["overtaken_first"].as_str() {
        let left = span(&status["overtaken"]["ms"]);
        shown.push_str(&format!(
            "retention reaches what was not read of {first} in {left}, if the group stands still\n"
        ));
    }
    let without = status["without_position"].as_array().into_iter().flatten();
    let without: Vec<_> = without.filter_map(Value::as_str).collect();
    if !without.is_empty() {
        let without = without.join(", ");
        shown.push_str(&format!(
            "! nothing is committed of {without}: how far behind it is there is not known\n"
        ));
    }
    if members == 0 {
        shown.push_str("! nobody reads: the group has no members\n");
    }
    let mut table = Table::new([
        "topic",
        "partition",
        "position",
        "start",
        "end",
        "lag",
        "lost",
        "behind",
        "in",
        "out",
        "retention",
        "member",
    ]);
    for partition in status["partitions"].as_array().into_iter().flatten() {
        let number = |name: &str| partition[name].to_string();
        table.row([
            partition["topic"].as_str().unwrap_or("-").to_owned(),
            number("partition"),
            number("position"),
            number("start"),
            number("end"),
            number("lag"),
            number("lost"),
            span(&partition["behind_ms"]),
            rate(&partition["rate_in"]),
            rate(&partition["rate_out"]),
            overtaken(&partition["overtaken"]),
            member_of(status, partition),
        ]);
    }
    if !table.is_empty() {
        shown.push('\n');
        shown.push_str(&table.render());
    }
    shown
}

fn member_of(status: &Value, partition: &Value) -> String {
    let topic = partition["topic"].as_str().unwrap_or_default();
    let name = format!("{topic}-{}", partition["partition"]);
    let members = status["members"].as_array().into_iter().flatten();
    let mut readers = members.filter(|member| {
        let partitions = member["partitions"].as_array();
        partitions.is_some_and(|all| all.iter().any(|one| one == name.as_str()))
    });
    let reader = readers.next().and_then(|member| member["client"].as_str());
    reader.unwrap_or("-").to_owned()
}

fn span(ms: &Value) -> String {
    ms.as_i64().map_or_else(|| "?".to_owned(), format_lag)
}

fn rate(rate: &Value) -> String {
    match rate.as_f64() {
        Some(rate) => format!("{rate:.1}/s"),
        None => "?".to_owned(),
    }
}

/// When retention reaches what was not read.
fn overtaken(overtaken: &Value) -> String {
    match overtaken["estimate"].as_str() {
        Some("in") => format!("in {}", span(&overtaken["ms"])),
        Some("never") => "never".to_owned(),
        Some("nothing-unread") => "-".to_owned(),
        _ => "?".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_status_says_who_reads_and_what_is_not_known() {
        let status = json!({
            "group": "shipping", "type": "consumer", "state": "Stable", "lag": 5, "behind_ms": 61_000,
            "rate_in": 1.25, "rate_out": null, "overtaken": { "estimate": "in", "ms": 3_600_000 },
            "overtaken_first": "orders-1", "without_position": ["orders-0"],
            "members": [{ "client": "app", "partitions": ["orders-1"] }],
            "partitions": [{
                "topic": "orders", "partition": 1, "position": 7, "start": 0, "end": 12, "lag": 5, "lost": 0,
                "behind_ms": 61_000, "rate_in": 1.25, "rate_out": null,
                "overtaken": { "estimate": "in", "ms": 3_600_000 },
            }],
        });
        let text = shown(&status);
        for expected in [
            "shipping  type consumer  state Stable  members 1\n",
            "lag 5 records, behind 1m 1s; in 1.2/s, out ?\n",
            "! nothing is committed of orders-0: how far behind it is there is not known\n",
            "retention reaches what was not read of orders-1 in 1h 0m, if the group stands still\n",
            "orders  1          7         0      12   5    0     1m 1s   1.2/s  ?    in 1h 0m   app\n",
        ] {
            assert!(text.contains(expected), "{expected:?} in\n{text}");
        }
    }
}
