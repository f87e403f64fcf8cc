//! Answers as they go over the wire. `data/answers.txt` has one per line: name, status, headers, body; botocore 1.44.8 and, for
//! SQS in XML, 1.29.165 were seen to read from each what is written here.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use fanlog_aws_protocol::{
    Answer, AttributeValue, AwsError, BatchFailure, MessageAttribute, Protocol, Reply, Service,
    Wire, sns, sqs,
};

const GOLDEN: &str = include_str!("data/answers.txt");
const ID: &str = "01234567-89ab-4cde-8f01-23456789abcd";

fn texts(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
    pairs.iter().map(owned).collect()
}

fn failure() -> BatchFailure {
    AwsError::receipt_handle_is_invalid().of_entry("c")
}

fn sent() -> sqs::SendMessageResponse {
    sqs::SendMessageResponse {
        message_id: "m".to_owned(),
        md5_of_body: "b".to_owned(),
        md5_of_attributes: Some("a".to_owned()),
        md5_of_system_attributes: Some("s".to_owned()),
        sequence_number: Some("10000000000000000007".to_owned()),
    }
}

fn message() -> sqs::Message {
    let binary = MessageAttribute {
        data_type: "Binary".to_owned(),
        value: AttributeValue::Binary(vec![0, 255]),
    };
    sqs::Message {
        message_id: "m".to_owned(),
        receipt_handle: "r".to_owned(),
        md5_of_body: "b".to_owned(),
        body: "< & > \" ' ä \u{1f980}\t\r\n".to_owned(),
        system_attributes: texts(&[("SenderId", "x"), ("SentTimestamp", "1")]),
        md5_of_attributes: Some("a".to_owned()),
        attributes: BTreeMap::from([
            ("b".to_owned(), binary),
            ("s".to_owned(), MessageAttribute::string("v")),
        ]),
    }
}

fn batch(kind: sqs::BatchKind) -> sqs::BatchResponse {
    sqs::BatchResponse {
        kind,
        successful: vec!["a".to_owned(), "b".to_owned()],
        failed: vec![failure()],
    }
}

fn of_sqs() -> Vec<sqs::Response> {
    use sqs::Response as R;
    let url = || "http://h/1/q".to_owned();
    let urls = || vec![url(), "http://h/1/p".to_owned()];
    vec![
        R::AddPermission,
        R::CancelMessageMoveTask(sqs::CancelMessageMoveTaskResponse {
            approximate_number_of_messages_moved: 7,
        }),
        R::ChangeMessageVisibility,
        R::ChangeMessageVisibilityBatch(batch(sqs::BatchKind::ChangeVisibility)),
        R::CreateQueue(sqs::CreateQueueResponse { queue_url: url() }),
        R::DeleteMessage,
        R::DeleteMessageBatch(batch(sqs::BatchKind::Delete)),
        R::DeleteQueue,
        R::GetQueueAttributes(sqs::GetQueueAttributesResponse {
            attributes: texts(&[("QueueArn", "arn"), ("Policy", "{\"a\":\"b\"}")]),
        }),
        R::GetQueueAttributes(sqs::GetQueueAttributesResponse::default()),
        R::GetQueueUrl(sqs::GetQueueUrlResponse { queue_url: url() }),
        R::ListDeadLetterSourceQueues(sqs::ListDeadLetterSourceQueuesResponse {
            queue_urls: urls(),
            next_token: Some("n".to_owned()),
        }),
        R::ListMessageMoveTasks(sqs::ListMessageMoveTasksResponse {
            results: vec![sqs::MessageMoveTask {
                task_handle: Some("h".to_owned()),
                status: "RUNNING".to_owned(),
                source_arn: "s".to_owned(),
                destination_arn: Some("d".to_owned()),
                max_number_of_messages_per_second: Some(5),
                approximate_number_of_messages_moved: 1,
                approximate_number_of_messages_to_move: Some(2),
                failure_reason: Some("f".to_owned()),
                started_timestamp_ms: 1_796_073_908_000,
            }],
        }),
        R::ListQueueTags(sqs::ListQueueTagsResponse {
            tags: texts(&[("k", "v")]),
        }),
        R::ListQueues(sqs::ListQueuesResponse {
            queue_urls: urls(),
            next_token: Some("n".to_owned()),
        }),
        R::ListQueues(sqs::ListQueuesResponse::default()),
        R::PurgeQueue,
        R::ReceiveMessage(sqs::ReceiveMessageResponse {
            messages: vec![message()],
        }),
        R::ReceiveMessage(sqs::ReceiveMessageResponse::default()),
        R::RemovePermission,
        R::SendMessage(sent()),
        R::SendMessageBatch(sqs::SendMessageBatchResponse {
            successful: vec![sqs::SendMessageBatchResultEntry {
                id: "a".to_owned(),
                sent: sent(),
            }],
            failed: vec![failure()],
        }),
        R::SetQueueAttributes,
        R::StartMessageMoveTask(sqs::StartMessageMoveTaskResponse {
            task_handle: "h".to_owned(),
        }),
        R::TagQueue,
        R::UntagQueue,
    ]
}

