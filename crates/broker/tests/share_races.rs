//! What happens to share groups at a bad moment: while their log loads, between two connections, at a cut of the log.

#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod common;

use common::shares::*;
use common::*;
use fanlog_broker::{Broker, SessionKey, ShareFetchError, ShareFetchPlan};
use fanlog_coordinators::share::{AckRange, AckType};
use fanlog_model::{GroupId, Offset, PartitionIndex};
use std::sync::Barrier;
use std::time::Duration;

/// An acknowledgement of one record, which is not waited for.
async fn accept(broker: &Broker, at: i64) -> bool {
    let ranges = [AckRange {
        first: Offset(at),
        last: Offset(at),
        types: vec![AckType::Accept],
    }];
    let (group, topic) = (GroupId::from("g"), id(broker));
    let shares = broker.shares();
    let decided = shares.acknowledge(&group, "a", topic, PartitionIndex(0), &ranges);
    decided.await.is_ok()
}

#[tokio::test]
async fn who_waits_while_the_states_are_loading_waits_on() {
    let machine = Machine::new(41);
    let broker = started(&machine, &[10]).await;
    take(&broker, "a", 10).await;
    // The log has an end that is not durable: it is loaded only once it is.
    assert!(accept(&broker, 0).await);
    machine.disk.set_free_bytes(Some(0));
    assert!(!accept(&broker, 1).await);
    machine.disk.set_free_bytes(None);
    let at_once = broker.shares().fetch(wanted_by(&broker, "b")).await;
    let at_once = at_once.unwrap().partitions.remove(0);
    assert!(matches!(at_once, Err(ShareFetchError::Coordinator(_))));
    let plan = ShareFetchPlan {
        wait_max: Duration::from_secs(3_600),
        ..wanted_by(&broker, "b")
    };
    let shares = broker.shares().clone();
    let waiting = tokio::spawn(async move { shown(&shares.fetch(plan).await.unwrap()) });
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
    assert!(!waiting.is_finished(), "loading is no news");
    assert_eq!(drive(&broker, waiting).await.unwrap(), "1-9 x1");
}

/// A member comes again over another connection while the end of the first one is seen to.
#[tokio::test]
async fn the_end_of_a_connection_leaves_the_session_over_another_alone() {
    let machine = Machine::new(42);
    let broker = started(&machine, &[1]).await;
    let shares = broker.shares();
    let partition = [(id(&broker), PartitionIndex(0))];
    let open = |member: usize, connection| {
        let key = SessionKey {
            group: "g".into(),
            member: format!("m{member}").into(),
        };
        shares.begin_fetch(&key, 0, connection, &partition, &[])
    };
    const ROUNDS: u64 = 200;
    const MEMBERS: usize = 200;
    let both = Barrier::new(2);
    let mut lost = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..ROUNDS {
                both.wait();
                shares.connection_closed(2 * round);
                both.wait();
            }
        });
        for round in 0..ROUNDS {
            for member in 0..MEMBERS {
                open(member, 2 * round).unwrap();
            }
            both.wait();
            for member in 0..MEMBERS {
                open(member, 2 * round + 1).unwrap();
            }
            both.wait();
            lost += MEMBERS - shares.session_count();
            shares.connection_closed(2 * round + 1);
        }
    });
    assert_eq!(lost, 0, "sessions over another connection were ended");
}
