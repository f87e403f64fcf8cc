//! Small files that are replaced as a whole: the old bytes or the new ones survive a crash, never a mixture.

use crate::{Disk, OpenMode};
use std::io;
use std::path::{Path, PathBuf};

/// Replaces the file at `path` by one that holds `bytes`, durably: written beside it (`<name>.tmp`), synced, renamed,
/// and the directory synced. A `.tmp` file left by a crash is overwritten the next time.
///
/// # Errors
/// The old file is still there unless the last step failed; then it is either of the two.
pub fn write_atomically(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_atomically_beside(disk, path, bytes, ".tmp")
}

/// As [`write_atomically`], for one of two writers who may replace the same file at once: each has a suffix of its own for
/// the temporary file, so that neither renames what the other is still writing.
///
/// # Errors
/// As there.
pub fn write_atomically_beside(
    disk: &dyn Disk,
    path: &Path,
    bytes: &[u8],
    suffix: &str,
) -> io::Result<()> {
    replace(disk, path, bytes, suffix, |_| Ok(()))
}

/// As [`write_atomically`], of a secret: nobody but the process's own user may read the file, from before its bytes are in it.
///
/// # Errors
/// As there.
pub fn write_privately(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(disk, path, bytes, ".tmp", |beside| disk.hide(beside))
}

fn replace(
    disk: &dyn Disk,
    path: &Path,
    bytes: &[u8],
    suffix: &str,
    prepare: impl FnOnce(&Path) -> io::Result<()>,
) -> io::Result<()> {
    let beside = temporary_path(path, suffix)?;
    let file = disk.open(&beside, OpenMode::CreateOrOpen)?;
    prepare(&beside)?;
    file.set_len(0)?;
    file.write_all_at(bytes, 0)?;
    file.sync_data()?;
    drop(file);
    disk.rename(&beside, path)?;
    disk.sync_dir(path.parent().unwrap_or(Path::new("")))
}

/// The whole of a small file.
///
/// # Errors
/// `InvalidData` where it is longer than `len_max`: nothing is allocated for it then.
pub fn read_bounded(disk: &dyn Disk, path: &Path, len_max: usize) -> io::Result<Vec<u8>> {
    let file = disk.open(path, OpenMode::Read)?;
    let len = file.len()?;
    let Some(len) = usize::try_from(len).ok().filter(|len| *len <= len_max) else {
        let message = format!(
            "{} has {len} bytes; at most {len_max} are expected",
            path.display()
        );
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    };
    let mut bytes = vec![0; len];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(bytes)
}

fn temporary_path(path: &Path, suffix: &str) -> io::Result<PathBuf> {
    let name = path
        .file_name()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path names no file"))?;
    let mut name = name.to_owned();
    name.push(suffix);
    Ok(path.with_file_name(name))
}
