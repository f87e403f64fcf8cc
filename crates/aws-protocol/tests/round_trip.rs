//! What a small client writes, in JSON and in forms, is what is read.

use std::collections::BTreeMap;

use fanlog_aws_protocol::{
    AttributeValue, Call, MessageAttribute, RequestHead, parse, percent, sns, sqs,
};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// The fields of a form in the order in which they are written.
#[derive(Default)]
struct Form(Vec<(String, String)>);

impl Form {
    fn of(action: &str, version: &str) -> Form {
        let mut form = Form::default();
        form.add("Action", action);
        form.add("Version", version);
        form
    }

    fn add(&mut self, name: &str, value: &str) {
        self.0.push((name.to_owned(), value.to_owned()));
    }

    fn add_some(&mut self, name: &str, value: Option<&String>) {
        if let Some(value) = value {
            self.add(name, value);
        }
    }

    fn encoded(&self) -> String {
        let encode = |text: &str| percent::encode(text.as_bytes(), false).replace("%20", "+");
        let pairs = self
            .0
            .iter()
            .map(|(name, value)| format!("{}={}", encode(name), encode(value)));
        pairs.collect::<Vec<_>>().join("&")
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let at = |index: usize| u32::from(group.get(index).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for digit in 0..4 {
            let index = (bits >> (18 - 6 * digit)) & 63;
            let is_padding = digit > group.len();
            text.push(if is_padding {
                '='
            } else {
                char::from(DIGITS[index as usize])
            });
        }
    }
    text
}

fn value_of(attribute: &MessageAttribute) -> (&'static str, String) {
    match &attribute.value {
        AttributeValue::Missing => ("Nothing", String::new()),
        AttributeValue::String(text) => ("StringValue", text.clone()),
        AttributeValue::Binary(bytes) => ("BinaryValue", base64(bytes)),
    }
}

fn json_attributes(attributes: &BTreeMap<String, MessageAttribute>) -> Value {
    let entries = attributes.iter().map(|(name, attribute)| {
        let (field, value) = value_of(attribute);
        (
            name.clone(),
            json!({"DataType": attribute.data_type, field: value}),
        )
    });
    Value::Object(entries.collect())
}

fn form_attributes(form: &mut Form, start: &str, attributes: &BTreeMap<String, MessageAttribute>) {
    for (number, (name, attribute)) in attributes.iter().enumerate() {
        let start = format!("{start}.{}", number + 1);
        let (field, value) = value_of(attribute);
        form.add(&format!("{start}.Name"), name);
        form.add(&format!("{start}.Value.{field}"), &value);
        form.add(&format!("{start}.Value.DataType"), &attribute.data_type);
    }
}

fn json_message(message: &sqs::OutgoingMessage) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("MessageBody".to_owned(), json!(message.body));
    object.insert("DelaySeconds".to_owned(), json!(message.delay_seconds));
    object.insert(
        "MessageAttributes".to_owned(),
        json_attributes(&message.attributes),
    );
    object.insert(
        "MessageSystemAttributes".to_owned(),
        json_attributes(&message.system_attributes),
    );
    object.insert(
        "MessageDeduplicationId".to_owned(),
        json!(message.deduplication_id),
    );
    object.insert("MessageGroupId".to_owned(), json!(message.group_id));
    object
}

fn form_message(form: &mut Form, start: &str, message: &sqs::OutgoingMessage) {
    form.add(&format!("{start}MessageBody"), &message.body);
    let delay = message.delay_seconds.map(|seconds| seconds.to_string());
    form.add_some(&format!("{start}DelaySeconds"), delay.as_ref());
    form_attributes(
        form,
        &format!("{start}MessageAttribute"),
        &message.attributes,
    );
    form_attributes(
        form,
        &format!("{start}MessageSystemAttribute"),
        &message.system_attributes,
    );
    form.add_some(
        &format!("{start}MessageDeduplicationId"),
        message.deduplication_id.as_ref(),
    );
    form.add_some(&format!("{start}MessageGroupId"), message.group_id.as_ref());
}

fn read_json(action: &str, body: &Value) -> Call {
    let target = format!("AmazonSQS.{action}");
    let headers = [("X-Amz-Target", target.as_bytes())];
    let head = RequestHead {
        method: "POST",
        path: "/",
        query: "",
        headers: &headers,
    };
    parse(&head, body.to_string().as_bytes())
        .expect("it is read")
        .call
}

fn read_form(form: &Form) -> Call {
    let head = RequestHead {
        method: "POST",
        path: "/",
        query: "",
        headers: &[],
    };
    parse(&head, form.encoded().as_bytes())
        .expect("it is read")
        .call
}

