//! The names of the promises, for assertion messages; their sentences stand in docs/invariants.md.

/// A record acknowledged under `acks=all` is read back, at its offset, after any crash.
pub const LOG_1: &str = "LOG-1";
/// A consumer never sees a record that can vanish.
pub const LOG_2: &str = "LOG-2";
/// An offset is never given to two records that were acknowledged or seen.
pub const LOG_3: &str = "LOG-3";
/// Batches are stored and served byte for byte.
pub const LOG_4: &str = "LOG-4";
/// A retry of an idempotent batch appends nothing and answers with the first offset.
pub const PRD_1: &str = "PRD-1";
/// Sequences of one producer have no gap while its state is kept.
pub const PRD_2: &str = "PRD-2";
/// Of the records of a topic that bear one message id, one at most is appended in `dedup.window.ms`, and it is never the lost one.
pub const PRD_3: &str = "PRD-3";
/// At most one member owns a partition in a generation.
pub const GRP_1: &str = "GRP-1";
/// A commit from another generation or a fenced member is refused.
pub const GRP_2: &str = "GRP-2";
/// A committed offset, once answered, is what the next owner reads.
pub const GRP_3: &str = "GRP-3";
/// A reader of committed records sees all of a transaction or none of it.
pub const TXN_1: &str = "TXN-1";
/// A zombie's writes are refused once its epoch was bumped.
pub const TXN_2: &str = "TXN-2";
/// Memory and open files stay within their settings under any input.
pub const OPS_1: &str = "OPS-1";
/// Topics have one name and one id each, at least one partition, and producer ids are handed out once.
pub const CAT_1: &str = "CAT-1";
/// A record of a queue is held by one consumer at a time.
pub const QUE_1: &str = "QUE-1";
/// A record leaves a queue only by acknowledgement, by its rules (rejected, or delivered too often), or by retention.
pub const QUE_2: &str = "QUE-2";
/// With order per key, the records of a key go in the order of their offsets to one consumer at a time; a key that fails delays only itself.
pub const QUE_3: &str = "QUE-3";
/// No queue delivers a record before its time.
pub const QUE_4: &str = "QUE-4";
