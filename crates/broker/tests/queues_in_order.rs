//! Order per key as FIFO queues promise it, to consumers without names: groups are locked, in order, and free again.

#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod common;

use common::queues::*;
use common::*;
use fanlog_broker::{Broker, Message, SettleOutcome};
use std::sync::Arc;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

async fn in_order(machine: &Machine, more: &[(&str, &str)]) -> Arc<Broker> {
    let mut settings = vec![("order", "key"), ("backoff", "none")];
    settings.extend(more);
    started(machine, 1, &settings).await
}

/// The first letter of a value is its key.
async fn put_keyed(broker: &Arc<Broker>, values: &[&str]) {
    let record = |value: &'_ &'static str| -> Produced<'static> {
        let value: &'static str = value;
        (Some(&value[..1]), value, &[])
    };
    let values: Vec<&'static str> = values
        .iter()
        .map(|value| &*Box::leak(value.to_string().into_boxed_str()))
        .collect();
    let records: Vec<_> = values.iter().map(record).collect();
    put(broker, 0, &records).await;
}

/// A receive of somebody new.
async fn next(broker: &Arc<Broker>, max: usize) -> Vec<Message> {
    receive(broker, "", max).await
}

async fn shown_next(broker: &Arc<Broker>, max: usize) -> String {
    shown(&next(broker, max).await)
}

#[tokio::test]
async fn several_of_a_group_come_in_one_receive_in_order_and_the_group_is_locked_until_all_are_done()
 {
    let machine = Machine::new(1);
    let broker = in_order(&machine, &[]).await;
    put_keyed(&broker, &["a1", "a2", "b1", "a3", "a4"]).await;
    let first = next(&broker, 3).await;
    assert_eq!(shown(&first), "a1 x1 a2 x1 b1 x1");
    // Two receives without a name are two consumers.
    assert_eq!(shown_next(&broker, 10).await, "");
    ack(&broker, &first[0]).await;
    assert_eq!(shown_next(&broker, 10).await, "", "a2 is in flight");
    ack(&broker, &first[1]).await;
    assert_eq!(shown_next(&broker, 10).await, "a3 x1 a4 x1");
}

#[tokio::test]
async fn a_group_is_locked_over_a_restart() {
    let machine = Machine::new(2);
    let broker = in_order(&machine, &[]).await;
    put_keyed(&broker, &["a1", "a2"]).await;
    let first = next(&broker, 1).await;
    drop(broker);
    let broker = machine.start();
    loaded(&broker).await;
    assert_eq!(shown_next(&broker, 10).await, "");
    ack(&broker, &first[0]).await;
    assert_eq!(shown_next(&broker, 10).await, "a2 x1");
}

#[tokio::test]
async fn a_head_whose_lock_ran_out_comes_again_before_the_later_ones() {
    let machine = Machine::new(3);
    let broker = in_order(&machine, &[("max-attempts", "9")]).await;
    put_keyed(&broker, &["a1", "a2", "a3"]).await;
    assert_eq!(shown_next(&broker, 2).await, "a1 x1 a2 x1");
    pass(&machine, &broker, 29 * SECOND).await;
    assert_eq!(shown_next(&broker, 10).await, "");
    pass(&machine, &broker, SECOND).await;
    assert_eq!(shown_next(&broker, 10).await, "a1 x2 a2 x1 a3 x1");
}

#[tokio::test]
async fn a_head_that_is_made_visible_comes_again_before_the_later_ones() {
    let machine = Machine::new(4);
    let broker = in_order(&machine, &[("max-attempts", "9")]).await;
    put_keyed(&broker, &["a1", "a2", "b1"]).await;
    let first = next(&broker, 1).await;
    let at_once = SettleOutcome::Nack {
        delay: Some(Duration::ZERO),
        reason: "made visible".to_owned(),
    };
    settle(&broker, &first[0], at_once).await.unwrap();
    assert_eq!(shown_next(&broker, 10).await, "a1 x2 a2 x1 b1 x1");
}

#[tokio::test]
async fn a_group_goes_on_behind_a_dead_letter() {
    let machine = Machine::new(5);
    let broker = in_order(&machine, &[("max-attempts", "2")]).await;
    put_keyed(&broker, &["a1", "a2", "a3"]).await;
    assert_eq!(shown_next(&broker, 1).await, "a1 x1");
    pass(&machine, &broker, 30 * SECOND).await;
    assert_eq!(shown_next(&broker, 10).await, "a1 x2", "the last attempt");
    assert_eq!(shown_next(&broker, 10).await, "", "it is in flight");
    pass(&machine, &broker, 30 * SECOND).await;
    assert_eq!(dead(&broker).await, "a1: the lock ran out");
    assert_eq!(shown_next(&broker, 10).await, "a2 x1 a3 x1");
}

#[tokio::test]
async fn groups_go_side_by_side_and_each_in_its_order_to_the_end() {
    let machine = Machine::new(6);
    let broker = in_order(&machine, &[("max-attempts", "0")]).await;
    let groups = ["a", "b", "c", "d"];
    let values: Vec<_> = (0..48)
        .map(|n| format!("{}{n:02}", groups[n * 7 % 4]))
        .collect();
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    put_keyed(&broker, &values).await;
    let (mut done, mut round) = (Vec::new(), 0);
    let mut flying: Vec<Vec<Message>> = Vec::new();
    while done.len() < values.len() {
        round += 1;
        assert!(round < 1_000, "{done:?}");
        let got = next(&broker, 3).await;
        let text = |message: &Message| String::from_utf8(message.value.clone().unwrap().to_vec());
        for message in &got {
            let group = text(message).unwrap()[..1].to_owned();
            let in_flight = flying.iter().flatten();
            let mut others = in_flight.map(|other| text(other).unwrap());
            assert!(!others.any(|other| other.starts_with(&group)), "locked");
        }
        if !got.is_empty() {
            flying.push(got);
        }
        if flying.len() == 3 || round % 4 == 0 {
            for (at, message) in flying.pop().into_iter().flatten().enumerate() {
                // Now and then the first of an answer fails, and what came behind it in its group comes with it.
                if round % 5 == 0 && at == 0 {
                    let _ = settle(&broker, &message, nack("no")).await;
                } else if settle(&broker, &message, SettleOutcome::Ack).await.is_ok() {
                    done.push(text(&message).unwrap());
                }
            }
        }
        if flying.is_empty() {
            pass(&machine, &broker, SECOND).await;
        }
    }
    for group in groups {
        let of_group: Vec<_> = done
            .iter()
            .filter(|value| value.starts_with(group))
            .collect();
        assert!(of_group.is_sorted(), "{of_group:?}");
    }
}
