//! Counts the broker's starts; the count is the leader epoch of every append until the next start.
//!
//! Why it exists: after a crash an offset that nobody saw may be given out anew, and the higher epoch is what
//! tells the two apart (LOG-3). So the new count is durable before anything is served.
//!
//! ```text
//! fanlog-start-counter     a number as in `two_slots.rs`, 1 at the first start; or, written by an operator:
//!   version=1
//!   starts=<number>
//! ```

use crate::small_files::{property, read_small_file};
use crate::two_slots::TwoSlots;
use fanlog_environment::Disk;
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
        "{FILE} in the data directory is unreadable: {reason}; restore it from a backup, or replace it by two lines, 'version=1' and 'starts=N' with N above every epoch in the partitions' leader-epoch-checkpoint files"
    )]
    Unreadable {
        /// What is wrong with it.
        reason: String,
    },
    /// There is no room for it.
    #[error(
        "the disk of the data directory is full, and {FILE} needs a few bytes there: free some space and start again ({0})"
    )]
    NoSpace(io::Error),
    /// The disk failed.
    #[error(
        "the disk does not read or write {FILE} in the data directory ({0}); check the disk, then start again"
    )]
    Io(io::Error),
}

impl From<io::Error> for StartCounterError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::InvalidData => Self::Unreadable {
                reason: error.to_string(),
            },
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::NoSpace(error),
            _ => Self::Io(error),
        }
    }
}

/// Raises the counter durably. A missing counter is a new directory's if nothing has been stored yet.
pub(crate) fn raise_start_counter(
    disk: &dyn Disk,
    is_new: bool,
) -> Result<LeaderEpoch, StartCounterError> {
    let path = Path::new(FILE);
    if let Some(starts) = read_written_by_hand(disk)? {
        let next = next_after(starts)?;
        TwoSlots::create(disk, path, next.0.into())?;
        return Ok(next);
    }
    match TwoSlots::open(disk, path)? {
        Some(mut counter) => {
            let next = next_after(counter.value())?;
            counter.replace(next.0.into())?;
            Ok(next)
        }
        None if is_new => {
            TwoSlots::create(disk, path, 1)?;
            Ok(LeaderEpoch(1))
        }
        None => Err(unreadable(
            "it is missing, and the directory has partitions",
        )),
    }
}

fn next_after(starts: i64) -> Result<LeaderEpoch, StartCounterError> {
    let starts = i32::try_from(starts).ok().filter(|starts| *starts >= 0);
    let next = starts.and_then(|starts| starts.checked_add(1));
    next.map(LeaderEpoch)
        .ok_or_else(|| unreadable("its number is no count of starts"))
}

/// The number in a file of lines; nothing where the file is missing or is not text.
fn read_written_by_hand(disk: &dyn Disk) -> Result<Option<i64>, StartCounterError> {
    let text = match read_small_file(disk, Path::new(FILE)) {
        Err(error) if error.kind() == io::ErrorKind::InvalidData => None,
        read => read?,
    };
    let Some(text) = text.filter(|text| property(text, "version").is_some()) else {
        return Ok(None);
    };
    if property(&text, "version") != Some("1") {
        return Err(unreadable("its version is not 1"));
    }
    property(&text, "starts")
        .and_then(|value| value.parse().ok())
        .map(Some)
        .ok_or_else(|| unreadable("it has no count of starts"))
}

fn unreadable(reason: &str) -> StartCounterError {
    StartCounterError::Unreadable {
        reason: reason.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fanlog_environment::{OpenMode, SimulatedDisk, write_atomically};

    fn raise(disk: &SimulatedDisk) -> Option<i32> {
        raise_start_counter(disk, true).ok().map(|epoch| epoch.0)
    }

    #[test]
    fn it_rises_at_every_start_whatever_operation_a_crash_cuts_off() {
        let operations = |disk: &SimulatedDisk| {
            let before = disk.operations();
            raise(disk);
            disk.operations() - before
        };
        for starts in 0..4 {
            let before = SimulatedDisk::new(1);
            for _ in 0..starts {
                raise(&before).unwrap();
            }
            for crash_at in 0..=operations(&before.fork()) {
                for seed in 0..30 {
                    let disk = before.fork();
                    disk.crash_at(crash_at);
                    let mut served = raise(&disk).unwrap_or(starts);
                    // A second start may be cut off as well, after a kill that leaves the page cache or a power cut.
                    match seed % 2 {
                        0 => disk.restart(),
                        _ => disk.crash(seed),
                    }
                    disk.crash_at(seed / 2 % 5);
                    if let Some(again) = raise(&disk) {
                        assert!(again > served, "{again} after {served}");
                        served = again;
                    }
                    disk.crash(seed);
                    let next = raise(&disk).unwrap();
                    assert!(next > served, "{next} after {served}, crash at {crash_at}");
                }
            }
        }
    }

    #[test]
    fn a_full_disk_is_no_obstacle_and_at_a_first_start_a_clear_error() {
        let disk = SimulatedDisk::new(1);
        disk.set_free_bytes(Some(0));
        let error = raise_start_counter(&disk, true).unwrap_err().to_string();
        assert!(error.contains("free some space"), "{error}");
        assert_eq!(error.matches("o space").count(), 1, "{error}");
        disk.set_free_bytes(None);
        assert_eq!(raise(&disk), Some(1));
        disk.set_free_bytes(Some(0));
        assert_eq!(raise(&disk), Some(2));
    }

    #[test]
    fn an_operator_can_write_it_by_hand_and_damage_is_an_error() {
        let check = |bytes: &[u8], expected: Result<i32, &str>| {
            let disk = SimulatedDisk::new(1);
            write_atomically(&disk, Path::new(FILE), bytes).unwrap();
            match raise_start_counter(&disk, false) {
                Ok(epoch) => {
                    assert_eq!(Ok(epoch.0), expected);
                    assert_eq!(raise(&disk), Some(epoch.0 + 1));
                }
                Err(error) => {
                    let part = expected.unwrap_err();
                    assert!(error.to_string().contains(part), "{error}");
                }
            }
        };
        check(b"version=1\nstarts=41\n", Ok(42));
        check(b"version=1\nstarts=2147483647\n", Err("no count of starts"));
        check(b"version=1\nstarts=-5\n", Err("no count of starts"));
        check(b"version=1\n", Err("no count of starts"));
        check(b"version=2\nstarts=4\n", Err("version is not 1"));
        check(b"", Err("neither of its slots"));
        check(&[0xff; 8192], Err("neither of its slots"));
        check(&[0xff; 8193], Err("unreadable"));
        let disk = SimulatedDisk::new(1);
        let error = raise_start_counter(&disk, false).unwrap_err().to_string();
        assert!(error.contains("missing"), "{error}");
        assert!(disk.open(Path::new(FILE), OpenMode::Read).is_err());
    }
}
