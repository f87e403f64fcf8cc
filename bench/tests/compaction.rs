//! A topic is compacted under load, and what is left is what the model says.

#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod server;

use fanlog_bench::compaction::Compaction;
use server::Server;
use std::time::Duration;

#[test]
fn what_is_left_of_a_topic_compacted_under_load_is_what_the_model_says() {
    let server = Server::start_with(&[("log.cleaner.backoff.ms", "50")]);
    let compaction = Compaction {
        broker: server.bootstrap.clone(),
        topic: "compacted".to_owned(),
        data: server.data(),
        // More bytes than a broker leaves unsynced: only what is synced is compacted.
        records: 60_000,
        keys: 5_000,
        record_bytes: 400,
        segment_bytes: 1024 * 1024,
        rate: 2_000,
        batch_records: 10,
        span: Duration::from_millis(200),
        compact_first: true,
    };
    let found = compaction.run().unwrap();
    assert_eq!(found.get("keys_left"), Some(5_000.0), "{found}");
    let number = |name| found.get(name).unwrap();
    assert!(number("compacted_to") >= 54_000.0, "{found}");
    let behind = number("records_written") - number("compacted_to");
    assert!(number("records_left") - behind <= 5_000.0, "{found}");
    server.end();
}
