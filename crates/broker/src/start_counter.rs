//! Counts the broker's starts; the count is the leader epoch of every append until the next start.
//!
//! Why it exists: after a crash an offset that nobody saw may be given out anew, and the higher epoch is what
//! tells the two apart (LOG-3). So the new count is durable before anything is served.
//!
//! ```text
//! fanlog-start-counter
//!   version=1
//!   starts=<number, 1 at the first start>
//! ```

use crate::small_files::{property, read_small_file};
use fanlog_environment::{Disk, write_atomically};
use fanlog_model::LeaderEpoch;
use std::io;
use std::path::Path;
use thiserror::Error;

const FILE: &str = "fanlog-start-counter";

/// Why the counter cannot be raised. Fate: an operator puts the file right; guessing could repeat an epoch.
#[derive(Debug, Error)]
pub enum StartCounterError {
    /// The file does not say what it must.
    #[error(
        "{FILE} in the data directory is unreadable: {reason}; restore it from a backup, or write a number above every epoch in the partitions' leader-epoch-checkpoint files"
    )]
    Unreadable {
        /// What is wrong with it.
        reason: String,
    },
    /// The disk failed.
    #[error("{FILE} in the data directory: {0}")]
    Io(#[from] io::Error),
}

/// Raises the counter durably. A missing counter is a new directory's if nothing has been stored yet.
pub(crate) fn raise_start_counter(
    disk: &dyn Disk,
    is_new: bool,
) -> Result<LeaderEpoch, StartCounterError> {
    let found = read_small_file(disk, Path::new(FILE)).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => StartCounterError::Unreadable {
            reason: error.to_string(),
        },
        _ => error.into(),
    });
    let starts = match found? {
        Some(text) => parse(&text)?,
        None if is_new => 0,
        None => {
            return Err(StartCounterError::Unreadable {
                reason: "it is missing, and the directory has partitions".to_owned(),
            });
        }
    };
    let next = starts
        .checked_add(1)
        .expect("a broker starts fewer than 2^31 times");
    let text = format!("version=1\nstarts={next}\n");
    write_atomically(disk, Path::new(FILE), text.as_bytes())?;
    Ok(LeaderEpoch(next))
}

fn parse(text: &str) -> Result<i32, StartCounterError> {
    let unreadable = |reason: &str| StartCounterError::Unreadable {
        reason: reason.to_owned(),
    };
    if property(text, "version") != Some("1") {
        return Err(unreadable("its version is not 1"));
    }
    property(text, "starts")
        .and_then(|value| value.parse().ok())
        .filter(|starts| (0..i32::MAX).contains(starts))
        .ok_or_else(|| unreadable("it has no count of starts"))
}
