//! Requests as botocore writes them, in both protocols; `data/botocore-requests.txt` has a line per request: protocol, action,
//! body (SQS in forms by botocore 1.29.165, the rest by 1.44.8).

use std::collections::BTreeMap;

use fanlog_aws_protocol::{
    AttributeValue, Call, MessageAttribute, Parsed, Protocol, Refused, RequestHead, Service, parse,
    sns, sqs,
};

const REQUESTS: &str = include_str!("data/botocore-requests.txt");

fn json(action: &str, body: &str) -> Result<Parsed, Refused> {
    let target = format!("AmazonSQS.{action}");
    let headers = [("X-Amz-Target", target.as_bytes())];
    let head = RequestHead {
        method: "POST",
        path: "/",
        query: "",
        headers: &headers,
    };
    parse(&head, body.as_bytes())
}

fn form_at(path: &str, query: &str, body: &str) -> Result<Parsed, Refused> {
    let head = RequestHead {
        method: "POST",
        path,
        query,
        headers: &[],
    };
    parse(&head, body.as_bytes())
}

fn form(body: &str) -> Result<Parsed, Refused> {
    form_at("/", "", body)
}

fn lines(protocol: &str) -> Vec<(&'static str, &'static str)> {
    let parts = REQUESTS.lines().map(|line| {
        let mut parts = line.splitn(3, '\t');
        let mut next = move || parts.next().expect("three parts");
        (next(), next(), next())
    });
    parts
        .filter(|(given, ..)| *given == protocol)
        .map(|(_, action, body)| (action, body))
        .collect()
}

#[test]
fn every_action_of_sqs_reads_the_same_from_json_and_from_a_form() {
    let (in_json, in_forms) = (lines("sqs-json"), lines("sqs-query"));
    assert_eq!(in_json.len(), in_forms.len());
    let mut seen = Vec::new();
    for ((action, as_json), (same_action, as_form)) in in_json.into_iter().zip(in_forms) {
        assert_eq!(action, same_action);
        let of_json =
            json(action, as_json).unwrap_or_else(|refused| panic!("{action}: {refused:?}"));
        let of_form = form(as_form).unwrap_or_else(|refused| panic!("{action}: {refused:?}"));
        assert_eq!(of_json.call, of_form.call);
        assert_eq!(of_json.call.action(), action);
        assert_eq!(of_json.wire.protocol, Protocol::Json);
        assert_eq!(of_form.wire.protocol, Protocol::Query);
        seen.push(action);
    }
    seen.dedup();
    assert_eq!(seen, sqs::ACTIONS);
}

#[test]
fn every_action_of_sns_is_read() {
    let mut seen = Vec::new();
    for (action, body) in lines("sns-query") {
        let parsed = form(body).unwrap_or_else(|refused| panic!("{action}: {refused:?}"));
        assert_eq!(parsed.wire.service, Service::Sns, "{action}");
        assert_eq!(parsed.call.action(), action);
        seen.push(action);
    }
    assert_eq!(seen, sns::ACTIONS);
}

fn one(protocol: &str, action: &str) -> Call {
    let mut found = lines(protocol)
        .into_iter()
        .filter(|(given, _)| *given == action);
    let (_, body) = found.next().expect("the action is there");
    let parsed = match protocol {
        "sqs-json" => json(action, body),
        _ => form(body),
    };
    parsed.expect("it is read").call
}

#[test]
fn a_message_comes_in_with_everything_that_it_has() {
    let Call::Sqs(sqs::Request::SendMessage(read)) = one("sqs-json", "SendMessage") else {
        panic!("another action");
    };
    let attribute = |data_type: &str, value| MessageAttribute {
        data_type: data_type.to_owned(),
        value,
    };
    let text = |value: &str| AttributeValue::String(value.to_owned());
    let expected = sqs::SendMessage {
        queue_url: "http://h/1/q".to_owned(),
        message: sqs::OutgoingMessage {
            body: "a < & > \" ' ä \u{1f980}\t\n\r".to_owned(),
            delay_seconds: Some(3),
            attributes: BTreeMap::from([
                ("s".to_owned(), attribute("String", text("v"))),
                ("n".to_owned(), attribute("Number.x", text("1"))),
                (
                    "b".to_owned(),
                    attribute("Binary", AttributeValue::Binary(vec![0, 255, 16])),
                ),
            ]),
            system_attributes: BTreeMap::from([(
                "AWSTraceHeader".to_owned(),
                MessageAttribute::string("Root=1"),
            )]),
            deduplication_id: Some("d".to_owned()),
            group_id: Some("g".to_owned()),
        },
    };
    assert_eq!(read, expected);
}