fn attribute() -> impl Strategy<Value = MessageAttribute> {
    let value = prop_oneof![
        any::<String>().prop_map(AttributeValue::String),
        vec(any::<u8>(), 0..20).prop_map(AttributeValue::Binary),
    ];
    ("[A-Z][a-z.]{0,9}", value).prop_map(|(data_type, value)| MessageAttribute { data_type, value })
}

fn attributes() -> impl Strategy<Value = BTreeMap<String, MessageAttribute>> {
    btree_map("[A-Za-z0-9_.-]{1,12}", attribute(), 0..12)
}

prop_compose! {
    fn message()(
        body in any::<String>(),
        delay_seconds in prop::option::of(-5_i64..1000),
        attributes in attributes(),
        system_attributes in btree_map("AWSTraceHeader", attribute(), 0..2),
        deduplication_id in prop::option::of(any::<String>()),
        group_id in prop::option::of("[!-~]{0,9}"),
    ) -> sqs::OutgoingMessage {
        sqs::OutgoingMessage { body, delay_seconds, attributes, system_attributes, deduplication_id, group_id }
    }
}

prop_compose! {
    fn notification()(
        message in any::<String>(),
        subject in prop::option::of(any::<String>()),
        message_structure in prop::option::of("json"),
        attributes in attributes(),
        deduplication_id in prop::option::of("[!-~]{0,9}"),
        group_id in prop::option::of("[!-~]{0,9}"),
    ) -> sns::Notification {
        sns::Notification { message, subject, message_structure, attributes, deduplication_id, group_id }
    }
}

proptest! {
    #[test]
    fn a_batch_is_read_as_it_was_written(messages in vec(message(), 1..=10), queue_url in any::<String>()) {
        let entry = |(number, message): (usize, &sqs::OutgoingMessage)| sqs::SendMessageBatchEntry {
            id: format!("id-{number}"),
            message: message.clone(),
        };
        let entries: Vec<_> = messages.iter().enumerate().map(entry).collect();
        let mut form = Form::of("SendMessageBatch", sqs::VERSION);
        form.add("QueueUrl", &queue_url);
        let mut in_json = Vec::new();
        // The last first: numbers give the order, not the place in the form.
        for (number, entry) in entries.iter().enumerate().rev() {
            let start = format!("SendMessageBatchRequestEntry.{}.", number + 1);
            form.add(&format!("{start}Id"), &entry.id);
            form_message(&mut form, &start, &entry.message);
        }
        for entry in &entries {
            let mut object = json_message(&entry.message);
            object.insert("Id".to_owned(), json!(entry.id));
            in_json.push(Value::Object(object));
        }
        let body = json!({"QueueUrl": queue_url, "Entries": in_json});
        let written = sqs::SendMessageBatch { queue_url, entries };
        let written = Call::Sqs(sqs::Request::SendMessageBatch(written));
        prop_assert_eq!(&read_form(&form), &written);
        prop_assert_eq!(&read_json("SendMessageBatch", &body), &written);
    }

    #[test]
    fn a_queue_to_be_is_read_as_it_was_written(
        queue_name in any::<String>(),
        attributes in btree_map(any::<String>(), any::<String>(), 0..9),
        tags in btree_map(any::<String>(), any::<String>(), 0..9),
    ) {
        let mut form = Form::of("CreateQueue", sqs::VERSION);
        form.add("QueueName", &queue_name);
        for (number, (name, value)) in attributes.iter().enumerate() {
            form.add(&format!("Attribute.{}.Name", number + 1), name);
            form.add(&format!("Attribute.{}.Value", number + 1), value);
        }
        for (number, (key, value)) in tags.iter().enumerate() {
            form.add(&format!("Tag.{}.Key", number + 1), key);
            form.add(&format!("Tag.{}.Value", number + 1), value);
        }
        let body = json!({"QueueName": queue_name, "Attributes": attributes, "tags": tags});
        let written = sqs::CreateQueue { queue_name, attributes, tags };
        let written = Call::Sqs(sqs::Request::CreateQueue(written));
        prop_assert_eq!(&read_form(&form), &written);
        prop_assert_eq!(&read_json("CreateQueue", &body), &written);
    }

    #[test]
    fn a_notification_is_read_as_it_was_written(notification in notification(), topic_arn in any::<String>()) {
        let mut form = Form::of("Publish", sns::VERSION);
        form.add("TopicArn", &topic_arn);
        form.add("Message", &notification.message);
        form.add_some("Subject", notification.subject.as_ref());
        form.add_some("MessageStructure", notification.message_structure.as_ref());
        form_attributes(&mut form, "MessageAttributes.entry", &notification.attributes);
        form.add_some("MessageDeduplicationId", notification.deduplication_id.as_ref());
        form.add_some("MessageGroupId", notification.group_id.as_ref());
        let written = sns::Publish { topic_arn: Some(topic_arn), notification, ..sns::Publish::default() };
        prop_assert_eq!(read_form(&form), Call::Sns(sns::Request::Publish(written)));
    }
}
