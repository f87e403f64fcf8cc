//! What holds for a connection whatever is asked on it: order, acknowledgements, versions, limits.

mod common;

use common::*;
use fanlog_protocol::messages::{
    ApiVersionsRequest, ApiVersionsResponse, FetchRequest, MetadataRequest, ProduceRequest,
    ResponseHeader,
};
use fanlog_protocol::wire::Reader;
use fanlog_protocol::{ApiKey, ErrorCode};
use tokio::io::AsyncWriteExt;

fn api_versions() -> ApiVersionsRequest<'static> {
    ApiVersionsRequest {
        client_software_name: "test".into(),
        client_software_version: "1".into(),
        ..Default::default()
    }
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_their_order() {
    let server = Server::start().await;
    server.topic("t", 1).await;
    let mut client = server.client().await;
    let first = client.send(&produce("t", 0, -1, batch(&["a"])), 12).await;
    let second = client.send(&produce("t", 0, 1, batch(&["b"])), 3).await;
    let third = client.send(&MetadataRequest::default(), 13).await;
    let fourth = client.send(&produce("t", 0, -1, batch(&["c"])), 12).await;
    for (correlation_id, version, offset) in [(first, 12, 0), (second, 3, 1)] {
        let produced = client
            .receive::<ProduceRequest<'static>>(correlation_id, version)
            .await;
        assert_eq!(
            produced.responses[0].partition_responses[0].base_offset,
            offset
        );
    }
    client.receive::<MetadataRequest<'static>>(third, 13).await;
    let produced = client.receive::<ProduceRequest<'static>>(fourth, 12).await;
    assert_eq!(produced.responses[0].partition_responses[0].base_offset, 2);
}

#[tokio::test]
async fn acks_0_is_not_answered_and_later_answers_flow() {
    let server = Server::start().await;
    server.topic("t", 1).await;
    let mut client = server.client().await;
    client
        .send(&produce("t", 0, 0, batch(&["silent"])), 12)
        .await;
    let asked = client
        .send(&produce("t", 0, -1, batch(&["loud"])), 12)
        .await;
    let produced = client.receive::<ProduceRequest<'static>>(asked, 12).await;
    assert_eq!(produced.responses[0].partition_responses[0].base_offset, 1);
    let read = values(&client.fetch("t", 0).await);
    assert_eq!(read, [(0, "silent".to_owned()), (1, "loud".to_owned())]);
}

#[tokio::test]
async fn an_error_under_acks_0_closes_the_connection() {
    let server = Server::start().await;
    let mut client = server.client().await;
    client
        .send(&produce("nowhere", 0, 0, batch(&["a"])), 12)
        .await;
    assert_eq!(client.next_frame().await, None);
}

#[tokio::test]
async fn what_was_sent_before_the_peer_closed_is_carried_out() {
    let server = Server::start().await;
    server.topic("t", 1).await;
    let mut client = server.client().await;
    for value in ["a", "b", "c"] {
        client.send(&produce("t", 0, 0, batch(&[value])), 12).await;
    }
    client.stream.shutdown().await.unwrap();
    assert_eq!(client.next_frame().await, None);
    let mut request = fetch("t", 0, 0);
    request.min_bytes = 3 * i32::try_from(batch(&["a"]).len()).unwrap();
    let mut response = server.client().await.call(&request, 12).await;
    assert_eq!(values(&only_partition(&mut response)).len(), 3);
}

#[tokio::test]
async fn a_half_closed_peer_still_gets_its_acknowledgement() {
    let server = Server::start().await;
    server.topic("t", 1).await;
    let mut client = server.client().await;
    let asked = client.send(&produce("t", 0, -1, batch(&["a"])), 12).await;
    client.stream.shutdown().await.unwrap();
    let produced = client.receive::<ProduceRequest<'static>>(asked, 12).await;
    assert_eq!(produced.responses[0].partition_responses[0].error_code, 0);
    assert_eq!(client.next_frame().await, None);
}

#[tokio::test]
async fn an_unknown_version_of_api_versions_is_answered_in_version_0() {
    let server = Server::start().await;
    let mut client = server.client().await;
    client
        .send_bytes(&bare_frame(ApiKey::ApiVersions as i16, 99, 5))
        .await;
    let answer = client.next_frame().await.unwrap();
    let mut reader = Reader::new(answer);
    assert_eq!(
        ResponseHeader::decode(&mut reader, 0)
            .unwrap()
            .correlation_id,
        5
    );
    let response = ApiVersionsResponse::decode(&mut reader, 0).unwrap();
    assert_eq!(error(response.error_code), ErrorCode::UnsupportedVersion);
    let own: Vec<_> = response
        .api_keys
        .iter()
        .map(|api| (api.api_key, api.max_version))
        .collect();
    assert_eq!(own, [(ApiKey::ApiVersions as i16, 5)]);
    // The connection stays open for the second try.
    let response = client.call(&api_versions(), 3).await;
    assert_eq!(response.error_code, 0);
    let produce = response
        .api_keys
        .iter()
        .find(|api| api.api_key == 0)
        .unwrap();
    assert_eq!((produce.min_version, produce.max_version), (0, 13));
}

