//! The bytes below were written by the coordinator classes of Apache Kafka 4.4.0.

use super::*;
use crate::group::consumer::{
    ClassicMember, ConsumerMember, ConsumerRecord, CurrentAssignment, GroupEpoch, MemberState,
    OwnedPartitions, ResolvedRegex, TargetEpoch,
};
use crate::group::{Ledger, PartitionSets, Protocol};
use proptest::prelude::*;
use uuid::Uuid;

fn bytes(hex: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(digit).collect()
}

const OFFSET_KEY: &str = "0001000473686f70000c6f726465722e706c6163656400000003";
const GROUP_KEY: &str = "0002000473686f70";

fn partition() -> TopicPartition {
    TopicPartition {
        topic: TopicName::new("order.placed").unwrap(),
        partition: PartitionIndex(3),
    }
}

fn offset(change: impl FnOnce(&mut CommittedOffset)) -> GroupRecord {
    let mut committed = CommittedOffset {
        offset: Offset(42),
        leader_epoch: LeaderEpoch(7),
        metadata: "note".into(),
        committed_at: TimestampMs(1_700_000_000_000),
        expires_at: None,
        topic_id: TopicId(Uuid::from_u128(0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10)),
    };
    change(&mut committed);
    GroupRecord::Offset {
        group: "shop".into(),
        partition: partition(),
        committed,
    }
}

fn group(change: impl FnOnce(&mut GroupMetadata)) -> GroupRecord {
    let member = |id: &str, client: &str, host: &str| MemberMetadata {
        member_id: id.into(),
        instance_id: None,
        client_id: client.into(),
        client_host: host.into(),
        rebalance_timeout_ms: 30_000,
        session_timeout_ms: 6_000,
        subscription: Bytes::from_static(&[5]),
        assignment: Bytes::new(),
    };
    let mut first = member("a-1", "a", "/127.0.0.1");
    first.instance_id = Some("desk-1".into());
    first.rebalance_timeout_ms = 60_000;
    first.session_timeout_ms = 10_000;
    first.subscription = Bytes::from_static(&[0, 1, 0, 0]);
    first.assignment = Bytes::from_static(&[9]);
    let mut metadata = GroupMetadata {
        protocol_type: Some("consumer".into()),
        generation: 5,
        protocol: Some("range".into()),
        leader: Some("a-1".into()),
        state_since: Some(TimestampMs(1_700_000_000_001)),
        members: vec![first, member("b-2", "b", "/127.0.0.2")],
    };
    change(&mut metadata);
    GroupRecord::Group {
        group: "shop".into(),
        metadata,
    }
}

/// Kafka's bytes are read as `record`, and written again where Kafka 4.4 writes that version.
fn check(key: &str, value: Option<&str>, record: &GroupRecord, is_written: bool) {
    let (key, value) = (bytes(key), value.map(bytes));
    let decoded = decode(Some(&key), value.as_deref());
    assert_eq!(decoded.as_ref(), Ok(record));
    if is_written {
        assert_eq!(encode(record), Ok(EncodedRecord { key, value }));
    }
}

#[test]
fn offsets_have_kafkas_bytes_and_old_versions_are_read() {
    let check = |value, record: GroupRecord, is_written| {
        check(OFFSET_KEY, Some(value), &record, is_written);
    };
    let plain = |committed: &mut CommittedOffset| {
        committed.leader_epoch = LeaderEpoch::UNKNOWN;
        committed.topic_id = TopicId::ZERO;
    };
    check(
        "0000000000000000002a00046e6f74650000018bcfe56800",
        offset(plain),
        false,
    );
    let with_expiry = offset(|committed| {
        plain(committed);
        committed.expires_at = Some(TimestampMs(1_700_000_060_000));
    });
    let v1 = "0001000000000000002a00046e6f74650000018bcfe568000000018bcfe65260";
    check(v1, with_expiry, true);
    check(
        "0002000000000000002a00046e6f74650000018bcfe56800",
        offset(plain),
        false,
    );
    let without_id = || offset(|committed| committed.topic_id = TopicId::ZERO);
    let v3 = "0003000000000000002a0000000700046e6f74650000018bcfe56800";
    check(v3, without_id(), false);
    let v4 = "0004000000000000002a00000007056e6f74650000018bcfe568000100100102030405060708090a0b0c0d0e0f10";
    check(v4, offset(|_| {}), true);
    let v4_without_id = "0004000000000000002a00000007056e6f74650000018bcfe5680000";
    check(v4_without_id, without_id(), true);
}

