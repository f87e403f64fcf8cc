//! Queues over HTTP, over real sockets.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use serde_json::{Value, json};
use std::time::Duration;
use support::{Served, ask, serve};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

const SOON: Duration = Duration::from_secs(20);

/// A topic `orders` and a queue `mail` on it, which begins with the first record.
async fn with_queue(settings: Value) -> Served {
    let served = serve().await;
    let topic = json!({ "name": "orders", "partitions": 2 });
    served.done("POST", "/v1/topics", topic).await;
    let mut queue = json!({ "name": "mail", "topic": "orders", "start": "earliest" });
    let members = queue.as_object_mut().unwrap();
    members.extend(settings.as_object().unwrap().clone());
    served.done("POST", "/v1/queues", queue).await;
    served
}

async fn publish(served: &Served, records: Value) -> Value {
    let body = json!({ "records": records });
    served.done("POST", "/v1/topics/orders/records", body).await
}

async fn receive(served: &Served, query: &str) -> Vec<Value> {
    let path = format!("/v1/queues/mail/receive?{query}");
    let receiving = served.done("POST", &path, Value::Null);
    let received = timeout(SOON, receiving).await.unwrap();
    received["messages"].as_array().unwrap().clone()
}

async fn settle(served: &Served, what: &str, body: Value) -> Value {
    served
        .done("POST", &format!("/v1/queues/mail/{what}"), body)
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_is_created_described_altered_and_deleted() {
    let served = with_queue(json!({ "lock": "10s", "max_attempts": 3 })).await;
    let described = served.done("GET", "/v1/queues/mail", Value::Null).await;
    assert_eq!(
        (&described["topic"], &described["partitions"]),
        (&json!("orders"), &json!(2))
    );
    assert_eq!(described["settings"]["lock"], "10s");
    assert_eq!(described["settings"]["max-attempts"], "3");
    assert_eq!(described["settings"]["order"], "none");
    assert_eq!(described["dead_letter"], "mail.dead");
    let again = json!({ "name": "mail", "topic": "orders" });
    assert_eq!(
        served.refused("POST", "/v1/queues", again).await.0,
        "queue-exists"
    );
    let changes = json!({ "lock": null, "backoff": "fixed:5s" });
    let altered = served.done("PATCH", "/v1/queues/mail", changes).await;
    assert_eq!(
        (
            &altered["settings"]["lock"],
            &altered["settings"]["backoff"]
        ),
        (&json!("30s"), &json!("fixed:5s"))
    );
    let (name, problem) = served
        .refused("PATCH", "/v1/queues/mail", json!({ "lock": "1ms" }))
        .await;
    assert_eq!(
        (name.as_str(), &problem["setting"]),
        ("invalid-setting", &json!("lock"))
    );
    let (name, problem) = served
        .refused("PATCH", "/v1/queues/mail", json!({ "lokc": "1s" }))
        .await;
    assert_eq!(
        (name.as_str(), &problem["setting"]),
        ("invalid-setting", &json!("lokc"))
    );
    let paused = served
        .done("POST", "/v1/queues/mail/pause", Value::Null)
        .await;
    assert_eq!(paused["paused"], true);
    publish(&served, json!([{ "value": 1 }])).await;
    assert_eq!(receive(&served, "wait=100ms").await, Vec::<Value>::new());
    served
        .done("POST", "/v1/queues/mail/resume", Value::Null)
        .await;
    assert_eq!(receive(&served, "wait=10s").await.len(), 1);
    let listed = served.done("GET", "/v1/queues", Value::Null).await;
    assert_eq!(listed["queues"][0]["name"], "mail");
    served.done("DELETE", "/v1/queues/mail", Value::Null).await;
    assert_eq!(
        served
            .refused("GET", "/v1/queues/mail", Value::Null)
            .await
            .0,
        "unknown-queue"
    );
    let on_none = json!({ "name": "x", "topic": "none" });
    assert_eq!(
        served.refused("POST", "/v1/queues", on_none).await.0,
        "unknown-topic"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_published_received_and_acknowledged() {
    let served = with_queue(json!({})).await;
    let record = json!([{ "key": "anna", "value": "shoes", "headers": { "n": 1 } }]);
    let published = publish(&served, record).await;
    let messages = receive(&served, "wait=10s&consumer=a").await;
    let message = &messages[0];
    assert_eq!(message["id"], published["records"][0]["id"]);
    assert_eq!(
        (&message["value"], &message["key"]),
        (&json!("shoes"), &json!("anna"))
    );
    assert_eq!(
        (&message["attempt"], &message["headers"]["n"]),
        (&json!(1), &json!("1"))
    );
    assert_eq!(receive(&served, "").await.len(), 0, "it is held");
    let status = served
        .done("GET", "/v1/queues/mail/status", Value::Null)
        .await;
    assert_eq!(status["in_flight"][0]["consumer"], "a");
    assert_eq!(status["depth"], 1);
    let receipt = message["receipt"].as_str().unwrap();
    let extended = settle(
        &served,
        "extend",
        json!({ "receipt": receipt, "lock": "5m" }),
    )
    .await;
    assert_eq!(extended["results"][0]["result"], "held");
    let settled = settle(&served, &format!("ack?receipt={receipt}"), Value::Null).await;
    assert_eq!(settled["results"][0]["result"], "done");
    let again = json!({ "receipts": [receipt] });
    assert_eq!(
        served.refused("POST", "/v1/queues/mail/ack", again).await.0,
        "lock-lost"
    );
    let none = json!({ "receipts": ["nonsense"] });
    assert_eq!(
        served.refused("POST", "/v1/queues/mail/ack", none).await.0,
        "invalid-receipt"
    );
    let status = served
        .done("GET", "/v1/queues/mail/status", Value::Null)
        .await;
    assert_eq!(
        (&status["depth"], &status["in_flight"]),
        (&json!(0), &json!([]))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_nack_rests_a_release_burns_nothing_and_a_reject_is_a_dead_letter() {
    let served = with_queue(json!({ "backoff": "none", "max-attempts": 5 })).await;
    publish(&served, json!([{ "key": "k", "value": "poison" }])).await;
    let first = receive(&served, "wait=10s").await.remove(0);
    let body = json!({ "items": [{ "receipt": first["receipt"], "delay": "300ms", "reason": "smtp is down" }] });
    let began = Instant::now();
    let nacked = settle(&served, "nack", body).await;
    assert_eq!(nacked["results"][0]["result"], "again");
    let second = receive(&served, "wait=20s").await.remove(0);
    assert!(began.elapsed() >= Duration::from_millis(300));
    assert_eq!(second["attempt"], 2);
    settle(&served, "release", json!({ "receipt": second["receipt"] })).await;
    let third = receive(&served, "wait=20s").await.remove(0);
    assert_eq!(third["attempt"], 2, "a release burns no attempt");
    let rejected = settle(
        &served,
        "reject",
        json!({ "receipt": third["receipt"], "reason": "no address" }),
    )
    .await;
    assert_eq!(rejected["results"][0]["result"], "dead-letter");
    let letters = dead_letters(&served, 1).await;
    let letter = &letters[0];
    assert_eq!(
        (&letter["reason"], &letter["attempts"], &letter["key"]),
        (&json!("no address"), &json!(2), &json!("k"))
    );
    assert_eq!(letter["origin"], first["id"]);
    let id = letter["id"].as_str().unwrap();
    let shown = served
        .done("GET", &format!("/v1/queues/mail/dead/{id}"), Value::Null)
        .await;
    assert_eq!(shown["value"], "poison");
    let dry = json!({ "all": true, "dry_run": true });
    let done = served
        .done("POST", "/v1/queues/mail/dead/redrive", dry)
        .await;
    assert_eq!(
        (&done["chosen"], dead_letters(&served, 1).await.len()),
        (&json!(1), 1)
    );
    let done = served
        .done("POST", "/v1/queues/mail/dead/redrive", json!({ "id": id }))
        .await;
    assert_eq!(done["done"], 1);
    let again = receive(&served, "wait=20s").await.remove(0);
    assert_eq!(
        (&again["value"], &again["attempt"]),
        (&json!("poison"), &json!(1))
    );
    settle(&served, "reject", json!({ "receipt": again["receipt"] })).await;
    let letters = dead_letters(&served, 1).await;
    let which = json!({ "ids": [letters[0]["id"]] });
    let done = served
        .done("POST", "/v1/queues/mail/dead/discard", which)
        .await;
    assert_eq!(done["done"], 1);
    dead_letters(&served, 0).await;
    for what in ["redrive", "discard"] {
        let path = format!("/v1/queues/mail/dead/{what}");
        let (name, _) = served
            .refused("POST", &path, json!({ "ids": ["mail.dead/0/77", "a/0/0"] }))
            .await;
        assert_eq!(name, "unknown-message");
    }
    let (name, _) = served
        .refused("POST", "/v1/queues/mail/dead/discard", json!({}))
        .await;
    assert_eq!(name, "invalid-field");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_cancelled_nowhere_is_no_success() {
    let served = with_queue(json!({})).await;
    let other = json!({ "name": "other", "partitions": 1 });
    served.done("POST", "/v1/topics", other).await;
    publish(&served, json!([{ "value": "a", "partition": 0 }])).await;
    let refused = async |path: &str, ids: Value| {
        let path = format!("/v1/{path}/cancel");
        let body = json!({ "messages": ids });
        served.refused("POST", &path, body).await.0
    };
    let foreign = refused("topics/other", json!(["orders/0/0"])).await;
    assert_eq!(foreign, "invalid-field");
    let unread = refused("topics/other", json!(["other/0/0"])).await;
    assert_eq!(unread, "unknown-message");
    let none = refused("queues/mail", json!(["orders/0/9", "orders/7/0"])).await;
    assert_eq!(none, "unknown-message");
    let twice = br#"{"messages":["orders/0/0"],"messages":[]}"#;
    let path = "/v1/topics/orders/cancel";
    let (status, _, said) = ask(served.address, "POST", path, &[], twice).await;
    assert!(status == 400 && said.contains("more than once"), "{said}");
    assert_eq!(receive(&served, "wait=10s").await.len(), 1);
    let some = json!({ "messages": ["orders/0/0", "orders/0/9"] });
    let some = served.done("POST", path, some).await;
    assert_eq!(some["results"][0]["queues"][0]["queue"], "mail");
    let problem = &some["results"][1]["problem"];
    assert_eq!(
        (&problem["id"], &problem["status"]),
        (&json!("orders/0/9"), &json!(404))
    );
}

/// The dead letters, once there are so many: they arrive behind the answer.
async fn dead_letters(served: &Served, count: usize) -> Vec<Value> {
    let letters = |listed: &Value| listed["dead_letters"].as_array().unwrap().clone();
    let are_there = |listed: &Value| letters(listed).len() == count;
    letters(&served.until("/v1/queues/mail/dead", are_there).await)
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_batch_of_receipts_each_is_answered() {
    let served = with_queue(json!({})).await;
    let records: Vec<_> = (0..20)
        .map(|n| json!({ "key": n.to_string(), "value": n }))
        .collect();
    publish(&served, json!(records)).await;
    let mut receipts = Vec::new();
    while receipts.len() < 20 {
        let messages = receive(&served, "wait=10s&max=1000").await;
        receipts.extend(messages.iter().map(|message| message["receipt"].clone()));
    }
    receipts.insert(7, json!("nonsense"));
    let settled = settle(&served, "ack", json!({ "receipts": receipts })).await;
    let results = settled["results"].as_array().unwrap();
    assert_eq!(results.len(), 21);
    for (at, result) in results.iter().enumerate() {
        assert_eq!(result["result"] == "done", at != 7, "{result}");
    }
    let kind = results[7]["problem"]["type"].as_str().unwrap();
    assert!(kind.ends_with(":invalid-receipt"), "{kind}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delayed_message_waits_for_its_time_and_a_cancelled_one_does_not_come() {
    let served = with_queue(json!({})).await;
    let began = Instant::now();
    let record = json!([
        { "value": "later", "deliver_after": "700ms", "partition": 0 },
        { "value": "never", "deliver_after": "300ms", "partition": 0 },
        { "value": "neither", "partition": 1 },
    ]);
    let published = publish(&served, record).await;
    let path = "/v1/topics/orders/partitions/0/records";
    let read = served.done("GET", path, Value::Null).await;
    assert_eq!(
        read["records"].as_array().unwrap().len(),
        2,
        "streams see it at once"
    );
    let never = json!({ "messages": [published["records"][1]["id"]] });
    let cancelled = settle(&served, "cancel", never).await;
    assert_eq!(
        cancelled["results"][0]["queues"],
        json!([{ "queue": "mail", "cancelled": true }])
    );
    let neither = json!({ "messages": [{ "partition": 1, "offset": 0 }] });
    let cancelled = served
        .done("POST", "/v1/topics/orders/cancel", neither)
        .await;
    assert_eq!(cancelled["results"][0]["queues"][0]["queue"], "mail");
    let message = receive(&served, "wait=20s").await.remove(0);
    assert_eq!(message["value"], "later");
    assert!(began.elapsed() >= Duration::from_millis(700));
    assert_eq!(receive(&served, "").await.len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn with_order_per_key_a_key_is_one_consumers_until_it_is_settled() {
    let served = with_queue(json!({ "order": "key" })).await;
    let records =
        json!([{ "key": "a", "value": 1 }, { "key": "a", "value": 2 }, { "key": "b", "value": 3 }]);
    publish(&served, records).await;
    let mut held = Vec::new();
    while held.len() < 2 {
        held.extend(receive(&served, "wait=10s").await);
    }
    let mut values: Vec<_> = held
        .iter()
        .map(|message| message["value"].clone())
        .collect();
    values.sort_by_key(ToString::to_string);
    assert_eq!(
        values,
        ["1", "3"],
        "a consumer without a name is somebody new"
    );
    assert_eq!(receive(&served, "").await.len(), 0);
    let first = held.iter().find(|message| message["value"] == "1").unwrap();
    settle(&served, "ack", json!({ "receipt": first["receipt"] })).await;
    let second = receive(&served, "wait=10s").await.remove(0);
    assert_eq!(second["value"], "2");
}

/// What a consumer that is gone was waiting for goes to the next one, at once and for the first time.
#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_not_handed_to_a_client_that_is_gone() {
    let served = with_queue(json!({ "lock": "10m" })).await;
    let mut gone = Vec::new();
    for _ in 0..20 {
        let mut socket = TcpStream::connect(served.address).await.unwrap();
        let head = "POST /v1/queues/mail/receive?wait=30s&consumer=gone HTTP/1.1";
        let request = format!(
            "{head}\r\nhost: {}\r\ncontent-length: 0\r\n\r\n",
            served.address
        );
        socket.write_all(request.as_bytes()).await.unwrap();
        gone.push(socket);
    }
    // One that was begun after them is answered, so they have begun to wait or will find themselves alone.
    assert_eq!(receive(&served, "wait=300ms").await.len(), 0);
    drop(gone);
    assert_eq!(receive(&served, "wait=300ms").await.len(), 0);
    publish(&served, json!([{ "value": 1 }])).await;
    let message = receive(&served, "wait=20s").await.remove(0);
    assert_eq!(message["attempt"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_consumers_share_the_work() {
    let served = std::sync::Arc::new(with_queue(json!({})).await);
    let records: Vec<_> = (0..500)
        .map(|n| json!({ "key": n.to_string(), "value": n }))
        .collect();
    publish(&served, json!(records)).await;
    let mut consumers = tokio::task::JoinSet::new();
    for number in 0..64 {
        let served = served.clone();
        consumers.spawn(async move {
            let mut got = Vec::new();
            loop {
                let messages = receive(&served, &format!("wait=1s&max=5&consumer=c{number}")).await;
                if messages.is_empty() {
                    return got;
                }
                let receipts: Vec<_> = messages.iter().map(|message| &message["receipt"]).collect();
                settle(&served, "ack", json!({ "receipts": receipts })).await;
                got.extend(
                    messages
                        .iter()
                        .map(|message| message["value"].as_str().unwrap().to_owned()),
                );
            }
        });
    }
    let mut all: Vec<String> = consumers.join_all().await.concat();
    all.sort_by_key(|value| value.parse::<u32>().unwrap());
    let expected: Vec<_> = (0..500).map(|n| n.to_string()).collect();
    assert_eq!(all, expected, "each once");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_makes_no_sense_is_named() {
    let served = with_queue(json!({})).await;
    let check = async |path: &str, body: Value, kind: &str, said: &str| {
        let (name, problem) = served
            .refused("POST", &format!("/v1/queues/{path}"), body)
            .await;
        assert_eq!(name, kind, "{problem}");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains(said), "{detail}");
    };
    check("none/receive", Value::Null, "unknown-queue", "'none'").await;
    check(
        "mail/receive?wait=31s",
        Value::Null,
        "invalid-field",
        "at most 30s",
    )
    .await;
    check(
        "mail/receive?max=1001",
        Value::Null,
        "invalid-field",
        "from 1 to 1000",
    )
    .await;
    check(
        "mail/receive?max=0",
        Value::Null,
        "invalid-field",
        "from 1 to 1000",
    )
    .await;
    check(
        "mail/receive?lock=13h",
        Value::Null,
        "invalid-field",
        "at most 12h",
    )
    .await;
    check(
        "mail/receive",
        json!({ "consumer": "x".repeat(256) }),
        "invalid-field",
        "256 bytes",
    )
    .await;
    check(
        "mail/receive?max=1",
        json!({ "max": 2 }),
        "invalid-field",
        "more than once",
    )
    .await;
    check("mail/ack", json!({}), "invalid-field", "no receipt").await;
    check(
        "mail/ack",
        json!({ "receipt": "a", "receipts": ["b"] }),
        "invalid-field",
        "one of",
    )
    .await;
    check(
        "mail/ack",
        json!({ "receipt": "a", "delay": "1s" }),
        "invalid-field",
        "'delay'",
    )
    .await;
    check(
        "mail/extend",
        json!({ "receipt": "a" }),
        "invalid-field",
        "lock is missing",
    )
    .await;
    check(
        "mail/nack",
        json!({ "receipt": "a", "delay": "8d" }),
        "invalid-field",
        "at most 7d",
    )
    .await;
    check(
        "mail/cancel",
        json!({ "messages": ["x"] }),
        "invalid-field",
        "topic/partition/offset",
    )
    .await;
    let (status, _, body) = ask(served.address, "GET", "/v1/queues/mail/receive", &[], b"").await;
    assert_eq!(status, 405, "{body}");
}
