//! Messages: what is sent is what is received, with its checksums; batches fail entry by entry.

use crate::client::{Sqs, body, system};
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn a_message_comes_with_its_attributes_and_checksums() {
    let sqs = Sqs::start().await;
    let mail = sqs.create("mail", json!({})).await;
    let attributes = json!({
        "timestamp": { "StringValue": "1493147359900", "DataType": "Number.java.lang.Long" },
        "kind": { "StringValue": "paid", "DataType": "String" },
        "picture": { "BinaryValue": "AP8=", "DataType": "Binary.png" },
    });
    let trace = json!({ "AWSTraceHeader": { "StringValue": "Root=1-2-3", "DataType": "String" } });
    let message = json!({
        "MessageBody": "derp", "MessageAttributes": attributes, "MessageSystemAttributes": trace,
    });
    let sent = mail.done("SendMessage", message).await;
    assert_eq!(sent["MD5OfMessageBody"], "58fd9edd83341c29f1aebba81c31e257");
    assert!(sent["MD5OfMessageSystemAttributes"].is_string());
    assert_eq!(sent["SequenceNumber"], Value::Null);
    let received = mail.receive_one().await;
    assert_eq!(received["MessageId"], sent["MessageId"]);
    assert_eq!(received["MD5OfBody"], sent["MD5OfMessageBody"]);
    assert_eq!(
        received["MD5OfMessageAttributes"],
        sent["MD5OfMessageAttributes"]
    );
    assert_eq!(received["MessageAttributes"], attributes);
    assert_eq!(system(&received, "AWSTraceHeader"), "Root=1-2-3");
    assert_eq!(system(&received, "ApproximateReceiveCount"), "1");
    assert!(system(&received, "SentTimestamp").parse::<u64>().unwrap() > 0);
    assert!(!system(&received, "SenderId").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn attributes_come_by_name_by_prefix_or_not_at_all() {
    let sqs = Sqs::start().await;
    let mail = sqs
        .create("mail", json!({ "VisibilityTimeout": "0" }))
        .await;
    let text = |value: &str| json!({ "StringValue": value, "DataType": "String" });
    let attributes = json!({ "Custom1": text("1"), "Custom2": text("2"), "Other": text("3") });
    mail.done(
        "SendMessage",
        json!({ "MessageBody": "b", "MessageAttributes": attributes }),
    )
    .await;
    let names = async |wanted: Value| -> Vec<String> {
        let fields = json!({ "MessageAttributeNames": wanted, "WaitTimeSeconds": 10 });
        let received = mail.done("ReceiveMessage", fields).await;
        let message = &received["Messages"][0];
        assert_eq!(message["Attributes"], Value::Null);
        let attributes = message["MessageAttributes"].as_object();
        attributes
            .map(|all| all.keys().cloned().collect())
            .unwrap_or_default()
    };
    assert_eq!(names(json!([])).await, Vec::<String>::new());
    assert_eq!(names(json!(["Custom.*"])).await, ["Custom1", "Custom2"]);
    assert_eq!(names(json!(["Other", "none"])).await, ["Other"]);
    assert_eq!(names(json!([".*"])).await, ["Custom1", "Custom2", "Other"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_fails_entry_by_entry() {
    let sqs = Sqs::start().await;
    let mail = sqs.create("mail", json!({})).await;
    let entries = json!([
        { "Id": "ok", "MessageBody": "one" },
        { "Id": "late", "MessageBody": "two", "DelaySeconds": 901 },
        { "Id": "bad", "MessageBody": "\u{1}" },
    ]);
    let sent = mail
        .done("SendMessageBatch", json!({ "Entries": entries }))
        .await;
    assert_eq!(sent["Successful"].as_array().unwrap().len(), 1);
    assert_eq!(sent["Successful"][0]["Id"], "ok");
    let failed = |index: usize| (&sent["Failed"][index]["Id"], &sent["Failed"][index]["Code"]);
    assert_eq!(failed(0), (&json!("late"), &json!("InvalidParameterValue")));
    assert_eq!(failed(1), (&json!("bad"), &json!("InvalidMessageContents")));
    let message = mail.receive_one().await;
    let entries = json!([
        { "Id": "a", "ReceiptHandle": "nonsense" },
        { "Id": "b", "ReceiptHandle": message["ReceiptHandle"] },
    ]);
    let deleted = mail
        .done("DeleteMessageBatch", json!({ "Entries": entries }))
        .await;
    assert_eq!(deleted["Successful"], json!([{ "Id": "b" }]));
    assert_eq!(deleted["Failed"][0]["Code"], "ReceiptHandleIsInvalid");
    let empty = mail
        .refused("DeleteMessageBatch", json!({ "Entries": [] }))
        .await;
    assert_eq!(empty.0, "AWS.SimpleQueueService.EmptyBatchRequest");
    assert_eq!(mail.counts().await, [0, 0, 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_has_no_more_bytes_than_its_queue_takes() {
    let sqs = Sqs::start().await;
    let small = sqs
        .create("small", json!({ "MaximumMessageSize": "1024" }))
        .await;
    small.send(&"a".repeat(1024)).await;
    let long = json!({ "MessageBody": "a".repeat(1025) });
    let (code, message) = small.refused("SendMessage", long).await;
    assert_eq!(code, "InvalidParameterValue");
    assert!(message.contains("1024 bytes"), "{message}");
    let large = sqs.create("large", json!({})).await;
    large.send(&"ä".repeat(1024 * 512)).await;
    assert_eq!(
        large.receive_one().await["Body"].as_str().unwrap().len(),
        1024 * 1024
    );
    let too_long = json!({ "MessageBody": "a".repeat(1024 * 1024 + 1) });
    assert_eq!(
        large.refused("SendMessage", too_long).await.0,
        "InvalidParameterValue"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_are_received_at_once_and_each_is_held() {
    let sqs = Sqs::start().await;
    let mail = sqs.create("mail", json!({})).await;
    for batch in 0..3 {
        let entry = |n: usize| json!({ "Id": n.to_string(), "MessageBody": format!("{batch}{n}") });
        let entries: Vec<_> = (0..10).map(entry).collect();
        mail.done("SendMessageBatch", json!({ "Entries": entries }))
            .await;
    }
    let mut bodies = Vec::new();
    while bodies.len() < 30 {
        let messages = mail
            .receive(json!({ "MaxNumberOfMessages": 10, "WaitTimeSeconds": 10 }))
            .await;
        assert!(!messages.is_empty());
        bodies.extend(messages.iter().map(body));
    }
    bodies.sort();
    bodies.dedup();
    assert_eq!(bodies.len(), 30);
    assert_eq!(mail.counts().await, [0, 30, 0]);
    for wrong in [0, 11] {
        let fields = json!({ "MaxNumberOfMessages": wrong });
        assert_eq!(
            mail.refused("ReceiveMessage", fields).await.0,
            "InvalidParameterValue"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_purged_queue_is_empty_also_of_what_is_held() {
    let sqs = Sqs::start().await;
    let mail = sqs.create("mail", json!({})).await;
    for body in ["a", "b", "c"] {
        mail.send(body).await;
    }
    let held = mail.receive_one().await;
    mail.done("PurgeQueue", json!({})).await;
    assert_eq!(mail.counts().await, [0, 0, 0]);
    mail.delete(&held).await;
    mail.send("after").await;
    assert_eq!(mail.bodies().await, ["after"]);
    let (code, message) = mail.refused("PurgeQueue", json!({})).await;
    assert_eq!(code, "AWS.SimpleQueueService.PurgeQueueInProgress");
    assert!(message.contains("mail"), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_are_kept_for_as_long_as_the_queue_says_and_no_longer() {
    let sqs = Sqs::start().await;
    let short = sqs
        .create("short", json!({ "MessageRetentionPeriod": "1" }))
        .await;
    short.send("old").await;
    tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
    short.send("new").await;
    assert_eq!(short.receive_one().await["Body"], "new");
    assert_eq!(short.bodies().await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn many_that_are_too_old_do_not_hide_a_young_one_nor_burn_an_attempt_of_others() {
    let sqs = Sqs::start().await;
    let short = sqs
        .create("short", json!({ "MessageRetentionPeriod": "2" }))
        .await;
    for batch in 0..40 {
        let entry =
            |n: usize| json!({ "Id": n.to_string(), "MessageBody": format!("{batch}-{n}") });
        let entries: Vec<_> = (0..10).map(entry).collect();
        short
            .done("SendMessageBatch", json!({ "Entries": entries }))
            .await;
    }
    tokio::time::sleep(std::time::Duration::from_millis(2_200)).await;
    short.send("young").await;
    short.send("second").await;
    let first = short.receive_one().await;
    let second = short.receive_one().await;
    assert_eq!(
        (&first["Body"], &second["Body"]),
        (&json!("young"), &json!("second"))
    );
    assert_eq!(system(&second, "ApproximateReceiveCount"), "1");
    assert_eq!(short.counts().await, [0, 2, 0]);
}