#[test]
fn an_offset_under_the_key_of_old_is_read() {
    let key = "0000000473686f70000c6f726465722e706c6163656400000003";
    let value = "0000000000000000002a00046e6f74650000018bcfe56800";
    let record = offset(|committed| {
        committed.leader_epoch = LeaderEpoch::UNKNOWN;
        committed.topic_id = TopicId::ZERO;
    });
    check(key, Some(value), &record, false);
}

#[test]
fn groups_have_kafkas_bytes_and_old_versions_are_read() {
    let check = |value, record: GroupRecord, is_written| {
        check(GROUP_KEY, Some(value), &record, is_written);
    };
    let before_v3 = |metadata: &mut GroupMetadata| metadata.members[0].instance_id = None;
    let v0 = "00000008636f6e73756d657200000005000572616e67650003612d31000000020003612d31000161000a2f3132372e302e302e3100002710000000040001000000000001090003622d32000162000a2f3132372e302e302e3200001770000000010500000000";
    let record = group(|metadata| {
        before_v3(metadata);
        metadata.state_since = None;
        metadata.members[0].rebalance_timeout_ms = 10_000;
        metadata.members[1].rebalance_timeout_ms = 6_000;
    });
    check(v0, record, false);
    let v1 = "00010008636f6e73756d657200000005000572616e67650003612d31000000020003612d31000161000a2f3132372e302e302e310000ea6000002710000000040001000000000001090003622d32000162000a2f3132372e302e302e320000753000001770000000010500000000";
    let record = group(|metadata| {
        before_v3(metadata);
        metadata.state_since = None;
    });
    check(v1, record, false);
    let v2 = "00020008636f6e73756d657200000005000572616e67650003612d310000018bcfe56801000000020003612d31000161000a2f3132372e302e302e310000ea6000002710000000040001000000000001090003622d32000162000a2f3132372e302e302e320000753000001770000000010500000000";
    check(v2, group(before_v3), false);
    let v3 = "00030008636f6e73756d657200000005000572616e67650003612d310000018bcfe56801000000020003612d3100066465736b2d31000161000a2f3132372e302e302e310000ea6000002710000000040001000000000001090003622d32ffff000162000a2f3132372e302e302e320000753000001770000000010500000000";
    check(v3, group(|_| {}), true);
    let v4 = "000409636f6e73756d6572000000050672616e676504612d310000018bcfe568010304612d31076465736b2d3102610b2f3132372e302e302e310000ea6000002710050001000002090004622d320002620b2f3132372e302e302e3200007530000017700205010000";
    check(v4, group(|_| {}), false);
    let empty = group(|metadata| {
        metadata.generation = 6;
        metadata.protocol = None;
        metadata.leader = None;
        metadata.state_since = Some(TimestampMs(1_700_000_000_002));
        metadata.members.clear();
    });
    let v3 = "00030008636f6e73756d657200000006ffffffff0000018bcfe5680200000000";
    check(v3, empty, true);
}

#[test]
fn tombstones_have_kafkas_bytes() {
    let group: GroupId = "shop".into();
    let gone = GroupRecord::GroupDeleted {
        group: group.clone(),
    };
    check(GROUP_KEY, None, &gone, true);
    let partition = partition();
    check(
        OFFSET_KEY,
        None,
        &GroupRecord::OffsetDeleted { group, partition },
        true,
    );
}

#[test]
fn what_is_not_ours_is_skipped_with_a_reason() {
    let skipped = |key: Option<&str>, value: &str| {
        let key = key.map(bytes);
        decode(key.as_deref(), Some(&bytes(value))).unwrap_err()
    };
    assert_eq!(skipped(None, ""), SkippedRecord::NoKey);
    let streams_group = skipped(Some("0011000473686f70"), "0000");
    assert_eq!(streams_group, SkippedRecord::UnknownKey { kind: 17 });
    assert_eq!(
        skipped(Some("ffff"), ""),
        SkippedRecord::UnknownKey { kind: -1 }
    );
    assert!(matches!(skipped(Some("00"), ""), SkippedRecord::BadKey(_)));
    assert!(matches!(
        skipped(Some("0001ffff"), ""),
        SkippedRecord::BadKey(_)
    ));
    assert!(matches!(
        skipped(Some(OFFSET_KEY), "0005"),
        SkippedRecord::BadValue(_)
    ));
    assert!(matches!(
        skipped(Some(GROUP_KEY), "00030000"),
        SkippedRecord::BadValue(_)
    ));
    let slash = "00010001670003612f6200000000";
    assert!(matches!(
        skipped(Some(slash), ""),
        SkippedRecord::BadTopic(_)
    ));
}

