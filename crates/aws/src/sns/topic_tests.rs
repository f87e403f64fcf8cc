use super::*;

fn given(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    pairs.iter().map(pair).collect()
}

fn topic(pairs: &[(&str, &str)]) -> TopicDocument {
    TopicDocument {
        format: FORMAT,
        region: "us-east-1".to_owned(),
        name: "t".to_owned(),
        is_adopted: false,
        attributes: attributes_of_new(&given(pairs)).unwrap(),
        tags: Vec::new(),
        created_ms: 0,
        subscriptions_deleted: 0,
        is_deleted: false,
    }
}

#[test]
fn a_new_topic_says_what_aws_says_of_one() {
    let shown = topic(&[]).shown("123456789012", Counts::default());
    assert_eq!(shown["TopicArn"], "arn:aws:sns:us-east-1:123456789012:t");
    assert_eq!(shown["DisplayName"], "");
    assert_eq!(shown["DeliveryPolicy"], "");
    assert_eq!(shown["SubscriptionsConfirmed"], "0");
    assert!(shown["Policy"].contains("AWS:SourceOwner"));
    assert!(!shown.contains_key("FifoTopic") && !shown.contains_key(CONTENT_BASED));
    let fifo = topic(&[("FifoTopic", "True"), (CONTENT_BASED, "False")]);
    let shown = fifo.shown("123456789012", Counts::default());
    assert_eq!(shown["FifoTopic"], "true");
    assert_eq!(shown[CONTENT_BASED], "false");
}

#[test]
fn attributes_are_set_and_taken_back() {
    let mut topic = topic(&[]);
    topic.set("Policy", r#"{"foo": "bar"}"#).unwrap();
    assert_eq!(topic.policy("1").to_string(), r#"{"foo":"bar"}"#);
    topic.set("Policy", "").unwrap();
    assert!(topic.policy("1").to_string().contains("__default"));
    topic.set("SignatureVersion", "2").unwrap();
    assert_eq!(topic.signature_version(), SignatureVersion::Two);
    topic.set("KmsMasterKeyId", "key").unwrap();
    assert_eq!(topic.shown("1", Counts::default())["KmsMasterKeyId"], "key");
}

#[test]
fn what_is_no_attribute_is_refused() {
    let check = |name: &str, value: &str, expected: &str| {
        let error = topic(&[]).set(name, value).unwrap_err();
        assert_eq!(error.query_code, "InvalidParameter");
        assert!(error.message.contains(expected), "{name}: {error}");
    };
    check("Nonsense", "x", "AttributeName");
    check("FifoTopic", "true", "when the topic is made");
    check("ContentBasedDeduplication", "true", "only FIFO topics");
    check("ContentBasedDeduplication", "yes", "true or false");
    check("SignatureVersion", "3", "1 or 2");
    check("Policy", "[]", "no JSON object");
    check("DeliveryPolicy", "{", "EOF");
    check("DisplayName", &"x".repeat(101), "100 characters");
    check("ArchivePolicy", "{}", "retention");
}
