//! How a cleaned segment takes the place of those that it was made of, so that a crash at any step leaves the log as it was or as it
//! will be.
//!
//! 1. `<base>.log.cleaned` and its indexes are written and synced, and their names.
//! 2. `compaction-state` says durably that they replace the segments from `base` to `end`. From here on it happens.
//! 3. The cleaned files are renamed over those of the first old segment; the segments behind it go.
//! 4. The folder is synced, and `compaction-state` says so.
//!
//! An open finds at step 2 or behind what is left to do, and does it; before, it removes what is named `.cleaned`. Kafka renames to
//! `.swap` at step 2 and then guesses from the new segment's offsets which old ones it replaces; saying so is safer.

use crate::formats::compaction_state::{self, CompactionState, Swap};
use crate::formats::file_names::{
    self, LOG, OFFSET_INDEX, PRODUCER_SNAPSHOT, TIME_INDEX, TRANSACTION_INDEX,
};
use fanlog_environment::{Disk, OpenMode, read_bounded, write_atomically};
use fanlog_model::Offset;
use std::io;
use std::path::{Path, PathBuf};

/// What the files of a segment end with that is not yet in its place.
const CLEANED: &str = ".cleaned";
/// The files of a segment that cleaning writes. The batches come first: where that rename fails nothing has changed.
const WRITTEN: [&str; 4] = [LOG, OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX];

pub(crate) fn cleaned_path(dir: &Path, base: Offset, suffix: &str) -> PathBuf {
    let name = file_names::with_offset(base, suffix);
    dir.join(name + CLEANED)
}

/// Whether a name in a log's folder is compaction's.
pub(crate) fn is_of_compaction(name: &str) -> bool {
    name == file_names::COMPACTION_STATE || name.ends_with(CLEANED)
}

/// Writes the state, durably.
pub(crate) fn save(disk: &dyn Disk, dir: &Path, state: &CompactionState) -> io::Result<()> {
    let path = dir.join(file_names::COMPACTION_STATE);
    write_atomically(disk, &path, &compaction_state::encode(state))
}

/// Gives the cleaned files the names of the first old segment.
///
/// # Errors
/// The batches' file could not be renamed, or the index of aborted transactions, which cannot be built anew: it waits for the next start
/// then. Another index that could not be is removed.
pub(crate) fn rename_cleaned(disk: &dyn Disk, dir: &Path, base: Offset) -> io::Result<()> {
    for suffix in WRITTEN {
        let from = cleaned_path(dir, base, suffix);
        let to = dir.join(file_names::with_offset(base, suffix));
        match disk.rename(&from, &to) {
            Ok(()) => {}
            Err(error) if suffix == LOG => return Err(error),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) if suffix == TRANSACTION_INDEX => return Err(error),
            Err(error) => {
                tracing::warn!(path = %to.display(), %error, "index is built anew");
                let _ = disk.remove_file(&to);
                let _ = disk.remove_file(&from);
            }
        }
    }
    Ok(())
}

/// Removes the files of the segments behind the first that were replaced, and notes that nothing is left to do. A producer snapshot
/// that `keeps` wants stays.
pub(crate) fn finish(
    disk: &dyn Disk,
    dir: &Path,
    state: &mut CompactionState,
    keeps: impl Fn(Offset) -> bool,
) -> io::Result<()> {
    let Some(swap) = state.swap else {
        return Ok(());
    };
    for entry in disk.read_dir(dir)? {
        let name = entry.name.to_string_lossy();
        let Some((offset, suffix)) = file_names::parse(&name) else {
            continue;
        };
        let is_kept = suffix == PRODUCER_SNAPSHOT && keeps(offset);
        let is_segments = WRITTEN.contains(&suffix) || suffix == PRODUCER_SNAPSHOT;
        if offset > swap.base && offset < swap.end && is_segments && !is_kept {
            remove(disk, &dir.join(&*name))?;
        }
    }
    disk.sync_dir(dir)?;
    let done = CompactionState {
        swap: None,
        ..*state
    };
    save(disk, dir, &done)?;
    *state = done;
    Ok(())
}

/// Whether no swap is known to be decided on disk.
pub(crate) fn is_undecided(disk: &dyn Disk, dir: &Path) -> bool {
    matches!(read(disk, dir), Ok(state) if state.unwrap_or_default().swap.is_none())
}

