//! The only door to the world: clock, disk and entropy, real and simulated.
//!
//! Why it exists: what comes from outside (time, chance, bytes that survive a crash or do not) must be replaceable, so
//! that a failure found under seed 4711 is found again under seed 4711.
//! Owns: the data directory's lock file.   Never: what a file means; sockets; threads.
//! In -> out: calls of storage and broker -> system calls, or a model of them.
//! Invariants: LOG-1 rests on `DiskFile::sync_data` and `Disk::sync_dir`.   Read next: `disk.rs`.

mod atomically;
mod clock;
mod disk;
mod entropy;
mod kept_file;
mod real;
pub mod simulated;

use std::sync::Arc;

pub use atomically::{read_bounded, write_atomically, write_atomically_beside, write_privately};
pub use clock::{Clock, ManualClock, SystemClock};
pub use disk::{DirEntry, Disk, DiskFile, OpenMode};
pub use entropy::{Entropy, OsEntropy, SeededEntropy};
pub use kept_file::KeptFile;
pub use real::{DataDirError, LOCK_FILE, RealDisk};
pub use simulated::SimulatedDisk;

/// Everything that the code above takes from outside. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Environment {
    /// Wall and monotonic time.
    pub clock: Arc<dyn Clock>,
    /// Random bytes and ids.
    pub entropy: Arc<dyn Entropy>,
    /// The data directory.
    pub disk: Arc<dyn Disk>,
}

impl Environment {
    /// The machine's own clock and entropy, over the data directory that `disk` holds.
    pub fn real(disk: RealDisk) -> Self {
        Self {
            clock: Arc::new(SystemClock::new()),
            entropy: Arc::new(OsEntropy),
            disk: Arc::new(disk),
        }
    }
}

/// A simulated environment, each part by itself, so that a test can turn its screws.
#[derive(Clone, Debug)]
pub struct SimulatedEnvironment {
    /// Moves when told.
    pub clock: Arc<ManualClock>,
    /// Follows from the seed.
    pub entropy: Arc<SeededEntropy>,
    /// Crashes and fails when told.
    pub disk: Arc<SimulatedDisk>,
}

impl SimulatedEnvironment {
    /// An empty disk, on the first of January 2026.
    pub fn new(seed: u64) -> Self {
        const START: fanlog_model::TimestampMs = fanlog_model::TimestampMs(1_767_225_600_000);
        Self {
            clock: Arc::new(ManualClock::new(START)),
            entropy: Arc::new(SeededEntropy::new(seed)),
            disk: Arc::new(SimulatedDisk::new(seed)),
        }
    }

    /// The same parts as the code under test takes them.
    pub fn environment(&self) -> Environment {
        Environment {
            clock: self.clock.clone(),
            entropy: self.entropy.clone(),
            disk: self.disk.clone(),
        }
    }
}