fn of_sns() -> Vec<sns::Response> {
    use sns::Response as R;
    let published = || sns::PublishResponse {
        message_id: "m".to_owned(),
        sequence_number: Some("1".to_owned()),
    };
    let subscriptions = || sns::ListSubscriptionsResponse {
        subscriptions: vec![sns::Subscription {
            subscription_arn: "s".to_owned(),
            owner: "o".to_owned(),
            protocol: "sqs".to_owned(),
            endpoint: "e".to_owned(),
            topic_arn: "t".to_owned(),
        }],
        next_token: Some("n".to_owned()),
    };
    vec![
        R::AddPermission,
        R::ConfirmSubscription(sns::ConfirmSubscriptionResponse {
            subscription_arn: "s".to_owned(),
        }),
        R::CreateTopic(sns::CreateTopicResponse {
            topic_arn: "t".to_owned(),
        }),
        R::DeleteTopic,
        R::GetSubscriptionAttributes(sns::GetSubscriptionAttributesResponse {
            attributes: texts(&[("Owner", "o")]),
        }),
        R::GetTopicAttributes(sns::GetTopicAttributesResponse {
            attributes: texts(&[("DisplayName", ""), ("Policy", "{\"a\":\"<b>\"}")]),
        }),
        R::ListSubscriptions(subscriptions()),
        R::ListSubscriptionsByTopic(subscriptions()),
        R::ListTagsForResource(sns::ListTagsForResourceResponse {
            tags: vec![("k".to_owned(), "v".to_owned())],
        }),
        R::ListTopics(sns::ListTopicsResponse {
            topic_arns: vec!["t".to_owned(), "u".to_owned()],
            next_token: Some("n".to_owned()),
        }),
        R::ListTopics(sns::ListTopicsResponse::default()),
        R::Publish(published()),
        R::PublishBatch(sns::PublishBatchResponse {
            successful: vec![sns::PublishBatchResultEntry {
                id: "a".to_owned(),
                published: published(),
            }],
            failed: vec![failure()],
        }),
        R::RemovePermission,
        R::SetSubscriptionAttributes,
        R::SetTopicAttributes,
        R::Subscribe(sns::SubscribeResponse {
            subscription_arn: "pending confirmation".to_owned(),
        }),
        R::TagResource,
        R::Unsubscribe,
        R::UntagResource,
    ]
}

const JSON: Wire = Wire {
    service: Service::Sqs,
    protocol: Protocol::Json,
};
const SQS_XML: Wire = Wire {
    service: Service::Sqs,
    protocol: Protocol::Query,
};
const SNS_XML: Wire = Wire {
    service: Service::Sns,
    protocol: Protocol::Query,
};

fn add(text: &mut String, name: &str, answer: &Answer) {
    let headers: Vec<String> = answer
        .headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    let body = std::str::from_utf8(&answer.body).expect("text");
    // The declaration of XML has a line of its own; nothing else may break the line.
    let body = body
        .replace("?>\n", "?>")
        .replace('\n', "&#xA;")
        .replace('\r', "<CR>");
    let _ = writeln!(
        text,
        "{name}\t{}\t{}\t{body}",
        answer.status,
        headers.join(" | ")
    );
}

fn all() -> String {
    let mut text = String::new();
    for (wire, protocol) in [(JSON, "sqs-json"), (SQS_XML, "sqs-query")] {
        for response in of_sqs() {
            let name = format!("{protocol} {}", response.action());
            add(&mut text, &name, &wire.answer(Ok(Reply::Sqs(response)), ID));
        }
    }
    for response in of_sns() {
        let name = format!("sns-query {}", response.action());
        add(
            &mut text,
            &name,
            &SNS_XML.answer(Ok(Reply::Sns(response)), ID),
        );
    }
    let errors = [
        (JSON, "sqs-json", AwsError::queue_does_not_exist()),
        (JSON, "sqs-json", AwsError::unknown_operation()),
        (JSON, "sqs-json", AwsError::missing_parameter("MessageBody")),
        (SQS_XML, "sqs-query", AwsError::queue_does_not_exist()),
        (SNS_XML, "sns-query", AwsError::topic_does_not_exist()),
        (SNS_XML, "sns-query", AwsError::internal_error("a < b")),
    ];
    for (wire, protocol, error) in errors {
        add(
            &mut text,
            &format!("{protocol} error"),
            &wire.failure(&error, ID),
        );
    }
    text
}

#[test]
fn answers_are_those_that_botocore_was_seen_to_read() {
    let now = all();
    if now == GOLDEN {
        return;
    }
    let path = format!("{}/answers.txt", env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(&path, &now).expect("a folder for tests");
    let lines = now
        .lines()
        .zip(GOLDEN.lines().chain(std::iter::repeat("nothing")));
    let different = lines
        .filter(|(new, old)| new != old)
        .map(|(new, old)| format!("{new}\n  was {old}"));
    let different: Vec<String> = different.collect();
    panic!(
        "answers changed; if SDKs still read them, copy {path} over tests/data/answers.txt:\n{}",
        different.join("\n")
    );
}

#[test]
fn every_action_has_an_answer_in_the_golden_file() {
    for action in sqs::ACTIONS {
        for protocol in ["sqs-json", "sqs-query"] {
            assert!(
                GOLDEN.contains(&format!("{protocol} {action}\t")),
                "{protocol} {action}"
            );
        }
    }
    for action in sns::ACTIONS {
        assert!(
            GOLDEN.contains(&format!("sns-query {action}\t")),
            "{action}"
        );
    }
}

#[test]
fn what_xml_cannot_hold_is_replaced_and_json_carries_it() {
    let with = |wire: Wire| {
        let messages = vec![sqs::Message {
            body: "a\0b".to_owned(),
            ..sqs::Message::default()
        }];
        let response = sqs::Response::ReceiveMessage(sqs::ReceiveMessageResponse { messages });
        String::from_utf8(wire.answer(Ok(Reply::Sqs(response)), ID).body).expect("text")
    };
    assert!(with(JSON).contains("\"a\\u0000b\""));
    assert!(with(SQS_XML).contains("<Body>a\u{fffd}b</Body>"));
}
