//! Queues: made, found, changed, listed and deleted; and all of it still so after a restart.

use crate::client::Sqs;
use crate::support::ask;
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_made_again_with_the_same_attributes_is_the_same_queue() {
    let sqs = Sqs::start().await;
    let mail = sqs
        .create("mail", json!({ "VisibilityTimeout": "10" }))
        .await;
    assert!(mail.url.ends_with("/000000000000/mail"), "{}", mail.url);
    let again = sqs
        .create("mail", json!({ "VisibilityTimeout": "10" }))
        .await;
    assert_eq!(mail.url, again.url);
    let other = json!({ "QueueName": "mail", "Attributes": { "VisibilityTimeout": "60" } });
    let (code, message) = sqs.refused("CreateQueue", other).await;
    assert_eq!(code, "QueueAlreadyExists");
    assert!(message.contains("VisibilityTimeout"), "{message}");
    let unknown = sqs
        .refused("GetQueueUrl", json!({ "QueueName": "none" }))
        .await;
    assert_eq!(unknown.0, "AWS.SimpleQueueService.NonExistentQueue");
    let wrong = json!({ "QueueName": "a/b" });
    assert_eq!(
        sqs.refused("CreateQueue", wrong).await.0,
        "InvalidParameterValue"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn attributes_have_defaults_and_can_be_changed_and_taken_back() {
    let sqs = Sqs::start().await;
    let mail = sqs.create("mail", json!({})).await;
    let attributes = mail.attributes().await;
    for (name, value) in [
        ("ApproximateNumberOfMessages", "0"),
        ("DelaySeconds", "0"),
        ("MaximumMessageSize", "1048576"),
        ("MessageRetentionPeriod", "345600"),
        ("QueueArn", "arn:aws:sqs:us-east-1:000000000000:mail"),
        ("ReceiveMessageWaitTimeSeconds", "0"),
        ("VisibilityTimeout", "30"),
    ] {
        assert_eq!(attributes[name], value, "{name}");
    }
    assert_eq!(attributes["Policy"], Value::Null);
    let set = json!({ "Attributes": { "VisibilityTimeout": "45", "Policy": "{\"a\":1}" } });
    mail.done("SetQueueAttributes", set).await;
    let attributes = mail.attributes().await;
    assert_eq!(attributes["VisibilityTimeout"], "45");
    assert_eq!(attributes["Policy"], "{\"a\":1}");
    mail.done(
        "SetQueueAttributes",
        json!({ "Attributes": { "Policy": "" } }),
    )
    .await;
    assert_eq!(mail.attributes().await["Policy"], Value::Null);
    // What is refused has changed nothing.
    let late = json!({ "Attributes": { "DelaySeconds": "900", "MessageRetentionPeriod": "60" } });
    let (code, _) = mail.refused("SetQueueAttributes", late).await;
    assert_eq!(code, "InvalidParameterValue");
    let attributes = mail.attributes().await;
    assert_eq!(
        (
            &attributes["DelaySeconds"],
            &attributes["MessageRetentionPeriod"]
        ),
        (&json!("0"), &json!("345600"))
    );
    let unknown = json!({ "AttributeNames": ["QueueArn", "nonsense"] });
    let (code, message) = mail.refused("GetQueueAttributes", unknown).await;
    assert_eq!(
        (code.as_str(), message.as_str()),
        ("InvalidAttributeName", "Unknown Attribute nonsense.")
    );
    let nothing = mail.done("GetQueueAttributes", json!({})).await;
    assert_eq!(nothing, json!({}));
}

#[tokio::test(flavor = "multi_thread")]
async fn queues_are_listed_by_prefix_and_in_pages() {
    let sqs = Sqs::start().await;
    for name in ["b", "a-1", "a-2", "a-3"] {
        sqs.create(name, json!({})).await;
    }
    let names = |answer: &Value| -> Vec<String> {
        let urls = answer["QueueUrls"].as_array().cloned().unwrap_or_default();
        let name = |url: &Value| url.as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        urls.iter().map(name).collect()
    };
    let all = sqs.done("ListQueues", json!({})).await;
    assert_eq!(names(&all), ["a-1", "a-2", "a-3", "b"]);
    let first = json!({ "QueueNamePrefix": "a", "MaxResults": 2 });
    let first = sqs.done("ListQueues", first).await;
    assert_eq!(names(&first), ["a-1", "a-2"]);
    let second =
        json!({ "QueueNamePrefix": "a", "MaxResults": 2, "NextToken": first["NextToken"] });
    let second = sqs.done("ListQueues", second).await;
    assert_eq!(names(&second), ["a-3"]);
    assert_eq!(second["NextToken"], Value::Null);
    let none = sqs
        .done("ListQueues", json!({ "QueueNamePrefix": "z" }))
        .await;
    assert_eq!(none, json!({}));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_queue_is_gone_at_once_and_a_new_one_of_its_name_is_empty() {
    let sqs = Sqs::start().await;
    let mail = sqs
        .create("mail", json!({ "VisibilityTimeout": "0" }))
        .await;
    mail.send("old").await;
    let receipt = mail.receive_one().await;
    mail.done("DeleteQueue", json!({})).await;
    let gone = "AWS.SimpleQueueService.NonExistentQueue";
    let send = json!({ "MessageBody": "x" });
    assert_eq!(mail.refused("SendMessage", send).await.0, gone);
    assert_eq!(mail.refused("ReceiveMessage", json!({})).await.0, gone);
    assert_eq!(mail.refused("DeleteQueue", json!({})).await.0, gone);
    assert_eq!(sqs.done("ListQueues", json!({})).await, json!({}));
    let topics = sqs.served.broker.topics();
    assert!(topics.iter().all(|topic| topic.is_internal));
    let mail = sqs.create("mail", json!({})).await;
    assert_eq!(mail.bodies().await, Vec::<String>::new());
    let old = json!({ "ReceiptHandle": receipt["ReceiptHandle"] });
    assert_eq!(
        mail.refused("DeleteMessage", old).await.0,
        "ReceiptHandleIsInvalid"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn queues_attributes_tags_permissions_and_messages_survive_a_restart() {
    let sqs = Sqs::start().await;
    let attributes = json!({ "VisibilityTimeout": "7", "DelaySeconds": "0" });
    let fields = json!({ "QueueName": "mail", "Attributes": attributes, "tags": { "a": "1" } });
    sqs.done("CreateQueue", fields).await;
    let mail = sqs.found("mail").await;
    mail.done("TagQueue", json!({ "Tags": { "b": "2" } })).await;
    mail.done("UntagQueue", json!({ "TagKeys": ["a", "none"] }))
        .await;
    let permission = json!({
        "Label": "l", "AWSAccountIds": ["111111111111"], "Actions": ["SendMessage"],
    });
    mail.done("AddPermission", permission.clone()).await;
    mail.send("kept").await;
    let before = mail.attributes().await;
    let sqs = sqs.restarted().await;
    let mail = sqs.found("mail").await;
    assert_eq!(mail.attributes().await, before);
    let tags = mail.done("ListQueueTags", json!({})).await;
    assert_eq!(tags["Tags"], json!({ "b": "2" }));
    assert_eq!(mail.receive_one().await["Body"], "kept");
    let (code, message) = mail.refused("AddPermission", permission).await;
    assert_eq!(code, "InvalidParameterValue");
    assert!(message.contains("Already exists"), "{message}");
    mail.done("RemovePermission", json!({ "Label": "l" })).await;
    let policy: Value =
        serde_json::from_str(mail.attributes().await["Policy"].as_str().unwrap()).unwrap();
    assert_eq!(policy["Statement"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn names_have_dots_unless_they_are_to_be_strict_and_accounts_are_as_set() {
    let sqs = Sqs::start().await;
    sqs.create("orders.mail", json!({})).await;
    let settings = [
        ("aws.strict-names", "true"),
        ("aws.account", "123456789012"),
    ];
    let sqs = Sqs::start_with(&settings).await;
    let dotted = json!({ "QueueName": "orders.mail" });
    assert_eq!(
        sqs.refused("CreateQueue", dotted).await.0,
        "InvalidParameterValue"
    );
    let mail = sqs.create("mail", json!({})).await;
    assert!(mail.url.ends_with("/123456789012/mail"), "{}", mail.url);
    assert_eq!(mail.arn().await, "arn:aws:sqs:us-east-1:123456789012:mail");
    let other = sqs.queue(&mail.url.replace("123456789012", "000000000000"));
    let (code, _) = other.refused("ReceiveMessage", json!({})).await;
    assert_eq!(code, "AWS.SimpleQueueService.NonExistentQueue");
    let by_name = sqs.queue("mail");
    by_name.send("by its name alone").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn older_sdks_ask_by_forms_and_are_answered_in_xml() {
    let sqs = Sqs::start().await;
    let mail = sqs.create("mail", json!({})).await;
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let path = mail
        .url
        .split_once("//")
        .unwrap()
        .1
        .split_once('/')
        .unwrap()
        .1;
    let path = format!("/{path}");
    let send = b"Action=SendMessage&Version=2012-11-05&MessageBody=a%20%26%20b";
    let address = sqs.served.address;
    let (status, _, body) = ask(address, "POST", &path, &form, send).await;
    assert_eq!(status, 200, "{body}");
    assert!(
        body.contains("<SendMessageResult><MessageId>") || body.contains("<MD5OfMessageBody>"),
        "{body}"
    );
    let get = format!("{path}?Action=ReceiveMessage&Version=2012-11-05&AttributeName.1=All");
    let (status, _, body) = ask(address, "GET", &get, &[], b"").await;
    assert_eq!(status, 200, "{body}");
    assert!(body.contains("<Body>a &amp; b</Body>"), "{body}");
    let (status, _, body) = ask(
        address,
        "POST",
        "/",
        &form,
        b"Action=GetQueueUrl&QueueName=none",
    )
    .await;
    assert_eq!(status, 400);
    assert!(
        body.contains("<Code>AWS.SimpleQueueService.NonExistentQueue</Code>"),
        "{body}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_other_sites_and_unknown_hosts_are_refused_and_so_is_who_has_no_key() {
    let sqs = Sqs::start().await;
    let list = [
        ("x-amz-target", "AmazonSQS.ListQueues"),
        ("origin", "https://evil.example"),
    ];
    let (status, _, body) = ask(sqs.served.address, "POST", "/", &list, b"{}").await;
    assert_eq!(status, 403, "{body}");
    let list = [
        ("x-amz-target", "AmazonSQS.ListQueues"),
        ("host", "evil.example"),
    ];
    let (status, _, _) = ask(sqs.served.address, "POST", "/", &list, b"{}").await;
    assert_eq!(status, 403);
    let sqs = Sqs::start_with(&[("aws.credentials", "key:secret")]).await;
    let (status, _, body) = sqs.ask("ListQueues", json!({})).await;
    assert_eq!(status, 403, "{body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_a_queue_of_the_broker_has_is_not_taken_over() {
    let sqs = Sqs::start().await;
    let served = &sqs.served;
    served
        .done("POST", "/v1/topics", json!({ "name": "orders" }))
        .await;
    let queue = json!({ "name": "mail", "topic": "orders" });
    served.done("POST", "/v1/queues", queue).await;
    let (code, message) = sqs
        .refused("CreateQueue", json!({ "QueueName": "mail" }))
        .await;
    assert_eq!(code, "QueueAlreadyExists");
    assert!(message.contains("orders"), "{message}");
    let described = served.done("GET", "/v1/queues/mail", Value::Null).await;
    assert_eq!(described["topic"], "orders");
}
