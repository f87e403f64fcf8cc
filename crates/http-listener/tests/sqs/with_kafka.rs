//! The same messages seen from the broker's side: a queue of SQS is a topic and a queue like any other.

use crate::client::Sqs;
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn what_is_published_to_its_topic_reaches_the_queue_and_the_other_way_round() {
    let sqs = Sqs::start().await;
    let mail = sqs.create("mail", json!({})).await;
    let served = &sqs.served;
    let record = json!({ "records": [{ "value": "from kafka", "headers": { "kind": "paid" } }] });
    served
        .done("POST", "/v1/topics/sqs.mail/records", record)
        .await;
    let message = mail.receive_one().await;
    assert_eq!(message["Body"], "from kafka");
    let kind = json!({ "kind": { "StringValue": "paid", "DataType": "String" } });
    assert_eq!(message["MessageAttributes"], kind);
    let attributes = json!({ "n": { "StringValue": "7", "DataType": "Number" } });
    let sent = json!({ "MessageBody": "from sqs", "MessageAttributes": attributes });
    mail.done("SendMessage", sent).await;
    let path = "/v1/topics/sqs.mail/partitions/0/records?offset=1";
    let read = served.done("GET", path, Value::Null).await;
    let record = &read["records"][0];
    assert_eq!(record["value"], "from sqs");
    assert_eq!(record["headers"]["n"], "7");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_value_that_is_no_text_comes_in_base64_and_says_so() {
    let sqs = Sqs::start().await;
    let mail = sqs.create("mail", json!({})).await;
    let record = json!({ "records": [{ "value_base64": "AP8=" }] });
    sqs.served
        .done("POST", "/v1/topics/sqs.mail/records", record)
        .await;
    let message = mail.receive_one().await;
    assert_eq!(message["Body"], "AP8=");
    assert_eq!(
        message["MessageAttributes"]["fanlog.encoding"]["StringValue"],
        "base64"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_queue_is_shown_like_any_other_with_what_holds_it_up() {
    let sqs = Sqs::start().await;
    let attributes = json!({ "VisibilityTimeout": "90", "DelaySeconds": "5" });
    let mail = sqs.create("mail", attributes).await;
    let at_once = json!({ "MessageBody": "m", "DelaySeconds": 0 });
    mail.done("SendMessage", at_once).await;
    mail.receive_one().await;
    let described = sqs.served.done("GET", "/v1/queues/mail", Value::Null).await;
    assert_eq!(described["topic"], "sqs.mail");
    assert_eq!(described["settings"]["lock"], "90s");
    assert_eq!(described["settings"]["delay"], "5s");
    assert_eq!(described["settings"]["max-attempts"], "0");
    assert_eq!(described["settings"]["backoff"], "none");
    assert_eq!(described["dead_letter"], Value::Null);
    let status = sqs
        .served
        .done("GET", "/v1/queues/mail/status", Value::Null)
        .await;
    assert_eq!(status["in_flight_records"], 1);
    assert_eq!(status["in_flight"][0]["consumer"], "000000000000");
}
