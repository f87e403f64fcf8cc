//! Topics of SNS to queues of SQS, while Kafka clients write and read the same records.

use crate::client::{
    SOON, done, envelope, is_empty, queue, receive, refused, sns, sqs, subscribe, text,
};
use crate::support::{Served, serve};
use fanlog_model::TopicName;
use serde_json::{Value, json};
use tokio::time::timeout;

async fn topic(served: &Served, name: &str) -> String {
    text(
        &done(served, "CreateTopic", &[("Name", name)]).await,
        "TopicArn",
    )
}

async fn publish(served: &Served, topic: &str, message: &str, event: &str) -> String {
    let given = [
        ("TopicArn", topic),
        ("Message", message),
        ("MessageAttributes.entry.1.Name", "event"),
        ("MessageAttributes.entry.1.Value.DataType", "String"),
        ("MessageAttributes.entry.1.Value.StringValue", event),
    ];
    text(&done(served, "Publish", &given).await, "MessageId")
}

fn messages(received: &[Value]) -> Vec<String> {
    let message = |one: &Value| envelope(one)["Message"].as_str().unwrap().to_owned();
    let mut all: Vec<_> = received.iter().map(message).collect();
    all.sort();
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn one_topic_reaches_three_queues_by_their_filters_while_kafka_reads_it() {
    let served = serve().await;
    let made = json!({ "name": "order.paid", "partitions": 1 });
    served.done("POST", "/v1/topics", made).await;
    let arn = topic(&served, "order.paid").await;
    let email = queue(&served, "email", json!({})).await;
    let analytics = queue(&served, "analytics", json!({})).await;
    let loyalty = queue(&served, "loyalty", json!({})).await;
    let paid = [("FilterPolicy", r#"{"event": ["paid"]}"#)];
    let large = [
        ("FilterPolicy", r#"{"total": [{"numeric": [">=", 100]}]}"#),
        ("FilterPolicyScope", "MessageBody"),
        ("RawMessageDelivery", "true"),
    ];
    subscribe(&served, &arn, "email", &paid).await;
    subscribe(&served, &arn, "analytics", &[]).await;
    subscribe(&served, &arn, "loyalty", &large).await;
    let id = publish(&served, &arn, r#"{"total": 250}"#, "paid").await;
    publish(&served, &arn, r#"{"total": 5}"#, "refunded").await;
    // A Kafka producer's record reaches the same queues, its headers as attributes.
    let record =
        json!({ "records": [{ "value": { "total": 7 }, "headers": { "event": "paid" } }] });
    served
        .done("POST", "/v1/topics/order.paid/records", record)
        .await;
    let received = receive(&served, &email, 2).await;
    assert_eq!(messages(&received), [r#"{"total": 250}"#, r#"{"total":7}"#]);
    let first = received
        .iter()
        .map(envelope)
        .find(|one| one["MessageId"] == *id);
    let first = first.expect("the id is the one that Publish answered");
    assert_eq!(first["Type"], "Notification");
    assert_eq!(first["TopicArn"], *arn);
    assert_eq!(
        first["MessageAttributes"]["event"],
        json!({"Type": "String", "Value": "paid"})
    );
    assert_eq!(receive(&served, &analytics, 3).await.len(), 3);
    let raw = receive(&served, &loyalty, 1).await;
    assert_eq!(raw[0]["Body"], r#"{"total": 250}"#);
    assert_eq!(raw[0]["MessageAttributes"]["event"]["StringValue"], "paid");
    for url in [&email, &analytics, &loyalty] {
        assert!(is_empty(&served, url).await, "{url}");
    }
    // And a Kafka consumer reads all of it, in its order.
    let path = "/v1/topics/order.paid/partitions/0/records?offset=0&max=10";
    let read = served.done("GET", path, Value::Null).await;
    let records = read["records"].as_array().unwrap();
    assert_eq!(records.len(), 3);
    assert_eq!(records[0]["headers"]["event"], "paid");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_holds_its_messages_delays_nobody_else() {
    let served = serve().await;
    let arn = topic(&served, "t").await;
    let dead = queue(&served, "dead", json!({ "VisibilityTimeout": "3600" })).await;
    let alive = queue(&served, "alive", json!({})).await;
    subscribe(&served, &arn, "dead", &[]).await;
    subscribe(&served, &arn, "alive", &[]).await;
    publish(&served, &arn, "0", "e").await;
    // Its consumer takes one and is never heard of again.
    let body = json!({ "QueueUrl": dead, "WaitTimeSeconds": 20 });
    let held = sqs(&served, "ReceiveMessage", body).await;
    assert_eq!(held["Messages"].as_array().unwrap().len(), 1);
    for number in 1..20 {
        publish(&served, &arn, &number.to_string(), "e").await;
    }
    assert_eq!(receive(&served, &alive, 20).await.len(), 20);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_that_comes_later_or_comes_again_is_served_from_then_on() {
    let served = serve().await;
    let arn = topic(&served, "t").await;
    subscribe(&served, &arn, "late", &[("RawMessageDelivery", "true")]).await;
    publish(&served, &arn, "before", "e").await;
    let url = queue(&served, "late", json!({})).await;
    publish(&served, &arn, "first", "e").await;
    assert_eq!(receive(&served, &url, 1).await[0]["Body"], "first");
    sqs(&served, "DeleteQueue", json!({ "QueueUrl": url })).await;
    publish(&served, &arn, "between", "e").await;
    let url = queue(&served, "late", json!({})).await;
    publish(&served, &arn, "second", "e").await;
    assert_eq!(receive(&served, &url, 1).await[0]["Body"], "second");
    // A receive that waits is woken by what is published.
    let waiting = receive(&served, &url, 1);
    let (received, _) = tokio::join!(timeout(SOON, waiting), publish(&served, &arn, "third", "e"));
    assert_eq!(received.unwrap()[0]["Body"], "third");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fifo_topic_keeps_the_order_and_takes_a_message_once() {
    let served = serve().await;
    let fifo = [
        ("Name", "t.fifo"),
        ("Attributes.entry.1.key", "FifoTopic"),
        ("Attributes.entry.1.value", "true"),
    ];
    let arn = text(&done(&served, "CreateTopic", &fifo).await, "TopicArn");
    let url = queue(&served, "q.fifo", json!({ "FifoQueue": "true" })).await;
    subscribe(&served, &arn, "q.fifo", &[("RawMessageDelivery", "true")]).await;
    let mut ids = Vec::new();
    for (message, id) in [("1", "a"), ("2", "b"), ("1 again", "a"), ("3", "c")] {
        let given = [
            ("TopicArn", &*arn),
            ("Message", message),
            ("MessageGroupId", "g"),
            ("MessageDeduplicationId", id),
        ];
        let published = done(&served, "Publish", &given).await;
        ids.push((
            text(&published, "MessageId"),
            text(&published, "SequenceNumber"),
        ));
    }
    assert_eq!(
        ids[0], ids[2],
        "a message that was there is answered as the first time"
    );
    assert!(ids[0].1 < ids[1].1 && ids[1].1 < ids[3].1);
    let received = receive(&served, &url, 3).await;
    let bodies: Vec<_> = received.iter().map(|one| one["Body"].clone()).collect();
    assert_eq!(bodies, ["1", "2", "3"]);
    assert_eq!(received[0]["Attributes"]["MessageGroupId"], "g");
    assert_eq!(received[0]["Attributes"]["MessageDeduplicationId"], "a");
    let without = [
        ("TopicArn", &*arn),
        ("Message", "x"),
        ("MessageGroupId", "g"),
    ];
    let (code, message) = refused(&served, "Publish", &without).await;
    assert_eq!(code, "InvalidParameter");
    assert!(message.contains("ContentBasedDeduplication"), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_has_an_outcome_for_each_message() {
    let served = serve().await;
    let arn = topic(&served, "t").await;
    let url = queue(&served, "q", json!({})).await;
    subscribe(&served, &arn, "q", &[]).await;
    let entry =
        |number: usize, name: &str| format!("PublishBatchRequestEntries.member.{number}.{name}");
    let given = [
        ("TopicArn".to_owned(), arn.clone()),
        (entry(1, "Id"), "one".to_owned()),
        (entry(1, "Message"), "first".to_owned()),
        (entry(1, "Subject"), "news".to_owned()),
        (entry(2, "Id"), "two".to_owned()),
        (entry(2, "Message"), "second".to_owned()),
        (entry(2, "Subject"), "s".repeat(101)),
        (entry(3, "Id"), "three".to_owned()),
        (
            entry(3, "Message"),
            r#"{"default": "d", "sqs": "for queues"}"#.to_owned(),
        ),
        (entry(3, "MessageStructure"), "json".to_owned()),
    ];
    let given: Vec<(&str, &str)> = given
        .iter()
        .map(|(n, v)| (n.as_str(), v.as_str()))
        .collect();
    let (status, xml) = sns(&served, "PublishBatch", &given).await;
    assert_eq!(status, 200, "{xml}");
    let (successful, failed) = xml.split_once("<Failed>").unwrap();
    assert!(
        successful.contains("<Id>one</Id>") && successful.contains("<Id>three</Id>"),
        "{xml}"
    );
    assert!(
        failed.contains("<Id>two</Id>") && failed.contains("InvalidParameter"),
        "{xml}"
    );
    let received = receive(&served, &url, 2).await;
    assert_eq!(messages(&received), ["first", "for queues"]);
    let subjects = received
        .iter()
        .filter(|one| envelope(one)["Subject"] == "news");
    assert_eq!(subjects.count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_letter_is_what_its_queue_had_received() {
    let served = serve().await;
    let arn = topic(&served, "t").await;
    let dead = queue(&served, "dead", json!({})).await;
    let policy =
        json!({ "deadLetterTargetArn": crate::client::queue_arn("dead"), "maxReceiveCount": 1 });
    let attributes = json!({ "RedrivePolicy": policy.to_string(), "VisibilityTimeout": "0" });
    let url = queue(&served, "q", attributes).await;
    subscribe(&served, &arn, "q", &[]).await;
    let id = publish(&served, &arn, "poison", "e").await;
    let body = json!({ "QueueUrl": url, "WaitTimeSeconds": 20, "VisibilityTimeout": 1 });
    let first = sqs(&served, "ReceiveMessage", body).await;
    let first = envelope(&first["Messages"][0]);
    // Its lock runs out; somebody who asks finds it gone to the other queue.
    assert!(is_empty(&served, &url).await);
    let letter = envelope(&receive(&served, &dead, 1).await[0]);
    assert_eq!(letter["MessageId"], *id);
    assert_eq!(letter, first);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_published_before_a_subscription_or_its_topic_ends_is_still_received() {
    let served = serve().await;
    let arn = topic(&served, "t").await;
    let url = queue(&served, "q", json!({})).await;
    let raw = [("RawMessageDelivery", "true")];
    let first = subscribe(&served, &arn, "q", &raw).await;
    publish(&served, &arn, "1", "e").await;
    done(&served, "Unsubscribe", &[("SubscriptionArn", &first)]).await;
    let (code, _) = refused(
        &served,
        "GetSubscriptionAttributes",
        &[("SubscriptionArn", &first)],
    )
    .await;
    assert_eq!(code, "NotFound");
    publish(&served, &arn, "2: nobody is subscribed", "e").await;
    let second = subscribe(&served, &arn, "q", &raw).await;
    assert_ne!(first, second);
    publish(&served, &arn, "3", "e").await;
    let received = receive(&served, &url, 2).await;
    let mut bodies: Vec<_> = received
        .iter()
        .map(|one| one["Body"].as_str().unwrap())
        .collect();
    bodies.sort_unstable();
    assert_eq!(bodies, ["1", "3"]);
    publish(&served, &arn, "4", "e").await;
    done(&served, "DeleteTopic", &[("TopicArn", &arn)]).await;
    let listed = done(&served, "ListTopics", &[]).await;
    assert!(!listed.contains(&arn), "{listed}");
    assert_eq!(receive(&served, &url, 1).await[0]["Body"], "4");
    // With the last message the topic goes.
    let name = TopicName::new("t").unwrap();
    let path = "/v1/topics/t/partitions/0/records?offset=4&wait=30s";
    let (status, _) = timeout(SOON, served.json("GET", path, Value::Null))
        .await
        .unwrap();
    assert_eq!(status, 404, "who waits for its next record hears of that");
    assert!(served.broker.topics().by_name(&name).is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_published_to_a_queue_that_is_not_there_is_a_dead_letter_if_it_may_be_one() {
    let served = serve().await;
    let arn = topic(&served, "t").await;
    let dead = queue(&served, "dead", json!({})).await;
    let policy = json!({ "deadLetterTargetArn": crate::client::queue_arn("dead") }).to_string();
    subscribe(&served, &arn, "gone", &[("RedrivePolicy", &policy)]).await;
    let id = publish(&served, &arn, "nowhere to go", "e").await;
    let letter = envelope(&receive(&served, &dead, 1).await[0]);
    assert_eq!(
        (&letter["Message"], &letter["MessageId"]),
        (&json!("nowhere to go"), &json!(id))
    );
    // Once the queue is there, it gets what is published.
    let url = queue(&served, "gone", json!({})).await;
    publish(&served, &arn, "somewhere to go", "e").await;
    assert_eq!(
        messages(&receive(&served, &url, 1).await),
        ["somewhere to go"]
    );
}
