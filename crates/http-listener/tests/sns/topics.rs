//! Topics, their attributes, tags and permissions; subscriptions as they are listed.

use crate::client::{attribute, done, queue_arn, refused, subscribe, subscribe_to, text, texts};
use crate::support::serve;
use fanlog_model::TopicName;
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn topics_are_made_listed_and_deleted() {
    let served = serve().await;
    let made = done(&served, "CreateTopic", &[("Name", "orders")]).await;
    let arn = text(&made, "TopicArn");
    assert_eq!(arn, "arn:aws:sns:us-east-1:000000000000:orders");
    assert!(
        served
            .broker
            .topics()
            .by_name(&TopicName::new("orders").unwrap())
            .is_some()
    );
    // The longest name that SNS takes is longer than a topic's may be.
    let long = "a".repeat(256);
    done(&served, "CreateTopic", &[("Name", &long)]).await;
    let listed = texts(&done(&served, "ListTopics", &[]).await, "TopicArn");
    assert_eq!(listed.len(), 2);
    let (code, message) = refused(&served, "CreateTopic", &[("Name", "no spaces")]).await;
    assert_eq!(code, "InvalidParameter");
    assert!(
        message.starts_with("Topic names must be made up of"),
        "{message}"
    );
    done(&served, "DeleteTopic", &[("TopicArn", &arn)]).await;
    done(&served, "DeleteTopic", &[("TopicArn", &arn)]).await;
    let (code, message) = refused(&served, "GetTopicAttributes", &[("TopicArn", &arn)]).await;
    assert_eq!((&*code, &*message), ("NotFound", "Topic does not exist"));
    assert!(
        served
            .broker
            .topics()
            .by_name(&TopicName::new("orders").unwrap())
            .is_none()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn attributes_tags_and_permissions_are_kept() {
    let served = serve().await;
    let tagged = [
        ("Name", "t"),
        ("Tags.member.1.Key", "k"),
        ("Tags.member.1.Value", "v"),
    ];
    let arn = text(&done(&served, "CreateTopic", &tagged).await, "TopicArn");
    let topic = ("TopicArn", arn.as_str());
    let set = [
        topic,
        ("AttributeName", "DisplayName"),
        ("AttributeValue", "Orders"),
    ];
    done(&served, "SetTopicAttributes", &set).await;
    // What is made again is the same.
    done(&served, "CreateTopic", &[("Name", "t")]).await;
    let shown = done(&served, "GetTopicAttributes", &[topic]).await;
    assert_eq!(attribute(&shown, "DisplayName").as_deref(), Some("Orders"));
    assert_eq!(attribute(&shown, "Owner").as_deref(), Some("000000000000"));
    let permission = [
        topic,
        ("Label", "p"),
        ("AWSAccountId.member.1", "999999999999"),
        ("ActionName.member.1", "Publish"),
    ];
    done(&served, "AddPermission", &permission).await;
    let (_, message) = refused(&served, "AddPermission", &permission).await;
    assert_eq!(message, "Statement already exists");
    let shown = done(&served, "GetTopicAttributes", &[topic]).await;
    let policy: Value = serde_json::from_str(&attribute(&shown, "Policy").unwrap()).unwrap();
    let expected = json!({
        "Sid": "p", "Effect": "Allow", "Principal": {"AWS": "arn:aws:iam::999999999999:root"},
        "Action": "SNS:Publish", "Resource": arn,
    });
    assert_eq!(policy["Statement"][1], expected);
    done(&served, "RemovePermission", &[topic, ("Label", "p")]).await;
    let resource = ("ResourceArn", arn.as_str());
    let more = [
        resource,
        ("Tags.member.1.Key", "k2"),
        ("Tags.member.1.Value", "v2"),
    ];
    done(&served, "TagResource", &more).await;
    done(
        &served,
        "UntagResource",
        &[resource, ("TagKeys.member.1", "k")],
    )
    .await;
    let tags = done(&served, "ListTagsForResource", &[resource]).await;
    assert_eq!(texts(&tags, "Key"), ["k2"]);
    let (code, _) = refused(&served, "ListTagsForResource", &[("ResourceArn", "x")]).await;
    assert_eq!(code, "ResourceNotFound");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_topic_of_kafka_is_adopted_and_stays() {
    let served = serve().await;
    let topic = json!({ "name": "order.paid", "partitions": 2 });
    served.done("POST", "/v1/topics", topic).await;
    let arn = text(
        &done(&served, "CreateTopic", &[("Name", "order.paid")]).await,
        "TopicArn",
    );
    let described = served
        .done("GET", "/v1/topics/order.paid", Value::Null)
        .await;
    assert_eq!(described["partitions"].as_array().unwrap().len(), 2);
    done(&served, "DeleteTopic", &[("TopicArn", &arn)]).await;
    served
        .done("GET", "/v1/topics/order.paid", Value::Null)
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn subscriptions_are_listed_and_have_attributes() {
    let served = serve().await;
    let arn = text(
        &done(&served, "CreateTopic", &[("Name", "t")]).await,
        "TopicArn",
    );
    // The queue is not there, and need not be.
    let subscription = subscribe(&served, &arn, "later", &[]).await;
    assert_eq!(subscribe(&served, &arn, "later", &[]).await, subscription);
    let listed = done(&served, "ListSubscriptionsByTopic", &[("TopicArn", &arn)]).await;
    assert_eq!(texts(&listed, "Endpoint"), [queue_arn("later")]);
    assert_eq!(texts(&listed, "SubscriptionArn"), [subscription.as_str()]);
    let of = ("SubscriptionArn", subscription.as_str());
    let policy = r#"{"shop": ["north"]}"#;
    let set = [
        of,
        ("AttributeName", "FilterPolicy"),
        ("AttributeValue", policy),
    ];
    done(&served, "SetSubscriptionAttributes", &set).await;
    let shown = done(&served, "GetSubscriptionAttributes", &[of]).await;
    assert_eq!(attribute(&shown, "FilterPolicy").as_deref(), Some(policy));
    assert_eq!(
        attribute(&shown, "PendingConfirmation").as_deref(),
        Some("false")
    );
    // What AWS delivers to and we do not says so, or is refused.
    let mail = subscribe_to(&served, &arn, "email", "a@example.com", &[]).await;
    let shown = done(
        &served,
        "GetSubscriptionAttributes",
        &[("SubscriptionArn", &mail)],
    )
    .await;
    assert!(
        attribute(&shown, "FanlogDelivery")
            .unwrap()
            .starts_with("none")
    );
    let lambda = [
        ("TopicArn", &*arn),
        ("Protocol", "lambda"),
        ("Endpoint", "arn:aws:lambda:x"),
    ];
    let (code, message) = refused(&served, "Subscribe", &lambda).await;
    assert_eq!(code, "InvalidParameter");
    assert!(message.contains("does not deliver to lambda"), "{message}");
    let nowhere = [
        ("TopicArn", &*arn),
        ("Protocol", "http"),
        ("Endpoint", "http://10.0.0.1/"),
    ];
    let (code, message) = refused(&served, "Subscribe", &nowhere).await;
    assert_eq!(code, "AuthorizationError");
    assert!(message.contains("aws.sns.endpoints"), "{message}");
    done(&served, "Unsubscribe", &[of]).await;
    done(&served, "Unsubscribe", &[of]).await;
    let shown = done(&served, "GetTopicAttributes", &[("TopicArn", &arn)]).await;
    assert_eq!(
        attribute(&shown, "SubscriptionsDeleted").as_deref(),
        Some("1")
    );
    assert_eq!(
        attribute(&shown, "SubscriptionsPending").as_deref(),
        Some("1")
    );
}
