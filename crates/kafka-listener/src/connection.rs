//! One client's connection: requests in, answers out in the order of the requests.
//!
//! Why it exists: Kafka's clients pipeline, and rely on answers coming in order. A Produce may overlap the
//! Produce before it, which waits to be durable; any other request starts once all earlier ones were answered.
//! Owns: the order of answers, the bound on requests under way, the idle and stall time-outs.
//! Never: what a request means (`dispatch.rs`).
//! In -> out: frames -> `dispatch::start` -> parts written to the socket (`answer_writer.rs`).
//! Invariants: OPS-1.   Read next: `dispatch.rs`.

use crate::acceptor::stopped;
use crate::answer_slots::AnswerSlot;
use crate::answer_writer::write_answer;
use crate::context::ConnectionContext;
use crate::dispatch::{self, Answer, Reply, RequestLine, Started};
use crate::frame::{Frame, FrameError, FrameReader, ReadAhead};
use crate::memory_budget::MemoryLease;
use fanlog_broker::{FetchMemory, RequestMetrics};
use fanlog_protocol::ApiKey;
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use thiserror::Error;
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::watch;

/// How many Produce requests of one connection may wait to be durable; then its socket is no longer read.
const REQUESTS_UNDER_WAY_MAX: usize = 100;
/// How long a peer may leave a frame unfinished, or leave our answer unread, without any progress.
pub(crate) const STALL_MAX: Duration = Duration::from_secs(60);
/// A long wait whose request takes more than this ends when others wait for memory.
const LONG_WAIT_BYTES_MAX: usize = 4 * 1024;

/// Why a connection ended other than by the peer's own close between frames.
#[derive(Debug, Error)]
pub(crate) enum ConnectionError {
    #[error(transparent)]
    Frame(#[from] FrameError),
    #[error("writing to the connection failed: {0}")]
    Write(io::Error),
    #[error("bytes that an answer had announced cannot be read: {0}")]
    Read(io::Error),
    #[error("{0}")]
    Refused(String),
    #[error("the peer made no progress for {} s", STALL_MAX.as_secs())]
    Stalled,
    #[error("it held memory that other connections waited for, and made no progress")]
    GaveWay,
    #[error("the connection was idle for {} s (connections.max.idle.ms)", .0.as_secs())]
    Idle(Duration),
}

impl ConnectionError {
    /// The reason in a word, for metrics.
    pub(crate) fn label(&self) -> &'static str {
        match self {
            Self::Frame(_) => "frame",
            Self::Write(_) => "write",
            Self::Read(_) => "read",
            Self::Refused(_) => "request",
            Self::Stalled => "stalled",
            Self::GaveWay => "memory",
            Self::Idle(_) => "idle",
        }
    }
}

struct UnderWay {
    line: RequestLine,
    /// When its last byte was here, on the monotonic clock.
    since: Duration,
    answer: Pin<Box<dyn Future<Output = Answer> + Send>>,
    lease: MemoryLease,
    /// The answer is of no use to a peer that has gone, and producing it may take long.
    is_long_wait: bool,
}

/// A connection and the requests on it that are not answered yet.
pub(crate) struct Connection {
    context: Arc<ConnectionContext>,
    frames: FrameReader<OwnedReadHalf>,
    out: OwnedWriteHalf,
    under_way: VecDeque<UnderWay>,
    /// Set while a request that may not overlap is under way.
    is_exclusive: bool,
    /// The next request, read ahead while an earlier one must be answered first.
    held: Option<Frame>,
    peer_closed: bool,
    /// When the peer last sent or was sent something, and how much it had sent by then.
    active_at: Duration,
    received: u64,
    /// The counters of what it has asked so far.
    metrics: Vec<((ApiKey, i16), RequestMetrics)>,
}

enum Event {
    Answered(Answer),
    Read(Result<Option<Frame>, FrameError>),
    Shutdown,
    GiveWay,
    Timeout,
}

impl Connection {
    pub(crate) fn new(socket: TcpStream, context: Arc<ConnectionContext>) -> Self {
        let (read, out) = socket.into_split();
        let active_at = context.now();
        let frames = FrameReader::new(
            read,
            context.listener.config.frame_bytes_max,
            context.listener.request_memory.clone(),
        );
        Self {
            context,
            frames,
            out,
            under_way: VecDeque::new(),
            is_exclusive: false,
            held: None,
            peer_closed: false,
            active_at,
            received: 0,
            metrics: Vec::new(),
        }
    }

    /// Serves until the peer closes, breaks the protocol or the broker shuts down.
    pub(crate) async fn run(
        mut self,
        mut shutdown: watch::Receiver<bool>,
    ) -> Result<(), ConnectionError> {
        loop {
            if self.may_start()
                && let Some(frame) = self.held.take()
            {
                self.start(frame).await?;
                continue;
            }
            if self.peer_closed && self.under_way.is_empty() {
                return Ok(());
            }
            match self.next_event(&mut shutdown).await {
                Event::Answered(answer) => self.finish(answer).await?,
                Event::Read(Ok(Some(frame))) => self.held = Some(frame),
                Event::Read(Ok(None)) => self.on_peer_closed(),
                Event::Read(Err(FrameError::CutShort)) => self.on_peer_closed(),
                Event::Read(Err(error)) => return Err(error.into()),
                Event::Shutdown => return Ok(()),
                Event::GiveWay => return Err(ConnectionError::GaveWay),
                Event::Timeout => self.check_timeout()?,
            }
        }
    }

    /// Whether the held request may start: nothing exclusive is under way, and, unless it is a Produce,
    /// nothing at all.
    fn may_start(&self) -> bool {
        let Some(frame) = &self.held else {
            return false;
        };
        let overlaps = dispatch::may_overlap(&frame.bytes);
        self.under_way.is_empty()
            || (overlaps && !self.is_exclusive && self.under_way.len() < REQUESTS_UNDER_WAY_MAX)
    }