/// Has a swap that failed not happen: `before` is what is said on disk, for good.
///
/// # Errors
/// The batches may have their new name already, or the disk refuses again.
pub(crate) fn take_back(
    disk: &dyn Disk,
    dir: &Path,
    base: Offset,
    before: &CompactionState,
) -> io::Result<()> {
    // A full disk refuses before anything is replaced: what is still there was durable before.
    if read(disk, dir)?.unwrap_or_default() == *before {
        return Ok(());
    }
    if !disk.exists(&cleaned_path(dir, base, LOG))? {
        return Err(io::Error::other("the new segment has its name already"));
    }
    save(disk, dir, before)
}

/// Removes cleaned files that nothing refers to.
pub(crate) fn discard(disk: &dyn Disk, dir: &Path, base: Offset) {
    for suffix in WRITTEN {
        // The next open, or the next cleaning, removes what is left.
        let _ = disk.remove_file(&cleaned_path(dir, base, suffix));
    }
}

/// At an open, before any segment is looked at: finishes a swap that a crash cut off, or removes what was not to be swapped yet.
///
/// # Errors
/// The disk refuses; `InvalidData` where the files are not as any crash leaves them: nothing was removed then.
pub(crate) fn recover(disk: &dyn Disk, dir: &Path) -> io::Result<CompactionState> {
    let mut state = read(disk, dir)?.unwrap_or_default();
    let names: Vec<String> = disk
        .read_dir(dir)?
        .into_iter()
        .filter_map(|entry| entry.name.into_string().ok())
        .collect();
    if let Some(swap) = state.swap {
        if has_segment(disk, dir, &swap)? {
            let latest = names.iter().filter_map(|name| snapshot_of(name)).max();
            finish(disk, dir, &mut state, |offset| Some(offset) == latest)?;
        } else {
            // Retention has removed it since, and what it replaced lies below the log's start.
            state.swap = None;
            save(disk, dir, &state)?;
        }
    }
    for name in names.iter().filter(|name| name.ends_with(CLEANED)) {
        remove(disk, &dir.join(name))?;
    }
    Ok(state)
}

/// Has the new segment in its place; whether it is there.
fn has_segment(disk: &dyn Disk, dir: &Path, swap: &Swap) -> io::Result<bool> {
    let cleaned = cleaned_path(dir, swap.base, LOG);
    if disk.exists(&cleaned)? {
        check_length(disk, &cleaned, swap)?;
        rename_cleaned(disk, dir, swap.base)?;
        return Ok(true);
    }
    let path = dir.join(file_names::with_offset(swap.base, LOG));
    if !disk.exists(&path)? {
        return Ok(false);
    }
    check_length(disk, &path, swap)?;
    // The crash may have kept the new batches' name and not those of their indexes.
    for suffix in [OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX] {
        let from = cleaned_path(dir, swap.base, suffix);
        if disk.exists(&from)? {
            disk.rename(&from, &dir.join(file_names::with_offset(swap.base, suffix)))?;
        }
    }
    Ok(true)
}

fn check_length(disk: &dyn Disk, path: &Path, swap: &Swap) -> io::Result<()> {
    let length = disk.open(path, OpenMode::Read)?.len()?;
    if length == swap.bytes {
        return Ok(());
    }
    let message = format!(
        "{} has {length} bytes, and compaction wrote {}; nothing was removed: restore the folder from a copy, or delete the topic",
        path.display(),
        swap.bytes
    );
    Err(io::Error::new(io::ErrorKind::InvalidData, message))
}

/// The state as it is on disk. It cannot be computed anew, so that an unreadable one is an error.
fn read(disk: &dyn Disk, dir: &Path) -> io::Result<Option<CompactionState>> {
    let path = dir.join(file_names::COMPACTION_STATE);
    let bytes = match read_bounded(disk, &path, compaction_state::FILE_BYTES) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    compaction_state::decode(&bytes).map(Some).map_err(|error| {
        let message = format!(
            "{error}; nothing was removed: restore the folder from a copy, or delete the topic"
        );
        io::Error::new(io::ErrorKind::InvalidData, message)
    })
}

fn snapshot_of(name: &str) -> Option<Offset> {
    let (offset, suffix) = file_names::parse(name)?;
    (suffix == PRODUCER_SNAPSHOT).then_some(offset)
}

fn remove(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    match disk.remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
