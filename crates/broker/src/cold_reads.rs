//! Reads of old records: one piece after the other over the whole broker, each at a pace that acknowledgements can bear.
//!
//! Why it exists: a sync stands in the device's queue behind every read that came before it. With one small read under way at a time,
//! it stands behind one.
//! Owns: the turn.   Never: how much is read for whom.
//! In -> out: pieces to read -> pieces read, in the order in which they came.
//! Invariants: OPS-1. Never called by a thread that serves connections.   Read next: `read_pace.rs`.

use crate::commit_latency::CommitLatency;
use crate::read_pace::ReadPace;
use fanlog_environment::Clock;
use fanlog_storage::ReadTurns;
use parking_lot::FairMutex;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// A piece that was there sooner was in memory: no disk gives anything so fast, and the pause is for the disk's sake.
const FROM_DISK_MIN: Duration = Duration::from_micros(60);
/// For so long after a read, what acknowledgements take is not what they usually take.
const LINGER: Duration = Duration::from_millis(200);

/// The broker's turns at the disk.
#[derive(Debug)]
pub(crate) struct ColdReads {
    clock: Arc<dyn Clock>,
    commits: Arc<CommitLatency>,
    /// Fair, so that a reader that asks again and again does not keep others out.
    turn: FairMutex<ReadPace>,
}

impl ColdReads {
    pub(crate) fn new(clock: Arc<dyn Clock>, commits: Arc<CommitLatency>) -> Self {
        Self {
            clock,
            commits,
            turn: FairMutex::default(),
        }
    }
}

impl ReadTurns for ColdReads {
    fn take(&self, bytes: usize, read: &mut dyn FnMut() -> io::Result<()>) -> io::Result<()> {
        let mut pace = self.turn.lock();
        let began = self.clock.monotonic();
        let result = read();
        let now = self.clock.monotonic();
        if now.saturating_sub(began) >= FROM_DISK_MIN {
            self.commits.hold_until(now + LINGER);
            pause(pace.after(bytes, self.commits.is_raised(now)));
        }
        result
    }
}

/// Whoever is next waits as well: that is the pace.
#[allow(
    clippy::disallowed_methods,
    reason = "nothing happens at the end of a pause that could be awaited"
)]
fn pause(span: Duration) {
    if !span.is_zero() {
        std::thread::sleep(span);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fanlog_environment::ManualClock;
    use fanlog_model::TimestampMs;

    #[test]
    fn what_acknowledgements_take_beside_reads_from_the_disk_does_not_become_usual() {
        let clock = Arc::new(ManualClock::new(TimestampMs(0)));
        let commits = Arc::new(CommitLatency::default());
        let ms = Duration::from_millis;
        for _ in 0..1_000 {
            commits.note(clock.monotonic(), ms(1));
        }
        let reads = ColdReads::new(clock.clone(), commits.clone());
        reads
            .take(1, &mut || {
                clock.advance(ms(1));
                Ok(())
            })
            .unwrap();
        for _ in 0..1_000 {
            commits.note(clock.monotonic(), ms(2));
        }
        assert!(commits.is_raised(clock.monotonic()));
        clock.advance(LINGER + ms(1));
        for _ in 0..1_000 {
            commits.note(clock.monotonic(), ms(2));
        }
        assert!(!commits.is_raised(clock.monotonic()));
    }

    #[test]
    fn an_error_is_the_readers() {
        let clock = Arc::new(ManualClock::new(TimestampMs(0)));
        let reads = ColdReads::new(clock, Arc::default());
        let read = reads.take(1, &mut || Err(io::ErrorKind::UnexpectedEof.into()));
        assert!(read.is_err());
        assert!(reads.take(1, &mut || Ok(())).is_ok());
    }
}
