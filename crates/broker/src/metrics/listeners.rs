//! What listeners count: connections and requests.

use super::Labels;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use std::time::Duration;

/// Counters that listeners keep up. All labels come from small, fixed sets.
#[derive(Debug)]
pub struct ListenerMetrics {
    connections: Family<Labels<1>, Gauge>,
    accepted: Family<Labels<1>, Counter>,
    refused: Family<Labels<2>, Counter>,
    requests: Family<Labels<2>, Counter>,
    request_seconds: Family<Labels<1>, Histogram, fn() -> Histogram>,
    errors: Family<Labels<2>, Counter>,
    http_requests: Family<Labels<2>, Counter>,
    http_request_seconds: Family<Labels<2>, Histogram, fn() -> Histogram>,
}

/// Counters of the requests of one API and version.
#[derive(Clone, Debug)]
pub struct RequestMetrics {
    count: Counter,
    seconds: Histogram,
}

impl RequestMetrics {
    /// A request was answered.
    pub fn answered(&self, took: Duration) {
        self.count.inc();
        self.seconds.observe(took.as_secs_f64());
    }
}

impl ListenerMetrics {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let new_histogram: fn() -> Histogram =
            || Histogram::new(exponential_buckets(0.0001, 4.0, 10));
        let metrics = Self {
            connections: Family::default(),
            accepted: Family::default(),
            refused: Family::default(),
            requests: Family::default(),
            request_seconds: Family::new_with_constructor(new_histogram),
            errors: Family::default(),
            http_requests: Family::default(),
            http_request_seconds: Family::new_with_constructor(new_histogram),
        };
        registry.register(
            "connections",
            "Open connections",
            metrics.connections.clone(),
        );
        registry.register(
            "connections_accepted",
            "Connections accepted",
            metrics.accepted.clone(),
        );
        registry.register(
            "connections_refused",
            "Connections closed by the broker, by reason",
            metrics.refused.clone(),
        );
        registry.register(
            "requests",
            "Requests served, by API and version",
            metrics.requests.clone(),
        );
        registry.register(
            "request_seconds",
            "From a request's last byte to its answer, by API",
            metrics.request_seconds.clone(),
        );
        registry.register(
            "request_errors",
            "Error answers, by API and error",
            metrics.errors.clone(),
        );
        registry.register(
            "http_requests",
            "HTTP requests answered, by operation and class of status",
            metrics.http_requests.clone(),
        );
        registry.register(
            "http_request_seconds",
            "From the head of an HTTP request to the head of its answer, a wait that it asked for included, by operation and class of status",
            metrics.http_request_seconds.clone(),
        );
        metrics
    }

    /// A connection was accepted; `connection_closed` follows.
    pub fn connection_opened(&self, listener: &'static str) {
        let labels = [("listener", listener.to_owned())];
        self.accepted.get_or_create(&labels).inc();
        self.connections.get_or_create(&labels).inc();
    }

    /// A connection that was counted as opened is closed.
    pub fn connection_closed(&self, listener: &'static str) {
        let labels = [("listener", listener.to_owned())];
        self.connections.get_or_create(&labels).dec();
    }

    /// The broker closed a connection, or did not let it in.
    pub fn connection_refused(&self, listener: &'static str, reason: &'static str) {
        let labels = [
            ("listener", listener.to_owned()),
            ("reason", reason.to_owned()),
        ];
        self.refused.get_or_create(&labels).inc();
    }

    /// The counters of one API and version, to be kept by those who count often.
    pub fn requests(&self, api: &'static str, version: i16) -> RequestMetrics {
        let labels = [("api", api.to_owned()), ("version", version.to_string())];
        let seconds = self
            .request_seconds
            .get_or_create(&[("api", api.to_owned())]);
        RequestMetrics {
            count: self.requests.get_or_create(&labels).clone(),
            seconds: seconds.clone(),
        }
    }

    /// An HTTP request was answered with this status.
    pub fn http_answered(&self, operation: &'static str, status: u16, took: Duration) {
        let class = match status {
            ..200 => "1xx",
            200..300 => "2xx",
            300..400 => "3xx",
            400..500 => "4xx",
            _ => "5xx",
        };
        let labels = [
            ("operation", operation.to_owned()),
            ("status", class.to_owned()),
        ];
        self.http_requests.get_or_create(&labels).inc();
        let seconds = self.http_request_seconds.get_or_create(&labels);
        seconds.observe(took.as_secs_f64());
    }

    /// An answer carried an error.
    pub fn request_error(&self, api: &'static str, error: &'static str) {
        let labels = [("api", api.to_owned()), ("error", error.to_owned())];
        self.errors.get_or_create(&labels).inc();
    }
}
