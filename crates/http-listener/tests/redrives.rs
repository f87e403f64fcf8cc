//! Redrives in the background, over real sockets.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use serde_json::{Value, json};
use support::{Served, serve};

const REDRIVES: &str = "/v1/queues/mail/dead/redrives";

/// A queue with three dead letters.
async fn with_dead_letters() -> Served {
    let served = serve().await;
    let topic = json!({ "name": "orders", "partitions": 1 });
    served.done("POST", "/v1/topics", topic).await;
    let queue = json!({ "name": "mail", "topic": "orders", "start": "earliest" });
    served.done("POST", "/v1/queues", queue).await;
    let records = json!({ "records": [{ "value": 1 }, { "value": 2 }, { "value": 3 }] });
    served
        .done("POST", "/v1/topics/orders/records", records)
        .await;
    let received = json!({ "max": 3, "wait": "10s" });
    let received = served
        .done("POST", "/v1/queues/mail/receive", received)
        .await;
    let messages = received["messages"].as_array().unwrap();
    let receipts: Vec<_> = messages.iter().map(|message| &message["receipt"]).collect();
    let rejected = json!({ "receipts": receipts });
    served
        .done("POST", "/v1/queues/mail/reject", rejected)
        .await;
    let listed = |dead: &Value| dead["dead_letters"].as_array().unwrap().len() == 3;
    served.until("/v1/queues/mail/dead", listed).await;
    served
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redrive_is_started_listed_and_cancelled() {
    let served = with_dead_letters().await;
    let dry = json!({ "all": true, "dry_run": true });
    assert_eq!(
        served.refused("POST", REDRIVES, dry).await.0,
        "invalid-field"
    );
    let slowly = json!({ "all": true, "rate": 1 });
    let started = served.done("POST", REDRIVES, slowly.clone()).await;
    assert_eq!(
        (&started["state"], &started["to_move"], &started["rate"]),
        (&json!("running"), &json!(3), &json!(1))
    );
    let (name, problem) = served.refused("POST", REDRIVES, slowly).await;
    assert_eq!(
        (name.as_str(), &problem["redrive"]),
        ("redrive-under-way", &started["redrive"])
    );
    let path = format!("{REDRIVES}/{}", started["redrive"].as_str().unwrap());
    let cancelled = served.done("DELETE", &path, Value::Null).await;
    assert_eq!(cancelled["redrive"], started["redrive"]);
    let over = served.until(&path, |job| job["state"] == "cancelled").await;
    assert!(over["moved"].as_i64().unwrap() < 3, "{over}");
    let (name, problem) = served.refused("DELETE", &path, Value::Null).await;
    assert_eq!(
        (name.as_str(), &problem["state"]),
        ("redrive-over", &json!("cancelled"))
    );
    let fast = json!({ "all": true, "rate": 1000 });
    let done = served
        .done("POST", "/v1/queues/mail/dead/redrive", fast)
        .await;
    assert_eq!(done["goes_on"], true, "{done}");
    let path = format!("{REDRIVES}/{}", done["redrive"].as_str().unwrap());
    served.until(&path, |job| job["state"] == "completed").await;
    let listed = served.done("GET", REDRIVES, Value::Null).await;
    assert_eq!(listed["redrives"][0]["redrive"], done["redrive"]);
    assert_eq!(listed["redrives"][1]["redrive"], started["redrive"]);
    let none = format!("{REDRIVES}/none");
    for method in ["GET", "DELETE"] {
        let refused = served.refused(method, &none, Value::Null).await;
        assert_eq!(refused.0, "unknown-redrive");
    }
}
