//! How a group stands, over HTTP.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use fanlog_coordinators::CallId;
use fanlog_coordinators::group::{CommitOffsets, MemberId, OffsetToCommit};
use fanlog_model::{LeaderEpoch, Offset, PartitionIndex, TopicId, TopicName};
use serde_json::{Value, json};
use support::{Served, serve};

async fn commit(served: &Served, group: &str, topic: &str, offset: i64) {
    let commit = CommitOffsets {
        call: CallId(0),
        group: group.into(),
        member_id: MemberId::from(""),
        instance_id: None,
        generation: -1,
        names_missing_group: false,
        retention_ms: None,
        offsets: vec![OffsetToCommit {
            topic: TopicName::new(topic).unwrap(),
            topic_id: TopicId::ZERO,
            partition: PartitionIndex(0),
            offset: Offset(offset),
            leader_epoch: LeaderEpoch::UNKNOWN,
            metadata: "".into(),
        }],
    };
    let outcomes = served.broker.groups().commit_offsets(commit).await.unwrap();
    assert!(outcomes.iter().all(|outcome| outcome.result.is_ok()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_tells_how_far_behind_it_is_and_what_retention_will_take() {
    let served = serve().await;
    let week = 7 * 86_400_000_u64;
    let topic = json!({ "name": "orders", "partitions": 1, "settings": { "retention.ms": week } });
    served.done("POST", "/v1/topics", topic).await;
    let records: Vec<_> = (0..12).map(|n| json!({ "value": n })).collect();
    let records = json!({ "records": records });
    served
        .done("POST", "/v1/topics/orders/records", records)
        .await;
    commit(&served, "shipping", "orders", 8).await;
    let path = "/v1/groups/shipping/status";
    let status = served.done("GET", path, Value::Null).await;
    assert_eq!(
        (&status["type"], &status["state"]),
        (&json!("classic"), &json!("Empty"))
    );
    assert_eq!(
        (&status["lag"], &status["members"]),
        (&json!(4), &json!([]))
    );
    assert_eq!(status["rate_in"], 12.0 / 60.0);
    assert_eq!(status["rate_out"], Value::Null, "nothing was seen before");
    let partition = &status["partitions"][0];
    assert_eq!(
        (&partition["position"], &partition["end"]),
        (&json!(8), &json!(12))
    );
    assert_eq!(partition["overtaken"]["estimate"], "in");
    let left = partition["overtaken"]["ms"].as_u64().unwrap();
    assert!(left <= week && left > week - 3_600_000, "{left}");
    assert_eq!(status["overtaken_first"], "orders-0");
    commit(&served, "shipping", "orders", 12).await;
    let status = served.done("GET", path, Value::Null).await;
    assert_eq!(
        (&status["lag"], &status["behind_ms"]),
        (&json!(0), &json!(0))
    );
    assert_eq!(
        status["partitions"][0]["overtaken"]["estimate"],
        "nothing-unread"
    );
}

/// What is gone is lost, and no longer behind.
#[tokio::test(flavor = "multi_thread")]
async fn lag_ends_where_the_log_begins() {
    let served = serve().await;
    served
        .done(
            "POST",
            "/v1/topics",
            json!({ "name": "orders", "partitions": 1 }),
        )
        .await;
    let records: Vec<_> = (0..10).map(|n| json!({ "value": n })).collect();
    served
        .done(
            "POST",
            "/v1/topics/orders/records",
            json!({ "records": records }),
        )
        .await;
    commit(&served, "shipping", "orders", 2).await;
    let topic = fanlog_broker::TopicRef::Name(TopicName::new("orders").unwrap());
    let deleted = served
        .broker
        .delete_records(&topic, PartitionIndex(0), Some(Offset(7)));
    deleted.await.unwrap();
    let status = served
        .done("GET", "/v1/groups/shipping/status", Value::Null)
        .await;
    let partition = &status["partitions"][0];
    assert_eq!(
        (&partition["lag"], &partition["lost"]),
        (&json!(3), &json!(5))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_that_is_not_there_is_named() {
    let served = serve().await;
    let (name, problem) = served
        .refused("GET", "/v1/groups/nobody/status", Value::Null)
        .await;
    assert_eq!(
        (name.as_str(), &problem["group"]),
        ("unknown-group", &json!("nobody"))
    );
}