    async fn next_event(&mut self, shutdown: &mut watch::Receiver<bool>) -> Event {
        let may_read = self.held.is_none() && !self.peer_closed;
        let patience = STALL_MAX.min(self.context.listener.config.idle_max);
        let under_way = &mut self.under_way;
        let has_work = !under_way.is_empty();
        let may_stop = under_way.iter().all(|request| request.is_long_wait);
        let ahead = match self.is_exclusive {
            true => ReadAhead::Small,
            false => ReadAhead::Whole,
        };
        let (mut answer, mut waiting) = (None, None);
        if let Some(first) = under_way.front_mut() {
            let holds_much = first.is_long_wait && first.lease.bytes() > LONG_WAIT_BYTES_MAX;
            waiting = holds_much.then_some(&first.lease);
            answer = Some(&mut first.answer);
        }
        let first_answer = poll_fn(|cx| match &mut answer {
            Some(answer) => answer.as_mut().poll(cx),
            None => Poll::Pending,
        });
        tokio::select! {
            biased;
            answer = first_answer, if has_work => Event::Answered(answer),
            read = self.frames.next(ahead), if may_read => Event::Read(read),
            () = stopped(shutdown), if may_stop => Event::Shutdown,
            () = MemoryLease::must_give_way(waiting), if has_work => Event::GiveWay,
            () = tokio::time::sleep(patience), if !has_work => Event::Timeout,
        }
    }

    async fn start(&mut self, frame: Frame) -> Result<(), ConnectionError> {
        let Frame { bytes, lease } = frame;
        let since = self.context.now();
        match dispatch::start(&self.context, bytes).await {
            Started::Refused(reason) => Err(ConnectionError::Refused(reason)),
            Started::UnderWay {
                line,
                answer,
                overlaps,
                is_long_wait,
            } => {
                self.is_exclusive = !overlaps;
                let request = UnderWay {
                    line,
                    since,
                    answer,
                    lease,
                    is_long_wait,
                };
                self.under_way.push_back(request);
                Ok(())
            }
        }
    }

    /// Sends an answer, and those behind it that are ready by now: one sync lets many go at once.
    async fn finish(&mut self, answer: Answer) -> Result<(), ConnectionError> {
        let mut parts = Vec::new();
        let mut held = Vec::new();
        let mut next = Some(answer);
        let mut closed = None;
        while let Some(answer) = next {
            let done = self.take_answered();
            match answer {
                Answer::Reply(Reply {
                    parts: more,
                    memory,
                    slot,
                }) => {
                    parts.extend(more);
                    held.push((done, memory, slot));
                }
                Answer::None => {}
                Answer::Close(reason) => {
                    closed = Some(ConnectionError::Refused(reason));
                    break;
                }
            }
            next = self.ready_answer().await;
        }
        let is_memory_wanted = || {
            let is_wanted = |(_, memory, slot): &(_, Option<FetchMemory>, Option<AnswerSlot>)| {
                memory.as_ref().is_some_and(FetchMemory::is_wanted)
                    || slot.as_ref().is_some_and(AnswerSlot::is_wanted)
            };
            held.iter().any(is_wanted) || self.frames.lease().is_some_and(MemoryLease::is_wanted)
        };
        let written = write_answer(&mut self.out, parts, is_memory_wanted).await;
        drop(held);
        match (written, closed) {
            (_, Some(reason)) => Err(reason),
            (Err(_), None) if self.peer_closed => Ok(()),
            (written, None) => written,
        }
    }

    /// Takes the first request off the queue: it was answered.
    fn take_answered(&mut self) -> Option<MemoryLease> {
        let done = self.under_way.pop_front()?;
        self.active_at = self.context.now();
        let took = self.active_at.saturating_sub(done.since);
        self.count(done.line, took);
        if self.under_way.is_empty() {
            self.is_exclusive = false;
        }
        Some(done.lease)
    }

    fn count(&mut self, line: RequestLine, took: Duration) {
        let key = (line.api, line.version);
        let known = self.metrics.iter().find(|(known, _)| *known == key);
        if let Some((_, metrics)) = known {
            return metrics.answered(took);
        }
        let all = self.context.broker().metrics().listeners();
        let metrics = all.requests(line.api.name(), line.version);
        metrics.answered(took);
        self.metrics.push((key, metrics));
    }

    /// The first request's answer, if it is there already.
    async fn ready_answer(&mut self) -> Option<Answer> {
        let first = self.under_way.front_mut()?;
        poll_fn(|cx| match first.answer.as_mut().poll(cx) {
            Poll::Ready(answer) => Poll::Ready(Some(answer)),
            Poll::Pending => Poll::Ready(None),
        })
        .await
    }

    /// What the peer sent before it closed is still carried out, except waits whose end nobody sees.
    fn on_peer_closed(&mut self) {
        self.peer_closed = true;
        if self.under_way.back().is_some_and(|last| last.is_long_wait) {
            self.under_way.pop_back();
        }
    }

    /// Nothing happened for a while; or bytes did come, without completing a frame.
    fn check_timeout(&mut self) -> Result<(), ConnectionError> {
        let now = self.context.now();
        if self.frames.received() != self.received {
            self.received = self.frames.received();
            self.active_at = now;
        }
        let quiet = now.saturating_sub(self.active_at);
        let idle_max = self.context.listener.config.idle_max;
        if self.frames.is_inside_frame() && quiet >= STALL_MAX {
            Err(ConnectionError::Stalled)
        } else if quiet >= idle_max {
            Err(ConnectionError::Idle(idle_max))
        } else {
            Ok(())
        }
    }
}
