//! Connections against a scripted broker: order, versions, silence, nonsense.

use super::*;
use fanlog_protocol::messages::api_versions_response::ApiVersion;
use fanlog_protocol::messages::{ListGroupsRequest, ListGroupsResponse, MetadataRequest};
use tokio::net::TcpListener;

/// The broker's end of one connection.
struct Broker {
    socket: BufReader<TcpStream>,
}

impl Broker {
    /// The next request's API, version and correlation id.
    async fn request(&mut self) -> (i16, i16, i32) {
        let length = self.socket.read_i32().await.unwrap();
        let mut frame = vec![0; usize::try_from(length).unwrap()];
        self.socket.read_exact(&mut frame).await.unwrap();
        let mut reader = Reader::new(&frame);
        (
            reader.i16().unwrap(),
            reader.i16().unwrap(),
            reader.i32().unwrap(),
        )
    }

    async fn answer<'a>(
        &mut self,
        correlation: i32,
        header: i16,
        message: &impl Message<'a>,
        version: i16,
    ) {
        let slices = GatherBuffer::frame(|buffer| {
            ResponseHeader {
                correlation_id: correlation,
            }
            .encode(buffer, header)?;
            message.encode(buffer, version)
        });
        for slice in slices.unwrap() {
            self.socket.write_all(&slice).await.unwrap();
        }
    }

    async fn answer_groups(&mut self, correlation: i32, version: i16, error_code: i16) {
        let header = ApiKey::ListGroups.response_header_version(version);
        let answer = ListGroupsResponse {
            error_code,
            ..ListGroupsResponse::default()
        };
        self.answer(correlation, header, &answer, version).await;
    }

    /// Serves ListGroups up to `highest` alone.
    async fn negotiate(&mut self, highest: i16) {
        let (api, version, correlation) = self.request().await;
        assert_eq!(api, ApiKey::ApiVersions.to_i16());
        let api = ApiVersion {
            api_key: 16,
            min_version: 0,
            max_version: highest,
        };
        let answer = ApiVersionsResponse {
            api_keys: vec![api],
            ..ApiVersionsResponse::default()
        };
        self.answer(correlation, 0, &answer, version).await;
    }
}

fn settings() -> ConnectionSettings {
    ConnectionSettings {
        client_id: "test".into(),
        connect_timeout: Duration::from_secs(5),
        request_timeout: Duration::from_secs(5),
    }
}

/// Runs both ends of one connection.
async fn with_broker<F: Future<Output = ()> + Send + 'static>(
    script: impl FnOnce(Broker) -> F + Send + 'static,
) -> Result<Connection, ClientError> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        let (socket, _) = listener.accept().await.unwrap();
        script(Broker {
            socket: BufReader::new(socket),
        })
        .await;
    });
    Connection::open(&address, &settings()).await
}

#[tokio::test]
async fn calls_under_way_get_their_own_answers() {
    let connection = with_broker(async |mut broker: Broker| {
        broker.negotiate(4).await;
        let (first, second) = (broker.request().await, broker.request().await);
        assert_eq!(
            (first.0, first.1),
            (16, 4),
            "the highest common version is used"
        );
        broker.answer_groups(first.2, 4, 14).await;
        broker.answer_groups(second.2, 4, 15).await;
    });
    let connection = connection.await.unwrap();
    let request = ListGroupsRequest::default();
    let (first, second) = tokio::join!(connection.call(&request), connection.call(&request));
    assert_eq!(first.unwrap().read().unwrap().error_code, 14);
    assert_eq!(second.unwrap().read().unwrap().error_code, 15);
}

#[tokio::test]
async fn a_broker_that_knows_no_new_api_versions_is_asked_again_in_version_0() {
    let connection = with_broker(async |mut broker: Broker| {
        let (_, version, correlation) = broker.request().await;
        assert!(version > 0);
        let error_code = ErrorCode::UnsupportedVersion.code();
        let answer = ApiVersionsResponse {
            error_code,
            ..ApiVersionsResponse::default()
        };
        broker.answer(correlation, 0, &answer, 0).await;
        broker.negotiate(2).await;
    });
    let connection = connection.await.unwrap();
    assert_eq!(connection.version(ApiKey::ListGroups).unwrap(), 2);
    let error = connection
        .call(&MetadataRequest::default())
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            ClientError::UnsupportedApi {
                api: ApiKey::Metadata,
                ..
            }
        ),
        "{error}"
    );
}

