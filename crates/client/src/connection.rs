//! One TCP connection to a broker: requests go out in order, answers come back in order, many under way at once.
//!
//! Owns: the socket, through two tasks, and the queue of calls that await their answer.   Never: which broker to ask, retries.
//! In -> out: a request message -> a [`Reply`] that holds the answer's frame.
//! Invariants: OPS-1 (frames, calls under way and waiting time are bounded).

use crate::ClientError;
use bytes::Bytes;
use fanlog_protocol::messages::{
    ApiVersionsRequest, ApiVersionsResponse, RequestHeader, ResponseHeader,
};
use fanlog_protocol::wire::{EncodeError, GatherBuffer, Reader};
use fanlog_protocol::{ApiKey, ErrorCode, Message, Request};
use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;

/// The largest answer accepted, in bytes: a fetch's limit and room for one oversized batch.
const ANSWER_BYTES_MAX: usize = 256 * 1024 * 1024;
const OUT_OF_BOUNDS: &str =
    "an answer's length is out of bounds; check that this is a port for Kafka clients";
/// The most requests that wait to be written.
const UNWRITTEN_MAX: usize = 64;

/// How a client presents itself and how long it waits.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionSettings {
    pub(crate) client_id: Arc<str>,
    pub(crate) connect_timeout: Duration,
    pub(crate) request_timeout: Duration,
}

/// A connection whose versions are negotiated. Closes when dropped.
#[derive(Debug)]
pub(crate) struct Connection {
    broker: Arc<str>,
    settings: ConnectionSettings,
    outgoing: mpsc::Sender<Outgoing>,
    awaited: Arc<Awaited>,
    correlation: AtomicI32,
    versions: BTreeMap<ApiKey, RangeInclusive<i16>>,
    reader: AbortHandle,
}

#[derive(Debug)]
struct Outgoing {
    slices: Vec<Bytes>,
    correlation: i32,
    reply: ReplyTo,
}

/// Who waits for what.
#[derive(Debug)]
enum ReplyTo {
    /// For the answer.
    Answered(oneshot::Sender<Bytes>),
    /// For the request to be written: it is not answered (Produce with `acks` 0).
    Written(oneshot::Sender<()>),
}

/// The calls that were written and are not answered, in order; or why no answer will come.
#[derive(Debug, Default)]
struct Awaited(Mutex<AwaitedState>);

#[derive(Debug, Default)]
struct AwaitedState {
    calls: VecDeque<(i32, oneshot::Sender<Bytes>)>,
    closed: Option<String>,
}

impl Awaited {
    fn lock(&self) -> MutexGuard<'_, AwaitedState> {
        self.0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn close(&self, reason: String) {
        let mut state = self.lock();
        state.closed.get_or_insert(reason);
        // Dropping the senders tells the callers.
        state.calls.clear();
    }

    fn reason(&self) -> String {
        let closed = self.lock().closed.clone();
        closed.unwrap_or_else(|| "the connection was closed".to_owned())
    }
}

/// An answer: its frame, to be read where it lies.
#[derive(Debug)]
pub(crate) struct Reply<R> {
    frame: Bytes,
    body_at: usize,
    version: i16,
    broker: Arc<str>,
    request: PhantomData<fn() -> R>,
}

