//! Kafka share consumers on a queue, beside consumers that receive one message at a time.

#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod common;

use common::queues::*;
use common::*;
use fanlog_broker::{
    Broker, GroupRequestError, SHARE_STATE_TOPIC, SessionKey, ShareAckError, ShareFetchError,
    ShareFetchPlan, ShareFetched, SharePartitionRef, Start,
};
use fanlog_coordinators::CallId;
use fanlog_coordinators::group::share::{ShareHeartbeat, ShareHeartbeatAnswer, ShareRules};
use fanlog_coordinators::group::{GroupError, GroupState};
use fanlog_coordinators::share::{AckError, AckRange, AckType, AcquireMode};
use fanlog_model::{Offset, PartitionIndex, TopicId};
use std::sync::Arc;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

fn topic_id(broker: &Broker) -> TopicId {
    broker.topics().by_name(&name("t")).unwrap().id
}

fn plan(broker: &Broker, member: &str) -> ShareFetchPlan {
    ShareFetchPlan {
        group: queue("q"),
        member: member.into(),
        partitions: vec![(topic_id(broker), PartitionIndex(0))],
        records_max: 1000,
        batch_size: 1000,
        mode: AcquireMode::WholeRanges,
        bytes_min: 1,
        bytes_max: 1 << 20,
        wait_max: Duration::ZERO,
    }
}

/// The ranges that are held and how often they were delivered, and how many batches came.
fn shown_share(fetched: &ShareFetched) -> String {
    let of = fetched.partitions[0].as_ref().unwrap();
    let ranges = of.acquired.iter();
    let ranges = ranges.map(|a| format!("{}-{} x{}", a.first, a.last, a.delivery_count));
    let ranges = ranges.collect::<Vec<_>>().join(" ");
    match of.records.len() {
        0 => ranges,
        batches => format!("{ranges} in {batches}"),
    }
}

async fn fetch(broker: &Arc<Broker>, plan: ShareFetchPlan) -> String {
    shown_share(&drive(broker, broker.shares().fetch(plan)).await.unwrap())
}

async fn acknowledge(
    broker: &Arc<Broker>,
    member: &str,
    (first, last): (i64, i64),
    types: &[AckType],
) -> Result<(), ShareAckError> {
    let ranges = [AckRange {
        first: Offset(first),
        last: Offset(last),
        types: types.to_vec(),
    }];
    let (q, id) = (queue("q"), topic_id(broker));
    let decided = broker
        .shares()
        .acknowledge(&q, member, id, PartitionIndex(0), &ranges);
    let decided = drive(broker, decided).await?;
    drive(broker, decided.durable()).await
}

fn heartbeat(member: &str, epoch: i32, topics: &[&str]) -> ShareHeartbeat {
    ShareHeartbeat {
        call: CallId(0),
        group: queue("q"),
        member_id: member.into(),
        member_epoch: epoch,
        rack_id: None,
        topics: (!topics.is_empty()).then(|| topics.iter().map(|name| (*name).into()).collect()),
        client_id: "client".into(),
        client_host: "/127.0.0.1".into(),
        rules: ShareRules::default(),
    }
}

async fn report(
    broker: &Arc<Broker>,
    heartbeat: ShareHeartbeat,
) -> Result<ShareHeartbeatAnswer, GroupRequestError> {
    drive(broker, broker.groups().share_heartbeat(heartbeat)).await
}

