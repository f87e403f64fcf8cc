use super::super::topic::{FORMAT, attributes_of_new};
use super::*;
use std::collections::BTreeMap;

fn topic(pairs: &[(&str, &str)]) -> TopicDocument {
    let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let given: BTreeMap<String, String> = pairs.iter().map(pair).collect();
    TopicDocument {
        format: FORMAT,
        region: "us-east-1".to_owned(),
        name: "t".to_owned(),
        is_adopted: false,
        attributes: attributes_of_new(&given).unwrap(),
        tags: Vec::new(),
        created_ms: 0,
        subscriptions_deleted: 0,
        is_deleted: false,
    }
}

fn notification(message: &str) -> Notification {
    Notification {
        message: message.to_owned(),
        ..Notification::default()
    }
}

fn header<'a>(message: &'a NewMessage, name: &str) -> Option<&'a str> {
    headers::text(&message.headers, name)
}

#[test]
fn a_message_is_a_record_that_a_kafka_client_reads() {
    let mut given = notification("hello");
    given.subject = Some("news".to_owned());
    given.group_id = Some("g".to_owned());
    let message = to_publish(&topic(&[]), given).unwrap();
    assert_eq!(message.value, Some(Bytes::from_static(b"hello")));
    assert_eq!(header(&message, SUBJECT), Some("news"));
    assert_eq!(header(&message, GROUP), Some("g"));
    assert_eq!((message.key, message.message_id), (None, None));
}

#[test]
fn on_a_fifo_topic_the_group_is_the_key_and_content_may_be_the_id() {
    let content = topic(&[("FifoTopic", "true"), ("ContentBasedDeduplication", "true")]);
    let mut given = notification("hello");
    given.group_id = Some("g".to_owned());
    let message = to_publish(&content, given.clone()).unwrap();
    assert_eq!(message.key, Some(Bytes::from_static(b"g")));
    assert_eq!(
        message.message_id,
        Some(digest::content_deduplication_id("hello"))
    );
    given.deduplication_id = Some("d".to_owned());
    let message = to_publish(&content, given.clone()).unwrap();
    assert_eq!(message.message_id.as_deref(), Some("d"));
    let per_group = topic(&[
        ("FifoTopic", "true"),
        ("FifoThroughputScope", "MessageGroup"),
    ]);
    let message = to_publish(&per_group, given).unwrap();
    assert_eq!(message.message_id.as_deref(), Some("1:g:d"));
    assert_eq!(header(&message, DEDUPLICATION), Some("d"));
}

#[test]
fn a_message_may_have_a_text_for_each_protocol() {
    let mut given =
        notification(r#"{"default": "all", "sqs": "queue", "email": "mail", "http": 1}"#);
    given.message_structure = Some("json".to_owned());
    let message = to_publish(&topic(&[]), given.clone()).unwrap();
    assert_eq!(message.value, Some(Bytes::from_static(b"all")));
    assert_eq!(header(&message, "aws.message.sqs"), Some("queue"));
    assert_eq!(message.headers.len(), 1);
    let mut check = |text: &str, structure: &str, expected: &str| {
        given.message = text.to_owned();
        given.message_structure = Some(structure.to_owned());
        let error = to_publish(&topic(&[]), given.clone()).unwrap_err();
        assert_eq!(
            (error.query_code, &*error.message),
            ("InvalidParameter", expected)
        );
    };
    check("no json", "json", "Message is not valid JSON.");
    check(
        r#"{"email": "x"}"#,
        "json",
        "Message does not contain sqs or default keys.",
    );
    check("x", "xml", "MessageStructure must be 'json' if provided");
}

#[test]
fn what_a_topic_does_not_take_is_refused() {
    let mut given = notification("x");
    given.deduplication_id = Some("d".to_owned());
    let error = check(&topic(&[]), &given, false).unwrap_err();
    assert!(
        error.message.contains("not valid for this topic type"),
        "{error}"
    );
    let fifo = topic(&[("FifoTopic", "true")]);
    let error = check(&fifo, &notification("x"), false).unwrap_err();
    assert!(
        error
            .message
            .contains("must contain the parameter MessageGroupId"),
        "{error}"
    );
    assert!(
        refused_phone("NAA+1", &notification("x"))
            .message
            .contains("E164")
    );
    let long = notification(&"a".repeat(1_601));
    assert!(
        refused_phone("+15551234567", &long)
            .message
            .contains("less than 1600")
    );
    assert!(
        refused_phone("+15551234567", &notification("x"))
            .message
            .contains("no text messages")
    );
}