impl<R> Reply<R> {
    /// The answer as a message that borrows from the frame.
    pub(crate) fn read<'r, 'q>(&'r self) -> Result<R::Response<'r>, ClientError>
    where
        R: Request<'q>,
    {
        R::Response::decode_all(&self.frame[self.body_at..], self.version).map_err(|reason| {
            ClientError::Decode {
                broker: self.broker.to_string(),
                api: R::KEY,
                reason,
            }
        })
    }

    pub(crate) fn broker(&self) -> &str {
        &self.broker
    }
}

impl Connection {
    /// Connects and asks for the versions that the broker serves.
    pub(crate) async fn open(
        broker: &str,
        settings: &ConnectionSettings,
    ) -> Result<Self, ClientError> {
        let failed = |reason: String| ClientError::Connect {
            broker: broker.to_owned(),
            reason,
        };
        let connect = TcpStream::connect(broker);
        let stream = tokio::time::timeout(settings.connect_timeout, connect)
            .await
            .map_err(|_| failed("timed out".to_owned()))?
            .map_err(|error| failed(error.to_string()))?;
        stream
            .set_nodelay(true)
            .map_err(|error| failed(error.to_string()))?;
        let (read, write) = stream.into_split();
        let (outgoing, to_write) = mpsc::channel(UNWRITTEN_MAX);
        let awaited = Arc::new(Awaited::default());
        tokio::spawn(write_requests(write, to_write, Arc::clone(&awaited)));
        let reader = tokio::spawn(read_answers(read, Arc::clone(&awaited))).abort_handle();
        let mut connection = Self {
            broker: broker.into(),
            settings: settings.clone(),
            outgoing,
            awaited,
            correlation: AtomicI32::new(0),
            versions: BTreeMap::new(),
            reader,
        };
        connection.versions = connection.ask_versions().await?;
        Ok(connection)
    }

    pub(crate) fn broker(&self) -> &str {
        &self.broker
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.awaited.lock().closed.is_some()
    }

    /// Closes at once; calls under way fail.
    fn close(&self, reason: &str) {
        self.awaited.close(reason.to_owned());
        self.reader.abort();
    }

    /// Asks in our highest version, and again in version 0 where a broker is older than that.
    async fn ask_versions(&self) -> Result<BTreeMap<ApiKey, RangeInclusive<i16>>, ClientError> {
        let request = ApiVersionsRequest {
            client_software_name: Cow::Borrowed("fanlog"),
            client_software_version: Cow::Borrowed(env!("CARGO_PKG_VERSION")),
            ..ApiVersionsRequest::default()
        };
        let highest = *ApiVersionsRequest::VERSIONS.end();
        let timeout = self.settings.request_timeout;
        for version in [highest, 0] {
            let frame = self.exchange(&request, version, timeout).await?;
            // A broker that does not know the version answers in version 0, which is then the error alone.
            let reply = |version| Reply::<ApiVersionsRequest<'_>> {
                frame: frame.clone(),
                body_at: size_of::<i32>(),
                version,
                broker: Arc::clone(&self.broker),
                request: PhantomData,
            };
            let old = reply(0);
            let unsupported = ErrorCode::UnsupportedVersion.code();
            let is_unsupported = old
                .read()
                .is_ok_and(|answer| answer.error_code == unsupported);
            if is_unsupported && version != 0 {
                continue;
            }
            let reply = reply(version);
            let answer: ApiVersionsResponse<'_> = reply.read()?;
            self.check(ApiKey::ApiVersions, "this client", answer.error_code, None)?;
            return Ok(common_versions(&answer));
        }
        Err(self.unsupported(ApiKey::ApiVersions))
    }

    /// The highest version of `api` that both sides speak, if any.
    pub(crate) fn version(&self, api: ApiKey) -> Result<i16, ClientError> {
        let common = self.versions.get(&api).map(|range| *range.end());
        common.ok_or_else(|| self.unsupported(api))
    }

    fn unsupported(&self, api: ApiKey) -> ClientError {
        ClientError::UnsupportedApi {
            broker: self.broker.to_string(),
            api,
        }
    }

    /// Sends a request and awaits its answer for the usual time.
    pub(crate) async fn call<'q, R: Request<'q>>(
        &self,
        request: &R,
    ) -> Result<Reply<R>, ClientError> {
        self.call_within(request, self.settings.request_timeout)
            .await
    }