#[test]
fn a_foreign_group_with_repeated_names_is_put_in_order() {
    let strange = group(|metadata| {
        let twin = metadata.members[0].clone();
        let mut thief = metadata.members[1].clone();
        thief.member_id = "0-thief".into();
        thief.instance_id = Some("desk-1".into());
        metadata.members.extend([twin, thief]);
        metadata.members.reverse();
        metadata.leader = Some("nobody".into());
    });
    let encoded = encode(&strange).unwrap();
    let decoded = decode(Some(&encoded.key), encoded.value.as_deref()).unwrap();
    let GroupRecord::Group { metadata, .. } = &decoded else {
        panic!("{decoded:?}");
    };
    let ids: Vec<_> = metadata
        .members
        .iter()
        .map(|m| m.member_id.as_str())
        .collect();
    assert_eq!(ids, ["0-thief", "b-2"]);
    assert_eq!(metadata.leader, Some("0-thief".into()));
    let mut ledger = Ledger::default();
    crate::group::apply(&mut ledger, &decoded);
}

fn any_member() -> impl Strategy<Value = MemberMetadata> {
    let text = "[a-z0-9-]{0,12}";
    let blob = || proptest::collection::vec(any::<u8>(), 0..20);
    let names = ("[a-z]{1,9}", text, text, any::<bool>());
    (names, 0..200_000i32, blob(), blob()).prop_map(|(names, timeout, subscription, assignment)| {
        let (id, client, host, is_static) = names;
        MemberMetadata {
            instance_id: is_static.then(|| id.as_str().into()),
            member_id: id.as_str().into(),
            client_id: client.as_str().into(),
            client_host: host.as_str().into(),
            rebalance_timeout_ms: timeout,
            session_timeout_ms: timeout / 2,
            subscription: subscription.into(),
            assignment: assignment.into(),
        }
    })
}

fn any_group() -> impl Strategy<Value = GroupRecord> {
    let members = proptest::collection::vec(any_member(), 0..4);
    ("[ab]", any::<i32>(), members).prop_map(|(group, generation, mut members)| {
        members.sort_by(|a, b| a.member_id.cmp(&b.member_id));
        members.dedup_by(|a, b| a.member_id == b.member_id);
        let leader = members.first().map(|member| member.member_id.clone());
        let metadata = GroupMetadata {
            protocol_type: leader.is_some().then(|| "connect".into()),
            generation,
            protocol: leader.is_some().then(|| "default".into()),
            leader,
            state_since: Some(TimestampMs(5)),
            members,
        };
        GroupRecord::Group {
            group: group.as_str().into(),
            metadata,
        }
    })
}

fn any_offset() -> impl Strategy<Value = GroupRecord> {
    let numbers = (any::<i64>(), any::<i32>(), any::<i64>(), any::<u128>());
    ("[ab]", 0..4i32, "[a-z0-9-]{0,12}", numbers).prop_map(|(group, p, metadata, numbers)| {
        let (offset, epoch, at, id) = numbers;
        GroupRecord::Offset {
            group: group.as_str().into(),
            partition: TopicPartition {
                topic: TopicName::new("t").unwrap(),
                partition: PartitionIndex(p),
            },
            committed: CommittedOffset {
                offset: Offset(offset),
                leader_epoch: LeaderEpoch(epoch),
                metadata: metadata.as_str().into(),
                committed_at: TimestampMs(at),
                expires_at: None,
                topic_id: TopicId(Uuid::from_u128(id)),
            },
        }
    })
}

/// Any record that a log may hold, of few groups, so that they meet.
fn any_partitions() -> impl Strategy<Value = PartitionSets> {
    let partitions = proptest::collection::btree_set((0..4i32).prop_map(PartitionIndex), 1..3);
    let topic = (0..3u128).prop_map(|number| TopicId(Uuid::from_u128(number)));
    proptest::collection::btree_map(topic, partitions, 0..3)
}

fn any_owned() -> impl Strategy<Value = OwnedPartitions> {
    (any_partitions(), any::<i32>()).prop_map(|(sets, epoch)| {
        let all = sets
            .iter()
            .flat_map(|(topic, of)| of.iter().map(|p| (*topic, *p)));
        all.map(|(topic, partition)| (topic, partition, epoch))
            .collect()
    })
}

