use super::*;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

fn overrides() -> impl Strategy<Value = Overrides> {
    btree_map("[a-z.]{1,12}", ".{0,20}", 0..4)
}

fn topic() -> impl Strategy<Value = Topic> {
    let name = "[a-zA-Z0-9_-]{1,30}";
    (
        name,
        any::<[u8; 16]>(),
        (1..=i32::MAX).prop_flat_map(|count| (Just(count), 0..=count)),
        overrides(),
        any::<bool>(),
    )
        .prop_map(
            |(name, id, (partitions, made), overrides, is_internal)| Topic {
                name: TopicName::new(&name).expect("a legal name"),
                id: TopicId(Uuid::from_bytes(id)),
                partitions,
                made,
                overrides,
                is_internal,
            },
        )
}

fn queue() -> impl Strategy<Value = Queue> {
    let start = prop_oneof![
        Just(QueueStart::Latest),
        Just(QueueStart::Earliest),
        any::<i64>().prop_map(|time| QueueStart::Time(TimestampMs(time))),
        (0..=i64::MAX).prop_map(|offset| QueueStart::Offset(Offset(offset))),
    ];
    // Few names, ids and topics, so that queues meet.
    let ids = (0..4_u128, 0..3_u128);
    ("[a-c]", ids, start, 1..=i32::MAX, overrides()).prop_map(
        |(name, (id, topic), start, partitions_at_start, overrides)| Queue {
            name: GroupId::from(name.as_str()),
            id: Uuid::from_u128(id),
            topic: TopicId(Uuid::from_u128(topic)),
            start,
            partitions_at_start,
            overrides,
        },
    )
}

fn document() -> impl Strategy<Value = Document> {
    let bytes = vec(any::<u8>(), 0..20);
    ("[ab]", "[a-c]", any::<u64>(), bytes).prop_map(|(space, name, version, bytes)| Document {
        space,
        name,
        version,
        bytes: bytes.into(),
    })
}

pub(in super::super) fn record() -> impl Strategy<Value = Record> {
    let scope = prop_oneof![
        Just(BrokerScope::Default),
        (0..=i32::MAX).prop_map(|id| BrokerScope::Broker(BrokerId(id))),
    ];
    prop_oneof![
        topic().prop_map(Record::Topic),
        queue().prop_map(Record::Queue),
        any::<[u8; 16]>().prop_map(|id| Record::QueueDeleted(Uuid::from_bytes(id))),
        document().prop_map(Record::Document),
        ("[ab]", "[a-c]").prop_map(|(space, name)| Record::DocumentDeleted { space, name }),
        any::<[u8; 16]>().prop_map(|id| Record::TopicDeleted(TopicId(Uuid::from_bytes(id)))),
        (scope, overrides()).prop_map(|(scope, map)| Record::BrokerSettings(scope, map)),
        (0..=i64::MAX).prop_map(|next| Record::ProducerIds { next }),
        ("[a-z]{1,9}", overrides())
            .prop_map(|(group, map)| Record::GroupSettings(group.as_str().into(), map)),
    ]
}

fn decode(record: &Record) -> Result<Record, CatalogRecordError> {
    Record::decode(&record.encode_key(), record.encode_value().as_deref())
}

proptest! {
    #[test]
    fn a_record_is_read_back_as_it_was_written(record in record()) {
        prop_assert_eq!(decode(&record), Ok(record));
    }

    #[test]
    fn every_cut_of_a_value_or_key_is_refused(record in record(), at in any::<prop::sample::Index>()) {
        let key = record.encode_key();
        let value = record.encode_value();
        let short = at.index(key.len());
        prop_assert!(Record::decode(&key[..short], value.as_deref()).is_err());
        if let Some(value) = value {
            let short = at.index(value.len());
            prop_assert!(Record::decode(&key, Some(&value[..short])).is_err());
            let mut longer = value.clone();
            longer.push(0);
            prop_assert_eq!(
                Record::decode(&key, Some(&longer)),
                Err(CatalogRecordError::TrailingBytes { count: 1 })
            );
        }
    }

    #[test]
    fn bytes_from_anywhere_are_read_or_refused(key in vec(any::<u8>(), 0..40), value in vec(any::<u8>(), 0..80)) {
        if let Ok(record) = Record::decode(&key, Some(&value)) {
            prop_assert_eq!(record.encode_key(), key);
            prop_assert_eq!(decode(&record), Ok(record));
        }
    }
}

