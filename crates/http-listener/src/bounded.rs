//! Connections that are few and do not last: one that stands still costs its place for a minute, and nothing else.
//!
//! Why it exists: without a bound, half a request from each of many connections takes every file that the process may open.

use axum::serve::Listener;
use std::future::Future;
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Sleep, sleep};

/// Connections at once; more wait to be accepted.
const CONNECTIONS_MAX: usize = 64;
/// How long a connection lasts. A scraper that keeps its connection opens another then.
const LIFE_MAX: Duration = Duration::from_secs(60);

/// Accepts connections within the bounds.
pub(crate) struct BoundedListener {
    socket: TcpListener,
    places: Arc<Semaphore>,
}

/// One connection, its place and its end.
pub(crate) struct BoundedStream {
    stream: TcpStream,
    end: Pin<Box<Sleep>>,
    _place: OwnedSemaphorePermit,
}

impl BoundedListener {
    pub(crate) fn new(socket: TcpListener) -> Self {
        Self {
            socket,
            places: Arc::new(Semaphore::new(CONNECTIONS_MAX)),
        }
    }
}

impl Listener for BoundedListener {
    type Io = BoundedStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (BoundedStream, SocketAddr) {
        let place = Arc::clone(&self.places).acquire_owned().await;
        let place = place.expect("this semaphore is never closed");
        // axum's own accept waits and tries again where the system refuses.
        let (stream, peer) = Listener::accept(&mut self.socket).await;
        let stream = BoundedStream {
            stream,
            end: Box::pin(sleep(LIFE_MAX)),
            _place: place,
        };
        (stream, peer)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }
}

impl BoundedStream {
    /// An error once the connection's time is up.
    fn check_time(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        match self.end.as_mut().poll(cx) {
            Poll::Ready(()) => Err(io::ErrorKind::TimedOut.into()),
            Poll::Pending => Ok(()),
        }
    }
}

impl AsyncRead for BoundedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check_time(cx)?;
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for BoundedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check_time(cx)?;
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.check_time(cx)?;
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
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
