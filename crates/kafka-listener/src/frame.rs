//! Cuts a byte stream into request frames: a 4-byte length, then that many bytes.
//!
//! Why it exists: the length is the first thing that a stranger says, so nothing may be reserved on its word alone.
//! Owns: the read buffer of one connection and the share of the memory budget that the frame under way has.
//! In -> out: bytes of a socket -> whole frames.
//! Invariants: OPS-1 (memory follows the bytes received and the budget, never the length claimed).

use crate::memory_budget::{GIVE_WAY_AFTER, MemoryBudget, MemoryLease, SMALL_BYTES_MAX};
use bytes::{Buf, BytesMut};
use std::future::pending;
use std::io;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::{Instant, timeout};

/// A frame up to this size gets its buffer in one piece; a larger one grows as its bytes arrive.
const RESERVE_AT_ONCE_BYTES_MAX: usize = 1024 * 1024;
/// What one read asks for at least: a small frame costs no more than this.
const READ_BYTES_MIN: usize = SMALL_BYTES_MAX;
/// How many bytes of an unfinished frame must come in `GIVE_WAY_AFTER` while others wait for memory.
const PACE_BYTES_MIN: u64 = 256 * 1024;
const LENGTH_BYTES: usize = 4;

/// One request, without its length prefix, and the memory it was granted.
#[derive(Debug)]
pub(crate) struct Frame {
    /// Header and body.
    pub(crate) bytes: BytesMut,
    /// Given back when the request was answered.
    pub(crate) lease: MemoryLease,
}

/// Why a connection's bytes can't be cut into frames any further. All of these close the connection.
#[derive(Debug, Error)]
pub(crate) enum FrameError {
    #[error(
        "the peer announced a frame of {length} bytes; at most {max} are accepted (socket.request.max.bytes)"
    )]
    Length { length: i32, max: usize },
    #[error("the peer closed the connection inside a frame")]
    CutShort,
    #[error(
        "a frame arrived too slowly while other connections waited for the memory that it holds"
    )]
    Slow,
    #[error("reading from the connection failed: {0}")]
    Io(#[from] io::Error),
}

/// Reads frames from one connection.
pub(crate) struct FrameReader<R> {
    source: R,
    buffer: BytesMut,
    lease: Option<MemoryLease>,
    frame_bytes_max: usize,
    budget: MemoryBudget,
    received: u64,
    /// Since when the frame under way is held to its pace, and what had been received by then.
    pace: (Instant, u64),
}

/// How much of the next frame may be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadAhead {
    /// All of it.
    Whole,
    /// What takes no memory but the connection's own: it can't be served yet, for who knows how long.
    Small,
}

impl<R: AsyncRead + Unpin> FrameReader<R> {
    pub(crate) fn new(source: R, frame_bytes_max: usize, budget: MemoryBudget) -> Self {
        Self {
            source,
            buffer: BytesMut::new(),
            lease: None,
            frame_bytes_max,
            budget,
            received: 0,
            pace: (Instant::now(), 0),
        }
    }

    /// The next frame, or `None` where the peer closed between frames. Dropping the future loses nothing.
    ///
    /// A small frame takes its share of the budget once it is whole. A larger one takes it before the rest is read,
    /// and must then keep coming for as long as others wait for memory.
    pub(crate) async fn next(&mut self, ahead: ReadAhead) -> Result<Option<Frame>, FrameError> {
        loop {
            let Some(length) = self.announced_length()? else {
                if !self.fill(LENGTH_BYTES).await? {
                    return Ok(None);
                }
                continue;
            };
            let whole = LENGTH_BYTES + length;
            let unpaid = whole.min(LENGTH_BYTES + SMALL_BYTES_MAX);
            if self.buffer.len() < unpaid {
                self.fill(unpaid).await?;
                continue;
            }
            if self.lease.is_none() {
                if ahead == ReadAhead::Small && length > SMALL_BYTES_MAX {
                    return pending().await;
                }
                self.lease = Some(self.budget.lease(length).await);
                self.pace = (Instant::now(), self.received);
            }
            if self.buffer.len() < whole {
                self.check_pace()?;
                // A time-out only brings the next look at the pace.
                let _ = timeout(GIVE_WAY_AFTER, self.fill(whole))
                    .await
                    .unwrap_or(Ok(true))?;
                continue;
            }
            let mut bytes = self.buffer.split_to(whole);
            bytes.advance(LENGTH_BYTES);
            let lease = self.lease.take().expect("a lease was taken above");
            return Ok(Some(Frame { bytes, lease }));
        }
    }

    /// The share that an unfinished frame holds.
    pub(crate) fn lease(&self) -> Option<&MemoryLease> {
        self.lease.as_ref()
    }

    fn check_pace(&mut self) -> Result<(), FrameError> {
        let (since, received) = self.pace;
        if since.elapsed() < GIVE_WAY_AFTER {
            return Ok(());
        }
        let is_slow = self.received - received < PACE_BYTES_MIN;
        if is_slow && self.lease.as_ref().is_some_and(MemoryLease::is_wanted) {
            return Err(FrameError::Slow);
        }
        self.pace = (Instant::now(), self.received);
        Ok(())
    }

    /// Whether a frame has begun to arrive and is not complete.
    pub(crate) fn is_inside_frame(&self) -> bool {
        !self.buffer.is_empty()
    }

    /// How many bytes have come so far.
    pub(crate) fn received(&self) -> u64 {
        self.received
    }

