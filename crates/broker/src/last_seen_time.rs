//! The wall-clock time that the broker saw last, kept for the next start.
//!
//! Why it exists: a machine may start with a clock that is years ahead, and only what an earlier process saw can tell.
//! See `docs/decisions/wrong-clocks.md`.
//!
//! ```text
//! fanlog-last-seen-time    milliseconds since 1970, as in `two_slots.rs`
//! ```
//! It is written at the start, at every round of maintenance and at the stop, and never falls. Losing it loses only the
//! check, so what goes wrong with it is no reason not to serve.

use crate::steady_clock::SteadyClock;
use crate::two_slots::TwoSlots;
use fanlog_environment::Disk;
use fanlog_model::TimestampMs;
use parking_lot::Mutex;
use std::io;
use std::path::Path;

const FILE: &str = "fanlog-last-seen-time";

/// The file, open where it could be opened.
#[derive(Debug)]
pub(crate) struct LastSeenTime(Mutex<Option<TwoSlots>>);

impl LastSeenTime {
    /// Opens the file, if there is one that can be used.
    pub(crate) fn open(disk: &dyn Disk) -> Self {
        let slots = TwoSlots::open(disk, Path::new(FILE)).unwrap_or_else(|error| {
            tracing::warn!(%error, "{FILE} cannot be used: the clock is believed as it is, and the file is written anew");
            None
        });
        Self(Mutex::new(slots))
    }

    pub(crate) fn get(&self) -> Option<TimestampMs> {
        let slots = self.0.lock();
        slots.as_ref().map(|slots| TimestampMs(slots.value()))
    }

    /// Notes the time now.
    pub(crate) fn note(&self, disk: &dyn Disk, clock: &SteadyClock) {
        if let Err(error) = self.raise(disk, clock.seen_ms()) {
            tracing::warn!(%error, "{FILE} is not written: the next start may take a wrong clock for right, or a right one for wrong");
        }
    }

    fn raise(&self, disk: &dyn Disk, seen: TimestampMs) -> io::Result<()> {
        let mut slots = self.0.lock();
        match &mut *slots {
            Some(slots) if slots.value() >= seen.0 => Ok(()),
            Some(slots) => slots.replace(seen.0),
            None => {
                *slots = Some(TwoSlots::create(disk, Path::new(FILE), seen.0)?);
                Ok(())
            }
        }
    }
}
