//! Long polls: woken by what is new, by what falls due and by what comes back; and messages that are delayed.

use crate::client::{SOON, Sqs, body};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_ends_with_a_new_message() {
    let sqs = Sqs::start().await;
    let mail = sqs.create("mail", json!({})).await;
    let waiting = mail.receive(json!({ "WaitTimeSeconds": 20 }));
    let sending = async {
        sleep(Duration::from_millis(300)).await;
        mail.send("new").await;
        Instant::now()
    };
    let (messages, sent) = tokio::join!(waiting, sending);
    assert_eq!(body(&messages[0]), "new");
    assert!(sent.elapsed() < Duration::from_secs(5));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_ends_with_a_message_that_falls_due() {
    let sqs = Sqs::start().await;
    let mail = sqs.create("mail", json!({})).await;
    let delayed = json!({ "MessageBody": "later", "DelaySeconds": 1 });
    mail.done("SendMessage", delayed).await;
    assert_eq!(mail.counts().await, [0, 0, 1]);
    assert_eq!(mail.bodies().await, Vec::<String>::new());
    let began = Instant::now();
    assert_eq!(mail.receive_one().await["Body"], "later");
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_ends_with_a_message_whose_lock_runs_out_or_that_is_given_back() {
    let sqs = Sqs::start().await;
    let mail = sqs
        .create("mail", json!({ "VisibilityTimeout": "1" }))
        .await;
    mail.send("m").await;
    mail.receive_one().await;
    let began = Instant::now();
    let again = mail.receive_one().await;
    assert!(began.elapsed() < Duration::from_secs(10));
    mail.set_visibility(&again, 600).await;
    let waiting = mail.receive(json!({ "WaitTimeSeconds": 20 }));
    let giving_back = async {
        sleep(Duration::from_millis(300)).await;
        mail.set_visibility(&again, 0).await;
        Instant::now()
    };
    let (messages, given) = tokio::join!(waiting, giving_back);
    assert_eq!(messages.len(), 1);
    assert!(given.elapsed() < Duration::from_secs(5));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_queue_says_how_long_to_wait_and_zero_does_not_wait() {
    let sqs = Sqs::start().await;
    let mail = sqs
        .create("mail", json!({ "ReceiveMessageWaitTimeSeconds": "1" }))
        .await;
    let began = Instant::now();
    assert_eq!(mail.receive(json!({})).await, Vec::<Value>::new());
    assert!(began.elapsed() >= Duration::from_secs(1));
    let began = Instant::now();
    assert_eq!(
        mail.receive(json!({ "WaitTimeSeconds": 0 })).await,
        Vec::<Value>::new()
    );
    assert!(began.elapsed() < Duration::from_millis(900));
    for wrong in [-1, 21] {
        let fields = json!({ "WaitTimeSeconds": wrong });
        assert_eq!(
            mail.refused("ReceiveMessage", fields).await.0,
            "InvalidParameterValue"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_delays_messages_that_say_nothing_else() {
    let sqs = Sqs::start().await;
    let slow = sqs.create("slow", json!({ "DelaySeconds": "600" })).await;
    slow.send("delayed").await;
    let at_once = json!({ "MessageBody": "at once", "DelaySeconds": 0 });
    slow.done("SendMessage", at_once).await;
    assert_eq!(slow.bodies().await, ["at once"]);
    assert_eq!(slow.counts().await, [0, 1, 1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delay_is_still_one_after_a_restart() {
    let sqs = Sqs::start().await;
    let mail = sqs.create("mail", json!({})).await;
    let delayed = json!({ "MessageBody": "later", "DelaySeconds": 600 });
    mail.done("SendMessage", delayed).await;
    let sqs = sqs.restarted().await;
    let mail = sqs.found("mail").await;
    assert_eq!(mail.bodies().await, Vec::<String>::new());
    assert_eq!(mail.counts().await, [0, 0, 1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_goes_away_while_it_waits_takes_no_message_with_it() {
    let sqs = Sqs::start().await;
    let mail = sqs.create("mail", json!({})).await;
    for _ in 0..20 {
        let body = json!({ "QueueUrl": mail.url, "WaitTimeSeconds": 20 }).to_string();
        let mut socket = TcpStream::connect(sqs.served.address).await.unwrap();
        let head = format!(
            "POST / HTTP/1.1\r\nhost: {}\r\nx-amz-target: AmazonSQS.ReceiveMessage\r\ncontent-length: {}\r\n\r\n{body}",
            sqs.served.address,
            body.len()
        );
        socket.write_all(head.as_bytes()).await.unwrap();
        drop(socket);
    }
    sleep(Duration::from_millis(300)).await;
    mail.send("m").await;
    let received = timeout(SOON, mail.receive_one()).await.unwrap();
    assert_eq!(received["Attributes"]["ApproximateReceiveCount"], "1");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_ends_when_the_queue_goes() {
    let sqs = Sqs::start().await;
    let mail = sqs.create("mail", json!({})).await;
    let waiting = mail.refused("ReceiveMessage", json!({ "WaitTimeSeconds": 20 }));
    let deleting = async {
        sleep(Duration::from_millis(300)).await;
        mail.done("DeleteQueue", json!({})).await;
    };
    let began = Instant::now();
    let ((code, _), ()) = tokio::join!(waiting, deleting);
    assert_eq!(code, "AWS.SimpleQueueService.NonExistentQueue");
    assert!(began.elapsed() < Duration::from_secs(10));
}
