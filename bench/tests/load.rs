//! The load tool against a broker: what it says it moved is what is there.

#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod server;

use fanlog_bench::end_to_end::EndToEnd;
use fanlog_bench::fetch::Fetch;
use fanlog_bench::latency::Latency;
use fanlog_bench::load::Shape;
use fanlog_bench::pace::Stop;
use fanlog_bench::produce::Produce;
use fanlog_bench::sink::Sink;
use fanlog_bench::topic;
use fanlog_protocol::records::Compression;
use server::Server;
use std::time::Duration;

#[test]
fn everything_that_was_sent_is_read_by_every_reader() {
    let server = Server::start();
    topic::create(&server.bootstrap, "load", 3, &[]).unwrap();
    let produce = Produce {
        broker: server.bootstrap.clone(),
        topic: "load".to_owned(),
        partitions: 3,
        shape: Shape {
            record_bytes: 100,
            batch_bytes: 1000,
            compression: Compression::Lz4,
        },
        connections: 2,
        in_flight: 3,
        acks: -1,
        span: Duration::from_secs(60),
        bytes_max: 50_000,
        stop: Stop::default(),
    };
    let produced = produce.run().unwrap();
    let records = produced.get("records").unwrap();
    assert!(
        records >= 100.0 && produced.get("p50_ms").unwrap() > 0.0,
        "{produced}"
    );
    let fetch = Fetch {
        broker: server.bootstrap.clone(),
        topic: "load".to_owned(),
        partitions: 3,
        readers: 2,
        span: Duration::from_secs(60),
        once: true,
    };
    let fetched = fetch.run().unwrap();
    assert_eq!(fetched.get("records").unwrap(), 2.0 * records);
    assert_eq!(
        fetched.get("bytes").unwrap(),
        2.0 * produced.get("bytes").unwrap()
    );
    server.end();
}

#[test]
fn every_record_that_was_due_is_acknowledged_and_counted_behind_the_warm_up() {
    let server = Server::start();
    topic::create(&server.bootstrap, "paced", 2, &[]).unwrap();
    let latency = Latency {
        broker: server.bootstrap.clone(),
        topic: "paced".to_owned(),
        partitions: 2,
        record_bytes: 10,
        rate: 200,
        batch_records: 1,
        connections: 2,
        span: Duration::from_millis(500),
        warm_up: Duration::from_millis(250),
        stop: Stop::default(),
    };
    let found = latency.run().unwrap();
    assert_eq!(found.get("records").unwrap(), 50.0, "{found}");
    server.end();
}

#[test]
fn records_that_go_together_are_all_counted() {
    let server = Server::start();
    topic::create(&server.bootstrap, "batched", 1, &[]).unwrap();
    let latency = Latency {
        broker: server.bootstrap.clone(),
        topic: "batched".to_owned(),
        partitions: 1,
        record_bytes: 10,
        rate: 2000,
        batch_records: 10,
        connections: 2,
        span: Duration::from_millis(500),
        warm_up: Duration::ZERO,
        stop: Stop::default(),
    };
    let found = latency.run().unwrap();
    assert_eq!(found.get("records").unwrap(), 1000.0, "{found}");
    assert_eq!(found.get("unsent").unwrap(), 0.0, "{found}");
    assert!(found.get("stall_ms").unwrap() >= 1.0, "{found}");
    server.end();
}

#[test]
fn every_record_arrives_at_the_consumer_and_counts_behind_the_warm_up() {
    let server = Server::start();
    topic::create(&server.bootstrap, "through", 3, &[]).unwrap();
    let through = EndToEnd {
        broker: server.bootstrap.clone(),
        topic: "through".to_owned(),
        partitions: 3,
        record_bytes: 20,
        rate: 200,
        span: Duration::from_millis(500),
        warm_up: Duration::ZERO,
    };
    let found = through.run().unwrap();
    assert_eq!(found.get("records").unwrap(), 100.0, "{found}");
    assert!(found.get("p50_ms").unwrap() > 0.0, "{found}");
    topic::create(&server.bootstrap, "again", 3, &[]).unwrap();
    let behind = EndToEnd {
        topic: "again".to_owned(),
        warm_up: Duration::from_millis(250),
        ..through
    };
    let records = behind.run().unwrap().get("records").unwrap();
    assert!((45.0..=51.0).contains(&records), "{records}");
    server.end();
}

#[test]
fn a_broker_that_stores_nothing_acknowledges_everything() {
    let sink = Sink::bind("127.0.0.1:0", 2).unwrap();
    let broker = sink.address().unwrap().to_string();
    // It serves until the test's process ends.
    std::thread::spawn(move || sink.serve());
    let produce = Produce {
        broker: broker.clone(),
        topic: "any".to_owned(),
        partitions: 2,
        shape: Shape {
            record_bytes: 100,
            batch_bytes: 1000,
            compression: Compression::None,
        },
        connections: 2,
        in_flight: 2,
        acks: -1,
        span: Duration::from_secs(60),
        bytes_max: 50_000,
        stop: Stop::default(),
    };
    let found = produce.run().unwrap();
    assert!(found.get("records").unwrap() >= 400.0, "{found}");
    // What it does not store it does not serve either.
    let fetch = Fetch {
        broker,
        topic: "any".to_owned(),
        partitions: 1,
        readers: 1,
        span: Duration::from_secs(1),
        once: true,
    };
    assert!(fetch.run().is_err());
}

#[test]
fn a_topic_that_is_not_there_is_an_error_that_names_it() {
    let server = Server::start();
    topic::create(&server.bootstrap, "twice", 1, &[]).unwrap();
    let again = topic::create(&server.bootstrap, "twice", 1, &[]).unwrap_err();
    assert!(again.to_string().contains("twice"), "{again}");
    topic::delete(&server.bootstrap, "twice").unwrap();
    let again = topic::delete(&server.bootstrap, "twice").unwrap_err();
    assert!(again.to_string().contains("twice"), "{again}");
    let fetch = Fetch {
        broker: server.bootstrap.clone(),
        topic: "missing".to_owned(),
        partitions: 1,
        readers: 1,
        span: Duration::from_secs(1),
        once: true,
    };
    assert!(fetch.run().unwrap_err().to_string().contains("error 3"));
    server.end();
}
