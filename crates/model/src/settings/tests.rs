use super::*;

/// A setting whose update mode differs from Kafka's on purpose: its address is bound at the start.
const READ_ONLY_HERE: &[&str] = &["listeners"];

#[test]
fn every_setting_of_kafka_4_4_is_declared_with_its_type_default_and_mode() {
    let mut seen = [0, 0];
    for line in include_str!("kafka-4.4-settings.txt").lines().skip(1) {
        let parts: Vec<&str> = line.split('|').collect();
        let [of, name, kind, default, mode] = parts[..] else {
            panic!("five parts: {line}");
        };
        let (settings, count) = match of {
            "topic" => (topic_settings(), &mut seen[0]),
            _ => (broker_settings(), &mut seen[1]),
        };
        *count += 1;
        let setting = settings
            .get(name)
            .unwrap_or_else(|| panic!("{of} setting {name}"));
        assert_eq!(setting.kind.name(), kind, "{name}");
        let default = Some(default).filter(|d| *d != "<none>");
        assert_eq!(setting.default, default, "{name}");
        if !READ_ONLY_HERE.contains(&name) {
            assert_eq!(setting.is_read_only(), mode == "read-only", "{name}");
        }
    }
    const OURS: [&str; 3] = ["dedup.window.ms", "durability", "retention.hold.bytes"];
    assert_eq!(seen[0] + OURS.len(), topic_settings().len());
    let own = broker_settings()
        .keys()
        .filter(|n| n.starts_with("fanlog.") || n.starts_with("aws."))
        .count();
    assert_eq!(seen[1] + own, broker_settings().len());
    assert_eq!(seen, [37, 350]);
}

#[test]
fn every_default_is_a_legal_value_of_its_own_setting() {
    let all = topic_settings().values().chain(broker_settings().values());
    let all = all.chain(group_settings().values());
    for setting in all.chain(queue_settings().values()) {
        if let Some(default) = setting.default {
            let canonical = setting.canonical(default);
            assert_eq!(canonical.as_deref(), Ok(default), "{}", setting.name);
        }
        assert!(
            setting.doc.ends_with('.') && setting.doc.len() < 160,
            "{}",
            setting.name
        );
    }
}

#[test]
fn every_topic_setting_has_a_default_and_stand_ins_of_its_type() {
    for setting in topic_settings().values() {
        assert!(setting.default.is_some(), "{}", setting.name);
        for synonym in setting.synonyms {
            let broker = broker_settings()[synonym];
            // A broker's minutes and hours are ints where the topic's milliseconds are longs.
            let is_coarse = synonym.ends_with(".hours") || synonym.ends_with(".minutes");
            assert!(is_coarse || broker.kind == setting.kind, "{synonym}");
        }
    }
}

#[test]
fn every_group_setting_has_a_default_and_stand_ins_that_exist() {
    for setting in group_settings().values() {
        assert!(setting.default.is_some(), "{}", setting.name);
        for synonym in setting.synonyms {
            assert!(broker_settings().contains_key(synonym), "{synonym}");
        }
    }
    let none = Overrides::new();
    let layers = BrokerLayers {
        dynamic: &none,
        dynamic_default: &none,
        statics: &none,
    };
    let resolved = ShareGroupSettings::resolve(&none, &layers);
    assert_eq!(resolved.record_lock_ms, 30_000);
    assert_eq!(resolved.auto_offset_reset, OffsetReset::Latest);
    // As when the broker's bounds have come closer.
    let given = map(&[("share.record.lock.duration.ms", "3000000")]);
    assert!(check_group(&given, &layers).is_err());
    let resolved = ShareGroupSettings::resolve(&given, &layers);
    assert_eq!(resolved.record_lock_ms, 60_000);
}

fn statics(given: &[(&str, &str)]) -> Overrides {
    check_statics(given.iter().copied()).expect("legal settings")
}

fn map(given: &[(&str, &str)]) -> Overrides {
    given
        .iter()
        .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()))
        .collect()
}

#[test]
fn defaults_resolve_to_kafkas_numbers() {
    let none = Overrides::new();
    let layers = BrokerLayers {
        dynamic: &none,
        dynamic_default: &none,
        statics: &none,
    };
    let topic = TopicSettings::resolve(&none, &layers);
    assert_eq!(topic.retention_ms, Some(604_800_000));
    assert_eq!(topic.retention_bytes, None);
    assert_eq!(topic.segment_ms, 604_800_000);
    assert_eq!(topic.segment_bytes, 1 << 30);
    assert_eq!(topic.max_message_bytes, 1_048_588);
    assert_eq!(
        topic.cleanup_policy,
        CleanupPolicy {
            delete: true,
            compact: false
        }
    );
    assert_eq!(topic.compression_type, CompressionType::Producer);
    let broker = BrokerSettings::resolve(&layers);
    assert!(broker.auto_create_topics && broker.delete_topic);
    assert_eq!(broker.offsets_topic_partitions, 50);
    assert_eq!(broker.offsets_retention_ms, 7 * 86_400_000);
    assert!(!broker.is_replication_factor_clamped);
}

