//! What takes long, and who waits for it.

use super::*;
use fanlog_protocol::records::{BatchBuilder, NewRecord};
use std::sync::mpsc;
use tokio::sync::oneshot;

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_secs(60);

fn may_take_long(compression: Compression, bytes: usize) -> bool {
    let zeros = vec![0; bytes];
    let mut builder = BatchBuilder::new(compression);
    let record = NewRecord {
        value: Some(&zeros),
        ..NewRecord::default()
    };
    builder.push(&record).expect("a record fits a batch");
    let frame = builder.build().expect("it is not empty");
    let topic = PlannedTopic {
        name: "t".to_owned(),
        id: Uuid::nil(),
        partitions: vec![(0, 0..frame.len())],
    };
    topic.may_take_long(&frame)
}

#[test]
fn a_batch_of_a_few_kilobytes_may_stand_for_many_megabytes() {
    assert!(may_take_long(Compression::Lz4, 8 * 1024 * 1024));
    assert!(!may_take_long(Compression::Lz4, 1024));
    assert!(!may_take_long(Compression::None, 8 * 1024 * 1024));
}

/// There is one thread for all connections: it goes on with them while a batch is unpacked.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn work_that_takes_long_holds_up_nobody_else() {
    let (begun, has_begun) = oneshot::channel();
    let (release, is_released) = mpsc::channel();
    let long = tokio::spawn(async move {
        beside_others(|| {
            begun.send(()).expect("the test waits for this");
            is_released.recv_timeout(PATIENCE)
        })
    });
    has_begun.await.expect("it begins");
    let other = tokio::time::timeout(PATIENCE / 2, tokio::spawn(async {}));
    other
        .await
        .expect("another is held up")
        .expect("it does not panic");
    release.send(()).expect("it is still under way");
    let ended = long.await.expect("it does not panic");
    assert_eq!(ended, Ok(()));
}
