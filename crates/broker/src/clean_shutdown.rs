//! The marker of a clean shutdown, in Kafka's place and form: all logs were flushed and closed after the last write.
//!
//! Why it exists: with it a start trusts indexes and snapshots; without it every log's tail is verified. It is
//! removed durably before anything is written, so that it never vouches for a later run.
//!
//! ```text
//! .kafka_cleanshutdown
//!   {"version":0,"brokerEpoch":-1}
//! ```

use fanlog_environment::{Disk, write_atomically};
use std::io;
use std::path::Path;

const FILE: &str = ".kafka_cleanshutdown";

/// Whether the last run ended cleanly; the marker is gone when this returns.
pub(crate) fn take_marker(disk: &dyn Disk) -> io::Result<bool> {
    let path = Path::new(FILE);
    if !disk.exists(path)? {
        return Ok(false);
    }
    disk.remove_file(path)?;
    disk.sync_dir(Path::new(""))?;
    Ok(true)
}

/// Writes the marker; only once every log is flushed.
pub(crate) fn write_marker(disk: &dyn Disk) -> io::Result<()> {
    write_atomically(disk, Path::new(FILE), br#"{"version":0,"brokerEpoch":-1}"#)
}