#[test]
fn the_nearest_value_wins_and_coarse_units_are_converted() {
    let check = |topic: &[(&str, &str)],
                 dynamic: &[(&str, &str)],
                 all: &[(&str, &str)],
                 file: &[(&str, &str)],
                 expected: Option<u64>| {
        let (topic, dynamic, all, file) = (map(topic), map(dynamic), map(all), statics(file));
        let layers = BrokerLayers {
            dynamic: &dynamic,
            dynamic_default: &all,
            statics: &file,
        };
        assert_eq!(
            TopicSettings::resolve(&topic, &layers).retention_ms,
            expected
        );
    };
    check(
        &[],
        &[],
        &[],
        &[("log.retention.hours", "2")],
        Some(7_200_000),
    );
    check(
        &[],
        &[],
        &[],
        &[("log.retention.hours", "2"), ("log.retention.minutes", "3")],
        Some(180_000),
    );
    check(&[], &[], &[], &[("log.retention.hours", "-1")], None);
    check(
        &[],
        &[],
        &[("log.retention.ms", "5")],
        &[("log.retention.minutes", "3")],
        Some(5),
    );
    check(
        &[],
        &[("log.retention.ms", "4")],
        &[("log.retention.ms", "5")],
        &[],
        Some(4),
    );
    check(
        &[("retention.ms", "-1")],
        &[("log.retention.ms", "4")],
        &[],
        &[],
        None,
    );
}

/// What a Kafka 4.4 broker answered for the same values.
#[test]
fn describe_lists_values_sources_and_synonyms_in_kafkas_order() {
    let dynamic = map(&[
        ("log.retention.ms", "2000000"),
        ("message.max.bytes", "2000000"),
    ]);
    let all = map(&[("log.retention.ms", "1000000")]);
    let none = Overrides::new();
    let layers = BrokerLayers {
        dynamic: &dynamic,
        dynamic_default: &all,
        statics: &none,
    };
    let topic = map(&[
        ("retention.ms", "604800000"),
        ("cleanup.policy", "compact,delete"),
    ]);
    let show = |d: &[Described]| -> Vec<String> {
        let line = |d: &Described| {
            let synonyms: Vec<String> = d
                .synonyms
                .iter()
                .map(|s| {
                    format!(
                        "{}={}:{:?}",
                        s.name,
                        s.value.as_deref().unwrap_or("-"),
                        s.source
                    )
                })
                .collect();
            format!(
                "{}={} {:?} [{}]",
                d.setting.name,
                d.value.as_deref().unwrap_or("-"),
                d.source,
                synonyms.join(" ")
            )
        };
        d.iter().map(line).collect()
    };
    let wanted = [
        "retention.ms",
        "cleanup.policy",
        "segment.ms",
        "max.message.bytes",
        "preallocate",
        "nonsense",
    ];
    assert_eq!(
        show(&describe_topic(&topic, &layers, Some(&wanted))),
        [
            "cleanup.policy=compact,delete DynamicTopic [cleanup.policy=compact,delete:DynamicTopic log.cleanup.policy=delete:Default]",
            "max.message.bytes=2000000 DynamicBroker [message.max.bytes=2000000:DynamicBroker message.max.bytes=1048588:Default]",
            "preallocate=false Default [log.preallocate=false:Default]",
            "retention.ms=604800000 DynamicTopic [retention.ms=604800000:DynamicTopic log.retention.ms=2000000:DynamicBroker log.retention.ms=1000000:DynamicDefaultBroker log.retention.hours=168:Default]",
            "segment.ms=604800000 Default []",
        ]
    );
    let wanted = [
        "log.retention.ms",
        "log.roll.ms",
        "log.roll.hours",
        "ssl.key.password",
        "node.id",
    ];
    assert_eq!(
        show(&describe_broker(&layers, Some(&wanted))),
        [
            "log.retention.ms=2000000 DynamicBroker [log.retention.ms=2000000:DynamicBroker log.retention.ms=1000000:DynamicDefaultBroker log.retention.hours=168:Default]",
            "log.roll.hours=168 Default [log.roll.hours=168:Default]",
            "log.roll.ms=- Default []",
            "node.id=- Default []",
            "ssl.key.password=- Default []",
        ]
    );
    assert_eq!(
        show(&describe_broker_default(&layers, None)),
        [
            "log.retention.ms=1000000 DynamicDefaultBroker [log.retention.ms=1000000:DynamicDefaultBroker]",
        ]
    );
    assert_eq!(describe_topic(&topic, &layers, None).len(), 40);
    assert_eq!(
        describe_broker(&layers, None).len(),
        broker_settings().len()
    );
}

