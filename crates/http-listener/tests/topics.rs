//! Topics and records over HTTP, over real sockets.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use fanlog_protocol::records::partition_for_key;
use serde_json::{Value, json};
use std::time::Duration;
use support::{Served, ask, serve};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

const SOON: Duration = Duration::from_secs(10);

async fn with_topic(name: &str, partitions: u32) -> Served {
    let served = serve().await;
    let topic = json!({ "name": name, "partitions": partitions });
    let created = served.done("POST", "/v1/topics", topic).await;
    assert_eq!(
        created["partitions"].as_array().unwrap().len(),
        partitions as usize
    );
    served
}

#[tokio::test(flavor = "multi_thread")]
async fn a_topic_is_created_listed_described_and_deleted() {
    let served = serve().await;
    let new = json!({ "name": "orders", "partitions": 3, "settings": { "retention.ms": 5000 } });
    let created = served.done("POST", "/v1/topics", new.clone()).await;
    assert_eq!(created["settings"]["retention.ms"], "5000");
    let (name, problem) = served.refused("POST", "/v1/topics", new).await;
    assert_eq!(
        (name.as_str(), &problem["status"]),
        ("topic-exists", &json!(409))
    );
    served
        .done("POST", "/v1/topics", json!({ "name": "a" }))
        .await;
    let listed = served.done("GET", "/v1/topics?max=1", Value::Null).await;
    assert_eq!(
        (&listed["topics"][0]["name"], &listed["next"]),
        (&json!("a"), &json!("a"))
    );
    let listed = served.done("GET", "/v1/topics?after=a", Value::Null).await;
    assert_eq!(listed["topics"][0]["name"], "orders");
    assert_eq!(listed["next"], Value::Null);
    let described = served.done("GET", "/v1/topics/orders", Value::Null).await;
    assert_eq!(described["partitions"][2]["end_offset"], 0);
    served
        .done("DELETE", "/v1/topics/orders", Value::Null)
        .await;
    let (name, _) = served
        .refused("DELETE", "/v1/topics/orders", Value::Null)
        .await;
    assert_eq!(name, "unknown-topic");
    let (name, _) = served
        .refused("GET", "/v1/topics/orders", Value::Null)
        .await;
    assert_eq!(name, "unknown-topic");
}

