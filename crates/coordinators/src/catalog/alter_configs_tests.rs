use super::super::testing::{Catalog, outcome};
use super::super::{BrokerScope, TopicRef, delete_topics};
use super::ChangeKind::{Append, Delete, Set, Subtract, Unknown};
use super::ResourceKind::{Broker, BrokerLogger, ClientMetrics, Group};
use super::*;
use fanlog_model::BrokerId;

type Change<'a> = (&'a str, ChangeKind, &'a str);

fn resource(kind: ResourceKind, name: &str) -> ConfigResource {
    let name = name.to_owned();
    ConfigResource { kind, name }
}

fn alteration(kind: ResourceKind, name: &str, changes: &[Change<'_>]) -> IncrementalAlteration {
    let change = |(name, kind, value): &Change<'_>| ConfigChange {
        name: (*name).to_owned(),
        kind: *kind,
        value: Some((*value).to_owned()).filter(|v| v != "null"),
    };
    IncrementalAlteration {
        resource: resource(kind, name),
        changes: changes.iter().map(change).collect(),
    }
}

fn alter(catalog: &mut Catalog, request: &[IncrementalAlteration]) -> Vec<String> {
    let trial = incremental_alter_configs(&catalog.ledger, &catalog.rules, request, true);
    let decision = incremental_alter_configs(&catalog.ledger, &catalog.rules, request, false);
    assert_eq!((trial.records.len(), &trial.reply), (0, &decision.reply));
    catalog.carry_out(decision).iter().map(outcome).collect()
}

fn started() -> Catalog {
    let mut catalog = Catalog::started(&[]);
    catalog.create("t", 1);
    catalog.ensure_offsets_topic();
    catalog
}

fn shown(overrides: &Overrides) -> String {
    let pairs: Vec<String> = overrides.iter().map(|(n, v)| format!("{n}={v}")).collect();
    pairs.join(" ")
}

#[test]
fn single_settings_of_a_topic_change_and_the_others_stay() {
    let mut catalog = started();
    let mut check = |changes: &[Change<'_>], outcome: &str, expected: &str| {
        let request = [alteration(ResourceKind::Topic, "t", changes)];
        assert_eq!(alter(&mut catalog, &request), [outcome]);
        assert_eq!(
            shown(&catalog.topic("t").unwrap().overrides),
            expected,
            "after {changes:?}"
        );
    };
    check(
        &[("retention.ms", Set, "5"), ("preallocate", Set, "TRUE")],
        "ok",
        "preallocate=true retention.ms=5",
    );
    check(
        &[("retention.ms", Delete, "null"), ("foo", Delete, "null")],
        "ok",
        "preallocate=true",
    );
    check(
        &[("cleanup.policy", Append, "compact")],
        "ok",
        "cleanup.policy=delete,compact preallocate=true",
    );
    check(
        &[("cleanup.policy", Append, "compact")],
        "ok",
        "cleanup.policy=delete,compact preallocate=true",
    );
    check(
        &[
            ("cleanup.policy", Subtract, "delete"),
            ("preallocate", Delete, ""),
        ],
        "ok",
        "cleanup.policy=compact",
    );
    check(
        &[("cleanup.policy", Subtract, "compact, delete")],
        "ok",
        "cleanup.policy=",
    );
    let after = "cleanup.policy=";
    check(
        &[("retention.ms", Set, "9"), ("foo", Set, "1")],
        "unknown topic setting 'foo'; docs/settings.md lists those there are",
        after,
    );
    check(
        &[("retention.ms", Set, "9"), ("segment.bytes", Set, "1")],
        "invalid value '1' for setting segment.bytes: expected an int of 1048576 or more",
        after,
    );
    check(
        &[("retention.ms", Set, "null")],
        "setting retention.ms is given without a value; delete it to go back to the default",
        after,
    );
    check(
        &[("cleanup.policy", Append, "null")],
        "setting cleanup.policy is given without a value; delete it to go back to the default",
        after,
    );
    check(
        &[("retention.ms", Append, "1")],
        "setting retention.ms is no list, so nothing can be appended or subtracted; set it",
        after,
    );
    check(
        &[("cleanup.policy", Append, "shrink")],
        "invalid value ',shrink' for setting cleanup.policy: expected a list of any of compact, delete",
        after,
    );
    check(
        &[("bar", Append, "1")],
        "unknown topic setting 'bar'; docs/settings.md lists those there are",
        after,
    );
    check(
        &[("retention.ms", Set, "1"), ("retention.ms", Delete, "")],
        "setting retention.ms is changed more than once",
        after,
    );
    check(
        &[("retention.ms", Unknown(7), "1")],
        "setting retention.ms: there is no operation 7; set, delete, append or subtract",
        after,
    );
    check(
        &[
            ("min.compaction.lag.ms", Set, "9"),
            ("max.compaction.lag.ms", Set, "8"),
        ],
        "setting min.compaction.lag.ms (9) may not be above max.compaction.lag.ms (8)",
        after,
    );
}

