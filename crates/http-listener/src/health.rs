//! Liveness and readiness.
//!
//! Live: this process answers; a probe that fails means "restart me". Ready: it serves its topics; 503 with the
//! reasons while a partition is offline or the broker is stopping.

use axum::extract::State;
use axum::http::StatusCode;
use fanlog_broker::Broker;
use std::fmt::Write;
use std::sync::Arc;

/// GET /health/live: 200 whenever the process answers.
pub(crate) async fn live() -> &'static str {
    "live\n"
}

/// GET /health/ready: 200, or 503 and a line for each reason.
pub(crate) async fn ready(State(broker): State<Arc<Broker>>) -> (StatusCode, String) {
    let reasons = broker.unready_reasons();
    if reasons.is_empty() {
        return (StatusCode::OK, "ready\n".to_owned());
    }
    let mut text = String::from("not ready\n");
    for reason in reasons {
        writeln!(text, "{reason}").expect("writing to a string cannot fail");
    }
    (StatusCode::SERVICE_UNAVAILABLE, text)
}
