//! Messages that are cancelled by the id that their producer gave them, over real sockets.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use serde_json::{Value, json};
use support::{Served, serve};

/// A topic of this name, and a queue `mail-<topic>` on it.
async fn with_queue(served: &Served, topic: &str, settings: Value) {
    let new = json!({ "name": topic, "partitions": 3, "settings": settings });
    served.done("POST", "/v1/topics", new).await;
    let queue = json!({ "name": format!("mail-{topic}"), "topic": topic, "start": "earliest" });
    served.done("POST", "/v1/queues", queue).await;
}

async fn publish(served: &Served, topic: &str, records: Value) -> Value {
    let path = format!("/v1/topics/{topic}/records");
    let answer = served.done("POST", &path, json!({ "records": records }));
    answer.await["records"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_cancelled_by_its_producers_id_where_the_topic_remembers_ids() {
    let served = serve().await;
    with_queue(&served, "orders", json!({ "dedup.window.ms": 60_000 })).await;
    let records = json!([
        { "value": "a", "message_id": "order-1", "deliver_after": "1h", "partition": 2 },
        { "value": "b", "message_id": "order-2", "deliver_after": "1h", "partition": 1 },
        { "value": "c", "message_id": "order-3", "partition": 0 },
    ]);
    let published = publish(&served, "orders", records).await;
    let (path, of_topic) = ("/v1/queues/mail-orders/cancel", "/v1/topics/orders/cancel");
    let first = json!({ "messages": [{ "message_id": "order-1" }, { "message_id": "order-9" }] });
    let cancelled = served.done("POST", path, first).await;
    let result = &cancelled["results"][0];
    assert_eq!(
        (&result["id"], &result["message_id"], &result["queues"]),
        (
            &published[0]["id"],
            &json!("order-1"),
            &json!([{ "queue": "mail-orders", "cancelled": true }])
        )
    );
    let problem = &cancelled["results"][1]["problem"];
    assert_eq!(
        (&problem["status"], &problem["message_id"]),
        (&json!(404), &json!("order-9"))
    );
    let second = json!({ "messages": [{ "message_id": "order-2" }] });
    let everywhere = served.done("POST", of_topic, second.clone()).await;
    assert_eq!(everywhere["results"][0]["id"], published[1]["id"]);
    let again = served.done("POST", path, second).await;
    assert_eq!(again["results"][0]["queues"][0]["cancelled"], false);
    let status = served.done("GET", "/v1/queues/mail-orders/status", Value::Null);
    assert_eq!(status.await["depth"], 1, "order-3 is left");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_setting_a_producers_id_says_nothing_and_the_refusal_names_it() {
    let served = serve().await;
    with_queue(&served, "plain", json!({})).await;
    publish(&served, "plain", json!([{ "value": "a" }])).await;
    for path in ["/v1/queues/mail-plain/cancel", "/v1/topics/plain/cancel"] {
        let named = json!({ "messages": [{ "message_id": "order-1" }] });
        let (name, problem) = served.refused("POST", path, named).await;
        assert_eq!(
            (name.as_str(), &problem["setting"]),
            ("dedup-off", &json!("dedup.window.ms"))
        );
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains("topic/partition/offset"), "{detail}");
    }
    let both = json!({ "messages": [{ "message_id": "x", "offset": 0 }] });
    let refused = served.refused("POST", "/v1/queues/mail-plain/cancel", both);
    assert_eq!(refused.await.0, "invalid-field");
    let status = served.done("GET", "/v1/queues/mail-plain/status", Value::Null);
    assert_eq!(status.await["depth"], 1);
}