#[tokio::test]
async fn each_record_goes_to_one_of_both_kinds_of_consumers() {
    let machine = Machine::new(1);
    let broker = started(&machine, 1, &[]).await;
    put_values(&broker, &["a", "b", "c", "d"]).await;
    put_values(&broker, &["e"]).await;
    let messages = receive(&broker, "http", 2).await;
    assert_eq!(shown(&messages), "a x1 b x1");
    let shares = fetch(&broker, plan(&broker, "kafka")).await;
    assert_eq!(shares, "2-4 x1 in 2");
    // Nothing is left for anybody, whoever asks and however.
    assert_eq!(take(&broker, "http", 5).await, "");
    assert_eq!(fetch(&broker, plan(&broker, "other")).await, "");
    ack(&broker, &messages[0]).await;
    let accepted = acknowledge(&broker, "kafka", (2, 4), &[AckType::Accept]).await;
    assert_eq!(accepted, Ok(()));
    // One of them holds what the other may not settle.
    let of_http = acknowledge(&broker, "kafka", (1, 1), &[AckType::Accept]).await;
    assert_eq!(of_http, Err(AckError::NotHeld(Offset(1)).into()));
    assert_eq!(status(&broker).depth, 1);
    ack(&broker, &messages[1]).await;
    assert_eq!(status(&broker).depth, 0);
    let acknowledged = status(&broker).depth;
    drop(broker);
    let broker = machine.start();
    loaded(&broker).await;
    assert_eq!(status(&broker).depth, acknowledged);
    assert_eq!(take(&broker, "http", 5).await, "");
    assert!(broker.topics().by_name(&name(SHARE_STATE_TOPIC)).is_none());
}

#[tokio::test]
async fn a_key_goes_in_order_across_both_kinds_of_consumers() {
    let machine = Machine::new(2);
    let broker = started(&machine, 1, &[("order", "key"), ("backoff", "fixed:10s")]).await;
    let of = |key: &'static str, value: &'static str| (Some(key), value, &[][..]);
    let records = [of("a", "a1"), of("a", "a2"), of("b", "b1"), of("a", "a3")];
    put(&broker, 0, &records).await;
    let first = receive(&broker, "http", 1).await;
    assert_eq!(shown(&first), "a1 x1");
    // The key is the other's: of the batch the member holds what is free.
    let got = fetch(&broker, plan(&broker, "kafka")).await;
    assert_eq!(got, "2-2 x1 in 1");
    ack(&broker, &first[0]).await;
    let got = fetch(&broker, plan(&broker, "kafka")).await;
    assert_eq!(got, "1-1 x1 3-3 x1 in 1");
    assert_eq!(take(&broker, "http", 5).await, "");
    // It fails: the one behind it comes back without an attempt burnt, and both wait for the backoff.
    let released = acknowledge(&broker, "kafka", (1, 1), &[AckType::Release]).await;
    assert_eq!(released, Ok(()));
    assert_eq!(take(&broker, "http", 5).await, "");
    pass(&machine, &broker, 11 * SECOND).await;
    assert_eq!(take(&broker, "http", 5).await, "a2 x2 a3 x1");
}

#[tokio::test]
async fn acknowledgements_mean_what_a_queue_has_for_them_and_count_all_or_none() {
    let machine = Machine::new(3);
    let broker = started(&machine, 1, &[("backoff", "fixed:10s"), ("lock", "30s")]).await;
    put_values(&broker, &["a", "b", "c", "d", "e"]).await;
    let got = fetch(&broker, plan(&broker, "m")).await;
    assert_eq!(got, "0-4 x1 in 1");
    let beyond = acknowledge(&broker, "m", (3, 900_000_000_000), &[AckType::Accept]).await;
    assert_eq!(beyond, Err(AckError::NotHeld(Offset(3)).into()));
    let beyond = acknowledge(&broker, "m", (4, 5), &[AckType::Accept]).await;
    assert_eq!(beyond, Err(AckError::NotHeld(Offset(5)).into()));
    let few = [AckType::Accept, AckType::Accept];
    let malformed = acknowledge(&broker, "m", (0, 4), &few).await;
    assert!(matches!(
        malformed,
        Err(ShareAckError::Refused(AckError::Malformed(_)))
    ));
    assert_eq!(status(&broker).in_flight_records, 5);
    let each = [
        AckType::Accept,
        AckType::Release,
        AckType::Reject,
        AckType::Gap,
        AckType::Renew,
    ];
    machine.clock.advance(20 * SECOND);
    assert_eq!(acknowledge(&broker, "m", (0, 4), &each).await, Ok(()));
    settled(&broker).await;
    assert_eq!(dead(&broker).await, "c: a share consumer rejected it");
    assert_eq!(take(&broker, "http", 5).await, "");
    pass(&machine, &broker, 11 * SECOND).await;
    // The lock of e began anew, and it is held still.
    assert_eq!(take(&broker, "http", 5).await, "b x2");
    assert_eq!(
        acknowledge(&broker, "m", (4, 4), &[AckType::Accept]).await,
        Ok(())
    );
    let twice = acknowledge(&broker, "m", (4, 4), &[AckType::Accept]).await;
    assert_eq!(twice, Err(AckError::NotHeld(Offset(4)).into()));
}

