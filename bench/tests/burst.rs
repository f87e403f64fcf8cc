//! The worked example against a broker, small: what it counts is what was there.

#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod server;

use fanlog_bench::burst::{Baseline, Burst, Held};
use fanlog_bench::topic;
use server::Server;
use std::time::Duration;

fn burst(server: &Server) -> Burst {
    topic::create(&server.bootstrap, "order.placed", 4, &[]).unwrap();
    Burst {
        broker: server.bootstrap.clone(),
        topic: "order.placed".to_owned(),
        partitions: 4,
        record_bytes: 100,
        batch_records: 10,
        rate: 2000,
        span: Duration::from_secs(1),
        connections: 2,
        groups: ["billing", "email"].map(str::to_owned).to_vec(),
        held: None,
        baseline: None,
        broker_process: Some(std::process::id()),
    }
}

#[test]
fn every_group_reads_every_record_of_the_burst_once_and_in_order() {
    let server = Server::start();
    let found = burst(&server).run().unwrap();
    let figure = |name: &str| found.get(name).unwrap();
    assert_eq!(figure("records"), 2000.0, "{found}");
    for name in [
        "lost",
        "duplicated",
        "out_of_order",
        "incomplete_groups",
        "unsent",
    ] {
        assert_eq!(figure(name), 0.0, "{name}: {found}");
    }
    assert_eq!(figure("read_by_billing") + figure("read_by_email"), 4000.0);
    assert!(figure("p99_ms") > 0.0 && figure("generator_cpu_percent") > 0.0);
    assert!(figure("broker_cpu_percent") > 0.0 && found.get("backlog").is_none());
    server.end();
}

#[test]
fn a_group_that_is_held_back_has_its_backlog_predicted_and_completes_when_it_is_let_go() {
    let server = Server::start();
    let found = Burst {
        held: Some(Held {
            group: "email".to_owned(),
            rate: 300,
        }),
        baseline: Some(Baseline {
            rate: 100,
            span: Duration::from_secs(2),
        }),
        ..burst(&server)
    }
    .run()
    .unwrap();
    let figure = |name: &str| found.get(name).unwrap();
    for name in ["lost", "duplicated", "out_of_order", "incomplete_groups"] {
        assert_eq!(figure(name), 0.0, "{name}: {found}");
    }
    // 2,000 and 100 a second for two and a half, less 300 a second for three and a half.
    let backlog = figure("backlog");
    assert!((800.0..=1400.0).contains(&backlog), "{found}");
    let minutes = backlog
        / (figure("capped_records_per_second") - figure("baseline_records_per_second"))
        / 60.0;
    assert_eq!(figure("predicted_drain_minutes"), minutes);
    assert_eq!(figure("read_by_email"), figure("records"), "{found}");
    server.end();
}

#[test]
fn groups_that_are_not_there_and_connections_without_partitions_are_refused() {
    let server = Server::start();
    let good = burst(&server);
    let held = Some(Held {
        group: "nobody".to_owned(),
        rate: 1,
    });
    let error = Burst {
        held,
        ..good.clone()
    }
    .run()
    .unwrap_err();
    assert!(error.to_string().contains("nobody"), "{error}");
    let connections = 5;
    assert!(
        Burst {
            connections,
            ..good.clone()
        }
        .run()
        .is_err()
    );
    let topic = "missing".to_owned();
    let error = Burst { topic, ..good }.run().unwrap_err();
    assert!(error.to_string().contains("error 3"), "{error:#}");
    server.end();
}
