use super::*;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn parse(given: &[(&str, &str)]) -> Result<QueueSettings, String> {
    let owned = |(n, v): &(&str, &str)| ((*n).to_owned(), (*v).to_owned());
    QueueSettings::parse(&given.iter().map(owned).collect()).map_err(|error| error.to_string())
}

#[test]
fn a_queue_without_settings_has_the_documented_defaults() {
    let settings = parse(&[]).expect("nothing is legal");
    let expected = QueueSettings {
        lock: ms(30_000),
        attempts_max: 5,
        backoff: Backoff::Exponential {
            first: ms(1_000),
            max: ms(300_000),
            jitter_percent: 20,
        },
        order: Order::None,
        dead_letter: DeadLetter::OfQueue,
        delay: Duration::ZERO,
        filter: None,
        filter_scope: FilterScope::Headers,
        in_flight_max: 100_000,
        is_paused: false,
        is_retention_held: true,
        until: None,
    };
    assert_eq!(settings, expected);
    let queue = GroupId::from("mail");
    let dead = settings.dead_letter_topic(&queue).expect("it has one");
    assert_eq!(dead.as_str(), "mail.dead");
    assert_eq!(
        redrive_topic(&queue).expect("it has one").as_str(),
        "mail.redrive"
    );
}

#[test]
fn every_setting_is_read() {
    let settings = parse(&[
        ("lock", "12h"),
        ("max-attempts", "0"),
        ("backoff", "fixed:250ms:10%"),
        ("order", "key"),
        ("dead-letter", "none"),
        ("delay", "15m"),
        ("filter", r#"{"kind":["a"]}"#),
        ("filter-scope", "body"),
        ("max-in-flight", "7"),
        ("paused", "TRUE"),
        ("retention-hold", "false"),
        ("until", "0:1042, 2:7"),
    ])
    .expect("legal");
    assert_eq!(
        settings,
        QueueSettings {
            lock: ms(12 * 3_600_000),
            attempts_max: 0,
            backoff: Backoff::Fixed {
                delay: ms(250),
                jitter_percent: 10
            },
            order: Order::Key,
            dead_letter: DeadLetter::None,
            delay: ms(900_000),
            filter: Some(r#"{"kind":["a"]}"#.into()),
            filter_scope: FilterScope::Body,
            in_flight_max: 7,
            is_paused: true,
            is_retention_held: false,
            until: Until::of("0:1042,2:7").flatten(),
        }
    );
}

#[test]
fn a_wrong_value_is_refused_with_its_name_and_what_would_do() {
    let check = |name: &str, value: &str, expected: &str| {
        let error = parse(&[(name, value)]).expect_err(value);
        assert_eq!(error, expected);
    };
    let lock = "expected a duration from 1s to 12h, such as 500ms, 30s, 5m, 2h or 7d";
    for value in [
        "999ms",
        "13h",
        "30",
        "s",
        "-1s",
        "1.5s",
        "1 s",
        "+1s",
        "99999999999999999999d",
    ] {
        check(
            "lock",
            value,
            &format!("invalid value '{value}' for setting lock: {lock}"),
        );
    }
    let backoff = "expected none, fixed:<duration>[:<jitter>] or exponential:<first>:<max>[:<jitter>], with durations up to 7d and the jitter from 0 to 100 percent";
    for value in [
        "",
        "fast",
        "fixed",
        "fixed:1",
        "fixed:8d",
        "fixed:1s:101",
        "fixed:1s:+1",
        "fixed:1s:5:5",
        "none:1s",
        "exponential:1s",
        "exponential:2s:1s",
        "exponential:0s:1s",
        "exponential:1s:5m:%",
        "exponential:1s:5m:20:",
    ] {
        check(
            "backoff",
            value,
            &format!("invalid value '{value}' for setting backoff: {backoff}"),
        );
    }
    check(
        "max-attempts",
        "1001",
        "invalid value '1001' for setting max-attempts: expected an int from 0 to 1000",
    );
    check(
        "order",
        "keys",
        "invalid value 'keys' for setting order: expected one of none, key",
    );
    check(
        "dead-letter",
        "a/b",
        "invalid value 'a/b' for setting dead-letter: expected a topic's name, none, or nothing for the queue's name and .dead",
    );
    check(
        "colour",
        "red",
        "unknown queue setting 'colour'; docs/settings.md lists those there are",
    );
}

#[test]
fn a_queues_name_leaves_room_for_its_topics() {
    assert_eq!(check_queue_name("orders.mail-1_x"), Ok(()));
    let longest = "q".repeat(QUEUE_NAME_BYTES_MAX);
    assert_eq!(check_queue_name(&longest), Ok(()));
    assert!(redrive_topic(&GroupId::from(longest.as_str())).is_some());
    for bad in ["", ".", "..", "a b", "ä", &format!("{longest}q")] {
        assert!(check_queue_name(bad).is_err(), "{bad}");
    }
}

#[test]
fn a_queue_that_ends_reads_nothing_of_partitions_that_are_not_named() {
    let until = Until::of("0:1042,2:7").flatten().expect("it ends");
    let of = |partition: i32| until.of_partition(PartitionIndex(partition)).0;
    assert_eq!((of(0), of(1), of(2)), (1_042, 0, 7));
    assert_eq!(Until::of(""), Some(None));
    for wrong in ["x", "0", "0:", "0:-1", "-1:0", "0:1,", "0:1;1:2"] {
        assert_eq!(Until::of(wrong), None, "{wrong}");
    }
}
