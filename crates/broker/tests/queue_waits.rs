//! Who waits for messages while a partition is not open is woken by what comes into it once it is.

#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod common;

use common::queues::*;
use common::*;
use fanlog_broker::Receive;
use fanlog_coordinators::catalog::PartitionGrowth;
use std::time::Duration;

#[tokio::test]
async fn a_wait_sees_a_partition_whose_folder_did_not_fit_at_first() {
    let mut seen = 0;
    for room in (0..2_000).step_by(25) {
        let machine = Machine::new(10);
        let broker = started(&machine, 1, &[]).await;
        machine.disk.set_free_bytes(Some(room));
        let growth = PartitionGrowth {
            topic: "t".to_owned(),
            count: 2,
            assignments: None,
        };
        let grown = drive(&broker, broker.create_partitions(vec![growth], false)).await;
        let topics = broker.topics();
        let partitions = &topics.by_name(&name("t")).unwrap().partitions;
        let is_closed = partitions.len() == 2 && partitions[1].check_serving().is_err();
        if grown.is_err() || !is_closed {
            continue;
        }
        seen += 1;
        let waiting = broker.clone();
        let receiving = tokio::spawn(async move {
            let asked = Receive {
                wait_max: Duration::from_secs(3_600),
                ..asks("one", 1)
            };
            let received = waiting.queues().receive(&queue("q"), asked).await;
            received.unwrap().messages
        });
        settled(&broker).await;
        machine.disk.set_free_bytes(None);
        broker.maintain();
        settled(&broker).await;
        put(&broker, 1, &[(None, "a", &[])]).await;
        settled(&broker).await;
        assert!(receiving.is_finished(), "room for {room} bytes");
        assert_eq!(shown(&receiving.await.unwrap()), "a x1");
    }
    assert!(
        seen > 0,
        "no size left the catalog room and the folder none"
    );
}
