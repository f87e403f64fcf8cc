//! Redrives in the background: they go on after a restart, at their rate, until they are over or cancelled.

#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod common;

use common::queues::*;
use common::*;
use fanlog_broker::{Broker, DeadSelection, QueueError, Redrive, RedriveJob, RedriveState};
use std::sync::Arc;
use std::time::Duration;

fn slowly(rate: u32) -> Redrive {
    Redrive {
        which: DeadSelection::All,
        rate: Some(rate),
        is_dry_run: false,
        redrives_max: 5,
    }
}

/// So many records that were rejected.
async fn bury(broker: &Arc<Broker>, count: usize) {
    let values: Vec<_> = (0..count).map(|number| format!("v{number}")).collect();
    let values: Vec<_> = values.iter().map(String::as_str).collect();
    put_values(broker, &values).await;
    for message in receive(broker, "one", count).await {
        settle(broker, &message, reject("bad")).await.unwrap();
    }
    settled(broker).await;
    assert_eq!(letters(broker).await, count);
}

async fn letters(broker: &Arc<Broker>) -> usize {
    let dead = dead(broker).await;
    dead.split(", ").filter(|one| !one.is_empty()).count()
}

async fn start(broker: &Arc<Broker>, redrive: Redrive) -> Result<RedriveJob, QueueError> {
    let q = queue("q");
    let started = broker.queues().start_redrive(&q, redrive);
    drive(broker, started).await.map(|(job, _)| job)
}

async fn cancel(broker: &Arc<Broker>, id: &str) -> Result<RedriveJob, QueueError> {
    let q = queue("q");
    drive(broker, broker.queues().cancel_redrive(&q, id)).await
}

fn job(broker: &Arc<Broker>, id: &str) -> RedriveJob {
    broker.queues().redrive_job(&queue("q"), id).unwrap()
}

async fn second(broker: &Arc<Broker>) {
    tokio::time::advance(Duration::from_secs(1)).await;
    settled(broker).await;
}

async fn restarted(machine: &Machine, broker: Arc<Broker>) -> Arc<Broker> {
    drop(broker);
    machine.disk.crash(7);
    let broker = machine.start();
    loaded(&broker).await;
    broker
}

#[tokio::test(start_paused = true)]
async fn a_redrive_keeps_its_rate_and_goes_on_after_a_power_cut() {
    let machine = Machine::new(1);
    let broker = started(&machine, 1, &[]).await;
    bury(&broker, 12).await;
    let begun = start(&broker, slowly(3)).await.unwrap();
    let id = begun.id.to_string();
    assert_eq!((begun.state, begun.to_move), (RedriveState::Running, 12));
    settled(&broker).await;
    assert_eq!((job(&broker, &id).moved, letters(&broker).await), (3, 9));
    second(&broker).await;
    assert_eq!((job(&broker, &id).moved, letters(&broker).await), (6, 6));
    let broker = restarted(&machine, broker).await;
    let on = job(&broker, &id);
    assert_eq!((on.state, on.moved), (RedriveState::Running, 9));
    assert_eq!(on.started, begun.started);
    // What fails again meanwhile is none of those that are meant.
    for message in receive(&broker, "two", 2).await {
        settle(&broker, &message, reject("again")).await.unwrap();
    }
    second(&broker).await;
    second(&broker).await;
    let over = job(&broker, &id);
    assert_eq!((over.state, over.moved), (RedriveState::Completed, 12));
    assert!(over.ended.is_some());
    assert_eq!(dead(&broker).await, "v0: again, v1: again");
    let rest = receive(&broker, "two", 20).await;
    assert_eq!(rest.len(), 10, "each comes once: {}", shown(&rest));
    let broker = restarted(&machine, broker).await;
    assert_eq!(job(&broker, &id), over);
}

#[tokio::test(start_paused = true)]
async fn what_is_cancelled_moves_nothing_more_also_if_the_power_fails_first() {
    for has_crash in [false, true] {
        let machine = Machine::new(2);
        let mut broker = started(&machine, 1, &[]).await;
        bury(&broker, 6).await;
        let id = start(&broker, slowly(2)).await.unwrap().id.to_string();
        settled(&broker).await;
        let said = cancel(&broker, &id).await.unwrap();
        assert_eq!(said.state, RedriveState::Cancelling);
        if has_crash {
            broker = restarted(&machine, broker).await;
        }
        settled(&broker).await;
        second(&broker).await;
        let over = job(&broker, &id);
        assert_eq!((over.state, over.moved), (RedriveState::Cancelled, 2));
        assert_eq!(letters(&broker).await, 4);
        let broker = restarted(&machine, broker).await;
        second(&broker).await;
        assert_eq!(letters(&broker).await, 4);
        let refused = cancel(&broker, &id).await;
        assert!(
            matches!(
                refused,
                Err(QueueError::RedriveOver {
                    state: "cancelled",
                    ..
                })
            ),
            "{refused:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_queue_has_one_redrive_at_a_time_and_remembers_ten() {
    let machine = Machine::new(3);
    let broker = started(&machine, 1, &[]).await;
    bury(&broker, 4).await;
    let first = start(&broker, slowly(2)).await.unwrap();
    let refused = start(&broker, slowly(2)).await;
    let id = first.id.to_string();
    settled(&broker).await;
    assert!(
        matches!(&refused, Err(QueueError::RedriveUnderWay { id: under_way, .. }) if **under_way == *id),
        "{refused:?}"
    );
    second(&broker).await;
    second(&broker).await;
    assert_eq!(job(&broker, &id).state, RedriveState::Completed);
    let unknown = cancel(&broker, "nonsense").await;
    assert!(matches!(unknown, Err(QueueError::NoSuchRedrive { .. })));
    for _ in 0..11 {
        machine.clock.advance(Duration::from_secs(1));
        let empty = start(&broker, slowly(2)).await.unwrap();
        assert_eq!((empty.state, empty.to_move), (RedriveState::Completed, 0));
    }
    let q = queue("q");
    let jobs = broker.queues().redrive_jobs(&q).unwrap();
    assert_eq!(jobs.len(), 10);
    assert!(jobs.iter().all(|job| job.id != first.id));
    assert!(jobs.is_sorted_by_key(|job| std::cmp::Reverse(job.started)));
    drive(&broker, broker.queues().delete(&q)).await.unwrap();
    settled(&broker).await;
    assert_eq!(broker.documents().list("redrives").len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_redrive_without_a_rate_goes_on_behind_its_answer_and_moves_those_that_are_meant() {
    let machine = Machine::new(4);
    let broker = started(&machine, 1, &[]).await;
    bury(&broker, 5).await;
    let ids = ["q.dead/0/1", "q.dead/0/3", "q.dead/0/99"];
    let redrive = Redrive {
        which: DeadSelection::Ids(ids.map(|id| id.parse().unwrap()).to_vec()),
        rate: None,
        ..slowly(1)
    };
    let begun = start(&broker, redrive).await.unwrap();
    assert_eq!(begun.to_move, 2);
    settled(&broker).await;
    let over = job(&broker, &begun.id.to_string());
    assert_eq!((over.state, over.moved), (RedriveState::Completed, 2));
    assert_eq!(take(&broker, "two", 9).await, "v1 x1 v3 x1");
    assert_eq!(dead(&broker).await, "v0: bad, v2: bad, v4: bad");
}
