//! Queues while the disk is full: what they can't log is tried again after a while, and not without a pause.

#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod common;

use common::queues::*;
use common::*;
use fanlog_broker::{Receive, Start};
use std::sync::mpsc;
use std::time::Duration;

/// How long a test may take before it is taken for one that never ends.
const PATIENCE: Duration = Duration::from_secs(120);

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
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(take(&broker, "one", 5).await, "a x1");
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
    // Nothing is left to be done: the clock of the runtime moves on only then.
    tokio::time::sleep(Duration::from_millis(1)).await;
    machine.disk.set_free_bytes(None);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(take(&broker, "one", 5).await, "a x1");
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
