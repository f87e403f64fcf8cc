//! Groups of the new protocol while the disk is full: what they can't log they hear of later, and nobody tries for ever meanwhile.

#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod common;

use common::*;
use fanlog_broker::Broker;
use fanlog_coordinators::CallId;
use fanlog_coordinators::group::MemberId;
use fanlog_coordinators::group::consumer::{ConsumerHeartbeat, MemberHeartbeat, SubscribedRegex};
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// How long the whole test may take before it is taken for one that never ends.
const PATIENCE: Duration = Duration::from_secs(120);

fn heartbeat(member: &str, epoch: i32) -> ConsumerHeartbeat {
    let joins = epoch == 0;
    ConsumerHeartbeat {
        call: CallId(0),
        group: "g".into(),
        member_id: MemberId::from(member),
        member_epoch: epoch,
        instance_id: None,
        rack_id: None,
        client_id: "test".into(),
        client_host: "/127.0.0.1".into(),
        rebalance_timeout_ms: joins.then_some(10_000),
        topics: joins.then(Vec::new),
        regex: joins.then(|| SubscribedRegex {
            pattern: "t.*".into(),
            topics: Ok(Arc::from([])),
        }),
        server_assignor: None,
        owned: joins.then(Vec::new),
        requires_member_id: true,
        fresh_id: uuid::Uuid::nil(),
    }
}

async fn beat(broker: &Arc<Broker>, epoch: i32) -> MemberHeartbeat {
    let beat = broker.groups().consumer_heartbeat(heartbeat("m", epoch));
    drive(broker, beat).await.unwrap()
}

/// A topic that matches comes into being with so much room on the disk; whether the group's log had no room for the news.
async fn comes_late(room: u64) -> bool {
    let machine = Machine::new(31);
    let broker = machine.start();
    create(&broker, "t1", 1).await;
    let joined = beat(&broker, 0).await;
    machine.disk.set_free_bytes(Some(room));
    let creation = broker.create_topics(vec![new_topic("t2", 1)], false);
    let created = drive(&broker, creation).await;
    let is_created = created.is_ok_and(|mut created| created.remove(0).is_ok());
    until_nothing_is_left_to_do().await;
    let group = drive(&broker, broker.groups().describe_consumer("g".into())).await;
    let is_late = is_created && group.unwrap().epoch == joined.epoch;
    machine.disk.set_free_bytes(None);
    machine.clock.advance(Duration::from_secs(5));
    broker.groups().tick();
    until_nothing_is_left_to_do().await;
    let after = beat(&broker, joined.epoch).await;
    let topics = after.assignment.map_or(1, |assignment| assignment.len());
    assert_eq!(topics, 1 + usize::from(is_created), "room {room}");
    is_late
}

#[test]
fn news_that_do_not_fit_are_told_later_and_not_again_and_again() {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_time().start_paused(true).build().unwrap();
        let late = (0..3_000).step_by(50);
        let late = late.filter(|room| runtime.block_on(comes_late(*room)));
        let _ = sender.send(late.count());
    });
    let late = receiver.recv_timeout(PATIENCE);
    assert!(
        late.is_ok_and(|late| late > 0),
        "{late:?}: it never ends, or tests nothing"
    );
}
