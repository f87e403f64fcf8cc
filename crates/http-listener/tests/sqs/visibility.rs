//! Visibility: set for each message, to zero too, and still so after a restart. What other emulators get wrong here has its right value.

use crate::client::{Sqs, system};
use serde_json::json;
use std::time::Duration;
use tokio::time::sleep;

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_was_not_deleted_comes_again_and_is_counted() {
    let sqs = Sqs::start().await;
    let mail = sqs
        .create("mail", json!({ "VisibilityTimeout": "1" }))
        .await;
    mail.send("m").await;
    let first = mail.receive_one().await;
    assert_eq!(mail.counts().await, [0, 1, 0]);
    assert_eq!(system(&first, "ApproximateReceiveCount"), "1");
    let second = mail.receive_one().await;
    assert_eq!(second["MessageId"], first["MessageId"]);
    assert_ne!(second["ReceiptHandle"], first["ReceiptHandle"]);
    assert_eq!(system(&second, "ApproximateReceiveCount"), "2");
    let first_received = |message| -> u64 {
        let time = system(message, "ApproximateFirstReceiveTimestamp");
        time.parse().unwrap()
    };
    // It is kept on the clock of the locks, whose milliseconds begin at another moment.
    assert!(first_received(&second).abs_diff(first_received(&first)) <= 1);
    mail.delete(&second).await;
    sleep(Duration::from_millis(1_100)).await;
    assert_eq!(mail.counts().await, [0, 0, 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receive_may_say_how_long_it_holds_zero_too() {
    let sqs = Sqs::start().await;
    let mail = sqs.create("mail", json!({})).await;
    mail.send("m").await;
    for attempt in 1..=3 {
        let messages = mail
            .receive(json!({ "VisibilityTimeout": 0, "WaitTimeSeconds": 10 }))
            .await;
        assert_eq!(messages.len(), 1);
        let count = system(&messages[0], "ApproximateReceiveCount").to_owned();
        assert_eq!(count, attempt.to_string());
    }
    assert_eq!(mail.counts().await, [1, 0, 0]);
    mail.receive(json!({ "VisibilityTimeout": 100 })).await;
    assert_eq!(mail.counts().await, [0, 1, 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn zero_gives_a_message_back_at_once_and_more_holds_it_longer() {
    let sqs = Sqs::start().await;
    let mail = sqs
        .create("mail", json!({ "VisibilityTimeout": "1" }))
        .await;
    mail.send("m").await;
    let message = mail.receive_one().await;
    mail.set_visibility(&message, 100).await;
    sleep(Duration::from_millis(1_200)).await;
    assert_eq!(mail.counts().await, [0, 1, 0]);
    mail.set_visibility(&message, 0).await;
    assert_eq!(mail.counts().await, [1, 0, 0]);
    assert_eq!(mail.receive_one().await["Body"], "m");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_visibility_is_as_it_was_set_after_a_restart() {
    let sqs = Sqs::start().await;
    let mail = sqs
        .create("mail", json!({ "VisibilityTimeout": "1" }))
        .await;
    mail.send("short").await;
    let short = mail.receive_one().await;
    mail.send("long").await;
    let long = mail.receive_one().await;
    mail.set_visibility(&long, 600).await;
    mail.set_visibility(&short, 600).await;
    mail.set_visibility(&short, 2).await;
    let sqs = sqs.restarted().await;
    let mail = sqs.found("mail").await;
    let again = mail.receive_one().await;
    assert_eq!(
        (&again["Body"], system(&again, "ApproximateReceiveCount")),
        (&json!("short"), "2")
    );
    assert_eq!(mail.counts().await, [0, 2, 0]);
    // The receipts of before hold.
    mail.delete(&long).await;
    assert_eq!(mail.counts().await, [0, 1, 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_deleted_stays_deleted_after_a_restart() {
    let sqs = Sqs::start().await;
    let mail = sqs.create("mail", json!({})).await;
    mail.send("done").await;
    mail.send("kept").await;
    let done = mail.receive_one().await;
    mail.delete(&done).await;
    let sqs = sqs.restarted().await;
    let mail = sqs.found("mail").await;
    assert_eq!(mail.bodies().await, ["kept"]);
    // Deleting again is no mistake.
    mail.delete(&done).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_receipt_deletes_on_a_standard_queue_and_a_second_delete_is_no_mistake() {
    let sqs = Sqs::start().await;
    let mail = sqs
        .create("mail", json!({ "VisibilityTimeout": "0" }))
        .await;
    mail.send("m").await;
    let first = mail.receive_one().await;
    let second = mail.receive_one().await;
    mail.delete(&first).await;
    assert_eq!(mail.bodies().await, Vec::<String>::new());
    mail.delete(&first).await;
    mail.delete(&second).await;
    assert_eq!(mail.counts().await, [0, 0, 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receipt_of_another_queue_or_of_nobody_is_refused() {
    let sqs = Sqs::start().await;
    let mail = sqs.create("mail", json!({})).await;
    let other = sqs.create("other", json!({})).await;
    other.send("m").await;
    let message = other.receive_one().await;
    for receipt in [&message["ReceiptHandle"], &json!("nonsense")] {
        let fields = json!({ "ReceiptHandle": receipt });
        assert_eq!(
            mail.refused("DeleteMessage", fields).await.0,
            "ReceiptHandleIsInvalid"
        );
        let fields = json!({ "ReceiptHandle": receipt, "VisibilityTimeout": 5 });
        let refused = mail.refused("ChangeMessageVisibility", fields).await;
        assert_eq!(refused.0, "ReceiptHandleIsInvalid");
    }
    assert_eq!(other.counts().await, [0, 1, 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_visibility_out_of_bounds_is_refused() {
    let sqs = Sqs::start().await;
    let mail = sqs.create("mail", json!({})).await;
    mail.send("m").await;
    let message = mail.receive_one().await;
    for seconds in [-1, 43_201] {
        let receipt = &message["ReceiptHandle"];
        let fields = json!({ "ReceiptHandle": receipt, "VisibilityTimeout": seconds });
        let refused = mail.refused("ChangeMessageVisibility", fields).await;
        assert_eq!(refused.0, "InvalidParameterValue");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_earlier_receipt_sets_the_visibility_of_who_holds_the_message_now() {
    let sqs = Sqs::start().await;
    let mail = sqs
        .create("mail", json!({ "VisibilityTimeout": "1" }))
        .await;
    mail.send("m").await;
    let first = mail.receive_one().await;
    let second = mail.receive_one().await;
    mail.set_visibility(&first, 100).await;
    sleep(Duration::from_millis(1_200)).await;
    assert_eq!(mail.counts().await, [0, 1, 0]);
    mail.set_visibility(&second, 0).await;
    assert_eq!(mail.counts().await, [1, 0, 0]);
    // Nobody holds it.
    let fields = json!({ "ReceiptHandle": first["ReceiptHandle"], "VisibilityTimeout": 5 });
    let refused = mail.refused("ChangeMessageVisibility", fields).await;
    assert_eq!(refused.0, "AWS.SimpleQueueService.MessageNotInflight");
}
