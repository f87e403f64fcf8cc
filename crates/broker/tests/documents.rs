//! Documents in the catalog: durable when answered, and there again after a crash.
#![allow(
    clippy::unwrap_used,
    reason = "the lint does not know that this is a test"
)]

mod common;

use common::*;
use fanlog_broker::{Broker, DocumentError, DocumentsError};
use fanlog_coordinators::catalog::DOCUMENT_BYTES_MAX;
use std::sync::Arc;

async fn put(
    broker: &Arc<Broker>,
    name: &str,
    expected: Option<u64>,
    bytes: &[u8],
) -> Result<u64, DocumentsError> {
    let bytes = bytes::Bytes::copy_from_slice(bytes);
    let documents = broker.documents();
    let put = drive(broker, documents.put("space", name, expected, bytes)).await;
    put.map(|document| document.version)
}

fn said(broker: &Arc<Broker>) -> Vec<(String, Vec<u8>)> {
    let all = broker.documents().list("space");
    let said =
        |document: Arc<fanlog_broker::Document>| (document.name.clone(), document.bytes.to_vec());
    all.into_iter().map(said).collect()
}

#[tokio::test]
async fn a_document_that_was_answered_survives_the_power_cut() {
    let machine = Machine::new(1);
    let broker = machine.start();
    let large = vec![b'x'; DOCUMENT_BYTES_MAX];
    let a = put(&broker, "a", None, b"first").await.unwrap();
    put(&broker, "large", None, &large).await.unwrap();
    put(&broker, "gone", None, b"soon").await.unwrap();
    let a = put(&broker, "a", Some(a), b"second").await.unwrap();
    let gone = broker.documents().get("space", "gone").unwrap().version;
    drive(&broker, broker.documents().delete("space", "gone", gone))
        .await
        .unwrap();
    drop(broker);
    machine.disk.crash(7);
    let broker = machine.start();
    let expected = [
        ("a".to_owned(), b"second".to_vec()),
        ("large".to_owned(), large),
    ];
    assert_eq!(said(&broker), expected);
    assert_eq!(broker.documents().get("space", "a").unwrap().version, a);
}

#[tokio::test]
async fn who_has_seen_another_life_of_a_document_does_not_change_this_one() {
    let machine = Machine::new(2);
    let broker = machine.start();
    let first = put(&broker, "a", None, b"first").await.unwrap();
    drive(&broker, broker.documents().delete("space", "a", first))
        .await
        .unwrap();
    put(&broker, "a", None, b"second").await.unwrap();
    let refused = put(&broker, "a", Some(first), b"third").await;
    assert!(
        matches!(
            refused,
            Err(DocumentsError::Refused(DocumentError::Changed { .. }))
        ),
        "{refused:?}"
    );
    assert_eq!(said(&broker), [("a".to_owned(), b"second".to_vec())]);
}
