use super::super::testing::{Catalog, outcome};
use super::super::{TopicRef, allocate_producer_ids, delete_topics};
use super::*;
use fanlog_model::TopicId;
use uuid::Uuid;

#[test]
fn a_topic_grows_and_never_shrinks() {
    let check = |topic: &str, count: i32, assignments: Option<&[&[i32]]>, expected: &str| {
        let mut catalog = Catalog::started(&[("fanlog.partitions.max", "60")]);
        catalog.create("t", 2);
        catalog.ensure_offsets_topic();
        let request = [PartitionGrowth {
            topic: topic.to_owned(),
            count,
            assignments: assignments.map(|all| all.iter().map(|b| b.to_vec()).collect()),
        }];
        let trial = create_partitions(&catalog.ledger, &catalog.rules, &request, true);
        let decision = create_partitions(&catalog.ledger, &catalog.rules, &request, false);
        assert_eq!((trial.records.len(), &trial.reply), (0, &decision.reply));
        let before = catalog.topic("t");
        assert_eq!(outcome(&catalog.carry_out(decision)[0]), expected);
        let after = catalog.topic("t");
        if expected == "ok" {
            assert_eq!(
                after.map(|t| (t.partitions, t.id)),
                before.map(|t| (count, t.id))
            );
        } else {
            assert_eq!(after, before);
        }
    };
    check("t", 3, None, "ok");
    check("t", 4, Some(&[&[1], &[1]]), "ok");
    check(
        "t",
        2,
        None,
        "topic 't' has 2 partitions; 2 would not be an increase",
    );
    check(
        "t",
        0,
        None,
        "topic 't' has 2 partitions; 0 would not be an increase",
    );
    check(
        "t",
        10_001,
        None,
        "topic 't' can't have 10001 partitions; at most 10000 are allowed",
    );
    check(
        "t",
        11,
        None,
        "9 more partitions are too many: 8 may be added before fanlog.partitions.max is reached",
    );
    check(
        "t",
        4,
        Some(&[&[1]]),
        "1 assignments for 2 new partitions; give one for each, or none at all",
    );
    check(
        "t",
        3,
        Some(&[&[9]]),
        "partition 2 is assigned to broker 9, which is not there; assign it to broker 1",
    );
    check("nope", 3, None, "topic 'nope' does not exist");
    check("a/b", 3, None, "topic 'a/b' does not exist");
    check(
        "__consumer_offsets",
        60,
        None,
        "topic '__consumer_offsets' is internal and keeps its partitions",
    );
}

#[test]
fn a_topic_named_twice_in_one_request_does_not_grow() {
    let mut catalog = Catalog::started(&[]);
    catalog.create("t", 1);
    let growth = |count| PartitionGrowth {
        topic: "t".to_owned(),
        count,
        assignments: None,
    };
    let decision = create_partitions(
        &catalog.ledger,
        &catalog.rules,
        &[growth(2), growth(3)],
        false,
    );
    let found: Vec<_> = decision.reply.iter().map(outcome).collect();
    assert_eq!(found, ["the request names topic 't' more than once"; 2]);
    assert_eq!(decision.records, []);
}

#[test]
fn a_topic_is_deleted_by_name_or_id_and_its_name_is_free_again() {
    let mut catalog = Catalog::started(&[]);
    for name in ["a", "b", "c"] {
        catalog.create(name, 2);
    }
    catalog.ensure_offsets_topic();
    let id = |catalog: &Catalog, name: &str| catalog.topic(name).unwrap().id;
    let (first, c) = (id(&catalog, "b"), id(&catalog, "c"));
    let name = |name: &str| TopicRef::Name(name.to_owned());
    let request = [
        name("a"),
        TopicRef::Id(first),
        name("nope"),
        TopicRef::Id(TopicId(Uuid::from_u128(99))),
        name("c"),
        TopicRef::Id(c),
        name("__consumer_offsets"),
    ];
    let decision = delete_topics(&catalog.ledger, &catalog.rules, &request);
    let reply = catalog.carry_out(decision);
    assert_eq!(
        reply.iter().map(outcome).collect::<Vec<_>>(),
        [
            "ok",
            "ok",
            "topic 'nope' does not exist",
            "no topic has the id 00000000-0000-0000-0000-000000000063",
            "the request names topic 'c' more than once",
            "the request names topic 'c' more than once",
            "topic '__consumer_offsets' is internal and can't be deleted",
        ]
    );
    assert_eq!(reply[1].as_ref().unwrap().name.as_str(), "b");
    assert_eq!((catalog.topic("a"), catalog.topic("b")), (None, None));
    catalog.create("b", 1);
    assert_ne!(id(&catalog, "b"), first);
    assert_eq!(catalog.ledger.view().topic_by_id(first), None);
}

#[test]
fn deletion_may_be_switched_off() {
    let mut catalog = Catalog::started(&[("delete.topic.enable", "false")]);
    catalog.create("a", 1);
    let decision = delete_topics(
        &catalog.ledger,
        &catalog.rules,
        &[TopicRef::Name("a".to_owned())],
    );
    assert_eq!(
        outcome(&decision.reply[0]),
        "deleting topics is switched off; set delete.topic.enable to true"
    );
    assert_eq!(decision.records, []);
}

#[test]
fn blocks_of_producer_ids_never_overlap() {
    let mut catalog = Catalog::started(&[]);
    for first in [0, 1000, 2000] {
        let decision = allocate_producer_ids(&catalog.ledger);
        assert_eq!(catalog.carry_out(decision).unwrap().first.get(), first);
    }
}

#[test]
fn an_internal_topic_is_made_once() {
    let mut catalog = Catalog::started(&[]);
    let made = catalog.ensure_offsets_topic();
    assert!(made.is_internal && made.partitions == 50);
    assert_eq!(catalog.ensure_offsets_topic(), made);
    assert_eq!(catalog.log.len(), 1);
}
