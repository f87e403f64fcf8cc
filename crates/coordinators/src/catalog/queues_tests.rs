use super::super::testing::{Catalog, outcome};
use super::super::{TopicRef, delete_topics};
use super::*;
use fanlog_model::Offset;

fn new_queue(
    catalog: &mut Catalog,
    name: &str,
    topic: &str,
    settings: &[(&str, &str)],
) -> NewQueue {
    let owned = |(n, v): &(&str, &str)| ((*n).to_owned(), (*v).to_owned());
    NewQueue {
        id: catalog.draw_id().0,
        name: GroupId::from(name),
        topic: topic.to_owned(),
        start: QueueStart::Offset(Offset(3)),
        overrides: settings.iter().map(owned).collect(),
        taken_by: None,
        begun: None,
    }
}

fn create(catalog: &mut Catalog, name: &str, topic: &str, settings: &[(&str, &str)]) -> String {
    let new = new_queue(catalog, name, topic, settings);
    let decision = create_queue(&catalog.ledger, &catalog.rules, &new);
    outcome(&catalog.carry_out(decision))
}

fn alter(catalog: &mut Catalog, name: &str, changes: &[(&str, Option<&str>)]) -> String {
    let owned = |(n, v): &(&str, Option<&str>)| ((*n).to_owned(), v.map(str::to_owned));
    let changes = changes.iter().map(owned).collect();
    let decision = alter_queue(&catalog.ledger, &catalog.rules, &name.into(), &changes);
    outcome(&catalog.carry_out(decision))
}

fn delete(catalog: &mut Catalog, name: &str) -> String {
    let decision = delete_queue(&catalog.ledger, &catalog.rules, &name.into());
    outcome(&catalog.carry_out(decision))
}

fn started() -> Catalog {
    let mut catalog = Catalog::started(&[]);
    catalog.create("orders", 3);
    catalog.create("other", 1);
    catalog.ensure_offsets_topic();
    catalog
}

fn names(catalog: &Catalog, topic: &str) -> Vec<String> {
    let topic = catalog.topic(topic).map_or(Default::default(), |t| t.id);
    let view = catalog.ledger.view();
    let queues = view.queues_of_topic(topic);
    queues.map(|queue| queue.name.to_string()).collect()
}

#[test]
fn a_queue_stands_under_its_name_its_id_and_its_topic_until_it_is_deleted() {
    let mut catalog = started();
    assert_eq!(
        create(&mut catalog, "mail", "orders", &[("order", "key")]),
        "ok"
    );
    assert_eq!(create(&mut catalog, "bill", "orders", &[]), "ok");
    let view = catalog.ledger.view().clone();
    let queue = view.queue(&"mail".into()).expect("it was created");
    assert_eq!(view.queue_by_id(queue.id), Some(queue));
    assert_eq!(Some(queue.topic), catalog.topic("orders").map(|t| t.id));
    assert_eq!(queue.start, QueueStart::Offset(Offset(3)));
    assert_eq!(queue.partitions_at_start, 3);
    assert_eq!(names(&catalog, "orders"), ["bill", "mail"]);
    assert_eq!(names(&catalog, "other"), [""; 0]);
    assert_eq!(delete(&mut catalog, "mail"), "ok");
    assert_eq!(names(&catalog, "orders"), ["bill"]);
    assert_eq!(delete(&mut catalog, "mail"), "queue 'mail' does not exist");
    assert_eq!(catalog.ledger.view().queues().len(), 1);
}

#[test]
fn a_queue_goes_with_its_topic_and_its_dead_letters_stay() {
    let mut catalog = started();
    catalog.create("mail.dead", 3);
    create(&mut catalog, "mail", "orders", &[]);
    create(&mut catalog, "bill", "other", &[]);
    let topics = [TopicRef::Name("orders".to_owned())];
    let decision = delete_topics(&catalog.ledger, &catalog.rules, &topics);
    assert!(
        matches!(
            decision.records.as_slice(),
            [Record::QueueDeleted(_), Record::TopicDeleted(_)]
        ),
        "no log has the queue without its topic"
    );
    catalog.carry_out(decision);
    assert_eq!(catalog.ledger.view().queue(&"mail".into()), None);
    assert!(catalog.topic("mail.dead").is_some());
    assert_eq!(names(&catalog, "other"), ["bill"]);
    // Another life of the topic knows nothing of the queues of the one before.
    catalog.create("orders", 1);
    assert_eq!(names(&catalog, "orders"), [""; 0]);
    assert_eq!(create(&mut catalog, "mail", "orders", &[]), "ok");
}

