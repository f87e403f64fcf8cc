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
use tokio::sync::{Semaphore, watch};
use tokio::time::{Sleep, sleep, timeout};

/// How long a connection may be without a whole head of a request: idle, or slow.
const HEAD_WITHIN: Duration = Duration::from_secs(60);
/// How long a client may take nothing of its answer.
const TAKEN_WITHIN: Duration = Duration::from_secs(30);
/// The largest head of a request; a connection holds no more of a body that nobody reads.
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// How long requests under way may take when the broker stops.
const DRAIN_MAX: Duration = Duration::from_secs(1);
/// How long to wait where the system has no more files for connections.
const FULL_PAUSE: Duration = Duration::from_millis(100);

/// Accepts and serves until `stopping` turns true; requests that do not end soon after that are cut.
pub(crate) async fn serve(
    socket: TcpListener,
    router: Router,
    connections_max: usize,
    mut stopping: watch::Receiver<bool>,
) {
    let places_max = u32::try_from(connections_max).unwrap_or(u32::MAX).max(1);
    let places_max = places_max.min(u32::try_from(Semaphore::MAX_PERMITS).unwrap_or(u32::MAX));
    let places = Arc::new(Semaphore::new(places_max as usize));
    let (cut, cutting) = watch::channel(false);
    loop {
        let accepted = tokio::select! {
            () = told(&mut stopping) => break,
            accepted = accept(&socket, &places) => accepted,
        };
        let (stream, place) = accepted;
        let (router, stopping, cutting) = (router.clone(), stopping.clone(), cutting.clone());
        tokio::spawn(async move {
            serve_one(stream, router, stopping, cutting).await;
            drop(place);
        });
    }
    drop(socket);
    // All places are free when all connections have ended.
    if timeout(DRAIN_MAX, places.acquire_many(places_max))
        .await
        .is_err()
    {
        cut.send_replace(true);
    }
}

async fn accept(
    socket: &TcpListener,
    places: &Arc<Semaphore>,
) -> (TcpStream, tokio::sync::OwnedSemaphorePermit) {
    let place = Arc::clone(places).acquire_owned().await;
    let place = place.expect("this semaphore is never closed");
    loop {
        match socket.accept().await {
            Ok((stream, _)) => return (stream, place),
            Err(error) if is_of_the_peer(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "no HTTP connection can be accepted for now");
                sleep(FULL_PAUSE).await;
            }
        }
    }
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
    router: Router,
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
        .header_read_timeout(HEAD_WITHIN)
        .max_buf_size(HEAD_BYTES_MAX);
    let io = TokioIo::new(PatientStream::new(stream));
    let mut connection = pin!(builder.serve_connection(io, TowerToHyperService::new(router)));
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

/// A connection whose client must take what is sent to it.
struct PatientStream {
    stream: TcpStream,
    patience: Option<Pin<Box<Sleep>>>,
}

impl PatientStream {
    fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            patience: None,
        }
    }

    /// What came of a write; an error once nothing was taken for too long.
    fn patient<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.patience = None;
            return written;
        }
        let patience = self
            .patience
            .get_or_insert_with(|| Box::pin(sleep(TAKEN_WITHIN)));
        match patience.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for PatientStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for PatientStream {
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
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