    /// Sends a request and awaits its answer. After `timeout` the connection closes: later answers could not be told apart.
    pub(crate) async fn call_within<'q, R: Request<'q>>(
        &self,
        request: &R,
        timeout: Duration,
    ) -> Result<Reply<R>, ClientError> {
        let version = self.version(R::KEY)?;
        let frame = self.exchange(request, version, timeout).await?;
        let mut reader = Reader::new(&frame);
        let header_version = R::KEY.response_header_version(version);
        ResponseHeader::decode(&mut reader, header_version).map_err(|reason| {
            ClientError::Decode {
                broker: self.broker.to_string(),
                api: R::KEY,
                reason,
            }
        })?;
        let body_at = frame.len() - reader.remaining();
        Ok(Reply {
            frame,
            body_at,
            version,
            broker: Arc::clone(&self.broker),
            request: PhantomData,
        })
    }

    /// Sends a request that is not answered: waits until it is written.
    pub(crate) async fn send_unanswered<'q, R: Request<'q>>(
        &self,
        request: &R,
    ) -> Result<(), ClientError> {
        let version = self.version(R::KEY)?;
        let (written, is_written) = oneshot::channel();
        let outgoing = self.frame(request, version, ReplyTo::Written(written))?;
        let sending = async {
            let sent = self.outgoing.send(outgoing).await;
            sent.map_err(|_| self.disconnected(R::KEY))?;
            is_written.await.map_err(|_| self.disconnected(R::KEY))
        };
        self.within(R::KEY, self.settings.request_timeout, sending)
            .await
    }

    async fn exchange<'q, R: Request<'q>>(
        &self,
        request: &R,
        version: i16,
        timeout: Duration,
    ) -> Result<Bytes, ClientError> {
        let (reply, answer) = oneshot::channel();
        let outgoing = self.frame(request, version, ReplyTo::Answered(reply))?;
        let exchange = async {
            let sent = self.outgoing.send(outgoing).await;
            sent.map_err(|_| self.disconnected(R::KEY))?;
            answer.await.map_err(|_| self.disconnected(R::KEY))
        };
        self.within(R::KEY, timeout, exchange).await
    }

    async fn within<T>(
        &self,
        api: ApiKey,
        timeout: Duration,
        exchange: impl Future<Output = Result<T, ClientError>>,
    ) -> Result<T, ClientError> {
        match tokio::time::timeout(timeout, exchange).await {
            Ok(result) => result,
            Err(_) => {
                self.close("a request timed out");
                Err(ClientError::Timeout {
                    broker: self.broker.to_string(),
                    api,
                    timeout_ms: u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX),
                })
            }
        }
    }

    fn frame<'q, R: Request<'q>>(
        &self,
        request: &R,
        version: i16,
        reply: ReplyTo,
    ) -> Result<Outgoing, ClientError> {
        let correlation = self.correlation.fetch_add(1, Ordering::Relaxed);
        let header = RequestHeader {
            request_api_key: R::KEY.to_i16(),
            request_api_version: version,
            correlation_id: correlation,
            client_id: Some(Cow::Borrowed(&*self.settings.client_id)),
        };
        let slices = GatherBuffer::frame(|buffer| -> Result<(), EncodeError> {
            header.encode(buffer, R::KEY.request_header_version(version))?;
            request.encode(buffer, version)
        });
        let slices = slices.map_err(|reason| ClientError::Encode {
            broker: self.broker.to_string(),
            api: R::KEY,
            reason,
        })?;
        Ok(Outgoing {
            slices,
            correlation,
            reply,
        })
    }

    fn disconnected(&self, api: ApiKey) -> ClientError {
        ClientError::Disconnected {
            broker: self.broker.to_string(),
            api,
            reason: self.awaited.reason(),
        }
    }

    /// Turns an error code into an error.
    pub(crate) fn check(
        &self,
        api: ApiKey,
        about: &str,
        code: i16,
        message: Option<&str>,
    ) -> Result<(), ClientError> {
        check_code(&self.broker, api, about, code, message)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.close("this side closed it");
    }
}