#[tokio::test]
async fn what_a_member_holds_comes_back_with_its_connection_and_a_wait_ends_with_a_record() {
    let machine = Machine::new(4);
    let broker = started(&machine, 1, &[("backoff", "none")]).await;
    let shares = broker.shares().clone();
    let waits = ShareFetchPlan {
        wait_max: 3_600 * SECOND,
        ..plan(&broker, "m")
    };
    let session = SessionKey {
        group: queue("q"),
        member: "m".into(),
    };
    let connection = shares.new_connection();
    let wanted = &waits.partitions;
    let begun = shares.begin_fetch(&session, 0, connection, wanted, &[]);
    assert_eq!(&begun.unwrap().partitions, wanted);
    let waiting = tokio::spawn(async move { shown_share(&shares.fetch(waits).await.unwrap()) });
    settled(&broker).await;
    assert!(!waiting.is_finished());
    put_values(&broker, &["a"]).await;
    assert_eq!(drive(&broker, waiting).await.unwrap(), "0-0 x1 in 1");
    assert_eq!(take(&broker, "http", 5).await, "");
    broker.shares().connection_closed(connection);
    assert_eq!(take(&broker, "http", 5).await, "a x2");
}

#[tokio::test]
async fn what_has_no_room_in_the_answer_goes_back_and_burns_no_attempt() {
    let machine = Machine::new(5);
    let broker = started(&machine, 1, &[]).await;
    let large = "v".repeat(1000);
    // Of this batch only the last record is free: it is small, and its batch large.
    put_values(&broker, &[&large, &large, "small"]).await;
    put_values(&broker, &["next"]).await;
    assert_eq!(receive(&broker, "http", 2).await.len(), 2);
    let few_bytes = ShareFetchPlan {
        bytes_max: 1500,
        ..plan(&broker, "m")
    };
    // The first batch may be larger than wanted, and then nothing else has room.
    assert_eq!(fetch(&broker, few_bytes).await, "2-2 x1 in 1");
    let one = ShareFetchPlan {
        records_max: 1,
        ..plan(&broker, "m")
    };
    assert_eq!(fetch(&broker, one).await, "3-3 x1 in 1");
}

#[tokio::test]
async fn a_share_consumer_is_a_member_of_the_queue_whose_topic_it_names() {
    let machine = Machine::new(6);
    let broker = started(&machine, 2, &[]).await;
    create(&broker, "other", 1).await;
    let refused = report(&broker, heartbeat("m", 0, &["t", "other"])).await;
    let not_of_queue = GroupError::NotOfQueue {
        group: queue("q"),
        topic: "other".into(),
        own: "t".into(),
    };
    assert_eq!(refused, Err(not_of_queue.into()));
    let joined = report(&broker, heartbeat("m", 0, &["t", "q.redrive"])).await;
    let joined = joined.unwrap();
    assert_eq!(joined.member_epoch, 1);
    let both = [PartitionIndex(0), PartitionIndex(1)].into();
    let all = [(topic_id(&broker), both)].into();
    assert_eq!(joined.assignment.as_ref(), Some(&all));
    // Members read the same partitions, and a report that brings nothing new is answered with nothing new.
    let other = report(&broker, heartbeat("n", 0, &["t"])).await.unwrap();
    assert_eq!(other.assignment, Some(all));
    let again = report(&broker, heartbeat("m", 1, &[])).await.unwrap();
    assert_eq!((again.member_epoch, again.assignment), (1, None));
    let ahead = report(&broker, heartbeat("m", 2, &[])).await;
    assert!(matches!(
        ahead,
        Err(GroupRequestError::Refused(
            GroupError::FencedMemberEpoch { .. }
        ))
    ));
    let described = broker.groups().describe_share(queue("q"));
    let described = drive(&broker, described).await.unwrap();
    assert_eq!(
        (described.state, described.members.len()),
        (GroupState::Stable, 2)
    );
    let left = report(&broker, heartbeat("m", -1, &[])).await.unwrap();
    assert_eq!(left.member_epoch, -1);
    // Who is not heard of for too long, or not since a start, comes again.
    machine.clock.advance(3_600 * SECOND);
    let late = report(&broker, heartbeat("n", 1, &[])).await;
    assert!(matches!(
        late,
        Err(GroupRequestError::Refused(GroupError::UnknownMember { .. }))
    ));
    // No group came into being: the queue may go and come again under its name.
    let q = queue("q");
    drive(&broker, broker.queues().delete(&q)).await.unwrap();
    make(&broker, "q", Start::Earliest, &[]).await.unwrap();
}

