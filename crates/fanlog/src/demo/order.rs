//! The events of the flash sale: what they are and how they look as JSON.

use serde::{Deserialize, Serialize};
use std::fmt;

/// About how long an event is as JSON, in bytes.
const EVENT_BYTES: usize = 1000;
const LINES_PER_ORDER: u64 = 6;

/// What happened to an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// The customer ordered.
    Placed,
    /// The customer paid.
    Paid,
    /// The customer changed their mind.
    Cancelled,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Placed => "placed",
            Self::Paid => "paid",
            Self::Cancelled => "cancelled",
        })
    }
}

impl Kind {
    /// How an order ends: one in ten is cancelled.
    pub(crate) fn settled(order: u64) -> Self {
        if order.is_multiple_of(10) {
            Self::Cancelled
        } else {
            Self::Paid
        }
    }
}

/// What consumers read of an event; the rest is for humans and for weight.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct OrderEvent {
    /// The order's number.
    pub(crate) order: u64,
    /// What happened to it.
    pub(crate) event: Kind,
}

/// The key under which all events of an order go, so that they stay in order.
pub(crate) fn key(order: u64) -> String {
    format!("order-{order:07}")
}

/// The event as JSON of about a kilobyte.
pub(crate) fn json(order: u64, event: Kind) -> Vec<u8> {
    let line = |n: u64| {
        serde_json::json!({
            "sku": format!("sku-{:05}", (order * 7 + n * 131) % 20_000),
            "quantity": n % 3 + 1,
            "cents": 495 + (order * 37 + n * 113) % 9_000,
        })
    };
    let mut event = serde_json::json!({
        "order": order,
        "event": event,
        "customer": format!("customer-{:06}", order * 7919 % 100_000),
        "currency": "EUR",
        "lines": (0..LINES_PER_ORDER).map(line).collect::<Vec<_>>(),
        "note": "",
    });
    let missing = EVENT_BYTES.saturating_sub(event.to_string().len());
    event["note"] = "x".repeat(missing).into();
    event.to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_about_a_kilobyte_and_reads_back() {
        for order in [1, 10, 1_000_000] {
            let bytes = json(order, Kind::settled(order));
            assert!((950..1100).contains(&bytes.len()), "{}", bytes.len());
            let event: OrderEvent = serde_json::from_slice(&bytes).unwrap();
            assert_eq!((event.order, event.event), (order, Kind::settled(order)));
        }
    }
}
