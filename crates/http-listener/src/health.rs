//! Liveness and readiness.
//!
//! Live: this process answers; a probe that fails means "restart me". Ready: it serves its topics; 503 with the
//! reasons while a partition is offline or the broker is stopping.

use axum::extract::State;
use axum::http::StatusCode;
use fanlog_broker::Broker;
use std::fmt::Write;
use std::sync::Arc;

/// How many reasons one answer lists.
const REASONS_MAX: usize = 20;

/// GET /health/live: 200 whenever the process answers.
pub(crate) async fn live() -> &'static str {
    "live\n"
}

/// GET /health/ready: 200, or 503 and a line for each reason.
pub(crate) async fn ready(State(broker): State<Arc<Broker>>) -> (StatusCode, String) {
    let reasons = unready_reasons(&broker);
    if reasons.is_empty() {
        return (StatusCode::OK, "ready\n".to_owned());
    }
    let mut text = String::from("not ready\n");
    for reason in reasons.iter().take(REASONS_MAX) {
        writeln!(text, "{reason}").expect("writing to a string cannot fail");
    }
    if reasons.len() > REASONS_MAX {
        writeln!(text, "and {} more", reasons.len() - REASONS_MAX)
            .expect("writing to a string cannot fail");
    }
    (StatusCode::SERVICE_UNAVAILABLE, text)
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
