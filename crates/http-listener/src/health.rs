//! Liveness and readiness.
//!
//! Live: this process answers; a probe that fails means "restart me". Ready: it serves its topics; 503 with the
//! reasons while a partition is offline or the broker is stopping. Damage in a closed segment is mentioned and nothing more: the
//! rest of its partition serves, and a restart or another place for the traffic would not make it whole.

use crate::context::Context;
use axum::extract::State;
use axum::http::StatusCode;
use fanlog_broker::Broker;
use std::fmt::Write;
use std::path::PathBuf;

/// How many reasons one answer lists.
const REASONS_MAX: usize = 20;

/// GET /health/live: 200 whenever the process answers.
pub(crate) async fn live() -> &'static str {
    "live\n"
}

/// GET /health/ready: 200 and a line for each damaged file, or 503 and a line for each reason.
pub(crate) async fn ready(State(context): State<Context>) -> (StatusCode, String) {
    let reasons = unready_reasons(&context.broker);
    if !reasons.is_empty() {
        let text = lines("not ready", &reasons);
        return (StatusCode::SERVICE_UNAVAILABLE, text);
    }
    (StatusCode::OK, lines("ready", &damage(&context.broker)))
}

/// A heading and what there is to say, as far as it is not too much.
fn lines(heading: &str, lines: &[String]) -> String {
    let mut text = format!("{heading}\n");
    for line in lines.iter().take(REASONS_MAX) {
        writeln!(text, "{line}").expect("writing to a string cannot fail");
    }
    if lines.len() > REASONS_MAX {
        writeln!(text, "and {} more", lines.len() - REASONS_MAX)
            .expect("writing to a string cannot fail");
    }
    text
}

fn damage(broker: &Broker) -> Vec<String> {
    let files = broker.damaged_files().into_iter();
    let line = |file: PathBuf| {
        format!(
            "{} is damaged: its readers are told, the rest of the partition serves",
            file.display()
        )
    };
    files.map(line).collect()
}

fn unready_reasons(broker: &Broker) -> Vec<String> {
    if !broker.is_serving() {
        return vec!["the broker is stopping".to_owned()];
    }
    let topics = broker.topics();
    let partitions = topics.iter().flat_map(|topic| &topic.partitions);
    let offline = partitions.filter_map(|partition| partition.check_serving().err());
    offline.map(|reason| reason.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_a_heading_and_at_most_so_many_lines() {
        assert_eq!(lines("ready", &[]), "ready\n");
        let many: Vec<_> = (0..REASONS_MAX + 2).map(|n| n.to_string()).collect();
        let text = lines("not ready", &many);
        assert!(text.starts_with("not ready\n0\n1\n"), "{text}");
        assert!(text.ends_with("19\nand 2 more\n"), "{text}");
    }
}