#[tokio::test]
async fn what_is_not_served_closes_the_connection() {
    let server = Server::start().await;
    let refused = [
        ("an unknown key", bare_frame(9_999, 0, 1)),
        ("a negative key", bare_frame(-1, 0, 1)),
        (
            "a version too high",
            bare_frame(ApiKey::Metadata as i16, 14, 1),
        ),
        (
            "a version too low",
            bare_frame(ApiKey::Produce as i16, 2, 1),
        ),
        (
            "a body that is missing",
            bare_frame(ApiKey::Metadata as i16, 4, 1),
        ),
        (
            "a frame over the limit",
            (FRAME_BYTES_MAX as i32 + 1).to_be_bytes().to_vec(),
        ),
        ("a negative length", (-1i32).to_be_bytes().to_vec()),
        ("a frame without a header", vec![0, 0, 0, 2, 0, 0]),
    ];
    for (what, bytes) in refused {
        let mut client = server.client().await;
        client.send_bytes(&bytes).await;
        assert_eq!(client.next_frame().await, None, "{what}");
    }
    // And harms nobody else.
    assert_eq!(
        server
            .client()
            .await
            .call(&api_versions(), 4)
            .await
            .error_code,
        0
    );
}

#[tokio::test]
async fn an_error_is_answered_in_the_version_of_the_request() {
    let server = Server::start().await;
    let mut client = server.client().await;
    for version in versions(ApiKey::Fetch) {
        let mut request = fetch("nowhere", 0, 0);
        if version >= 13 {
            request.topics[0].topic = "".into();
            request.topics[0].topic_id = uuid::Uuid::from_u128(77);
        }
        if version < 7 {
            request.session_epoch = FetchRequest::default().session_epoch;
        }
        let mut response = client.call(&request, version).await;
        let partition = only_partition(&mut response);
        let expected = match version {
            13.. => ErrorCode::UnknownTopicId,
            _ => ErrorCode::UnknownTopicOrPartition,
        };
        assert_eq!(error(partition.error_code), expected, "version {version}");
        assert!(
            partition.records.is_some_and(|records| records.is_empty()),
            "version {version}: not null (P7)"
        );
    }
}

#[tokio::test]
async fn a_client_that_must_name_its_software_is_held_to_it() {
    let server = Server::start().await;
    let mut client = server.client().await;
    let nameless = ApiVersionsRequest::default();
    let response = client.call(&nameless, 3).await;
    assert_eq!(error(response.error_code), ErrorCode::InvalidRequest);
    let elsewhere = ApiVersionsRequest {
        cluster_id: Some("another".into()),
        node_id: NODE_ID,
        ..api_versions()
    };
    let response = client.call(&elsewhere, 5).await;
    assert_eq!(error(response.error_code), ErrorCode::RebootstrapRequired);
    for version in versions(ApiKey::ApiVersions) {
        let request = if version < 3 {
            ApiVersionsRequest::default()
        } else {
            api_versions()
        };
        let response = client.call(&request, version).await;
        assert_eq!(response.error_code, 0, "version {version}");
        assert!(response.api_keys.len() > 30);
    }
}

#[tokio::test]
async fn an_idle_connection_is_closed_in_its_time() {
    let server = Server::start_listening(|config| {
        config.idle_max = std::time::Duration::from_millis(50);
    })
    .await;
    assert_eq!(server.client().await.next_frame().await, None);
}

#[tokio::test]
async fn connections_over_the_limit_are_turned_away_until_one_ends() {
    let server = Server::start_listening(|config| config.connections_max = 1).await;
    let mut first = server.client().await;
    assert_eq!(first.call(&api_versions(), 3).await.error_code, 0);
    assert_eq!(server.client().await.next_frame().await, None);
    first.stream.shutdown().await.unwrap();
    assert_eq!(first.next_frame().await, None);
    // The place is free once the first connection's task has ended.
    loop {
        let mut next = server.client().await;
        next.send_bytes(&frame(&api_versions(), 3, 1)).await;
        if next.next_frame().await.is_some() {
            break;
        }
    }
}

#[tokio::test]
async fn connections_of_one_address_have_a_limit_of_their_own() {
    let server = Server::start_with(&[("max.connections.per.ip", "1")]).await;
    let mut first = server.client().await;
    assert_eq!(first.call(&api_versions(), 3).await.error_code, 0);
    assert_eq!(server.client().await.next_frame().await, None);
    assert_eq!(first.call(&api_versions(), 3).await.error_code, 0);
}

#[tokio::test]
async fn the_advertised_address_is_the_one_that_metadata_names() {
    let server = Server::start_listening(|config| {
        config.advertise = Some(("broker.example".to_owned(), 1234));
    })
    .await;
    let response = server
        .client()
        .await
        .call(&MetadataRequest::default(), 12)
        .await;
    let broker = &response.brokers[0];
    assert_eq!(
        (broker.host.as_ref(), broker.port),
        ("broker.example", 1234)
    );
}

#[tokio::test]
async fn requests_and_connections_are_counted() {
    let server = Server::start().await;
    let mut client = server.client().await;
    client.call(&api_versions(), 3).await;
    client.call(&api_versions(), 3).await;
    client
        .call(&produce("none", 0, -1, batch(&["a"])), 12)
        .await;
    let text = server.broker.metrics().encode().unwrap();
    for line in [
        "fanlog_requests_total{api=\"ApiVersions\",version=\"3\"} 2",
        "fanlog_request_errors_total{api=\"Produce\",error=\"UNKNOWN_TOPIC_OR_PARTITION\"} 1",
        "fanlog_connections{listener=\"kafka\"} 1",
    ] {
        assert!(text.contains(line), "{line} in\n{text}");
    }
}
