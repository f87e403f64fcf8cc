use super::super::testing::{Catalog, outcome};
use super::*;

fn decide(catalog: &mut Catalog, request: &[NewTopic]) -> Vec<String> {
    let decision = create_topics(&catalog.ledger, &catalog.rules, request, false);
    catalog.carry_out(decision).iter().map(outcome).collect()
}

#[test]
fn a_topic_is_created_with_what_was_asked_or_the_brokers_defaults() {
    let mut catalog = Catalog::started(&[("num.partitions", "4")]);
    catalog.create("a", -1);
    catalog.create("b", 7);
    assert_eq!(catalog.topic("a").unwrap().partitions, 4);
    let b = catalog.topic("b").unwrap();
    assert_eq!(b.partitions, 7);
    assert_eq!(catalog.ledger.view().topic_by_id(b.id), Some(&b));
    assert_eq!(catalog.ledger.view().partition_count(), 11);
}

#[test]
fn names_are_checked() {
    let check = |name: &str, expected: &str| {
        let mut catalog = Catalog::started(&[]);
        catalog.create("a.b", 1);
        let request = [catalog.new_topic(name, 1)];
        assert_eq!(decide(&mut catalog, &request), [expected]);
    };
    check("new", "ok");
    check("__debezium-heartbeat", "ok");
    check("a.b", "topic 'a.b' already exists");
    check(
        "a_b",
        "topic 'a_b' collides with topic 'a.b': '.' and '_' are one in metrics; choose another name",
    );
    check(
        "a/b",
        "topic name 'a/b' has the illegal character '/'; use only [a-zA-Z0-9._-]",
    );
    check(
        "__consumer_offsets",
        "topic name '__consumer_offsets' is kept for the broker itself; choose another",
    );
    check(
        "__fanlog_catalog",
        "topic name '__fanlog_catalog' is kept for the broker itself; choose another",
    );
}

#[test]
fn partitions_copies_and_assignments_are_checked() {
    let check = |statics: &[(&str, &str)],
                 partitions: i32,
                 copies: i16,
                 assignments: &[(i32, &[i32])],
                 expected: &str| {
        let mut catalog = Catalog::started(statics);
        let request = [NewTopic {
            replication_factor: copies,
            assignments: assignments.iter().map(|(i, b)| (*i, b.to_vec())).collect(),
            ..catalog.new_topic("t", partitions)
        }];
        assert_eq!(decide(&mut catalog, &request), [expected]);
    };
    let clamp = &[
        ("fanlog.replication.factor.clamp", "true"),
        ("default.replication.factor", "3"),
    ];
    check(&[], 1, 1, &[], "ok");
    check(&[], -1, -1, &[], "ok");
    check(&[], 10_000, 1, &[], "ok");
    check(clamp, 1, 3, &[], "ok");
    check(clamp, 1, -1, &[], "ok");
    check(&[], -1, -1, &[(1, &[1]), (0, &[1])], "ok");
    let partitions = |n: i32| {
        format!(
            "topic 't' can't have {n} partitions; give 1 to 10000, or -1 for the broker's default"
        )
    };
    check(&[], 0, 1, &[], &partitions(0));
    check(&[], -2, 1, &[], &partitions(-2));
    check(&[], 10_001, 1, &[], &partitions(10_001));
    let copies = |n: i32| {
        format!(
            "replication factor {n} is not possible with one broker; give 1 or -1, or set fanlog.replication.factor.clamp"
        )
    };
    check(&[], 1, 2, &[], &copies(2));
    check(&[], 1, 0, &[], &copies(0));
    check(clamp, 1, 0, &[], &copies(0));
    check(clamp, 1, -2, &[], &copies(-2));
    check(
        &[("default.replication.factor", "3")],
        1,
        -1,
        &[],
        &copies(3),
    );
    check(
        &[("fanlog.partitions.max", "5")],
        6,
        1,
        &[],
        "6 more partitions are too many: 5 may be added before fanlog.partitions.max is reached",
    );
    check(
        &[],
        1,
        -1,
        &[(0, &[1])],
        "partitions are assigned by hand, so the number of partitions must be -1, not 1",
    );
    check(
        &[],
        -1,
        -1,
        &[(0, &[1]), (2, &[1])],
        "partition 2 is assigned; number 2 partitions from 0 without a gap",
    );
    check(
        &[],
        -1,
        -1,
        &[(0, &[1]), (0, &[1])],
        "partition 0 is assigned; number 2 partitions from 0 without a gap",
    );
    check(
        &[],
        -1,
        -1,
        &[(0, &[9])],
        "partition 0 is assigned to broker 9, which is not there; assign it to broker 1",
    );
    check(
        &[],
        -1,
        -1,
        &[(0, &[1, 1])],
        "partition 0 is assigned to broker 1 more than once",
    );
    check(
        &[],
        -1,
        -1,
        &[(0, &[])],
        "partition 0 is assigned to no broker; assign it to broker 1",
    );
}