#[test]
fn the_layout_is_the_one_drawn() {
    let topic = Record::Topic(Topic {
        name: TopicName::new("orders").unwrap(),
        id: TopicId(Uuid::from_u128(7)),
        partitions: 3,
        made: 2,
        overrides: [("retention.ms".to_owned(), "1000".to_owned())].into(),
        is_internal: true,
    });
    let key = b"\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x07";
    assert_eq!(topic.encode_key(), key);
    let value = b"\0\x01\0\x06orders\0\0\0\x03\0\0\0\x02\x01\0\0\0\x01\0\x0cretention.ms\0\x041000";
    assert_eq!(topic.encode_value().as_deref(), Some(value.as_slice()));
    let ids = Record::ProducerIds { next: 1000 };
    assert_eq!(ids.encode_key(), [3]);
    let value = b"\0\x01\0\0\0\0\0\0\x03\xe8";
    assert_eq!(ids.encode_value().as_deref(), Some(value.as_slice()));
    let queue = Record::Queue(Queue {
        name: GroupId::from("mail"),
        id: Uuid::from_u128(9),
        topic: TopicId(Uuid::from_u128(7)),
        start: QueueStart::Offset(Offset(300)),
        partitions_at_start: 3,
        overrides: [("order".to_owned(), "key".to_owned())].into(),
    });
    assert_eq!(
        queue.encode_key(),
        b"\x05\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x09"
    );
    let value = b"\0\x01\0\x04mail\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x07\x03\0\0\0\0\0\0\x01\x2c\0\0\0\x03\0\0\0\x01\0\x05order\0\x03key";
    assert_eq!(queue.encode_value().as_deref(), Some(value.as_slice()));
    let document = Record::Document(Document {
        space: "s".to_owned(),
        name: "nn".to_owned(),
        version: 258,
        bytes: Bytes::from_static(b"{}"),
    });
    assert_eq!(document.encode_key(), b"\x06\0\x01s\0\x02nn");
    let value = b"\0\x01\0\0\0\0\0\0\x01\x02\0\0\0\x02{}";
    assert_eq!(document.encode_value().as_deref(), Some(value.as_slice()));
    let all = Record::BrokerSettings(BrokerScope::Default, Overrides::new());
    assert_eq!(all.encode_key(), b"\x02\xff\xff\xff\xff");
    assert_eq!(all.encode_value(), None);
}

#[test]
fn what_this_version_does_not_know_is_refused_by_name() {
    let check = |key: &[u8], value: Option<&[u8]>, expected: &str| {
        let error = Record::decode(key, value).expect_err("refused");
        assert!(error.to_string().starts_with(expected), "{error}");
    };
    let topic = b"\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x07";
    check(&[9], None, "catalog record of unknown kind 9");
    check(
        &[3],
        Some(b"\0\x02"),
        "catalog record of kind 3 has version 2",
    );
    check(
        &[3],
        None,
        "catalog record has an illegal producer id record",
    );
    check(
        &[],
        None,
        "catalog record ends early: 1 bytes wanted for kind, 0 remain",
    );
    check(
        topic,
        Some(b"\0\x01\0\x01a\0\0\0\0\0\0\0\0\0\0\0\0\0"),
        "catalog record has an illegal partition count: 0",
    );
    check(
        topic,
        Some(b"\0\x01\0\x01a\0\0\0\x01\0\0\0\x02\0\0\0\0\0"),
        "catalog record has an illegal count of made partitions: 2",
    );
    check(
        topic,
        Some(b"\0\x01\0\x01a\0\0\0\x01\0\0\0\0\x02\0\0\0\0"),
        "catalog record has an illegal flags: 2",
    );
    check(
        b"\x06\0\0\0\x01n",
        None,
        "catalog record has an illegal document space: 0 bytes",
    );
    check(
        b"\x06\0\x01s\0\x01n",
        Some(b"\0\x01\0\0\0\0\0\0\0\x01\xff\xff\xff\xff"),
        "catalog record has an illegal document length: 4294967295",
    );
    check(
        topic,
        Some(b"\0\x01\0\x01/\0\0\0\x01\0\0\0\0\0\0\0\0\0"),
        "catalog record has an illegal topic name",
    );
    // A count of 4 billion is found short at its first entry and makes room for none.
    check(
        topic,
        Some(b"\0\x01\0\x01a\0\0\0\x01\0\0\0\0\0\xff\xff\xff\xff"),
        "catalog record ends early: 2 bytes wanted for setting name",
    );
    check(
        b"\x02\0\0\0\x01",
        Some(b"\0\x01\0\0\0\x02\0\x01b\0\0\0\x01a\0\0"),
        "catalog record has an illegal order of settings: a",
    );
}