#[test]
fn broker_settings_change_for_one_broker_or_for_all() {
    let mut catalog = started();
    let mut check = |name: &str, changes: &[Change<'_>], expected: &str| {
        assert_eq!(
            alter(&mut catalog, &[alteration(Broker, name, changes)]),
            [expected]
        );
    };
    check("", &[("log.retention.ms", Set, "1000")], "ok");
    check(
        "1",
        &[
            ("log.retention.ms", Set, "2000"),
            ("fanlog.replication.factor.clamp", Set, "true"),
        ],
        "ok",
    );
    check("1", &[("log.cleanup.policy", Append, "compact")], "ok");
    check("1", &[("foo", Delete, "")], "ok");
    check(
        "2",
        &[("log.retention.ms", Set, "1")],
        "there is no broker '2'; this is broker 1, and the empty name means all",
    );
    check(
        "x",
        &[("log.retention.ms", Set, "1")],
        "there is no broker 'x'; this is broker 1, and the empty name means all",
    );
    check(
        "1",
        &[("num.partitions", Set, "3")],
        "setting num.partitions can't change while the broker runs; set it in the start-up file and restart",
    );
    check(
        "",
        &[("ssl.keystore.type", Set, "JKS")],
        "setting ssl.keystore.type can't be set for all brokers; name the broker",
    );
    check(
        "1",
        &[("foo", Set, "3")],
        "unknown broker setting 'foo'; docs/settings.md lists those there are",
    );
    let view = catalog.ledger.view().clone();
    assert_eq!(
        shown(&view.broker_settings(BrokerScope::Default)),
        "log.retention.ms=1000"
    );
    let own = view.broker_settings(BrokerScope::Broker(BrokerId(1)));
    assert_eq!(
        shown(&own),
        "fanlog.replication.factor.clamp=true log.cleanup.policy=delete,compact log.retention.ms=2000"
    );
    let topic = catalog.rules.topic_settings(&view, &Overrides::new());
    assert_eq!(topic.retention_ms, Some(2000));
    assert!(
        catalog
            .rules
            .broker_settings(&view)
            .is_replication_factor_clamped
    );
}

#[test]
fn a_group_has_settings_within_the_brokers_bounds() {
    let mut catalog = started();
    let lock = "share.record.lock.duration.ms";
    let set = [alteration(Group, "g", &[(lock, Set, "20000")])];
    assert_eq!(alter(&mut catalog, &set), ["ok"]);
    let settings = |catalog: &Catalog, group: &str| {
        let view = catalog.ledger.view().clone();
        catalog.rules.share_group_settings(&view, &group.into())
    };
    assert_eq!(settings(&catalog, "g").record_lock_ms, 20_000);
    assert_eq!(settings(&catalog, "h").record_lock_ms, 30_000);
    let too_long = [alteration(Group, "g", &[(lock, Set, "60001")])];
    assert_eq!(
        alter(&mut catalog, &too_long),
        [
            "setting share.record.lock.duration.ms (60001) must lie between 15000 and 60000, as the broker's settings say"
        ]
    );
    let delete = [alteration(Group, "g", &[(lock, Delete, "")])];
    assert_eq!(alter(&mut catalog, &delete), ["ok"]);
    assert_eq!(settings(&catalog, "g").record_lock_ms, 30_000);
    assert_eq!(catalog.ledger.view().groups_with_settings().len(), 0);
}

#[test]
fn other_resources_are_refused_by_name() {
    let check = |kind: ResourceKind, name: &str, expected: &str| {
        let request = [alteration(kind, name, &[("retention.ms", Set, "1")])];
        assert_eq!(alter(&mut started(), &request), [expected]);
    };
    check(
        BrokerLogger,
        "1",
        "BrokerLogger has no settings here; topics, brokers and groups have",
    );
    check(
        ClientMetrics,
        "m",
        "ClientMetrics has no settings here; topics, brokers and groups have",
    );
    check(
        Group,
        "",
        "there are no settings of all groups; change the broker's, such as group.share.record.lock.duration.ms",
    );
    check(
        Group,
        "g",
        "unknown group setting 'retention.ms'; docs/settings.md lists those there are",
    );
    check(
        ResourceKind::Unknown(99),
        "",
        "Unknown(99) has no settings here; topics, brokers and groups have",
    );
    check(ResourceKind::Topic, "nope", "topic 'nope' does not exist");
    check(
        ResourceKind::Topic,
        "",
        "there are no settings of all topics; change the broker's, such as log.retention.ms",
    );
    check(
        ResourceKind::Topic,
        "__consumer_offsets",
        "topic '__consumer_offsets' is internal and keeps its settings",
    );
}

