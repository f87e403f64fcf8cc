//! Retention: what goes, who is told, and what stays.
#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod common;

use common::*;
use fanlog_broker::{Broker, FetchError, Isolation, OffsetSpec};
use fanlog_coordinators::catalog::NewTopic;
use fanlog_environment::Clock;
use fanlog_model::{Offset, PartitionIndex, TimestampMs};
use std::time::Duration;

fn short_lived() -> NewTopic {
    let setting = |name: &str, value: &str| (name.to_owned(), Some(value.to_owned()));
    NewTopic {
        overrides: vec![
            setting("segment.ms", "1000"),
            setting("retention.ms", "900000"),
        ],
        ..new_topic("t", 1)
    }
}

#[tokio::test]
async fn retention_moves_the_start_for_everybody_at_once() {
    let machine = Machine::new(1);
    let broker = machine.start();
    let created = drive(&broker, broker.create_topics(vec![short_lived()], false)).await;
    created.unwrap().remove(0).unwrap();
    for value in ["a", "b", "c"] {
        produce(&broker, "t", &[value]).await;
    }
    while broker.sync_next() {}
    broker.maintain();
    assert_eq!(values(&broker, "t", 0).await, ["a", "b", "c"]);
    machine.clock.advance(Duration::from_secs(3600));
    broker.maintain();
    broker.sync_all();
    let earliest = broker.list_offset(
        &by_name("t"),
        PartitionIndex(0),
        OffsetSpec::Earliest,
        Isolation::ReadUncommitted,
        None,
    );
    // P52: ListOffsets and Fetch agree.
    assert_eq!(earliest.unwrap().offset, Some(Offset(3)));
    let below = broker.fetch(plan("t", 2)).await.partitions.remove(0);
    let is_out = |error| {
        matches!(
            error,
            FetchError::OffsetOutOfRange {
                log_start_offset: Offset(3),
                ..
            }
        )
    };
    assert!(is_out(below.unwrap_err()));
    // LOG-3: the next record does not take an offset that was given.
    assert_eq!(produce(&broker, "t", &["d"]).await, Offset(3));
    drop(broker);
    machine.disk.crash(4);
    let broker = machine.start();
    assert_eq!(values(&broker, "t", 3).await, ["d"]);
}

/// What is left of two records after a start with the clock so far ahead and a round of maintenance.
async fn left_after_a_start_with_the_clock_ahead(
    seed: u64,
    ahead: Duration,
    is_confirmed: bool,
) -> (Machine, Vec<String>) {
    let machine = Machine::new(seed);
    let broker = machine.start();
    let created = drive(&broker, broker.create_topics(vec![short_lived()], false)).await;
    created.unwrap().remove(0).unwrap();
    produce(&broker, "t", &["a"]).await;
    produce(&broker, "t", &["b"]).await;
    drop(broker);
    machine.disk.crash(seed);
    let ahead_ms = i64::try_from(ahead.as_millis()).unwrap();
    let now = machine.clock.wall_ms().get();
    machine.clock.set_wall_ms(TimestampMs(now + ahead_ms));
    let mut config = config();
    if is_confirmed {
        let setting = ("fanlog.clock.jump.max.ms", "9223372036854775807");
        let setting = (setting.0.to_owned(), setting.1.to_owned());
        config.statics.extend([setting]);
    }
    let broker = Broker::start(config, machine.environment()).unwrap();
    broker.maintain();
    broker.sync_all();
    let earliest = broker.list_offset(
        &by_name("t"),
        PartitionIndex(0),
        OffsetSpec::Earliest,
        Isolation::ReadUncommitted,
        None,
    );
    let start = earliest.unwrap().offset.unwrap();
    let left = values(&broker, "t", start.get()).await;
    drop(broker);
    machine.disk.restart();
    (machine, left)
}

#[tokio::test]
async fn a_start_with_a_clock_years_ahead_deletes_nothing() {
    const DAY: Duration = Duration::from_secs(86_400);
    let (machine, left) = left_after_a_start_with_the_clock_ahead(5, 3_650 * DAY, false).await;
    assert_eq!(left, ["a", "b"]);
    // Nor does the start after that, and once the clock is right all goes on.
    machine.start().maintain();
    machine.disk.restart();
    let wrong = machine.clock.wall_ms().get();
    let right = wrong - 3_650 * 86_400_000;
    machine.clock.set_wall_ms(TimestampMs(right));
    let broker = machine.start();
    broker.maintain();
    assert_eq!(values(&broker, "t", 0).await, ["a", "b"]);
    machine.clock.advance(Duration::from_secs(3_600));
    broker.maintain();
    assert_eq!(values(&broker, "t", 2).await, Vec::<String>::new());
    // A machine that was off for a month, and a clock that an operator vouches for, are believed.
    let (_, left) = left_after_a_start_with_the_clock_ahead(6, 30 * DAY, false).await;
    assert!(left.is_empty(), "{left:?}");
    let (_, left) = left_after_a_start_with_the_clock_ahead(7, 3_650 * DAY, true).await;
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn records_rolled_before_their_sync_are_acknowledged_all_the_same() {
    let machine = Machine::new(2);
    let broker = machine.start();
    let created = drive(&broker, broker.create_topics(vec![short_lived()], false)).await;
    created.unwrap().remove(0).unwrap();
    let receipt = append(&broker, "t", &["a"]);
    machine.clock.advance(Duration::from_secs(10));
    // Rolling syncs the segment, so that nothing is left for the sync that the append asked for.
    broker.maintain();
    drive(&broker, receipt.durable()).await.unwrap();
    assert_eq!(values(&broker, "t", 0).await, ["a"]);
}

#[tokio::test]
async fn a_clock_that_jumps_ahead_deletes_nothing() {
    let machine = Machine::new(3);
    let broker = machine.start();
    let created = drive(&broker, broker.create_topics(vec![short_lived()], false)).await;
    created.unwrap().remove(0).unwrap();
    produce(&broker, "t", &["a"]).await;
    let ten_years_ms = 10 * 365 * 24 * 3_600_000;
    let now = machine.clock.wall_ms().0;
    machine.clock.set_wall_ms((now + ten_years_ms).into());
    // Within what is believed of a jump the records are not old enough.
    machine.clock.advance(Duration::from_secs(1));
    broker.maintain();
    broker.sync_all();
    assert_eq!(values(&broker, "t", 0).await, ["a"]);
}