#[tokio::test(flavor = "multi_thread")]
async fn records_are_read_as_they_were_published() {
    let served = with_topic("orders", 1).await;
    let records = json!({ "records": [
        { "key": "a", "value": "text", "headers": { "n": 1, "twice": ["x", null], "raw": { "base64": "/w==" } } },
        { "value": { "b": 1, "a": [1.50] }, "deliver_after": "90s" },
        { "key_base64": "/g==", "value_base64": "/v8=" },
        { "value": null, "deliver_at": "1970-01-01T00:00:05Z" },
    ] });
    let published = served
        .done("POST", "/v1/topics/orders/records", records)
        .await;
    let ids: Vec<_> = published["records"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["id"].clone())
        .collect();
    assert_eq!(
        json!(ids),
        json!(["orders/0/0", "orders/0/1", "orders/0/2", "orders/0/3"])
    );
    let path = "/v1/topics/orders/partitions/0/records";
    let read = served.done("GET", path, Value::Null).await;
    let records = &read["records"];
    assert_eq!(records[0]["value"], "text");
    assert_eq!(
        records[0]["headers"],
        json!({ "n": "1", "raw": { "base64": "/w==" }, "twice": ["x", null] })
    );
    assert_eq!(records[1]["value"], r#"{"a":[1.5],"b":1}"#);
    assert_eq!(records[1]["headers"]["deliver-after"], "90000");
    assert_eq!(
        (&records[2]["key_base64"], &records[2]["value_base64"]),
        (&json!("/g=="), &json!("/v8="))
    );
    assert_eq!(
        (&records[3]["value"], &records[3]["key"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(records[3]["headers"]["deliver-at"], "5000");
    assert_eq!(
        (&read["next_offset"], &read["end_offset"]),
        (&json!(4), &json!(4))
    );
    let at = records[2]["timestamp"].as_str().unwrap();
    let read = served
        .done("GET", &format!("{path}?time={at}&max=1"), Value::Null)
        .await;
    assert_eq!(read["records"].as_array().unwrap().len(), 1);
    let read = served
        .done("GET", &format!("{path}?offset=2&max=1"), Value::Null)
        .await;
    assert_eq!(
        (&read["records"][0]["offset"], &read["next_offset"]),
        (&json!(2), &json!(3))
    );
    let (name, problem) = served
        .refused("GET", &format!("{path}?offset=9"), Value::Null)
        .await;
    assert_eq!(
        (name.as_str(), &problem["high_watermark"]),
        ("offset-out-of-range", &json!(4))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_without_a_key_falls_alone_on_a_compacted_topic() {
    let served = serve().await;
    let topic = json!({ "name": "last", "settings": { "cleanup.policy": "compact" } });
    served.done("POST", "/v1/topics", topic).await;
    let records = json!({ "records": [
        { "key": "a", "value": 1, "partition": 0 },
        { "value": 2, "partition": 0 },
        { "key": "b", "value": 3, "partition": 0 },
    ] });
    let path = "/v1/topics/last/records";
    let published = served.done("POST", path, records).await;
    let records = &published["records"];
    assert_eq!(records[0]["id"], "last/0/0");
    assert_eq!(records[1]["problem"]["field"], "key");
    assert_eq!(records[2]["id"], "last/0/1");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_not_json_is_one_value_as_it_came() {
    let served = with_topic("raw", 4).await;
    let path = "/v1/topics/raw/records?key=k%C3%A4&deliver_after=5m";
    let body = [0, 159, 146, 150];
    let (status, _, answer) = ask(served.address, "POST", path, &[], &body).await;
    assert_eq!(status, 200, "{answer}");
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let partition = partition_for_key("kä".as_bytes(), 4);
    assert_eq!(answer["records"][0]["partition"], partition);
    let path = format!("/v1/topics/raw/partitions/{partition}/records");
    let read = served.done("GET", &path, Value::Null).await;
    assert_eq!(read["records"][0]["value_base64"], "AJ+Slg==");
    assert_eq!(read["records"][0]["key"], "kä");
    assert_eq!(read["records"][0]["headers"]["deliver-after"], "300000");
}

#[tokio::test(flavor = "multi_thread")]
async fn records_go_where_kafkas_producers_put_them_and_keyless_ones_to_all() {
    let served = with_topic("spread", 3).await;
    let keys = ["anna", "bert", "order-4711", ""];
    let records: Vec<_> = keys
        .iter()
        .map(|key| json!({ "key": key, "value": "v" }))
        .collect();
    let published = served
        .done(
            "POST",
            "/v1/topics/spread/records",
            json!({ "records": records }),
        )
        .await;
    for (key, record) in keys.iter().zip(published["records"].as_array().unwrap()) {
        assert_eq!(
            record["partition"],
            partition_for_key(key.as_bytes(), 3),
            "{key}"
        );
    }
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..3 {
        let one = json!({ "records": [{ "value": 1 }] });
        let published = served.done("POST", "/v1/topics/spread/records", one).await;
        seen.insert(published["records"][0]["partition"].as_i64().unwrap());
    }
    assert_eq!(seen.len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_batch_each_record_stands_or_falls_alone() {
    let served = serve().await;
    let topic =
        json!({ "name": "small", "partitions": 1, "settings": { "max.message.bytes": 300 } });
    served.done("POST", "/v1/topics", topic).await;
    let path = "/v1/topics/small/records";
    let large = "x".repeat(400);
    let records = json!({ "records": [
        { "value": "a" }, { "value": large }, { "value": "b", "partition": 7 }, { "value_base64": "?" },
        { "value": "c", "deliver_after": "soon" }, { "value": "d", "message_id": "1" }, { "value": "e" },
    ] });
    let published = served.done("POST", path, records).await;
    let kind = |at: usize| {
        let problem = published["records"][at]["problem"]["type"].as_str();
        problem
            .unwrap_or("-")
            .rsplit(':')
            .next()
            .unwrap()
            .to_owned()
    };
    let kinds: Vec<_> = (0..7).map(kind).collect();
    let expected = [
        "-",
        "message-too-large",
        "unknown-partition",
        "invalid-field",
        "invalid-field",
        "dedup-off",
        "-",
    ];
    assert_eq!(kinds, expected, "{published}");
    assert_eq!(published["records"][6]["offset"], 1);
    let all = json!({ "records": [{ "value": large }, { "value": large }] });
    let (name, problem) = served.refused("POST", path, all).await;
    assert_eq!(name, "message-too-large");
    assert_eq!(problem["records"].as_array().unwrap().len(), 2);
    // Many small ones take more than one batch.
    let many: Vec<_> = (0..50).map(|n| json!({ "value": n })).collect();
    let published = served.done("POST", path, json!({ "records": many })).await;
    for (number, record) in published["records"].as_array().unwrap().iter().enumerate() {
        assert_eq!(record["offset"], number + 2, "{published}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idempotency_key_is_refused_where_no_ids_are_kept() {
    let served = with_topic("orders", 1).await;
    let key = [
        ("idempotency-key", "\"order-1\""),
        ("content-type", "text/plain"),
    ];
    let path = "/v1/topics/orders/records";
    let (status, _, body) = ask(served.address, "POST", path, &key, b"x").await;
    assert_eq!(status, 409, "{body}");
    assert!(body.contains("dedup.window.ms"), "{body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_due_time_that_retention_would_overtake_is_refused() {
    let served = serve().await;
    let topic = json!({ "name": "short", "partitions": 1, "settings": { "retention.ms": 60_000 } });
    served.done("POST", "/v1/topics", topic).await;
    let queue = json!({ "name": "q", "topic": "short", "retention-hold": false });
    served.done("POST", "/v1/queues", queue).await;
    let path = "/v1/topics/short/records";
    let record = json!({ "records": [{ "value": 1, "deliver_after": "2m" }] });
    let (name, problem) = served.refused("POST", path, record).await;
    assert_eq!(
        (name.as_str(), &problem["setting"]),
        ("due-too-late", &json!("retention.ms"))
    );
    let record = json!({ "records": [{ "value": 1, "deliver_after": "50s" }] });
    served.done("POST", path, record).await;
    let record = json!({ "records": [{ "headers": { "deliver-after": "2m" } }] });
    let (name, problem) = served.refused("POST", path, record).await;
    assert_eq!(name, "invalid-field");
    assert!(
        problem["detail"]
            .as_str()
            .unwrap()
            .contains("deliver_after"),
        "{problem}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_waits_for_the_next_record_and_no_longer_than_the_broker_serves() {
    let served = with_topic("orders", 1).await;
    let path = "/v1/topics/orders/partitions/0/records?wait=30s";
    let reading = served.done("GET", path, Value::Null);
    let publishing = served.done(
        "POST",
        "/v1/topics/orders/records",
        json!({ "records": [{ "value": 1 }] }),
    );
    let (read, _) = timeout(SOON, async { tokio::join!(reading, publishing) })
        .await
        .unwrap();
    assert_eq!(read["records"][0]["value"], "1");
    // Whether the request was begun when the broker is told to stop, or not: it ends.
    let mut socket = TcpStream::connect(served.address).await.unwrap();
    let host = served.address;
    let wait = "GET /v1/topics/orders/partitions/0/records?offset=latest&wait=30s HTTP/1.1";
    let request = format!("{wait}\r\nhost: {host}\r\n\r\n");
    socket.write_all(request.as_bytes()).await.unwrap();
    served.stop.send_replace(true);
    let mut answer = Vec::new();
    // The connection may be reset where it was not accepted yet.
    let _ = timeout(SOON, socket.read_to_end(&mut answer))
        .await
        .unwrap();
    timeout(SOON, served.serving).await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_makes_no_sense_is_named() {
    let served = with_topic("orders", 1).await;
    let check = async |method: &str, path: &str, body: Value, kind: &str, said: &str| {
        let (name, problem) = served.refused(method, path, body).await;
        assert_eq!(name, kind, "{problem}");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains(said), "{detail}");
    };
    let records = "/v1/topics/orders/records";
    let read = "/v1/topics/orders/partitions/0/records";
    check("PUT", records, Value::Null, "method-not-allowed", "PUT").await;
    check(
        "GET",
        "/v1/nothing",
        Value::Null,
        "unknown-path",
        "/v1/openapi.json",
    )
    .await;
    check(
        "POST",
        "/v1/topics",
        json!({}),
        "invalid-field",
        "name is missing",
    )
    .await;
    check(
        "POST",
        "/v1/topics",
        json!({ "name": "a", "nme": 1 }),
        "invalid-field",
        "'nme'",
    )
    .await;
    check(
        "POST",
        "/v1/topics",
        json!({ "name": "a b" }),
        "invalid-name",
        "' '",
    )
    .await;
    check(
        "POST",
        "/v1/topics",
        json!({ "name": "a", "partitions": 0 }),
        "invalid-field",
        "from 1 to 10000",
    )
    .await;
    let setting = json!({ "name": "a", "settings": { "retention.ms": "soon" } });
    check(
        "POST",
        "/v1/topics",
        setting,
        "invalid-setting",
        "retention.ms",
    )
    .await;
    check("POST", "/v1/topics", json!([1]), "invalid-json", "map").await;
    check(
        "POST",
        records,
        json!({ "records": [{ "valu": 1 }] }),
        "invalid-json",
        "valu",
    )
    .await;
    let many = vec![json!({}); 10_001];
    check(
        "POST",
        records,
        json!({ "records": many }),
        "invalid-json",
        "10000",
    )
    .await;
    check(
        "POST",
        "/v1/topics/none/records",
        json!({ "records": [{}] }),
        "unknown-topic",
        "none",
    )
    .await;
    check(
        "POST",
        "/v1/topics/__consumer_offsets/records",
        json!({ "records": [{}] }),
        "unknown-topic",
        "__consumer",
    )
    .await;
    check(
        "GET",
        &format!("{read}?wait=31s"),
        Value::Null,
        "invalid-field",
        "at most 30s",
    )
    .await;
    check(
        "GET",
        &format!("{read}?offset=x"),
        Value::Null,
        "invalid-field",
        "'x'",
    )
    .await;
    check(
        "GET",
        &format!("{read}?max=1001"),
        Value::Null,
        "invalid-field",
        "from 1 to 1000",
    )
    .await;
    check(
        "GET",
        "/v1/topics/orders/partitions/5/records",
        Value::Null,
        "unknown-partition",
        "5",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_are_bounded_and_of_the_right_kind() {
    let served = with_topic("orders", 1).await;
    let json = ("content-type", "application/json");
    let check = async |path: &str, header: (&str, &str), body: &[u8], status: u16, kind: &str| {
        let (found, head, answer) = ask(served.address, "POST", path, &[header], body).await;
        assert_eq!(found, status, "{answer}");
        assert!(head.contains("application/problem+json"), "{head}");
        assert!(answer.contains(kind), "{answer}");
    };
    check("/v1/topics", json, b"{", 400, "invalid-json").await;
    check(
        "/v1/topics",
        ("content-type", "text/plain"),
        b"{}",
        415,
        "unsupported-media-type",
    )
    .await;
    let large = vec![b' '; 1024 * 1024 + 1];
    check("/v1/topics", json, &large, 413, "body-too-large").await;
    let deep = "[".repeat(100_000);
    check(
        "/v1/topics/orders/records",
        json,
        deep.as_bytes(),
        400,
        "invalid-json",
    )
    .await;
    let deep = format!("{{\"records\":[{{\"value\":{}", "[".repeat(100_000));
    check(
        "/v1/topics/orders/records",
        json,
        deep.as_bytes(),
        400,
        "invalid-json",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_other_sites_may_not_write() {
    let served = with_topic("orders", 1).await;
    let path = "/v1/topics/orders/records";
    let plain = ("content-type", "text/plain");
    let from = ("origin", "https://elsewhere.example");
    let (status, _, body) = ask(served.address, "POST", path, &[plain, from], b"x").await;
    assert_eq!(status, 403, "{body}");
    assert!(body.contains("cross-site"), "{body}");
    let own = format!("http://{}", served.address);
    let (status, ..) = ask(
        served.address,
        "POST",
        path,
        &[plain, ("origin", &own)],
        b"x",
    )
    .await;
    assert_eq!(status, 200);
    let rebound = ("host", "elsewhere.example");
    let (status, _, body) = ask(served.address, "GET", "/v1/topics", &[rebound], b"").await;
    assert_eq!(status, 421, "{body}");
    assert!(body.contains("fanlog.http.hosts"), "{body}");
}

/// Every path of the document answers, and none as if there were nothing.
#[tokio::test(flavor = "multi_thread")]
async fn every_documented_operation_is_there() {
    let served = serve().await;
    let document = served.done("GET", "/v1/openapi.json", Value::Null).await;
    assert_eq!(document["openapi"], "3.1.0");
    let mut count = 0;
    for (path, operations) in document["paths"].as_object().unwrap() {
        for method in operations.as_object().unwrap().keys() {
            let path: String = path
                .split('/')
                .map(|part| if part.starts_with('{') { "1" } else { part })
                .collect::<Vec<_>>()
                .join("/");
            let (status, answer) = served
                .json(&method.to_uppercase(), &path, Value::Null)
                .await;
            let kind = answer["type"].as_str().unwrap_or_default();
            assert!(
                status != 405 && !kind.ends_with(":unknown-path"),
                "{method} {path}: {answer}"
            );
            count += 1;
        }
    }
    assert!(count > 20);
}

/// A client that is gone leaves nothing behind that waits.
#[tokio::test(flavor = "multi_thread")]
async fn more_consumers_than_a_few_wait_at_once() {
    let served = with_topic("orders", 1).await;
    let mut waiting = Vec::new();
    for _ in 0..200 {
        let mut socket = TcpStream::connect(served.address).await.unwrap();
        let request = format!(
            "GET /v1/topics/orders/partitions/0/records?wait=30s HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n",
            served.address
        );
        socket.write_all(request.as_bytes()).await.unwrap();
        waiting.push(socket);
    }
    let one = json!({ "records": [{ "value": "for all" }] });
    timeout(SOON, served.done("POST", "/v1/topics/orders/records", one))
        .await
        .unwrap();
    for mut socket in waiting {
        let mut answer = String::new();
        timeout(SOON, socket.read_to_string(&mut answer))
            .await
            .unwrap()
            .unwrap();
        assert!(answer.contains("for all"), "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_was_there_is_answered_with_where_it_is() {
    let served = serve().await;
    let topic =
        json!({ "name": "orders", "partitions": 3, "settings": { "dedup.window.ms": 60_000 } });
    served.done("POST", "/v1/topics", topic).await;
    let path = "/v1/topics/orders/records";
    let key = [
        ("idempotency-key", "\"order-1\""),
        ("content-type", "text/plain"),
    ];
    let mut answers = Vec::new();
    for _ in 0..2 {
        let (status, _, body) = ask(served.address, "POST", path, &key, b"x").await;
        assert_eq!(status, 200, "{body}");
        answers.push(serde_json::from_str::<Value>(&body).unwrap()["records"][0].clone());
    }
    let [first, second] = &answers[..] else {
        panic!("two answers");
    };
    assert_eq!(first["duplicate"], Value::Null);
    assert_eq!(second["duplicate"], true);
    assert_eq!(first["id"], second["id"]);
    let records = json!({ "records": [
        { "value": "y", "message_id": "order-2" }, { "value": "x", "message_id": "order-1" },
    ] });
    let both = served.done("POST", path, records).await;
    assert_eq!(both["records"][0]["duplicate"], Value::Null, "{both}");
    assert_eq!(both["records"][1]["id"], first["id"], "{both}");
}