#[test]
fn a_topic_value_is_checked_and_made_canonical() {
    let check = |name: &str, value: &str, expected: Result<&str, &str>| {
        let found = check_topic_setting(name, value).map_err(|e| e.to_string());
        assert_eq!(found.as_deref().map_err(String::as_str), expected);
    };
    check("retention.ms", " 100 ", Ok("100"));
    check("preallocate", "TRUE", Ok("true"));
    check(
        "cleanup.policy",
        " compact , delete,compact",
        Ok("compact,delete"),
    );
    check("cleanup.policy", "", Ok(""));
    check(
        "leader.replication.throttled.replicas",
        "0:1,1:2",
        Ok("0:1,1:2"),
    );
    check("leader.replication.throttled.replicas", "*", Ok("*"));
    check("min.insync.replicas", "2", Ok("2"));
    check("remote.storage.enable", "false", Ok("false"));
    check("compression.gzip.level", "-1", Ok("-1"));
    check(
        "foo",
        "1",
        Err("unknown topic setting 'foo'; docs/settings.md lists those there are"),
    );
    check(
        "retention.ms",
        "abc",
        Err("invalid value 'abc' for setting retention.ms: expected a long of -1 or more"),
    );
    check(
        "segment.bytes",
        "12",
        Err("invalid value '12' for setting segment.bytes: expected an int of 1048576 or more"),
    );
    check(
        "preallocate",
        "yes",
        Err("invalid value 'yes' for setting preallocate: expected true or false"),
    );
    check(
        "compression.type",
        "GZIP",
        Err(
            "invalid value 'GZIP' for setting compression.type: expected one of uncompressed, zstd, lz4, snappy, gzip, producer",
        ),
    );
    check(
        "compression.gzip.level",
        "0",
        Err(
            "invalid value '0' for setting compression.gzip.level: expected -1, or an int from 1 to 9",
        ),
    );
    check(
        "min.cleanable.dirty.ratio",
        "NaN",
        Err(
            "invalid value 'NaN' for setting min.cleanable.dirty.ratio: expected a double from 0 to 1",
        ),
    );
    check(
        "remote.storage.enable",
        "true",
        Err(
            "setting remote.storage.enable can't be 'true' here: there is no remote tier; leave it at 'false'",
        ),
    );
    check(
        "leader.replication.throttled.replicas",
        "0",
        Err(
            "invalid value '0' for setting leader.replication.throttled.replicas: expected *, or a list of partition:broker",
        ),
    );
}

#[test]
fn a_broker_value_given_while_running_must_be_one_that_can_change() {
    let check = |name: &str, value: &str, all: bool, expected: Result<&str, &str>| {
        let found = check_broker_dynamic(name, value, all).map_err(|e| e.to_string());
        assert_eq!(found.as_deref().map_err(String::as_str), expected);
    };
    check("log.retention.ms", "-1", true, Ok("-1"));
    check(
        "log.retention.ms",
        "0",
        false,
        Err(
            "invalid value '0' for setting log.retention.ms: expected -1 for no limit, or a long of 1 or more",
        ),
    );
    check(
        "num.partitions",
        "3",
        false,
        Err(
            "setting num.partitions can't change while the broker runs; set it in the start-up file and restart",
        ),
    );
    check(
        "ssl.keystore.type",
        "JKS",
        true,
        Err("setting ssl.keystore.type can't be set for all brokers; name the broker"),
    );
    check(
        "ssl.key.password",
        "hunter2",
        false,
        Err(
            "setting ssl.key.password can't be '(hidden)' here: there is no TLS yet; leave it unset",
        ),
    );
    check(
        "num.io.threads",
        "9",
        true,
        Err(
            "setting num.io.threads can't be '9' here: threads are sized by the machine; leave it at '8'",
        ),
    );
    check(
        "retention.ms",
        "9",
        true,
        Err("unknown broker setting 'retention.ms'; docs/settings.md lists those there are"),
    );
}

#[test]
fn values_too_long_to_keep_are_refused() {
    let long = "x".repeat(VALUE_BYTES_MAX + 1);
    assert!(matches!(
        check_topic_setting("cleanup.policy", &long),
        Err(SettingError::TooLong { .. })
    ));
    let many: Overrides = (0..10).map(|i| (i.to_string(), long.clone())).collect();
    assert!(matches!(
        check_topic(&many),
        Err(SettingError::TooLongTogether { .. })
    ));
}

#[test]
fn the_page_in_docs_is_the_one_that_the_declarations_print() {
    assert!(
        settings_page() == include_str!("../../../../docs/settings.md"),
        "docs/settings.md is out of date: cargo run -q -p fanlog-model --example settings_page > docs/settings.md"
    );
}

#[test]
fn durability_takes_its_three_classes_and_nothing_else() {
    let check = |value: &str| check_topic_setting("durability", value);
    for value in ["sync", "os", "interval:1", "interval:3600000"] {
        assert_eq!(check(value).as_deref(), Ok(value));
    }
    for value in [
        "",
        "Sync",
        "interval",
        "interval:",
        "interval:0",
        "interval:+5",
        "interval:3600001",
        "none",
    ] {
        let error = check(value).unwrap_err().to_string();
        assert!(
            error.contains("expected sync, os, or interval:<ms>"),
            "{error}"
        );
    }
}
