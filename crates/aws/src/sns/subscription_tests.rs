use super::*;

fn subscription(protocol: Protocol) -> SubscriptionDocument {
    SubscriptionDocument {
        format: FORMAT,
        region: "us-east-1".to_owned(),
        topic: "t".to_owned(),
        protocol,
        endpoint: "http://example.com/".to_owned(),
        state: State::Confirmed {
            needs_signature: false,
            token: None,
        },
        attributes: BTreeMap::new(),
        created_ms: 0,
        base_url: "http://127.0.0.1:8080".to_owned(),
        group: None,
        is_running_out: false,
        is_deleted: false,
    }
}

fn given(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    pairs.iter().map(pair).collect()
}

#[test]
fn attributes_are_shown_as_they_were_set_beside_those_that_all_have() {
    let mut http = subscription(Protocol::Http);
    let policy = r#"{"store": ["a"], "price": [100, 100.12]}"#;
    let delivery =
        r#"{"healthyRetryPolicy": {"numRetries": 10, "minDelayTarget": 1, "maxDelayTarget": 2}}"#;
    http.set_all(&given(&[
        ("FilterPolicy", policy),
        ("RawMessageDelivery", "true"),
        ("DeliveryPolicy", delivery),
        ("SubscriptionRoleArn", "arn:aws:iam:0:role/x"),
    ]))
    .unwrap();
    let shown = http.shown("123456789012", "id", "");
    assert_eq!(shown["FilterPolicy"], policy);
    assert_eq!(shown["FilterPolicyScope"], "MessageAttributes");
    assert_eq!(shown["DeliveryPolicy"], delivery);
    assert_eq!(shown["RawMessageDelivery"], "true");
    assert_eq!(shown["PendingConfirmation"], "false");
    assert_eq!(
        shown["SubscriptionArn"],
        "arn:aws:sns:us-east-1:123456789012:t:id"
    );
    http.set("FilterPolicyScope", "MessageBody").unwrap();
    assert_eq!(http.filter(), Some((policy, FilterScope::Body)));
    http.set("FilterPolicy", "").unwrap();
    let shown = http.shown("1", "id", "");
    assert!(!shown.contains_key("FilterPolicy") && !shown.contains_key("FilterPolicyScope"));
}

#[test]
fn the_scope_is_set_before_the_filter_and_only_if_the_filter_fits_it() {
    let nested = r#"{"a": {"b": ["x"]}}"#;
    let mut body = subscription(Protocol::Sqs);
    let both = given(&[
        ("FilterPolicy", nested),
        ("FilterPolicyScope", "MessageBody"),
    ]);
    body.set_all(&both).unwrap();
    assert_eq!(body.filter(), Some((nested, FilterScope::Body)));
    let error = body
        .set("FilterPolicyScope", "MessageAttributes")
        .unwrap_err();
    assert!(error.message.contains("does not support nested"), "{error}");
    // The new filter, not the old one, has to fit the new scope.
    let back = given(&[
        ("FilterPolicy", r#"{"a": ["x"]}"#),
        ("FilterPolicyScope", "MessageAttributes"),
    ]);
    body.set_all(&back).unwrap();
    assert_eq!(body.scope(), FilterScope::Headers);
}

#[test]
fn what_is_no_attribute_is_refused_and_nothing_is_changed() {
    let check = |name: &str, value: &str, expected: &str| {
        let mut sqs = subscription(Protocol::Sqs);
        let both = given(&[("RawMessageDelivery", "true"), (name, value)]);
        let error = sqs.set_all(&both).unwrap_err();
        assert_eq!(error.query_code, "InvalidParameter");
        assert!(error.message.contains(expected), "{name}: {error}");
        assert!(sqs.attributes.is_empty());
    };
    check("InvalidName", "true", "AttributeName");
    check("DeliveryPolicy", "{}", "only HTTP");
    check(
        "FilterPolicyScope",
        "Body",
        "MessageAttributes or MessageBody",
    );
    check("RedrivePolicy", "{}", "deadLetterTargetArn");
    check(
        "RedrivePolicy",
        r#"{"deadLetterTargetArn": "arn:aws:sns:r:1:t"}"#,
        "a queue of SQS",
    );
    check("ReplayPolicy", "{}", "Kafka consumer");
    let numbers = subscription(Protocol::Sqs).set("FilterPolicy", r#"{"a": [1000000001]}"#);
    assert_eq!(numbers.unwrap_err().query_code, "InternalError");
}

#[test]
fn who_is_not_delivered_to_is_told_so() {
    let shown = subscription(Protocol::Email).shown("1", "id", "");
    assert!(shown["FanlogDelivery"].contains("does not deliver to email"));
    assert!(
        !subscription(Protocol::Sqs)
            .shown("1", "id", "")
            .contains_key("FanlogDelivery")
    );
}
