use super::*;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// A server for one connection: reads a request and answers so.
async fn serve_once(answer: &'static [u8]) -> (SocketAddr, tokio::task::JoinHandle<String>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut request = Vec::new();
        let mut buf = [0; 4096];
        while !request.ends_with(b"body") {
            let count = socket.read(&mut buf).await.unwrap();
            assert!(count > 0, "the request breaks off");
            request.extend_from_slice(&buf[..count]);
        }
        socket.write_all(answer).await.unwrap();
        if answer.is_empty() {
            // Silent until the other side gives up.
            let _ = socket.read(&mut buf).await;
        }
        String::from_utf8(request).unwrap()
    });
    (address, serving)
}

async fn post(poster: &Poster, address: SocketAddr) -> Result<StatusCode, PostError> {
    let endpoint = Endpoint::parse(&format!("http://{address}/in?a=b")).unwrap();
    let headers = [("x-amz-sns-message-type", "Notification".to_owned())];
    poster
        .post(&endpoint, &headers, Bytes::from_static(b"body"))
        .await
}

#[tokio::test]
async fn a_request_has_a_host_its_headers_and_its_body() {
    let (address, serving) = serve_once(b"HTTP/1.1 204 No Content\r\n\r\n").await;
    let status = post(&Poster::new(), address).await.unwrap();
    assert_eq!(status, StatusCode::NO_CONTENT);
    let request = serving.await.unwrap();
    assert!(
        request.starts_with("POST /in?a=b HTTP/1.1\r\n"),
        "{request}"
    );
    assert!(
        request.contains(&format!("host: {address}\r\n")),
        "{request}"
    );
    assert!(request.contains("x-amz-sns-message-type: Notification\r\n"));
    assert!(request.contains("content-length: 4\r\n"), "{request}");
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_is_not_followed() {
    let redirect =
        b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n";
    let (address, serving) = serve_once(redirect).await;
    assert_eq!(
        post(&Poster::new(), address).await.unwrap(),
        StatusCode::FOUND
    );
    serving.await.unwrap();
}

#[tokio::test]
async fn who_says_nothing_is_not_waited_for_longer_than_is_said() {
    let (address, serving) = serve_once(b"").await;
    let poster = Poster::new().with_patience(Duration::from_millis(50));
    let error = post(&poster, address).await.unwrap_err();
    assert!(matches!(error, PostError::TooSlow), "{error}");
    serving.await.unwrap();
}

#[tokio::test]
async fn where_nobody_listens_there_is_no_answer() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = post(&Poster::new(), address).await.unwrap_err();
    assert!(matches!(error, PostError::Connect(_)), "{error}");
}

#[tokio::test]
async fn a_port_without_tls_is_no_https() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let _ = socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
    });
    let endpoint = Endpoint::parse(&format!("https://{address}/")).unwrap();
    let posted = Poster::new().post(&endpoint, &[], Bytes::new()).await;
    assert!(matches!(posted, Err(PostError::Tls(_))), "{posted:?}");
}