#[tokio::test]
async fn silence_ends_in_a_timeout_and_closes_the_connection() {
    let connection = with_broker(async |mut broker: Broker| {
        broker.negotiate(4).await;
        broker.request().await;
        std::future::pending().await
    });
    let connection = connection.await.unwrap();
    let request = ListGroupsRequest::default();
    let timeout = Duration::from_millis(20);
    let error = connection.call_within(&request, timeout).await.unwrap_err();
    assert!(
        matches!(error, ClientError::Timeout { timeout_ms: 20, .. }),
        "{error}"
    );
    assert!(error.is_retriable() && error.is_outcome_unknown());
    assert!(connection.is_closed());
    let error = connection.call(&request).await.unwrap_err();
    assert!(matches!(error, ClientError::Disconnected { .. }), "{error}");
}

#[tokio::test]
async fn a_broker_that_goes_away_fails_every_call_under_way() {
    let connection = with_broker(async |mut broker: Broker| {
        broker.negotiate(4).await;
        broker.request().await;
        broker.request().await;
    });
    let connection = connection.await.unwrap();
    let request = ListGroupsRequest::default();
    let (first, second) = tokio::join!(connection.call(&request), connection.call(&request));
    for error in [first.unwrap_err(), second.unwrap_err()] {
        assert!(matches!(error, ClientError::Disconnected { .. }), "{error}");
    }
    assert!(connection.is_closed());
}

/// What a broker may send in place of an answer, and what the caller then hears.
async fn check_nonsense(bytes: &'static [u8], expected: &str) {
    let connection = with_broker(async move |mut broker: Broker| {
        broker.negotiate(4).await;
        broker.request().await;
        broker.socket.write_all(bytes).await.unwrap();
        std::future::pending().await
    });
    let error = connection
        .await
        .unwrap()
        .call(&ListGroupsRequest::default())
        .await;
    let error = error.map(|_| ()).unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
}

#[tokio::test]
async fn nonsense_is_named_and_reserves_nothing() {
    check_nonsense(
        &[0x7f, 0xff, 0xff, 0xff],
        "an answer's length is out of bounds",
    )
    .await;
    check_nonsense(
        &[0xff, 0xff, 0xff, 0xff],
        "an answer's length is out of bounds",
    )
    .await;
    check_nonsense(&[0, 0, 0, 0], "nothing was asked for").await;
    check_nonsense(&[0, 0, 0, 4, 0x7f, 0, 0, 0], "nothing was asked for").await;
    // The right correlation id, and then no header's end.
    check_nonsense(&[0, 0, 0, 4, 0, 0, 0, 1], "cannot be read").await;
}

#[tokio::test]
async fn an_answer_that_is_no_such_message_is_a_decode_error() {
    let connection = with_broker(async |mut broker: Broker| {
        broker.negotiate(4).await;
        let (_, _, correlation) = broker.request().await;
        let header = ApiKey::ListGroups.response_header_version(4);
        let answer = ApiVersionsResponse::default();
        broker.answer(correlation, header, &answer, 0).await;
        std::future::pending().await
    });
    let connection = connection.await.unwrap();
    let reply = connection
        .call(&ListGroupsRequest::default())
        .await
        .unwrap();
    let error = reply.read().unwrap_err();
    assert!(
        matches!(
            error,
            ClientError::Decode {
                api: ApiKey::ListGroups,
                ..
            }
        ),
        "{error}"
    );
}

#[tokio::test]
async fn nobody_listening_is_said_with_the_address_and_the_flag() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let error = Connection::open(&address, &settings())
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains(&address) && error.contains("--bootstrap"),
        "{error}"
    );
}
