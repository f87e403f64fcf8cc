//! Queues while the disk is full: what they can't log is tried again after a while, and not without a pause.

#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod common;

use common::queues::*;
use common::*;
use fanlog_broker::{Broker, Receive, Start};
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// How long a test may take before it is taken for one that never ends.
const PATIENCE: Duration = Duration::from_secs(120);

/// The one message comes once its hand-over can be logged, in its first delivery. Nothing of it waits for a sync.
async fn comes(broker: &Arc<Broker>) {
    let wanted = Receive {
        wait_max: PATIENCE,
        ..asks("one", 1)
    };
    let received = broker.queues().receive(&queue("q"), wanted).await.unwrap();
    assert_eq!(shown(&received.messages), "a x1");
}

/// Somebody waits for messages while nobody's hand-over can be logged.
async fn waits(room: u64) {
    let machine = Machine::new(41);
    let broker = started(&machine, 1, &[]).await;
    put_values(&broker, &["a"]).await;
    machine.disk.set_free_bytes(Some(room));
    let wanted = Receive {
        wait_max: Duration::from_millis(50),
        ..asks("one", 1)
    };
    let q = queue("q");
    // Nothing of it waits for a sync, and time passes only while nobody has anything to do.
    let received = broker.queues().receive(&q, wanted).await;
    assert!(received.is_err(), "{received:?}");
    machine.disk.set_free_bytes(None);
    comes(&broker).await;
}

/// A queue ends, and that its states are forgotten has perhaps no room in their log.
async fn ends(room: u64) -> bool {
    let machine = Machine::new(42);
    let broker = started(&machine, 1, &[]).await;
    put_values(&broker, &["a"]).await;
    make(&broker, "other", Start::Earliest, &[]).await.unwrap();
    machine.disk.set_free_bytes(Some(room));
    let other = queue("other");
    let ended = drive(&broker, broker.queues().delete(&other)).await;
    until_nothing_is_left_to_do().await;
    machine.disk.set_free_bytes(None);
    comes(&broker).await;
    ended.is_ok()
}

fn in_time<R: Send + 'static>(test: impl Future<Output = R> + Send + 'static) -> R {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_time().start_paused(true).build().unwrap();
        let _ = sender.send(runtime.block_on(test));
    });
    let done = receiver.recv_timeout(PATIENCE);
    done.expect("it never ends, or fails")
}

#[test]
fn who_waits_for_messages_does_not_try_without_a_pause() {
    in_time(waits(0));
}

#[test]
fn states_of_a_queue_that_ended_are_not_forgotten_again_and_again() {
    let ended = (0..1_000).step_by(20);
    let ended = ended.filter(|room| in_time(ends(*room))).count();
    assert!(ended > 0, "it tests nothing");
}
