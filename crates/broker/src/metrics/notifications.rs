//! What becomes of messages that are sent to endpoints.

use super::Labels;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

/// Counters of messages that leave by themselves. All labels come from small, fixed sets.
#[derive(Debug)]
pub struct NotificationMetrics {
    deliveries: Family<Labels<2>, Counter>,
}

impl NotificationMetrics {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let deliveries = Family::<Labels<2>, Counter>::default();
        registry.register(
            "sns_deliveries",
            "Attempts to deliver a message of SNS over HTTP, by what became of them; undeliverable: subscriptions that Fanlog never delivers to",
            deliveries.clone(),
        );
        Self { deliveries }
    }

    /// Something became of a message.
    pub fn count(&self, protocol: &'static str, outcome: &'static str) {
        let labels = [
            ("protocol", protocol.to_owned()),
            ("outcome", outcome.to_owned()),
        ];
        self.deliveries.get_or_create(&labels).inc();
    }
}