    fn announced_length(&self) -> Result<Option<usize>, FrameError> {
        let Some(prefix) = self.buffer.first_chunk::<LENGTH_BYTES>() else {
            return Ok(None);
        };
        let length = i32::from_be_bytes(*prefix);
        match usize::try_from(length) {
            Ok(bytes) if bytes <= self.frame_bytes_max => Ok(Some(bytes)),
            _ => Err(FrameError::Length {
                length,
                max: self.frame_bytes_max,
            }),
        }
    }

    /// Reads once, towards `whole` buffered bytes. `false`: the peer closed and nothing is buffered.
    async fn fill(&mut self, whole: usize) -> Result<bool, FrameError> {
        let missing = whole.saturating_sub(self.buffer.len());
        let step = if whole <= RESERVE_AT_ONCE_BYTES_MAX {
            missing
        } else {
            missing.min(self.buffer.len().max(RESERVE_AT_ONCE_BYTES_MAX))
        };
        self.buffer.reserve(step.max(READ_BYTES_MIN));
        let read = self.source.read_buf(&mut self.buffer).await?;
        if read > 0 {
            self.received += read as u64;
            return Ok(true);
        }
        if self.buffer.is_empty() {
            Ok(false)
        } else {
            Err(FrameError::CutShort)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt;

    async fn frames_of(bytes: &[u8], max: usize) -> (Vec<Vec<u8>>, Result<(), FrameError>) {
        let mut reader = FrameReader::new(bytes, max, MemoryBudget::new(1 << 20));
        let mut frames = Vec::new();
        loop {
            match reader.next(ReadAhead::Whole).await {
                Ok(Some(frame)) => frames.push(frame.bytes.to_vec()),
                Ok(None) => return (frames, Ok(())),
                Err(error) => return (frames, Err(error)),
            }
        }
    }

    #[tokio::test]
    async fn frames_are_cut_at_their_lengths() {
        let (frames, end) = frames_of(b"\0\0\0\x02ab\0\0\0\0\0\0\0\x01c", 10).await;
        assert_eq!(frames, vec![b"ab".to_vec(), b"".to_vec(), b"c".to_vec()]);
        assert!(end.is_ok());
    }

    #[tokio::test]
    async fn a_length_that_is_negative_or_over_the_limit_is_refused() {
        for prefix in [-1i32, i32::MIN, 11, i32::MAX] {
            let (frames, end) = frames_of(&prefix.to_be_bytes(), 10).await;
            assert!(frames.is_empty());
            assert!(matches!(end, Err(FrameError::Length { length, max: 10 }) if length == prefix));
        }
    }

    #[tokio::test]
    async fn a_close_inside_a_frame_is_told_from_one_between_frames() {
        let (frames, end) = frames_of(b"\0\0\0\x02ab\0\0\0\x02a", 10).await;
        assert_eq!(frames.len(), 1);
        assert!(matches!(end, Err(FrameError::CutShort)));
        let (_, end) = frames_of(b"\0\0", 10).await;
        assert!(matches!(end, Err(FrameError::CutShort)));
    }

    #[tokio::test]
    async fn a_claimed_length_reserves_no_more_than_the_step() {
        let mut claim = (50_000_000i32).to_be_bytes().to_vec();
        claim.extend_from_slice(&[0; 10]);
        let mut reader = FrameReader::new(&claim[..], 100_000_000, MemoryBudget::new(1 << 30));
        assert!(reader.next(ReadAhead::Whole).await.is_err());
        assert!(reader.buffer.capacity() <= 2 * RESERVE_AT_ONCE_BYTES_MAX);
    }

    fn large(length: i32) -> Vec<u8> {
        let mut bytes = length.to_be_bytes().to_vec();
        bytes.resize(LENGTH_BYTES + SMALL_BYTES_MAX, 0);
        bytes
    }

    #[tokio::test(start_paused = true)]
    async fn a_large_frame_that_stands_still_gives_way_to_another() {
        const LENGTH: i32 = 5_000_000;
        let budget = MemoryBudget::new(2 * LENGTH as usize);
        let (mut stalling, source) = tokio::io::duplex(1 << 20);
        stalling.write_all(&large(LENGTH)).await.unwrap();
        let mut slow = FrameReader::new(source, 10_000_000, budget.clone());
        let mut whole = large(LENGTH);
        whole.resize(LENGTH_BYTES + LENGTH as usize, 0);
        let mut other = FrameReader::new(&whole[..], 10_000_000, budget);
        tokio::select! {
            biased;
            _ = slow.next(ReadAhead::Whole) => panic!("nobody waits yet"),
            () = tokio::time::sleep(GIVE_WAY_AFTER * 10) => {}
        }
        assert!(slow.lease().is_some());
        let (given_up, frame) = tokio::join!(
            async {
                let end = slow.next(ReadAhead::Whole).await;
                drop(slow);
                end
            },
            other.next(ReadAhead::Whole),
        );
        assert!(matches!(given_up, Err(FrameError::Slow)));
        assert_eq!(frame.unwrap().unwrap().bytes.len(), LENGTH as usize);
    }

    #[tokio::test(start_paused = true)]
    async fn a_large_frame_that_cannot_be_served_yet_takes_no_memory() {
        let bytes = large(5_000_000);
        let mut reader = FrameReader::new(&bytes[..], 10_000_000, MemoryBudget::new(1 << 30));
        let read = timeout(GIVE_WAY_AFTER, reader.next(ReadAhead::Small)).await;
        assert!(read.is_err() && reader.lease().is_none());
    }
}
