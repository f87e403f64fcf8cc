//! Connections: so many at once, none that stands still for long, and each under way ends soon when the broker stops.
//!
//! Why it exists: half a request from each of many connections would take every file that the process may open; and a receive that waits
//! must end when its consumer goes away, or a message is handed to nobody.
//! Owns: the places for connections.   Never: what a request means.
//! In -> out: sockets -> requests for the router.
//! Invariants: OPS-1.

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Instant, Sleep, sleep, timeout};

/// How many connections are accepted when all places are taken: for probes, and to tell others why they are not served.
const BESIDE_MAX: u32 = 16;
/// The largest head of a request; a connection holds no more of a body that nobody reads.
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// How long requests under way may take when the broker stops.
const DRAIN_MAX: Duration = Duration::from_secs(1);
/// The most places that can be counted.
const PLACES_LIMIT: u32 = 1 << 24;
/// How long a connection without a place may take.
const PATIENCE_BESIDE: Duration = Duration::from_secs(5);
/// How many bytes of an answer a client takes in a second at least, once its patience is used up.
const RATE_MIN: f64 = 64.0 * 1024.0;
/// How long to wait where the system has no more files for connections.
const FULL_PAUSE: Duration = Duration::from_millis(100);

/// What connections are served by, and how many.
pub(crate) struct Serving {
    /// For whoever has a place.
    pub(crate) router: Router,
    /// For whoever has none: one request, and the end.
    pub(crate) router_beside: Router,
    pub(crate) connections_max: usize,
    /// How long a connection may be without a whole head of a request, or take nothing of its answer.
    pub(crate) patience: Duration,
}

/// One connection's share of that.
struct Connection {
    router: Router,
    keep_alive: bool,
    patience: Duration,
    _place: OwnedSemaphorePermit,
}

/// Accepts and serves until `stopping` turns true; requests that do not end soon after that are cut.
pub(crate) async fn serve(
    socket: TcpListener,
    serving: Serving,
    mut stopping: watch::Receiver<bool>,
) {
    let places_max = u32::try_from(serving.connections_max).unwrap_or(u32::MAX);
    let places_max = places_max.clamp(1, PLACES_LIMIT);
    let places = Arc::new(Semaphore::new(places_max as usize));
    let beside = Arc::new(Semaphore::new(BESIDE_MAX as usize));
    let (cut, cutting) = watch::channel(false);
    loop {
        let (stream, connection) = tokio::select! {
            () = told(&mut stopping) => break,
            accepted = accept(&socket, &serving, &places, &beside) => accepted,
        };
        let (stopping, cutting) = (stopping.clone(), cutting.clone());
        tokio::spawn(serve_one(stream, connection, stopping, cutting));
    }
    drop(socket);
    // All places are free when all connections have ended.
    let ended = async {
        let _ = places.acquire_many(places_max).await;
        let _ = beside.acquire_many(BESIDE_MAX).await;
    };
    if timeout(DRAIN_MAX, ended).await.is_err() {
        cut.send_replace(true);
    }
}

async fn accept(
    socket: &TcpListener,
    serving: &Serving,
    places: &Arc<Semaphore>,
    beside: &Arc<Semaphore>,
) -> (TcpStream, Connection) {
    let spare = Arc::clone(beside).acquire_owned().await;
    let spare = spare.expect("this semaphore is never closed");
    let stream = loop {
        match socket.accept().await {
            Ok((stream, _)) => break stream,
            Err(error) if is_of_the_peer(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "no HTTP connection can be accepted for now");
                sleep(FULL_PAUSE).await;
            }
        }
    };
    let connection = match Arc::clone(places).try_acquire_owned() {
        Ok(place) => Connection {
            router: serving.router.clone(),
            keep_alive: true,
            patience: serving.patience,
            _place: place,
        },
        Err(_) => Connection {
            router: serving.router_beside.clone(),
            keep_alive: false,
            patience: serving.patience.min(PATIENCE_BESIDE),
            _place: spare,
        },
    };
    (stream, connection)
}

fn is_of_the_peer(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionReset
    )
}

async fn serve_one(
    stream: TcpStream,
    of: Connection,
    mut stopping: watch::Receiver<bool>,
    mut cutting: watch::Receiver<bool>,
) {
    // An answer is one write: waiting for more to send with it gains nothing.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "an HTTP connection can't be set to send at once");
    }
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(of.patience)
        .keep_alive(of.keep_alive)
        .max_buf_size(HEAD_BYTES_MAX);
    let io = TokioIo::new(PatientStream::new(stream, of.patience));
    let service = TowerToHyperService::new(of.router.clone());
    let mut connection = pin!(builder.serve_connection(io, service));
    let served = tokio::select! {
        served = connection.as_mut() => served,
        () = told(&mut stopping) => {
            connection.as_mut().graceful_shutdown();
            tokio::select! {
                served = connection.as_mut() => served,
                () = told(&mut cutting) => Ok(()),
            }
        }
    };
    if let Err(error) = served {
        tracing::debug!(%error, "an HTTP connection ended early");
    }
}

/// Completes when it turns true, or when nobody is left who could turn it.
pub(crate) async fn told(flag: &mut watch::Receiver<bool>) {
    // An error says that the sender is gone, as when the broker's task has ended: nobody serves any more.
    let _ = flag.wait_for(|is| *is).await.map(|_| ());
}

/// A connection whose client must take what is sent to it, and not too slowly: an answer holds memory until it is taken.
struct PatientStream<S> {
    stream: S,
    patience: Duration,
    /// Until when more must be taken, while an answer waits for its client.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<S> PatientStream<S> {
    fn new(stream: S, patience: Duration) -> Self {
        Self {
            stream,
            patience,
            waiting: None,
        }
    }

    /// What came of a write; an error once too little was taken for too long.
    fn patient(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        let patience = self.patience;
        match &written {
            Poll::Ready(Ok(bytes)) => {
                if let Some(waiting) = &mut self.waiting {
                    let earned = Duration::from_secs_f64(*bytes as f64 / RATE_MIN);
                    let most = Instant::now() + patience;
                    let until = (waiting.deadline() + earned).min(most);
                    waiting.as_mut().reset(until);
                }
                written
            }
            Poll::Ready(Err(_)) => written,
            Poll::Pending => {
                let waiting = self
                    .waiting
                    .get_or_insert_with(|| Box::pin(sleep(patience)));
                let passed = waiting.as_mut().poll(cx);
                passed.map(|()| Err(io::ErrorKind::TimedOut.into()))
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for PatientStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for PatientStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.patient(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.patient(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        // All that was to be sent has been taken: the next answer has its own time.
        if flushed.is_ready() {
            self.waiting = None;
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    /// Whether an answer of 4 MB is taken by a client that takes so much a second.
    async fn is_taken_by(bytes_a_second: usize) -> bool {
        let (server, mut client) = tokio::io::duplex(16 * 1024);
        let reading = tokio::spawn(async move {
            let mut piece = vec![0; bytes_a_second];
            while client.read_exact(&mut piece).await.is_ok() {
                sleep(Duration::from_secs(1)).await;
            }
        });
        let mut stream = PatientStream::new(server, Duration::from_secs(60));
        let written = stream.write_all(&vec![0; 4 * 1024 * 1024]).await;
        drop(stream);
        reading.await.unwrap();
        written.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn who_takes_an_answer_too_slowly_does_not_get_the_rest() {
        assert!(is_taken_by(2 * RATE_MIN as usize).await);
        assert!(!is_taken_by(1024).await);
    }
}