/// Turns an error code of `broker` into an error.
pub(crate) fn check_code(
    broker: &str,
    api: ApiKey,
    about: &str,
    code: i16,
    message: Option<&str>,
) -> Result<(), ClientError> {
    match crate::Refusal::from_code(code) {
        None => Ok(()),
        Some(error) => Err(ClientError::Refused {
            broker: broker.to_owned(),
            api,
            about: about.to_owned(),
            error,
            message: message.map(str::to_owned),
        }),
    }
}

/// The highest versions that we use where topics are named: later ones of these name topics by id alone.
const fn highest_by_name(api: ApiKey) -> i16 {
    match api {
        ApiKey::Produce | ApiKey::Fetch => 12,
        ApiKey::OffsetCommit | ApiKey::OffsetFetch => 9,
        _ => i16::MAX,
    }
}

fn common_versions(answer: &ApiVersionsResponse<'_>) -> BTreeMap<ApiKey, RangeInclusive<i16>> {
    let common = answer.api_keys.iter().filter_map(|theirs| {
        let api = ApiKey::from_i16(theirs.api_key)?;
        let ours = api.valid_versions();
        let lowest = theirs.min_version.max(*ours.start());
        let highest = theirs
            .max_version
            .min(*ours.end())
            .min(highest_by_name(api));
        (lowest <= highest).then_some((api, lowest..=highest))
    });
    common.collect()
}

async fn write_requests(
    mut socket: OwnedWriteHalf,
    mut requests: mpsc::Receiver<Outgoing>,
    awaited: Arc<Awaited>,
) {
    while let Some(request) = requests.recv().await {
        let written = match request.reply {
            ReplyTo::Written(written) => Some(written),
            ReplyTo::Answered(reply) => {
                let mut state = awaited.lock();
                if state.closed.is_some() {
                    return;
                }
                state.calls.push_back((request.correlation, reply));
                None
            }
        };
        if let Err(error) = write_slices(&mut socket, &request.slices).await {
            return awaited.close(error.to_string());
        }
        if let Some(written) = written {
            // Whoever sent it may have stopped waiting.
            let _ = written.send(());
        }
    }
}

async fn write_slices(socket: &mut OwnedWriteHalf, slices: &[Bytes]) -> io::Result<()> {
    for slice in slices {
        socket.write_all(slice).await?;
    }
    Ok(())
}

async fn read_answers(socket: OwnedReadHalf, awaited: Arc<Awaited>) {
    let mut socket = BufReader::with_capacity(64 * 1024, socket);
    loop {
        match read_answer(&mut socket).await {
            Err(error) => return awaited.close(error.to_string()),
            Ok(frame) => {
                if let Err(reason) = hand_over(frame, &awaited) {
                    return awaited.close(reason);
                }
            }
        }
    }
}

async fn read_answer(socket: &mut BufReader<OwnedReadHalf>) -> io::Result<Bytes> {
    let length = match socket.read_i32().await {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            return Err(io::Error::other("the broker closed it"));
        }
        length => length?,
    };
    let length = usize::try_from(length)
        .ok()
        .filter(|length| *length <= ANSWER_BYTES_MAX);
    let length = length.ok_or_else(|| io::Error::other(OUT_OF_BOUNDS))?;
    // Grows as bytes come: a length alone reserves nothing.
    let mut frame = Vec::new();
    let read = socket.take(length as u64).read_to_end(&mut frame).await?;
    if read < length {
        return Err(io::Error::other(
            "the broker closed it in the middle of an answer",
        ));
    }
    Ok(frame.into())
}

/// Gives the frame to the caller that has waited longest, which it must be for.
fn hand_over(frame: Bytes, awaited: &Awaited) -> Result<(), String> {
    let correlation = frame.first_chunk().map(|bytes| i32::from_be_bytes(*bytes));
    let call = awaited.lock().calls.pop_front();
    match call {
        Some((expected, reply)) if correlation == Some(expected) => {
            // A caller that gave up needs no answer.
            let _ = reply.send(frame);
            Ok(())
        }
        _ => Err("an answer came that nothing was asked for".to_owned()),
    }
}

#[cfg(test)]
#[path = "connection_tests.rs"]
mod tests;
