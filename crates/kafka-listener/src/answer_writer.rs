//! Writes an answer to its socket: bytes in memory, and records straight from their files.
//!
//! Why it exists: records that lie in the page cache go to the socket without being copied through this process (sendfile), and
//! a peer that takes its answer slowly, or not at all, costs nobody anything.
//! Owns: the pace that a peer is held to.   Never: what an answer says.
//! In -> out: the parts of a frame -> a socket.
//! Invariants: OPS-1; a thread that serves connections does not wait for the disk. Read next: `docs/decisions/sendfile.md`.

use crate::connection::{ConnectionError, STALL_MAX};
use crate::memory_budget::GIVE_WAY_AFTER;
use bytes::Bytes;
use fanlog_broker::FileSlice;
use fanlog_protocol::wire::FramePart;
use rustix::net::{SendAncillaryBuffer, SendFlags, sendmsg};
use std::io::{self, IoSlice};
use std::os::fd::AsFd;
use std::time::Duration;
use tokio::io::Interest;
use tokio::net::tcp::OwnedWriteHalf;
use tokio::time::{Instant, timeout};

/// How many bytes of an answer a peer must take in `GIVE_WAY_AFTER` while others wait for memory that it holds.
const PACE_BYTES_MIN: usize = 256 * 1024;
/// How many slices one write takes at most (Linux allows 1024).
const SLICES_PER_WRITE: usize = 64;
/// How much of a file is sent in one go; then other connections have their turn.
const FILE_BYTES_PER_SEND: usize = 1024 * 1024;
/// How long bytes of a file are taken to be in memory after they were looked for there.
const IN_MEMORY_FOR: Duration = Duration::from_millis(100);

/// A part of an answer.
#[derive(Debug)]
pub(crate) enum AnswerPart {
    /// Bytes in memory.
    Bytes(Bytes),
    /// Records in a file.
    File(FileSlice),
}

/// Puts the slices in the places that the frame has for them.
pub(crate) fn with_files(parts: Vec<FramePart>, files: Vec<FileSlice>) -> Vec<AnswerPart> {
    let mut files = files.into_iter();
    let mut whole = Vec::with_capacity(parts.len());
    for part in parts {
        match part {
            FramePart::Bytes(bytes) => whole.push(AnswerPart::Bytes(bytes)),
            FramePart::Apart(mut length) => {
                while length > 0 {
                    let slice = files.next().expect("the frame has a place for each slice");
                    length = length
                        .checked_sub(slice.length)
                        .expect("a place is as long as its slices");
                    whole.push(AnswerPart::File(slice));
                }
            }
        }
    }
    whole
}

