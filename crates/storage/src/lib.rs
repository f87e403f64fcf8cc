//! One partition's log on disk: segments, indexes, recovery, retention.
pub mod formats;