#[test]
fn settings_are_checked_and_kept_in_canonical_form_even_where_they_equal_the_default() {
    let mut catalog = Catalog::started(&[]);
    let mut decide_with = |overrides: &[(&str, Option<&str>)]| {
        let overrides = overrides
            .iter()
            .map(|(n, v)| ((*n).to_owned(), v.map(str::to_owned)))
            .collect();
        let request = [NewTopic {
            overrides,
            ..catalog.new_topic("t", 1)
        }];
        let found = decide(&mut catalog, &request).remove(0);
        (found, catalog.topic("t").map(|t| t.overrides.clone()))
    };
    let mut check_refused = |overrides: &[(&str, Option<&str>)], expected: &str| {
        assert_eq!(decide_with(overrides), (expected.to_owned(), None));
    };
    check_refused(
        &[("foo", Some("1"))],
        "unknown topic setting 'foo'; docs/settings.md lists those there are",
    );
    check_refused(
        &[("retention.ms", None)],
        "setting retention.ms is given without a value; leave it out for the default",
    );
    check_refused(
        &[("retention.ms", Some("1")), ("retention.ms", Some("2"))],
        "setting retention.ms is given more than once",
    );
    check_refused(
        &[
            ("min.compaction.lag.ms", Some("10")),
            ("max.compaction.lag.ms", Some("5")),
        ],
        "setting min.compaction.lag.ms (10) may not be above max.compaction.lag.ms (5)",
    );
    check_refused(
        &[("remote.storage.enable", Some("true"))],
        "setting remote.storage.enable can't be 'true' here: there is no remote tier; leave it at 'false'",
    );
    let (found, kept) = decide_with(&[("retention.ms", Some(" 604800000 "))]);
    assert_eq!(found, "ok");
    assert_eq!(
        kept,
        Some([("retention.ms".to_owned(), "604800000".to_owned())].into())
    );
}

#[test]
fn topics_of_one_request_stand_or_fall_alone_and_see_each_other() {
    let mut catalog = Catalog::started(&[("fanlog.partitions.max", "9")]);
    let request = [
        catalog.new_topic("x.y", 4),
        catalog.new_topic("x_y", 1),
        catalog.new_topic("twice", 1),
        catalog.new_topic("twice", 1),
        catalog.new_topic("many", 6),
        catalog.new_topic("few", 5),
    ];
    let repeated = "the request names topic 'twice' more than once";
    assert_eq!(
        decide(&mut catalog, &request),
        [
            "ok",
            "topic 'x_y' collides with topic 'x.y': '.' and '_' are one in metrics; choose another name",
            repeated,
            repeated,
            "10 more partitions are too many: 9 may be added before fanlog.partitions.max is reached",
            "ok",
        ]
    );
    let request = [catalog.new_topic("p", 6_000), catalog.new_topic("q", 6_000)];
    let mut roomy = Catalog::started(&[]);
    assert_eq!(
        decide(&mut roomy, &request),
        [
            "ok",
            "12000 more partitions are too many: 10000 may be added by one request"
        ]
    );
}

#[test]
fn validating_answers_the_same_and_changes_nothing() {
    let mut catalog = Catalog::started(&[]);
    let request = [catalog.new_topic("a", 3), catalog.new_topic("b", 0)];
    let real = create_topics(&catalog.ledger, &catalog.rules, &request, false);
    let trial = create_topics(&catalog.ledger, &catalog.rules, &request, true);
    assert_eq!(trial.reply, real.reply);
    assert_eq!(trial.records, []);
    assert_eq!(real.records.len(), 1);
}