/// Where an answer goes.
pub(crate) trait Outgoing {
    /// Writes some bytes; more of the answer follows at once where `has_more`.
    async fn write(&mut self, bufs: &[IoSlice<'_>], has_more: bool) -> io::Result<usize>;
    /// Sends some bytes of a file, if any are taken now; `WouldBlock` otherwise.
    fn try_send(&mut self, slice: &FileSlice, skip: usize, length: usize) -> io::Result<usize>;
    /// Completes when some are taken.
    async fn sendable(&mut self) -> io::Result<()>;
}

impl Outgoing for OwnedWriteHalf {
    async fn write(&mut self, bufs: &[IoSlice<'_>], has_more: bool) -> io::Result<usize> {
        let socket = self.as_ref();
        let mut flags = SendFlags::NOSIGNAL;
        // Without it the few bytes before a file would travel alone.
        flags.set(SendFlags::MORE, has_more);
        let send = || {
            let mut nothing_beside = SendAncillaryBuffer::default();
            Ok(sendmsg(socket.as_fd(), bufs, &mut nothing_beside, flags)?)
        };
        socket.async_io(Interest::WRITABLE, send).await
    }

    fn try_send(&mut self, slice: &FileSlice, skip: usize, length: usize) -> io::Result<usize> {
        let socket = self.as_ref();
        let at = slice.position + skip as u64;
        socket.try_io(Interest::WRITABLE, || {
            slice.file.send(socket.as_fd(), at, length)
        })
    }

    async fn sendable(&mut self) -> io::Result<()> {
        self.writable().await
    }
}

/// Writes an answer. A peer that takes nothing for `STALL_MAX` is given up, and one that takes little as soon as others want the
/// memory that is held meanwhile.
pub(crate) async fn write_answer(
    out: &mut impl Outgoing,
    parts: Vec<AnswerPart>,
    is_memory_wanted: impl Fn() -> bool,
) -> Result<(), ConnectionError> {
    let mut pace = Pace::new();
    let mut rest = parts.as_slice();
    while let Some(first) = rest.first() {
        rest = match first {
            AnswerPart::File(slice) => {
                send_slice(out, slice, &mut pace, &is_memory_wanted).await?;
                &rest[1..]
            }
            AnswerPart::Bytes(_) => {
                let is_bytes = |part: &AnswerPart| matches!(part, AnswerPart::Bytes(_));
                let count = rest.iter().take_while(|part| is_bytes(part)).count();
                let (bytes, behind) = rest.split_at(count);
                let has_more = !behind.is_empty();
                write_bytes(out, bytes, has_more, &mut pace, &is_memory_wanted).await?;
                behind
            }
        }
    }
    Ok(())
}

/// Writes bytes in memory without joining them.
async fn write_bytes(
    out: &mut impl Outgoing,
    parts: &[AnswerPart],
    has_more: bool,
    pace: &mut Pace,
    is_memory_wanted: &impl Fn() -> bool,
) -> Result<(), ConnectionError> {
    let slices: Vec<&[u8]> = parts
        .iter()
        .filter_map(|part| match part {
            AnswerPart::Bytes(bytes) => Some(&bytes[..]),
            AnswerPart::File(_) => None,
        })
        .filter(|bytes| !bytes.is_empty())
        .collect();
    let mut first = 0;
    let mut skip = 0;
    while first < slices.len() {
        let window: Vec<IoSlice<'_>> = slices[first..]
            .iter()
            .take(SLICES_PER_WRITE)
            .enumerate()
            .map(|(i, slice)| IoSlice::new(if i == 0 { &slice[skip..] } else { slice }))
            .collect();
        let has_more = has_more || first + window.len() < slices.len();
        let mut written = match timeout(GIVE_WAY_AFTER, out.write(&window, has_more)).await {
            Err(_) => 0,
            Ok(Err(error)) => return Err(ConnectionError::Write(error)),
            Ok(Ok(0)) => return Err(ConnectionError::Write(io::ErrorKind::WriteZero.into())),
            Ok(Ok(written)) => written,
        };
        pace.check(written, is_memory_wanted)?;
        while first < slices.len() && written >= slices[first].len() - skip {
            written -= slices[first].len() - skip;
            first += 1;
            skip = 0;
        }
        skip += written;
    }
    Ok(())
}

/// Sends records from their file.
async fn send_slice(
    out: &mut impl Outgoing,
    slice: &FileSlice,
    pace: &mut Pace,
    is_memory_wanted: &impl Fn() -> bool,
) -> Result<(), ConnectionError> {
    let mut skip = 0;
    // Whoever made the answer has looked.
    let mut looked_at = Instant::now();
    while skip < slice.length {
        let length = (slice.length - skip).min(FILE_BYTES_PER_SEND);
        if looked_at.elapsed() >= IN_MEMORY_FOR {
            back_into_memory(slice, skip, length).await?;
            looked_at = Instant::now();
        }
        match out.try_send(slice, skip, length) {
            Ok(0) => return Err(cut_short(slice, skip)),
            Ok(sent) => {
                skip += sent;
                pace.check(sent, is_memory_wanted)?;
                if sent == FILE_BYTES_PER_SEND {
                    tokio::task::yield_now().await;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                match timeout(GIVE_WAY_AFTER, out.sendable()).await {
                    Err(_) => pace.check(0, is_memory_wanted)?,
                    Ok(ready) => ready.map_err(ConnectionError::Write)?,
                }
            }
            Err(error) => return Err(ConnectionError::Write(error)),
        }
    }
    Ok(())
}

/// A slow peer's bytes may have gone from memory since they were made ready.
async fn back_into_memory(
    slice: &FileSlice,
    skip: usize,
    length: usize,
) -> Result<(), ConnectionError> {
    if slice
        .file
        .is_in_memory(slice.position + skip as u64, length)
    {
        return Ok(());
    }
    let slice = slice.clone();
    let touched = tokio::task::spawn_blocking(move || slice.touch(skip, length));
    match touched.await {
        Ok(touched) => touched.map_err(ConnectionError::Read),
        Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
    }
}

/// The peer waits for bytes that there are not: only closing the connection tells it.
fn cut_short(slice: &FileSlice, skip: usize) -> ConnectionError {
    let missing = slice.length - skip;
    let at = slice.position + skip as u64;
    let message = format!("the segment file ends at byte {at}, {missing} bytes too early");
    tracing::error!("an answer is broken off: {message}");
    ConnectionError::Read(io::Error::new(io::ErrorKind::UnexpectedEof, message))
}

/// How fast a peer takes its answer.
struct Pace {
    progress_at: Instant,
    since: Instant,
    written: usize,
}

impl Pace {
    fn new() -> Self {
        let now = Instant::now();
        Self {
            progress_at: now,
            since: now,
            written: 0,
        }
    }

    fn check(
        &mut self,
        written: usize,
        is_memory_wanted: impl Fn() -> bool,
    ) -> Result<(), ConnectionError> {
        let now = Instant::now();
        self.written += written;
        if written > 0 {
            self.progress_at = now;
        } else if now - self.progress_at >= STALL_MAX {
            return Err(ConnectionError::Stalled);
        }
        if now - self.since >= GIVE_WAY_AFTER {
            if self.written < PACE_BYTES_MIN && is_memory_wanted() {
                return Err(ConnectionError::GaveWay);
            }
            (self.since, self.written) = (now, 0);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt;

    /// Takes at most `step` bytes a write, as a slow socket does.
    struct Dribble {
        step: usize,
        taken: Vec<u8>,
    }

    impl Outgoing for Dribble {
        async fn write(&mut self, bufs: &[IoSlice<'_>], _: bool) -> io::Result<usize> {
            let mut left = self.step;
            for buf in bufs {
                let n = buf.len().min(left);
                self.taken.extend_from_slice(&buf[..n]);
                left -= n;
            }
            Ok(self.step - left)
        }

        fn try_send(&mut self, _: &FileSlice, _: usize, _: usize) -> io::Result<usize> {
            Err(io::ErrorKind::Unsupported.into())
        }

        async fn sendable(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A socket in memory.
    impl Outgoing for tokio::io::DuplexStream {
        async fn write(&mut self, bufs: &[IoSlice<'_>], _: bool) -> io::Result<usize> {
            AsyncWriteExt::write_vectored(self, bufs).await
        }

        fn try_send(&mut self, _: &FileSlice, _: usize, _: usize) -> io::Result<usize> {
            Err(io::ErrorKind::Unsupported.into())
        }

        async fn sendable(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn a_gather_list_arrives_whole_through_any_size_of_write() {
        let parts = ["", "ab", "", "cde", "f", ""];
        for step in 1..8 {
            let mut out = Dribble {
                step,
                taken: Vec::new(),
            };
            let parts = parts.map(|s| AnswerPart::Bytes(Bytes::from_static(s.as_bytes())));
            write_answer(&mut out, parts.into(), || true).await.unwrap();
            assert_eq!(out.taken, b"abcdef", "step {step}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_trickles_gives_way_to_those_who_wait_for_memory() {
        let slices = vec![AnswerPart::Bytes(Bytes::from(vec![0; 1 << 20]))];
        let (mut out, mut peer) = tokio::io::duplex(10);
        let trickle = tokio::spawn(async move {
            loop {
                tokio::time::sleep(Duration::from_secs(1)).await;
                if tokio::io::AsyncReadExt::read_u8(&mut peer).await.is_err() {
                    return;
                }
            }
        });
        let began = Instant::now();
        let end = write_answer(&mut out, slices, || true).await;
        assert!(matches!(end, Err(ConnectionError::GaveWay)));
        assert!(began.elapsed() < STALL_MAX / 10);
        trickle.abort();
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_does_not_read_gives_way_to_those_who_wait_for_memory() {
        let slices = || vec![AnswerPart::Bytes(Bytes::from_static(&[0; 100]))];
        let (mut out, _unread) = tokio::io::duplex(10);
        let began = Instant::now();
        let end = write_answer(&mut out, slices(), || true).await;
        assert!(matches!(end, Err(ConnectionError::GaveWay)));
        assert!(began.elapsed() < STALL_MAX / 10);
        let end = write_answer(&mut out, slices(), || false).await;
        assert!(matches!(end, Err(ConnectionError::Stalled)));
    }
}
