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
mod real;

use std::sync::Arc;

pub use atomically::{read_bounded, write_atomically};
pub use clock::{Clock, ManualClock, SystemClock};
pub use disk::{DirEntry, Disk, DiskFile, OpenMode};
pub use entropy::{Entropy, OsEntropy, SeededEntropy};
pub use real::{DataDirError, LOCK_FILE, RealDisk};

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
