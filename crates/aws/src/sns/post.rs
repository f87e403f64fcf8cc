//! One request to an endpoint: a connection of its own, a POST, and what was answered.
//!
//! Why it exists: an endpoint may be slow, silent or endless; whatever it does ends in time, takes bounded memory, and is never followed
//! elsewhere.
//! In -> out: an address, headers and a body -> the status, or why there is none.

use super::endpoint::Endpoint;
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1;
use hyper::header::{HOST, HeaderName, HeaderValue};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// How long a request may take, from the search for the address to the end of the answer: as long as AWS waits.
pub(crate) const PATIENCE: Duration = Duration::from_secs(15);
/// How much of an answer is read; no more of it is of interest.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// Why a request has no answer.
#[derive(Debug, Error)]
pub(crate) enum PostError {
    /// Nobody listens there, or the name leads nowhere.
    #[error("cannot connect: {0}")]
    Connect(std::io::Error),
    /// TLS failed, as by a certificate that nobody vouches for.
    #[error("TLS failed: {0}")]
    Tls(String),
    /// The connection broke.
    #[error("the request failed: {0}")]
    Broken(#[from] hyper::Error),
    /// It took too long.
    #[error("no answer within {} s", PATIENCE.as_secs())]
    TooSlow,
    /// A header cannot be sent.
    #[error("the request cannot be written: {0}")]
    Unwritable(String),
}

/// Sends requests to endpoints.
#[derive(Clone)]
pub(crate) struct Poster {
    tls: Arc<ClientConfig>,
    patience: Duration,
}

impl Poster {
    /// With the certificates that this machine trusts.
    pub(crate) fn new() -> Self {
        let mut roots = RootCertStore::empty();
        let found = rustls_native_certs::load_native_certs();
        for error in &found.errors {
            tracing::warn!(%error, "a certificate of this machine cannot be read: endpoints that rely on it cannot be reached");
        }
        roots.add_parsable_certificates(found.certs);
        let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the provider has the versions that are safe by default");
        Self {
            tls: Arc::new(config.with_root_certificates(roots).with_no_client_auth()),
            patience: PATIENCE,
        }
    }

    /// Less patient, for tests.
    #[cfg(test)]
    pub(crate) fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Sends a body and answers with the status; redirects are not followed.
    ///
    /// # Errors
    /// There was no answer, or not in time.
    pub(crate) async fn post(
        &self,
        endpoint: &Endpoint,
        headers: &[(&'static str, String)],
        body: Bytes,
    ) -> Result<StatusCode, PostError> {
        let request = request(endpoint, headers, body)?;
        let sending = async {
            let address = (endpoint.host.as_str(), endpoint.port);
            let socket = TcpStream::connect(address).await;
            let socket = socket.map_err(PostError::Connect)?;
            // A small request goes at once.
            let _ = socket.set_nodelay(true);
            match endpoint.is_https {
                false => send(socket, request).await,
                true => {
                    let wrong = |error: &dyn std::error::Error| PostError::Tls(error.to_string());
                    let name = ServerName::try_from(endpoint.host.clone());
                    let name = name.map_err(|error| wrong(&error))?;
                    let connecting = TlsConnector::from(self.tls.clone()).connect(name, socket);
                    let socket = connecting.await.map_err(|error| wrong(&error))?;
                    send(socket, request).await
                }
            }
        };
        match timeout(self.patience, sending).await {
            Ok(answered) => answered,
            Err(_) => Err(PostError::TooSlow),
        }
    }
}

fn request(
    endpoint: &Endpoint,
    headers: &[(&'static str, String)],
    body: Bytes,
) -> Result<Request<Full<Bytes>>, PostError> {
    let unwritable = |error: &dyn std::error::Error| PostError::Unwritable(error.to_string());
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = Method::POST;
    let path = endpoint.path.parse();
    *request.uri_mut() = path.map_err(|error: hyper::http::uri::InvalidUri| unwritable(&error))?;
    let own = [(HOST, endpoint.authority.as_str())];
    let given = headers
        .iter()
        .map(|(name, value)| (HeaderName::from_static(name), value.as_str()));
    for (name, value) in own.into_iter().chain(given) {
        let value = HeaderValue::from_str(value).map_err(|error| unwritable(&error))?;
        request.headers_mut().insert(name, value);
    }
    Ok(request)
}

async fn send<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    socket: S,
    request: Request<Full<Bytes>>,
) -> Result<StatusCode, PostError> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(socket)).await?;
    let driving = async {
        // Its end is seen by the sender too.
        let _ = connection.await;
    };
    let asking = async {
        let answer = sender.send_request(request).await?;
        let status = answer.status();
        // Read to its end, so that the endpoint sees that it was heard; what is endless is cut off.
        let _ = Limited::new(answer.into_body(), ANSWER_BYTES_MAX)
            .collect()
            .await;
        Ok(status)
    };
    tokio::pin!(driving, asking);
    tokio::select! {
        answered = &mut asking => answered,
        () = &mut driving => asking.await,
    }
}

#[cfg(test)]
#[path = "post_tests.rs"]
mod tests;