#[tokio::test]
async fn a_queue_is_listed_as_the_share_group_that_it_is_described_as() {
    let machine = Machine::new(8);
    let broker = started(&machine, 1, &[]).await;
    let listed = async |states: &[&str], types: &[&str]| {
        let words = |words: &[&str]| words.iter().map(|word| (*word).into()).collect();
        let listed = broker.groups().list(words(states), words(types));
        let shown = drive(&broker, listed).await.unwrap().into_iter();
        let shown = shown.map(|one| {
            let state = one.state.name();
            format!(
                "{} {} {state} {}",
                one.group, one.protocol_type, one.group_type
            )
        });
        shown.collect::<Vec<_>>().join(", ")
    };
    assert_eq!(listed(&[], &[]).await, "q share Empty share");
    assert_eq!(listed(&["stable"], &[]).await, "");
    report(&broker, heartbeat("m", 0, &["t"])).await.unwrap();
    assert_eq!(
        listed(&["stable"], &["SHARE"]).await,
        "q share Stable share"
    );
    // Tools for consumer groups ask for these.
    assert_eq!(listed(&[], &["classic", "consumer"]).await, "");
    report(&broker, heartbeat("m", -1, &[])).await.unwrap();
    assert_eq!(listed(&["empty"], &[]).await, "q share Empty share");
}

#[tokio::test]
async fn offsets_of_a_queue_are_shown_and_not_moved_and_other_topics_give_nothing() {
    let machine = Machine::new(7);
    let broker = started(&machine, 1, &[]).await;
    create(&broker, "other", 1).await;
    put_values(&broker, &["a", "b", "c"]).await;
    assert_eq!(fetch(&broker, plan(&broker, "m")).await, "0-2 x1 in 1");
    acknowledge(&broker, "m", (0, 0), &[AckType::Accept])
        .await
        .unwrap();
    let q = queue("q");
    let of = SharePartitionRef {
        topic: topic_id(&broker),
        partition: PartitionIndex(0),
    };
    let shares = broker.shares();
    assert_eq!(shares.partitions_of(&q).unwrap(), [of]);
    let offset = shares.offset(&q, of).unwrap().unwrap();
    assert_eq!((offset.start, offset.lag), (Some(Offset(1)), Some(2)));
    let is_queue: GroupRequestError = GroupError::IsQueue { group: q.clone() }.into();
    let moved = [((of.topic, of.partition), Offset(0))].into();
    let altered = broker.groups().alter_share_offsets(&q, &moved).await;
    assert_eq!(altered, Err(is_queue.clone()));
    let deleted = broker.groups().delete_share_offsets(&q, &[of.topic]).await;
    assert_eq!(deleted, Err(is_queue));
    let other = broker.topics().by_name(&name("other")).unwrap().id;
    let of_other = ShareFetchPlan {
        partitions: vec![(other, PartitionIndex(0)), (of.topic, PartitionIndex(9))],
        wait_max: 3_600 * SECOND,
        ..plan(&broker, "m")
    };
    let fetched = broker.shares().fetch(of_other).await.unwrap();
    assert!(matches!(
        fetched.partitions[..],
        [
            Err(ShareFetchError::NoState { .. }),
            Err(ShareFetchError::Lookup(_))
        ]
    ));
}
