//! Reading one journal file: which commits are in it, and which of their records are whole.
//!
//! A commit whose head is damaged is found by its tail, and one that is damaged at both ends is passed over: the next one that is whole
//! begins at a block. Nothing here says what a gap means; `recovered.rs` does.

use super::Entry;
use super::format::{
    self, BLOCK, BLOCK_BYTES, CommitEnd, ENTRY_BYTES, End, HEAD_BYTES, Usage, decode_table,
};
use fanlog_environment::DiskFile;
use std::io;

/// Read at once while a payload is checked or a commit is looked for.
const CHUNK_BYTES: usize = 1024 * 1024;

/// A commit as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundCommit {
    pub(super) number: u64,
    pub(super) position: u64,
    /// None where neither copy of its table is whole.
    pub(super) records: Option<Vec<FoundRecord>>,
}

impl FoundCommit {
    /// Whether something in it is not whole.
    pub(super) fn is_torn(&self) -> bool {
        let records = self.records.as_ref();
        records.is_none_or(|records| records.iter().any(|record| !record.is_whole))
    }
}

/// A record of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FoundRecord {
    pub(super) entry: Entry,
    pub(super) crc: u32,
    pub(super) position: u64,
    pub(super) is_whole: bool,
}

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Identity {
    /// It was never used, or its first use never became durable.
    Unused,
    Used(Usage),
    /// It is not what any crash leaves.
    Damaged,
}

/// Which use a file is in. A damaged header is made up for by the first commit.
pub(super) fn identify(file: &dyn DiskFile) -> io::Result<Identity> {
    let mut header = [0; HEAD_BYTES];
    if !read(file, 0, &mut header)? {
        return Ok(Identity::Unused);
    }
    if let Some(usage) = format::decode_file_header(&header) {
        return Ok(Identity::Used(usage));
    }
    let mut head = [0; HEAD_BYTES];
    if !read(file, BLOCK_BYTES, &mut head)? {
        return Ok(Identity::Unused);
    }
    let is_zero = |bytes: &[u8]| bytes.iter().all(|byte| *byte == 0);
    Ok(match CommitEnd::decode(&head, End::Head) {
        Some(head) => Identity::Used(head.usage),
        None if is_zero(&header) || is_zero(&head) => Identity::Unused,
        None => Identity::Damaged,
    })
}

/// Finds the commits of one use, in the order in which they lie. Payloads of records that `is_wanted` does not name are not read.
pub(super) fn commits(
    file: &dyn DiskFile,
    usage: Usage,
    is_wanted: &dyn Fn(&Entry) -> bool,
) -> io::Result<Vec<FoundCommit>> {
    let mut found = Vec::new();
    let mut at = BLOCK_BYTES;
    while let Some((start, end)) = next_commit(file, usage, at)? {
        let Some(bytes) = end.commit_bytes() else {
            at = start + BLOCK_BYTES;
            continue;
        };
        found.push(read_commit(file, start, &end, is_wanted)?);
        at = start + bytes;
    }
    Ok(found)
}

/// The first commit that begins at `at` or behind, by its head or by its tail.
fn next_commit(file: &dyn DiskFile, usage: Usage, at: u64) -> io::Result<Option<(u64, CommitEnd)>> {
    let mut head = [0; HEAD_BYTES];
    if !read(file, at, &mut head)? {
        return Ok(None);
    }
    let of_this_use = |end: &CommitEnd| end.usage == usage;
    #[cfg(feature = "planted-faults")]
    let of_this_use = |end: &CommitEnd| of_this_use(end) || crate::planted::accepts_stale_commits();
    if let Some(end) = CommitEnd::decode(&head, End::Head).filter(of_this_use) {
        return Ok(Some((at, end)));
    }
    let len = file.len()?;
    let mut buffer = Vec::new();
    let mut from = at;
    while from < len {
        let length = usize::try_from(len - from).map_or(CHUNK_BYTES, |left| left.min(CHUNK_BYTES));
        buffer.resize(length, 0);
        file.read_exact_at(&mut buffer, from)?;
        for (i, block) in buffer.chunks(BLOCK).enumerate() {
            let position = from + (i * BLOCK) as u64;
            if let Some(end) = CommitEnd::decode(block, End::Head).filter(of_this_use) {
                return Ok(Some((position, end)));
            }
            let tail = block.get(BLOCK - HEAD_BYTES..).unwrap_or_default();
            if let Some(end) = CommitEnd::decode(tail, End::Tail).filter(of_this_use) {
                let bytes = end.commit_bytes().unwrap_or(u64::MAX);
                let start = (position + BLOCK_BYTES).checked_sub(bytes);
                if let Some(start) = start.filter(|start| *start >= at) {
                    return Ok(Some((start, end)));
                }
            }
        }
        from += length as u64;
    }
    Ok(None)
}

fn read_commit(
    file: &dyn DiskFile,
    start: u64,
    end: &CommitEnd,
    is_wanted: &dyn Fn(&Entry) -> bool,
) -> io::Result<FoundCommit> {
    let mut commit = FoundCommit {
        number: end.number,
        position: start,
        records: None,
    };
    let Some(table) = read_table(file, start, end)? else {
        return Ok(commit);
    };
    let mut position = start + HEAD_BYTES as u64 + end.table_bytes();
    let mut records = Vec::with_capacity(table.len());
    for (entry, crc) in table {
        records.push(FoundRecord {
            entry,
            crc,
            position,
            is_whole: !is_wanted(&entry) || is_whole(file, position, entry.bytes, crc)?,
        });
        position += u64::from(entry.bytes);
    }
    commit.records = Some(records);
    Ok(commit)
}

fn read_table(
    file: &dyn DiskFile,
    start: u64,
    end: &CommitEnd,
) -> io::Result<Option<Vec<(Entry, u32)>>> {
    let len = file.len()?;
    let total = end.commit_bytes().unwrap_or(u64::MAX);
    // The end of a file that a crash has cut short is not there, and bounds what is allocated.
    let length = usize::try_from(end.table_bytes()).unwrap_or(usize::MAX);
    if length as u64 > len || total / ENTRY_BYTES as u64 > len {
        return Ok(None);
    }
    let mut bytes = vec![0; length];
    let behind = start + total - HEAD_BYTES as u64 - length as u64;
    for at in [start + HEAD_BYTES as u64, behind] {
        if read(file, at, &mut bytes)?
            && let Some(table) = decode_table(&bytes, end)
        {
            return Ok(Some(table));
        }
    }
    Ok(None)
}

/// Whether a payload is as it was written.
pub(super) fn is_whole(
    file: &dyn DiskFile,
    position: u64,
    bytes: u32,
    crc: u32,
) -> io::Result<bool> {
    let mut buffer = vec![0; (bytes as usize).min(CHUNK_BYTES)];
    let (mut done, mut computed) = (0, 0);
    while done < bytes as usize {
        let length = (bytes as usize - done).min(buffer.len());
        if !read(file, position + done as u64, &mut buffer[..length])? {
            return Ok(false);
        }
        computed = crc32c::crc32c_append(computed, &buffer[..length]);
        done += length;
    }
    Ok(computed == crc)
}

/// Fills the buffer; false where the file ends before.
fn read(file: &dyn DiskFile, at: u64, buffer: &mut [u8]) -> io::Result<bool> {
    match file.read_exact_at(buffer, at) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}
