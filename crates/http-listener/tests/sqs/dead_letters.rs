//! Dead letters: after as many receives as the policy says, neither one more nor one less; with what they were.

use crate::client::{Queue, SOON, Sqs, body, system};
use serde_json::{Value, json};
use tokio::time::timeout;

async fn with_dead_letters<'a>(
    sqs: &'a Sqs,
    receives: u32,
    suffix: &str,
    attributes: Value,
) -> (Queue<'a>, Queue<'a>) {
    let mut of_dead = json!({});
    if suffix == ".fifo" {
        of_dead["FifoQueue"] = "true".into();
    }
    let dead = sqs.create(&format!("dead{suffix}"), of_dead).await;
    let policy = json!({ "deadLetterTargetArn": dead.arn().await, "maxReceiveCount": receives });
    let mut attributes = attributes;
    attributes["RedrivePolicy"] = policy.to_string().into();
    (sqs.create(&format!("mail{suffix}"), attributes).await, dead)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_a_dead_letter_after_so_many_receives() {
    let sqs = Sqs::start().await;
    let (mail, dead) = with_dead_letters(&sqs, 3, "", json!({ "VisibilityTimeout": "0" })).await;
    let attributes = json!({ "kind": { "StringValue": "x", "DataType": "String" } });
    let sent = json!({ "MessageBody": "m", "MessageAttributes": attributes });
    let sent = mail.done("SendMessage", sent).await;
    let mut first = Value::Null;
    for attempt in 1..=3 {
        let message = mail.receive_one().await;
        assert_eq!(
            system(&message, "ApproximateReceiveCount"),
            attempt.to_string()
        );
        first = if first.is_null() { message } else { first };
    }
    let letter = dead.receive_one().await;
    assert_eq!(mail.bodies().await, Vec::<String>::new());
    assert_eq!(mail.counts().await, [0, 0, 0]);
    assert_eq!(letter["MessageId"], sent["MessageId"]);
    assert_eq!(letter["Body"], "m");
    assert_eq!(letter["MessageAttributes"], attributes);
    assert_eq!(
        letter["MD5OfMessageAttributes"],
        sent["MD5OfMessageAttributes"]
    );
    // "Across all queues".
    assert_eq!(system(&letter, "ApproximateReceiveCount"), "4");
    assert_eq!(
        system(&letter, "SentTimestamp"),
        system(&first, "SentTimestamp")
    );
    assert_eq!(
        system(&letter, "DeadLetterQueueSourceArn"),
        mail.arn().await
    );
    dead.delete(&letter).await;
    assert_eq!(dead.counts().await, [0, 0, 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn receives_are_counted_over_a_restart() {
    let sqs = Sqs::start().await;
    let (mail, _) = with_dead_letters(&sqs, 2, "", json!({ "VisibilityTimeout": "1" })).await;
    mail.send("m").await;
    mail.receive_one().await;
    let sqs = sqs.restarted().await;
    let (mail, dead) = (sqs.found("mail").await, sqs.found("dead").await);
    let second = mail.receive_one().await;
    assert_eq!(system(&second, "ApproximateReceiveCount"), "2");
    assert_eq!(dead.receive_one().await["Body"], "m");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_letter_frees_its_group_and_stands_in_order_in_the_other_queue() {
    let sqs = Sqs::start().await;
    let attributes = json!({
        "FifoQueue": "true", "ContentBasedDeduplication": "true", "VisibilityTimeout": "0",
    });
    let (mail, dead) = with_dead_letters(&sqs, 1, ".fifo", attributes).await;
    for body in ["1", "2", "3"] {
        mail.send_to("a", body).await;
    }
    let mut got = Vec::new();
    for _ in 0..3 {
        got.push(body(&mail.receive_one().await));
    }
    assert_eq!(got, ["1", "2", "3"]);
    let mut letters = Vec::new();
    while letters.len() < 3 {
        let letter = dead.receive_one().await;
        assert_eq!(system(&letter, "MessageGroupId"), "a");
        letters.push(body(&letter));
        dead.delete(&letter).await;
    }
    assert_eq!(letters, ["1", "2", "3"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_policy_is_checked_against_the_queue_that_it_names() {
    let sqs = Sqs::start().await;
    let dead = sqs.create("dead", json!({})).await;
    let fifo = sqs
        .create("dead.fifo", json!({ "FifoQueue": "true" }))
        .await;
    let mail = sqs.create("mail", json!({})).await;
    let policy = |arn: &str, count: u32| {
        let policy = json!({ "deadLetterTargetArn": arn, "maxReceiveCount": count });
        json!({ "Attributes": { "RedrivePolicy": policy.to_string() } })
    };
    let refused = async |arn: &str, count: u32, expected: &str| {
        let (code, message) = mail.refused("SetQueueAttributes", policy(arn, count)).await;
        assert_eq!(code, "InvalidParameterValue");
        assert!(message.contains(expected), "{message}");
    };
    let arn = dead.arn().await;
    refused(&arn, 0, "maxReceiveCount").await;
    refused(&arn.replace(":dead", ":none"), 3, "does not exist").await;
    refused(&fifo.arn().await, 3, "same type").await;
    refused(&mail.arn().await, 3, "another queue").await;
    let deny =
        json!({ "Attributes": { "RedriveAllowPolicy": r#"{"redrivePermission":"denyAll"}"# } });
    dead.done("SetQueueAttributes", deny).await;
    refused(&arn, 3, "RedriveAllowPolicy").await;
    let allow = json!({ "redrivePermission": "byQueue", "sourceQueueArns": [mail.arn().await] });
    let allow = json!({ "Attributes": { "RedriveAllowPolicy": allow.to_string() } });
    dead.done("SetQueueAttributes", allow).await;
    mail.done("SetQueueAttributes", policy(&arn, 3)).await;
    let sources = dead.done("ListDeadLetterSourceQueues", json!({})).await;
    assert_eq!(sources["queueUrls"], json!([mail.url]));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_other_queue_a_message_goes_on_coming_and_with_it_again_it_dies() {
    let sqs = Sqs::start().await;
    let (mail, dead) = with_dead_letters(&sqs, 1, "", json!({ "VisibilityTimeout": "0" })).await;
    dead.done("DeleteQueue", json!({})).await;
    mail.send("m").await;
    for _ in 0..3 {
        assert_eq!(mail.receive_one().await["Body"], "m");
    }
    let dead = sqs.create("dead", json!({})).await;
    // It was received more often than it may be now.
    assert_eq!(mail.bodies().await, Vec::<String>::new());
    assert_eq!(dead.receive_one().await["Body"], "m");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_other_queue_takes_is_not_redriven_behind_its_back() {
    let sqs = Sqs::start().await;
    let (mail, dead) = with_dead_letters(&sqs, 1, "", json!({ "VisibilityTimeout": "0" })).await;
    mail.send("m").await;
    mail.receive_one().await;
    dead.receive_one().await;
    let served = &sqs.served;
    let listed = served
        .refused("GET", "/v1/queues/mail/dead", Value::Null)
        .await;
    assert_eq!(listed.0, "dead-letters-elsewhere");
    assert_eq!(listed.1["keeper"], "dead");
    let all = json!({ "all": true });
    let redriven = served
        .refused("POST", "/v1/queues/mail/dead/redrive", all)
        .await;
    assert_eq!(redriven.0, "dead-letters-elsewhere");
    let status = served
        .done("GET", "/v1/queues/mail/status", Value::Null)
        .await;
    assert_eq!(status["dead_letters"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn dead_letters_are_moved_back_or_elsewhere_by_a_task() {
    let sqs = Sqs::start().await;
    let (mail, dead) = with_dead_letters(&sqs, 1, "", json!({ "VisibilityTimeout": "0" })).await;
    let other = sqs.create("other", json!({})).await;
    let source = json!({ "SourceArn": dead.arn().await });
    let not_dead = json!({ "SourceArn": other.arn().await });
    let (code, _) = sqs.refused("StartMessageMoveTask", not_dead).await;
    assert_eq!(code, "InvalidParameterValue");
    let nowhere = json!({ "SourceArn": dead.arn().await.replace(":dead", ":none") });
    let (code, _) = sqs.refused("StartMessageMoveTask", nowhere).await;
    assert_eq!(code, "ResourceNotFoundException");
    let mut first = Value::Null;
    for body in ["1", "2"] {
        mail.send(body).await;
        first = mail.receive_one().await;
    }
    until_counted(&dead, 2).await;
    let started = sqs.done("StartMessageMoveTask", source.clone()).await;
    let handle = started["TaskHandle"].clone();
    until_counted(&mail, 2).await;
    let ended = until_ended(&sqs, &source).await;
    assert_eq!(ended["Status"], "COMPLETED");
    assert_eq!(ended["ApproximateNumberOfMessagesMoved"], 2);
    assert_eq!(ended["ApproximateNumberOfMessagesToMove"], 2);
    let late = json!({ "TaskHandle": handle });
    let (code, _) = sqs.refused("CancelMessageMoveTask", late).await;
    assert_eq!(code, "AWS.SimpleQueueService.UnsupportedOperation");
    let unknown = json!({ "TaskHandle": "none" });
    let (code, _) = sqs.refused("CancelMessageMoveTask", unknown).await;
    assert_eq!(code, "ResourceNotFoundException");
    for _ in 0..2 {
        // It is a new message, with a life of its own.
        let again = mail.receive_one().await;
        assert_eq!(system(&again, "ApproximateReceiveCount"), "1");
        assert_ne!(again["MessageId"], first["MessageId"]);
        assert!(system(&again, "SentTimestamp") > system(&first, "SentTimestamp"));
        assert_eq!(system(&again, "DeadLetterQueueSourceArn"), "");
    }
    until_counted(&dead, 2).await;
    let elsewhere = json!({ "SourceArn": dead.arn().await, "DestinationArn": other.arn().await });
    sqs.done("StartMessageMoveTask", elsewhere).await;
    until_counted(&other, 2).await;
    assert_eq!(until_ended(&sqs, &source).await["Status"], "COMPLETED");
    let last = json!({ "SourceArn": dead.arn().await, "MaxResults": 10 });
    let listed = sqs.done("ListMessageMoveTasks", last).await;
    assert_eq!(listed["Results"].as_array().unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_cancelled_and_what_it_did_not_reach_stays() {
    let sqs = Sqs::start().await;
    let (mail, dead) = with_dead_letters(&sqs, 1, "", json!({ "VisibilityTimeout": "0" })).await;
    for body in ["1", "2", "3"] {
        mail.send(body).await;
        mail.receive_one().await;
    }
    until_counted(&dead, 3).await;
    let slow = json!({ "SourceArn": dead.arn().await, "MaxNumberOfMessagesPerSecond": 1 });
    let started = sqs.done("StartMessageMoveTask", slow.clone()).await;
    let (code, _) = sqs.refused("StartMessageMoveTask", slow.clone()).await;
    assert_eq!(code, "InvalidParameterValue");
    let cancel = json!({ "TaskHandle": started["TaskHandle"] });
    sqs.done("CancelMessageMoveTask", cancel).await;
    let source = json!({ "SourceArn": dead.arn().await });
    assert_eq!(until_ended(&sqs, &source).await["Status"], "CANCELLED");
    let [visible, ..] = dead.counts().await;
    assert!(visible > 0, "not all were moved within a moment");
}

async fn until_counted(queue: &Queue<'_>, messages: u64) {
    let counted = async {
        while queue.counts().await != [messages, 0, 0] {
            tokio::task::yield_now().await;
        }
    };
    timeout(SOON, counted).await.unwrap();
}

/// The latest task, once it has ended.
async fn until_ended(sqs: &Sqs, source: &Value) -> Value {
    let ended = async {
        loop {
            let listed = sqs.done("ListMessageMoveTasks", source.clone()).await;
            let task = listed["Results"][0].clone();
            if !["RUNNING", "CANCELLING"].contains(&task["Status"].as_str().unwrap()) {
                return task;
            }
        }
    };
    timeout(SOON, ended).await.unwrap()
}