#[test]
fn a_notification_comes_in_with_everything_that_it_has() {
    let Call::Sns(sns::Request::Publish(read)) = one("sns-query", "Publish") else {
        panic!("another action");
    };
    assert_eq!(read.topic_arn.as_deref(), Some("arn:aws:sns:us-east-1:1:t"));
    let notification = read.notification;
    assert_eq!(notification.message, "m ä\n");
    assert_eq!(notification.subject.as_deref(), Some("s"));
    assert_eq!(notification.message_structure.as_deref(), Some("json"));
    assert_eq!(notification.attributes["s"].data_type, "String.Array");
    assert_eq!(
        notification.attributes["b"].value,
        AttributeValue::Binary(vec![0, 255])
    );
    assert_eq!(notification.group_id.as_deref(), Some("g"));
    let Call::Sns(sns::Request::CreateTopic(topic)) = one("sns-query", "CreateTopic") else {
        panic!("another action");
    };
    let tags = [
        ("k".to_owned(), "v".to_owned()),
        ("a".to_owned(), String::new()),
    ];
    assert_eq!(topic.tags, tags);
    assert_eq!(topic.attributes["DisplayName"], "d & e");
}

#[test]
fn a_form_at_a_queues_path_is_about_that_queue() {
    let query = "Action=SendMessage&MessageBody=a+b&Attribute.1.Name=x&Attribute.1.Value=y";
    let parsed = form_at("/123/testqueue", query, "").expect("read");
    let Call::Sqs(sqs::Request::SendMessage(read)) = parsed.call else {
        panic!("another action");
    };
    assert_eq!(
        (read.queue_url.as_str(), read.message.body.as_str()),
        ("/123/testqueue", "a b")
    );
    let elsewhere = "Action=PurgeQueue&QueueUrl=http%3A%2F%2Fh%2F1%2Fother";
    let Call::Sqs(sqs::Request::PurgeQueue(read)) =
        form_at("/123/testqueue", "", elsewhere).expect("read").call
    else {
        panic!("another action");
    };
    assert_eq!(read.queue_url, "http://h/1/other");
}

fn code(refused: Result<Parsed, Refused>) -> &'static str {
    let refused = refused.expect_err("refused");
    match refused.wire.protocol {
        Protocol::Json => refused.error.shape(),
        Protocol::Query => refused.error.query_code,
    }
}

#[test]
fn what_is_wrong_is_said_in_the_services_words() {
    assert_eq!(code(json("Nothing", "{}")), "UnknownOperationException");
    assert_eq!(
        code(form("Action=Nothing&Version=2012-11-05")),
        "InvalidAction"
    );
    assert_eq!(code(form("Version=2012-11-05")), "MissingAction");
    assert_eq!(
        code(form("Action=CreatePlatformApplication&Version=2010-03-31")),
        "InvalidAction"
    );
    assert_eq!(code(json("SendMessage", "{")), "SerializationException");
    assert_eq!(code(json("SendMessage", "[]")), "SerializationException");
    let number = "{\"QueueUrl\":\"q\",\"MessageBody\":1}";
    assert_eq!(code(json("SendMessage", number)), "SerializationException");
    assert_eq!(
        code(json("SendMessage", "{}")),
        "MissingRequiredParameterException"
    );
    assert_eq!(code(form("Action=SendMessage")), "MissingParameter");
    assert_eq!(
        code(form("Action=SendMessage&MessageBody=%zz")),
        "MalformedQueryString"
    );
    assert_eq!(
        code(form(
            "Action=ReceiveMessage&QueueUrl=q&MaxNumberOfMessages=x"
        )),
        "InvalidParameterValue"
    );
    assert_eq!(
        code(form("Action=Subscribe&Version=2010-03-31")),
        "InvalidParameter"
    );
    assert_eq!(code(form("Action=Publish&Message=m")), "InvalidParameter");
    let signed_badly = [("Authorization", b"x".as_slice())];
    let head = RequestHead {
        method: "POST",
        path: "/",
        query: "",
        headers: &signed_badly,
    };
    assert_eq!(
        code(parse(&head, b"Action=ListQueues")),
        "IncompleteSignature"
    );
}

#[test]
fn two_services_share_names_and_the_version_tells() {
    let sqs = "Action=RemovePermission&Version=2012-11-05&QueueUrl=q&Label=l";
    assert_eq!(form(sqs).expect("read").wire.service, Service::Sqs);
    let sns = "Action=RemovePermission&TopicArn=arn%3Aaws%3Asns%3Ar%3Aa%3At&Label=l";
    assert_eq!(form(sns).expect("read").wire.service, Service::Sns);
    let bare = "Action=RemovePermission&QueueUrl=q&Label=l";
    assert_eq!(form(bare).expect("read").wire.service, Service::Sqs);
}