#[test]
fn a_queue_that_cannot_be_is_refused_with_the_reason() {
    let mut catalog = started();
    create(&mut catalog, "mail", "orders", &[]);
    let mut check = |name: &str, topic: &str, settings: &[(&str, &str)], expected: &str| {
        let before = catalog.log.len();
        assert_eq!(create(&mut catalog, name, topic, settings), expected);
        assert_eq!(catalog.log.len(), before);
    };
    check(
        "mail",
        "other",
        &[],
        "queue 'mail' already exists, on topic 'orders'",
    );
    check(
        "a/b",
        "orders",
        &[],
        "a queue can't be called 'a/b': topic name 'a/b' has the illegal character '/'; use only [a-zA-Z0-9._-]",
    );
    check(
        "__q",
        "orders",
        &[],
        "names that begin with __ are kept for the broker itself; choose another than '__q'",
    );
    check(
        "q",
        "nowhere",
        &[],
        "topic 'nowhere' does not exist; create it first",
    );
    check(
        "q",
        "__consumer_offsets",
        &[],
        "topic '__consumer_offsets' is internal and has no queues",
    );
    check(
        "q",
        "orders",
        &[("lock", "1ms")],
        "invalid value '1ms' for setting lock: expected a duration from 1s to 12h, such as 500ms, 30s, 5m, 2h or 7d",
    );
    check(
        "q",
        "orders",
        &[("dead-letter", "orders")],
        "dead letters of queue 'q' can't go to 'orders', which is the topic that the queue reads; choose another topic for dead-letter, or none",
    );
    check(
        "q",
        "orders",
        &[("dead-letter", "q.redrive")],
        "dead letters of queue 'q' can't go to 'q.redrive', which is where its redriven dead letters go; choose another topic for dead-letter, or none",
    );
    check(
        "q",
        "orders",
        &[("dead-letter", "__fanlog_queues")],
        "dead letters of queue 'q' can't go to '__fanlog_queues', which is kept for the broker itself; choose another topic for dead-letter, or none",
    );
    check(
        "q",
        "orders",
        &[("filter", r#"{"a": {"b": ["c"]}}"#)],
        "setting filter: 'a' of the filter has an object: headers are flat; give it a list of conditions, or set filter-scope to body",
    );
    let mut new = new_queue(&mut catalog, "team", "orders", &[]);
    new.taken_by = Some(GroupKind::Consumer);
    let decision = create_queue(&catalog.ledger, &catalog.rules, &new);
    assert_eq!(
        outcome(&decision.reply),
        "'team' is a consumer group, and groups and queues share their names; choose another, or delete the group"
    );
}

#[test]
fn single_settings_change_and_the_others_stay() {
    let mut catalog = started();
    create(&mut catalog, "mail", "orders", &[("lock", "1m")]);
    let mut check = |changes: &[(&str, Option<&str>)], expected: &str, shown: &str| {
        assert_eq!(alter(&mut catalog, "mail", changes), expected);
        let queue = catalog.ledger.view().queue(&"mail".into()).cloned();
        let overrides = queue.expect("it is there").overrides.clone();
        let pairs: Vec<String> = overrides.iter().map(|(n, v)| format!("{n}={v}")).collect();
        assert_eq!(pairs.join(" "), shown);
    };
    check(&[("paused", Some("TRUE"))], "ok", "lock=1m paused=true");
    check(
        &[("lock", None), ("paused", Some("false"))],
        "ok",
        "paused=false",
    );
    check(
        &[("paused", None), ("order", Some("random"))],
        "invalid value 'random' for setting order: expected one of none, key",
        "paused=false",
    );
    check(
        &[("colour", None)],
        "unknown queue setting 'colour'; docs/settings.md lists those there are",
        "paused=false",
    );
    check(
        &[("dead-letter", Some("orders"))],
        "dead letters of queue 'mail' can't go to 'orders', which is the topic that the queue reads; choose another topic for dead-letter, or none",
        "paused=false",
    );
    let before = catalog.log.len();
    assert_eq!(
        alter(&mut catalog, "mail", &[("paused", Some("false"))]),
        "ok"
    );
    assert_eq!(
        catalog.log.len(),
        before,
        "what is so already is not logged"
    );
    assert_eq!(
        alter(&mut catalog, "none", &[]),
        "queue 'none' does not exist"
    );
}

#[test]
fn a_topic_has_so_many_queues_and_no_more() {
    let mut catalog = started();
    for number in 0..QUEUES_PER_TOPIC_MAX {
        let name = format!("q{number}");
        assert_eq!(create(&mut catalog, &name, "orders", &[]), "ok");
    }
    assert_eq!(
        create(&mut catalog, "more", "orders", &[]),
        "there are 1000 queues on the topic, and no more are taken; delete some first"
    );
    assert_eq!(create(&mut catalog, "more", "other", &[]), "ok");
}

#[test]
fn a_filter_is_checked_for_what_it_looks_at() {
    let mut catalog = started();
    let body = r#"{"a": {"b": ["c"]}}"#;
    let both = [("filter", body), ("filter-scope", "body")];
    assert_eq!(create(&mut catalog, "mail", "orders", &both), "ok");
    assert_eq!(
        alter(&mut catalog, "mail", &[("filter-scope", None)]),
        "setting filter: 'a' of the filter has an object: headers are flat; give it a list of conditions, or set filter-scope to body"
    );
    let neither = [("filter-scope", None), ("filter", None)];
    assert_eq!(alter(&mut catalog, "mail", &neither), "ok");
}

#[test]
fn a_queue_begins_in_the_partitions_that_it_was_asked_for_and_in_no_other_topic_of_the_name() {
    let mut catalog = Catalog::started(&[]);
    catalog.create("t", 3);
    let topic = catalog.ledger.view().topic_named("t").unwrap().id;
    let mut new = new_queue(&mut catalog, "q", "t", &[]);
    let other = TopicId(catalog.draw_id().0);
    new.begun = Some(Begun {
        topic: other,
        partitions: 2,
    });
    let decision = create_queue(&catalog.ledger, &catalog.rules, &new);
    let refused = catalog.carry_out(decision).unwrap_err();
    assert!(matches!(refused, CreateQueueError::TopicMadeAnew { .. }));
    // It has grown since.
    new.begun = Some(Begun {
        topic,
        partitions: 2,
    });
    let decision = create_queue(&catalog.ledger, &catalog.rules, &new);
    assert_eq!(catalog.carry_out(decision).unwrap().partitions_at_start, 2);
}
