//! FIFO queues: order and lock of a group, and messages that are taken for the same. What other emulators get wrong here has its right
//! value.

use crate::client::{Sqs, body, system};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::sleep;

fn of_content() -> Value {
    json!({ "FifoQueue": "true", "ContentBasedDeduplication": "true" })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_is_received_in_order_several_at_once_and_locked_meanwhile() {
    let sqs = Sqs::start().await;
    let queue = sqs.create("x.fifo", of_content()).await;
    for body in ["1", "2", "3"] {
        queue.send_to("a", body).await;
    }
    queue.send_to("b", "other").await;
    let first = queue.receive(json!({ "MaxNumberOfMessages": 2 })).await;
    assert_eq!(first.iter().map(body).collect::<Vec<_>>(), ["1", "2"]);
    assert_eq!(system(&first[0], "MessageGroupId"), "a");
    let (one, two) = (
        system(&first[0], "SequenceNumber"),
        system(&first[1], "SequenceNumber"),
    );
    assert!(one < two);
    // The group is locked, though one of its messages was not handed out.
    assert_eq!(queue.bodies().await, ["other"]);
    queue.delete(&first[0]).await;
    assert_eq!(queue.bodies().await, Vec::<String>::new());
    queue.delete(&first[1]).await;
    assert_eq!(queue.bodies().await, ["3"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_whose_lock_ran_out_goes_on_with_the_same_message() {
    let sqs = Sqs::start().await;
    let mut attributes = of_content();
    attributes["VisibilityTimeout"] = "1".into();
    let queue = sqs.create("x.fifo", attributes).await;
    for body in ["1", "2"] {
        queue.send_to("a", body).await;
    }
    let first = queue.receive_one().await;
    let again = queue.receive_one().await;
    assert_eq!(
        (&again["Body"], &again["MessageId"]),
        (&json!("1"), &first["MessageId"])
    );
    assert_eq!(system(&again, "ApproximateReceiveCount"), "2");
    // The first receipt counts no more: others of the group could have been handed out.
    let expired = json!({ "ReceiptHandle": first["ReceiptHandle"] });
    let (code, message) = queue.refused("DeleteMessage", expired).await;
    assert_eq!(code, "InvalidParameterValue");
    assert!(message.contains("expired"), "{message}");
    queue.delete(&again).await;
    assert_eq!(queue.bodies().await, ["2"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_given_back_comes_before_those_behind_it() {
    let sqs = Sqs::start().await;
    let queue = sqs.create("x.fifo", of_content()).await;
    for body in ["1", "2", "3"] {
        queue.send_to("a", body).await;
    }
    let held = queue.receive_one().await;
    assert_eq!(queue.bodies().await, Vec::<String>::new());
    queue.set_visibility(&held, 0).await;
    assert_eq!(queue.bodies().await, ["1", "2", "3"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_lock_of_a_group_outlives_a_restart() {
    let sqs = Sqs::start().await;
    let queue = sqs.create("x.fifo", of_content()).await;
    for body in ["1", "2"] {
        queue.send_to("a", body).await;
    }
    let held = queue.receive_one().await;
    let sqs = sqs.restarted().await;
    let queue = sqs.found("x.fifo").await;
    assert_eq!(queue.bodies().await, Vec::<String>::new());
    queue.delete(&held).await;
    assert_eq!(queue.bodies().await, ["2"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_message_of_an_id_is_answered_as_the_first_and_not_delivered() {
    let sqs = Sqs::start().await;
    let queue = sqs.create("x.fifo", json!({ "FifoQueue": "true" })).await;
    let send = |body: &str, id: &str, group: &str| json!({ "MessageBody": body, "MessageDeduplicationId": id, "MessageGroupId": group });
    let first = queue.done("SendMessage", send("one", "1", "a")).await;
    // Whatever its body and its group say: the scope is the queue.
    let second = queue.done("SendMessage", send("two", "1", "b")).await;
    assert_eq!(second["MessageId"], first["MessageId"]);
    assert_eq!(second["SequenceNumber"], first["SequenceNumber"]);
    queue.done("SendMessage", send("one", "2", "a")).await;
    let messages = queue.receive(json!({ "MaxNumberOfMessages": 10 })).await;
    assert_eq!(messages.len(), 2);
    assert_eq!(system(&messages[0], "MessageDeduplicationId"), "1");
    // What was deleted is remembered still, also over a restart.
    queue.delete(&messages[0]).await;
    queue.delete(&messages[1]).await;
    let sqs = sqs.restarted().await;
    let queue = sqs.found("x.fifo").await;
    let third = queue.done("SendMessage", send("three", "1", "c")).await;
    assert_eq!(third["MessageId"], first["MessageId"]);
    assert_eq!(queue.counts().await, [0, 0, 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn with_the_scope_of_a_group_each_group_remembers_its_own() {
    let sqs = Sqs::start().await;
    let attributes = json!({
        "FifoQueue": "true",
        "DeduplicationScope": "messageGroup",
        "FifoThroughputLimit": "perMessageGroupId",
    });
    let queue = sqs.create("x.fifo", attributes).await;
    for group in ["a", "b", "a"] {
        let fields = json!({
            "MessageBody": "m", "MessageDeduplicationId": "1", "MessageGroupId": group,
        });
        queue.done("SendMessage", fields).await;
    }
    let messages = queue.receive(json!({ "MaxNumberOfMessages": 10 })).await;
    let groups: Vec<_> = messages
        .iter()
        .map(|m| system(m, "MessageGroupId"))
        .collect();
    assert_eq!(groups, ["a", "b"]);
    assert_eq!(system(&messages[0], "MessageDeduplicationId"), "1");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_content_tells_messages_apart_where_the_queue_says_so() {
    let sqs = Sqs::start().await;
    let queue = sqs.create("x.fifo", of_content()).await;
    let first = queue.send_to("a", "same").await;
    assert_eq!(
        queue.send_to("b", "same").await["MessageId"],
        first["MessageId"]
    );
    queue.send_to("a", "other").await;
    assert_eq!(queue.counts().await, [2, 0, 0]);
    let plain = sqs.create("y.fifo", json!({ "FifoQueue": "true" })).await;
    let fields = json!({ "MessageBody": "m", "MessageGroupId": "a" });
    let (code, message) = plain.refused("SendMessage", fields).await;
    assert_eq!(code, "InvalidParameterValue");
    assert!(message.contains("ContentBasedDeduplication"), "{message}");
    let without_group = json!({ "MessageBody": "m", "MessageDeduplicationId": "1" });
    assert_eq!(
        plain.refused("SendMessage", without_group).await.0,
        "MissingParameter"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_of_a_fifo_queue_is_not_delayed_by_itself_but_by_its_queue() {
    let sqs = Sqs::start().await;
    let mut attributes = of_content();
    attributes["DelaySeconds"] = "1".into();
    let queue = sqs.create("x.fifo", attributes).await;
    let delayed = json!({ "MessageBody": "m", "MessageGroupId": "a", "DelaySeconds": 5 });
    assert_eq!(
        queue.refused("SendMessage", delayed).await.0,
        "InvalidParameterValue"
    );
    queue.send_to("a", "m").await;
    assert_eq!(queue.bodies().await, Vec::<String>::new());
    assert_eq!(queue.receive_one().await["Body"], "m");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receive_asked_again_by_its_id_gives_the_same_messages() {
    let sqs = Sqs::start().await;
    let queue = sqs.create("x.fifo", of_content()).await;
    for body in ["1", "2"] {
        queue.send_to("a", body).await;
    }
    let asked = json!({ "MaxNumberOfMessages": 10, "ReceiveRequestAttemptId": "r" });
    let first = queue.receive(asked.clone()).await;
    let again = queue.receive(asked.clone()).await;
    assert_eq!(first, again);
    assert_eq!(first.len(), 2);
    // Once something became of them, it is a receive like others.
    queue.delete(&first[0]).await;
    assert_eq!(queue.receive(asked).await, Vec::<Value>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn purged_groups_are_free() {
    let sqs = Sqs::start().await;
    let queue = sqs.create("x.fifo", of_content()).await;
    queue.send_to("a", "1").await;
    queue.receive_one().await;
    queue.done("PurgeQueue", json!({})).await;
    queue.send_to("a", "2").await;
    assert_eq!(queue.bodies().await, ["2"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn order_holds_while_many_send_and_receive() {
    let sqs = Sqs::start().await;
    let mut attributes = of_content();
    attributes["VisibilityTimeout"] = "5".into();
    let queue = &sqs.create("x.fifo", attributes).await;
    let sending = async {
        for n in 0..30 {
            for group in ["a", "b", "c"] {
                queue.send_to(group, &format!("{group}{n:02}")).await;
            }
        }
    };
    let receiving = async {
        let mut got: Vec<String> = Vec::new();
        while got.len() < 90 {
            let fields = json!({ "MaxNumberOfMessages": 4, "WaitTimeSeconds": 10 });
            for message in queue.receive(fields).await {
                got.push(body(&message));
                queue.delete(&message).await;
            }
        }
        got
    };
    let ((), got) = tokio::join!(sending, receiving);
    for group in ["a", "b", "c"] {
        let of_group: Vec<_> = got.iter().filter(|body| body.starts_with(group)).collect();
        assert!(of_group.is_sorted(), "{of_group:?}");
    }
    sleep(Duration::from_millis(10)).await;
    assert_eq!(queue.counts().await, [0, 0, 0]);
}