fn any_consumer_member() -> impl Strategy<Value = ConsumerMember> {
    let names = proptest::collection::btree_set("[ab]{1,2}", 0..3);
    let classic = proptest::option::of((1..60_000i32, proptest::collection::vec("[rs]", 0..2)));
    (
        proptest::option::of("[ij]"),
        names,
        proptest::option::of("[xy]"),
        classic,
    )
        .prop_map(|(instance, names, regex, classic)| ConsumerMember {
            instance_id: instance.map(|id| InstanceId::from(id.as_str())),
            rack_id: None,
            client_id: "c".into(),
            client_host: "/h".into(),
            topics: names.iter().map(|name| Arc::from(name.as_str())).collect(),
            regex: regex.map(Arc::from),
            rebalance_timeout_ms: 30_000,
            server_assignor: None,
            classic: classic.map(|(session_timeout_ms, names)| ClassicMember {
                session_timeout_ms,
                protocols: names
                    .iter()
                    .map(|name| Protocol {
                        name: name.as_str().into(),
                        metadata: Bytes::from_static(&[0, 0, 0, 0, 0, 0]),
                    })
                    .collect(),
            }),
        })
}

fn any_consumer() -> impl Strategy<Value = GroupRecord> {
    let id = || "[mn]".prop_map(|id| MemberId::from(id.as_str()));
    let state = prop_oneof![
        Just(MemberState::Stable),
        Just(MemberState::UnrevokedPartitions),
        Just(MemberState::UnreleasedPartitions),
        Just(MemberState::Unknown),
    ];
    let current = (any::<i32>(), any::<i32>(), state, any_owned(), any_owned()).prop_map(
        |(epoch, previous_epoch, state, assigned, pending_revocation)| {
            Arc::new(CurrentAssignment {
                epoch,
                previous_epoch,
                state,
                assigned,
                pending_revocation,
            })
        },
    );
    use proptest::option::of as maybe;
    let epoch = (any::<i32>(), any::<i64>()).prop_map(|(epoch, metadata_hash)| GroupEpoch {
        epoch,
        metadata_hash,
    });
    let target_epoch = any::<i32>().prop_map(|epoch| TargetEpoch {
        epoch,
        made_at: TimestampMs(5),
    });
    let resolved = Arc::new(ResolvedRegex {
        topics: Arc::from([Arc::from("a")]),
        version: 1,
        resolved_at: TimestampMs(5),
    });
    let fact = prop_oneof![
        maybe(epoch).prop_map(ConsumerRecord::Epoch),
        maybe(target_epoch).prop_map(ConsumerRecord::TargetEpoch),
        (id(), maybe(any_consumer_member().prop_map(Arc::new)))
            .prop_map(|(id, member)| ConsumerRecord::Member(id, member)),
        (id(), maybe(any_partitions().prop_map(Arc::new)))
            .prop_map(|(id, target)| ConsumerRecord::Target(id, target)),
        (id(), maybe(current)).prop_map(|(id, current)| ConsumerRecord::Current(id, current)),
        ("[xy]", maybe(Just(resolved)))
            .prop_map(|(regex, resolved)| ConsumerRecord::Regex(regex.into(), resolved)),
    ];
    ("[gh]", fact).prop_map(|(group, record)| GroupRecord::Consumer {
        group: group.as_str().into(),
        record,
    })
}

pub(crate) fn any_record() -> impl Strategy<Value = GroupRecord> {
    let tombstone = |record: GroupRecord| match record {
        GroupRecord::Offset {
            group, partition, ..
        } => GroupRecord::OffsetDeleted { group, partition },
        GroupRecord::Group { group, .. } => GroupRecord::GroupDeleted { group },
        other => other,
    };
    let written = || prop_oneof![any_offset(), any_group(), any_consumer()];
    prop_oneof![3 => written(), 1 => written().prop_map(tombstone)]
}

proptest! {
    #[test]
    fn a_record_comes_back_as_it_was(record in any_record()) {
        let encoded = encode(&record).unwrap();
        prop_assert_eq!(decode(Some(&encoded.key), encoded.value.as_deref()), Ok(record));
    }

    #[test]
    fn no_bytes_make_reading_panic(
        kind in 0..20u8,
        key in proptest::collection::vec(any::<u8>(), 0..40),
        value in proptest::collection::vec(any::<u8>(), 0..80),
    ) {
        let key = [&[0, kind][..], &key].concat();
        let _ = decode(Some(&key), Some(&value));
        let _ = decode(Some(&bytes(GROUP_KEY)), Some(&value));
        let _ = decode(Some(&bytes(OFFSET_KEY)), Some(&value));
    }
}