#[test]
fn batches_and_bounds_are_checked_before_anything_is_done() {
    let batch = |entries: &str| {
        json(
            "SendMessageBatch",
            &format!("{{\"QueueUrl\":\"q\",\"Entries\":[{entries}]}}"),
        )
    };
    let entry = |id: &str| format!("{{\"Id\":\"{id}\",\"MessageBody\":\"b\"}}");
    assert_eq!(code(batch("")), "EmptyBatchRequest");
    assert_eq!(
        code(form("Action=SendMessageBatch&QueueUrl=q")),
        "AWS.SimpleQueueService.EmptyBatchRequest"
    );
    assert_eq!(code(batch(&entry(""))), "InvalidBatchEntryId");
    assert_eq!(code(batch(&entry(".!"))), "InvalidBatchEntryId");
    let many: Vec<String> = (0..11).map(|n| entry(&n.to_string())).collect();
    assert_eq!(code(batch(&many.join(","))), "TooManyEntriesInBatchRequest");
    let refused =
        batch(&[entry("1"), entry("2"), entry("2"), entry("1")].join(",")).expect_err("refused");
    assert_eq!(refused.error.message, "Id 2 repeated.");
    let long = format!(
        "{{\"Id\":\"a\",\"MessageBody\":\"{}\"}}",
        "b".repeat(1_048_577)
    );
    let refused = batch(&long).expect_err("refused");
    assert_eq!(
        refused.error.message,
        "Batch requests cannot be longer than 1048576 bytes. You have sent 1048577 bytes."
    );
    let receive = |field: &str| json("ReceiveMessage", &format!("{{\"QueueUrl\":\"q\",{field}}}"));
    for wrong in [
        "\"MaxNumberOfMessages\":0",
        "\"MaxNumberOfMessages\":11",
        "\"WaitTimeSeconds\":-1",
        "\"WaitTimeSeconds\":21",
        "\"VisibilityTimeout\":43201",
    ] {
        assert_eq!(
            code(receive(wrong)),
            "InvalidParameterValueException",
            "{wrong}"
        );
    }
    assert!(receive("\"WaitTimeSeconds\":20").is_ok());
}

#[test]
fn permissions_and_tags_are_checked_as_the_service_does() {
    let said = |body: &str| {
        json("AddPermission", body)
            .expect_err("refused")
            .error
            .message
    };
    let base = |accounts: &str, actions: &str| {
        format!(
            "{{\"QueueUrl\":\"q\",\"Label\":\"test-2\",\"AWSAccountIds\":[{accounts}],\"Actions\":[{actions}]}}"
        )
    };
    let account = "\"111111111111\"";
    assert_eq!(
        said(&base(account, "\"RemovePermission\"")),
        "Value SQS:RemovePermission for parameter ActionName is invalid. Reason: Only the queue owner is allowed to invoke this action."
    );
    assert_eq!(
        said(&base(account, "")),
        "The request must contain the parameter Actions."
    );
    assert_eq!(
        said(&base("", "\"SendMessage\"")),
        "Value [] for parameter PrincipalId is invalid. Reason: Unable to verify."
    );
    let eight = ["\"SendMessage\""; 8].join(",");
    let refused = json("AddPermission", &base(account, &eight)).expect_err("refused");
    assert_eq!(
        (refused.error.status, refused.error.query_code),
        (403, "OverLimit")
    );
    assert_eq!(
        refused.error.message,
        "8 Actions were found, maximum allowed is 7."
    );
    let tags = json("TagQueue", "{\"QueueUrl\":\"q\",\"Tags\":{}}").expect_err("refused");
    assert_eq!(
        tags.error.message,
        "The request must contain the parameter Tags."
    );
    let keys = json("UntagQueue", "{\"QueueUrl\":\"q\",\"TagKeys\":[]}").expect_err("refused");
    assert_eq!(
        keys.error.message,
        "Tag keys must be between 1 and 128 characters in length."
    );
}

#[test]
fn batches_of_notifications_are_checked_in_the_words_of_sns() {
    let batch = |ids: &[&str]| {
        let entries = ids.iter().enumerate().map(|(number, id)| {
            let start = format!("PublishBatchRequestEntries.member.{}", number + 1);
            format!("&{start}.Id={id}&{start}.Message=m")
        });
        let entries: String = entries.collect();
        form(&format!(
            "Action=PublishBatch&Version=2010-03-31&TopicArn=t{entries}"
        ))
    };
    assert!(batch(&["some+id", "b"]).is_ok(), "laxer than Amazon");
    assert_eq!(code(batch(&[])), "EmptyBatchRequest");
    assert_eq!(code(batch(&["a%00"])), "InvalidBatchEntryId");
    assert_eq!(code(batch(&[""])), "InvalidBatchEntryId");
    assert_eq!(code(batch(&["a", "a"])), "BatchEntryIdsNotDistinct");
    assert_eq!(code(batch(&["a"; 11])), "TooManyEntriesInBatchRequest");
}
