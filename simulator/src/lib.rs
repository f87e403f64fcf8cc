//! The broker over a simulated clock and disk, driven by a seed, held to its promises.
//!
//! Why it exists: what goes wrong between an append, a sync, a crash and a recovery goes wrong in one order of events among
//! thousands; here each order has a number, and comes back under it.
//! Owns: clients, faults, and the memory of what was promised.   Never: real time, threads, a real disk.
//! In -> out: a seed -> nothing, or the promise that was broken and after what.
//! Invariants: LOG-1 to LOG-4, PRD-1, PRD-2, GRP-1 to GRP-3, QUE-1 to QUE-4, CAT-1.   Read next: `run.rs`, then `promises/records.rs`.

mod actors;
mod chance;
mod disk;
mod panics;
#[cfg(feature = "planted-faults")]
mod planted;
mod promises;
mod run;
mod slow_sync;
mod trace;
mod world;

pub use promises::Violation;
pub use world::Reached;

/// A fault that is made on purpose, to see whether it is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planted {
    /// Neither journal nor segments are ever synced, and the disk says that they were.
    SkippedSync,
    /// One sync of journal or segment in eight is skipped.
    RarelySkippedSync,
    /// The journal is never synced, segments are.
    SkippedJournalSync,
    /// Segments are never synced, so that journal files are used again too early.
    SkippedSegmentSync,
    /// Folders are never synced, and the disk says that they were.
    SkippedFolderSync,
    /// Recovery forgets the first batch behind the producer snapshot.
    #[cfg(feature = "planted-faults")]
    ForgottenBatch,
    /// Recovery removes one segment more than lies below the log's start.
    #[cfg(feature = "planted-faults")]
    SegmentTooMany,
    /// Compaction keeps the record before the newest one of each key.
    #[cfg(feature = "planted-faults")]
    OlderRecordKept,
    /// What an earlier use of a journal file has left counts as new.
    #[cfg(feature = "planted-faults")]
    AcceptedStaleCommits,
    /// Batches behind one that went past the journal are durable before it.
    #[cfg(feature = "planted-faults")]
    OverlookedHole,
    /// Groups take commits from any generation.
    #[cfg(feature = "planted-faults")]
    SkippedGenerationCheck,
    /// Members of the new protocol get partitions that others have not given up.
    #[cfg(feature = "planted-faults")]
    GivenWhatIsOwned,
    /// Queues answer before what they decided is durable.
    #[cfg(feature = "planted-faults")]
    AnsweredEarly,
    /// A replay forgets the acknowledgements of queues.
    #[cfg(feature = "planted-faults")]
    ForgottenAcknowledgement,
    /// A move of a queue that a crash interrupted begins anew, whatever has arrived.
    #[cfg(feature = "planted-faults")]
    RepeatedMove,
    /// A restart hands out at once what rests until a time.
    #[cfg(feature = "planted-faults")]
    ForgottenRest,
    /// A key that somebody holds is given to others too.
    #[cfg(feature = "planted-faults")]
    SharedKey,
}

/// What a run is made of.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether it is queues that are put to the test, and not groups.
    pub has_queues: bool,
    /// How many processes of the broker follow each other.
    pub lives: u64,
    /// How many steps each makes at most.
    pub steps: u64,
    /// A fault made on purpose.
    pub planted: Option<Planted>,
    /// Whether every event is printed.
    pub is_traced: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            has_queues: false,
            lives: 5,
            steps: 120,
            planted: None,
            is_traced: false,
        }
    }
}

/// How a run ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The seed.
    pub seed: u64,
    /// What was reached, or the promise that was broken.
    pub result: Result<Reached, Violation>,
    /// Of all events, and of the disk at every crash and at the end.
    pub hash: u64,
    /// How many events there were.
    pub events: u64,
}

/// Runs one seed, on this thread.
pub fn simulate(seed: u64, options: &Options) -> Outcome {
    run::run(seed, options)
}