#[test]
fn resources_of_one_request_stand_or_fall_alone() {
    let mut catalog = started();
    catalog.create("u", 1);
    let set =
        |kind, name: &str, value: &str| alteration(kind, name, &[("retention.ms", Set, value)]);
    let request = [
        set(ResourceKind::Topic, "t", "x"),
        set(ResourceKind::Topic, "u", "7"),
        alteration(Broker, "", &[("log.retention.ms", Set, "1")]),
        alteration(Broker, "", &[("log.retention.ms", Set, "2")]),
    ];
    let repeated = "the request changes Broker '' more than once";
    assert_eq!(
        alter(&mut catalog, &request),
        [
            "invalid value 'x' for setting retention.ms: expected a long of -1 or more",
            "ok",
            repeated,
            repeated,
        ]
    );
    assert_eq!(shown(&catalog.topic("t").unwrap().overrides), "");
    assert_eq!(
        shown(&catalog.topic("u").unwrap().overrides),
        "retention.ms=7"
    );
}

#[test]
fn a_full_replacement_drops_what_it_does_not_name() {
    let mut catalog = started();
    let mut check = |entries: &[(&str, Option<&str>)], expected: &str, after: &str| {
        let entries = entries
            .iter()
            .map(|(n, v)| ((*n).to_owned(), v.map(str::to_owned)))
            .collect();
        let request = [Replacement {
            resource: resource(ResourceKind::Topic, "t"),
            entries,
        }];
        let trial = alter_configs(&catalog.ledger, &catalog.rules, &request, true);
        let decision = alter_configs(&catalog.ledger, &catalog.rules, &request, false);
        assert_eq!((trial.records.len(), &trial.reply), (0, &decision.reply));
        assert_eq!(outcome(&catalog.carry_out(decision)[0]), expected);
        assert_eq!(shown(&catalog.topic("t").unwrap().overrides), after);
    };
    check(
        &[("retention.ms", Some("5")), ("flush.ms", Some("7"))],
        "ok",
        "flush.ms=7 retention.ms=5",
    );
    check(&[("retention.ms", Some("6"))], "ok", "retention.ms=6");
    check(
        &[("retention.ms", None)],
        "setting retention.ms is given without a value; delete it to go back to the default",
        "retention.ms=6",
    );
    check(
        &[("retention.ms", Some("x")), ("flush.ms", Some("7"))],
        "invalid value 'x' for setting retention.ms: expected a long of -1 or more",
        "retention.ms=6",
    );
    check(&[], "ok", "");
}

#[test]
fn what_changes_nothing_is_not_logged() {
    let mut catalog = started();
    let request = [alteration(
        ResourceKind::Topic,
        "t",
        &[("retention.ms", Set, "5")],
    )];
    assert_eq!(alter(&mut catalog, &request), ["ok"]);
    let length = catalog.log.len();
    assert_eq!(alter(&mut catalog, &request), ["ok"]);
    assert_eq!(catalog.log.len(), length);
}

#[test]
fn a_topic_made_anew_has_none_of_the_old_settings() {
    let mut catalog = started();
    alter(
        &mut catalog,
        &[alteration(
            ResourceKind::Topic,
            "t",
            &[("retention.ms", Set, "5")],
        )],
    );
    let decision = delete_topics(
        &catalog.ledger,
        &catalog.rules,
        &[TopicRef::Name("t".to_owned())],
    );
    catalog.carry_out(decision);
    catalog.create("t", 1);
    assert_eq!(shown(&catalog.topic("t").unwrap().overrides), "");
}

#[test]
fn a_request_that_rewrites_too_much_is_refused_from_there_on() {
    let mut catalog = started();
    let long: Vec<String> = (0..3_000).map(|i| format!("{i}:{i}")).collect();
    let long = long.join(",");
    let topics = ALTERED_BYTES_MAX / long.len() + 2;
    let names: Vec<String> = (0..topics).map(|i| format!("topic-{i}")).collect();
    for name in &names {
        catalog.create(name, 1);
    }
    let change: [Change<'_>; 1] = [("leader.replication.throttled.replicas", Set, &long)];
    let request: Vec<_> = names
        .iter()
        .map(|name| alteration(ResourceKind::Topic, name, &change))
        .collect();
    let found = alter(&mut catalog, &request);
    assert_eq!(found[0], "ok");
    let refused = "the request changes more than 8388608 bytes of settings; send it in parts";
    assert_eq!(found[topics - 1], refused);
}
