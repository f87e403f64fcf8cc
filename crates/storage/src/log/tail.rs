//! The walk over the last segment's batches, and the judgement on where it breaks off.
//!
//! A crash leaves of unsynced bytes what it likes, sector by sector. So behind the last durable batch anything may stand, and is cut
//! off. What was durable never looks like that: there, anything unreadable is damage, and cutting it off would lose what was
//! acknowledged. The rule that tells the two apart stands in docs/decisions/recovery.md.

use super::Log;
use crate::error::OpenLogError;
use crate::header::{BatchHeader, Step, check_crc};
use crate::journal::Replay;
use fanlog_environment::DiskFile;
use fanlog_model::Offset;
use fanlog_protocol::records::HEADER_BYTES;
use std::io;

/// What a disk writes as a whole.
const SECTOR_BYTES: u64 = 512;
const SEARCH_BYTES: usize = 1024 * 1024;
/// How many bytes of a base offset may be zeros, that of the first batch aside, which follows no other.
const BASE_OFFSET_ZEROS_MAX: u64 = 7;
/// How far behind the expected offset a following batch is looked for.
const OFFSETS_AHEAD_MAX: i64 = 1 << 40;

/// Where a walk begins, and what it looks at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walk {
    /// Where in the segment a batch begins.
    pub(super) position: u64,
    /// From this offset on batches are new to the producers' state.
    pub(super) notes_from: Offset,
    /// Whether checksums are computed.
    pub(super) checks_crc: bool,
}

/// Where a walk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Walked {
    /// The offset behind the last good batch; the segment's base offset where there was none.
    pub(super) end: Offset,
    /// Where what is not a good batch begins, if the segment goes on.
    pub(super) broken_at: Option<u64>,
}

impl Log {
    /// Walks the last segment to its end and takes its batches into indexes, epochs and producers. A batch whose epoch differs from
    /// what the journal has of it is not good: the epoch lies outside its checksum.
    pub(super) fn walk_tail(&mut self, walk: Walk, replay: &Replay) -> io::Result<Walked> {
        let disk = self.environment.disk.clone();
        let file = self.active().log_file(&*disk)?;
        let base_offset = self.active().base_offset;
        let mut headers = self.active().walk(&*file, walk.position);
        if walk.checks_crc {
            headers = headers.with_batches();
        }
        let mut end = base_offset;
        loop {
            let (position, header) = match headers.step()? {
                Step::Batch { position, header } => (position, header),
                Step::End => {
                    return Ok(Walked {
                        end,
                        broken_at: None,
                    });
                }
                Step::Broken { position } => return Ok(broken(end, position)),
            };
            let is_near = header.last_offset.get() - base_offset.get() <= i64::from(i32::MAX);
            let journaled = replay.leader_epoch_at(header.base_offset);
            let is_good = is_near
                && journaled.is_none_or(|epoch| epoch == header.leader_epoch)
                && (!walk.checks_crc || headers.check_crc(position, &header)?);
            if !is_good {
                return Ok(broken(end, position));
            }
            let header = header.with_marker_in(&*file, position)?;
            self.note_found(position, &header, walk.notes_from);
            end = header.next_offset();
        }
    }

    fn note_found(&mut self, position: u64, header: &BatchHeader, notes_from: Offset) {
        self.active_mut().note_found(position, header);
        self.epochs.assign(header.leader_epoch, header.base_offset);
        if header.base_offset >= notes_from {
            // When it was written is not known, only that this was lately.
            let now = self.environment.clock.wall_ms();
            if let Some(ended) = self.producers.apply(header, now) {
                self.note_ended(&ended);
            }
            self.bytes_since_snapshot += header.bytes;
            self.bytes_since_producers += header.bytes;
        }
    }

    /// Whether what lies behind the last good batch may be cut off, as far as its bytes can tell.
    pub(super) fn check_is_torn(
        &self,
        walked: &Walked,
        has_successor: bool,
    ) -> Result<(), OpenLogError> {
        // A segment that ends too early was cut short, as files are whose length was not synced.
        let Some(position) = walked.broken_at else {
            return Ok(());
        };
        let io_error = |source| OpenLogError::Io {
            path: self.active().log_path(),
            source,
        };
        let file = self.active().log_file(self.disk()).map_err(io_error)?;
        let size = self.active().size;
        let following = following_batch(&*file, position, size, walked.end).map_err(io_error)?;
        let Some(following) = following.or(has_successor.then_some(size)) else {
            return Ok(());
        };
        let is_torn = has_hole(&*file, position, following).map_err(io_error)?
            || (following == size && ends_in_zeros(&*file, position, size).map_err(io_error)?);
        if is_torn {
            return Ok(());
        }
        let reason = format!("a whole record batch follows at byte {following}");
        Err(self.corrupt(position, walked.end, reason))
    }

    pub(super) fn corrupt(&self, position: u64, offset: Offset, reason: String) -> OpenLogError {
        OpenLogError::Corrupt {
            path: self.active().log_path(),
            position,
            offset,
            reason,
        }
    }
}

fn broken(end: Offset, position: u64) -> Walked {
    Walked {
        end,
        broken_at: Some(position),
    }
}

/// Where behind `from` the next batch begins that is whole and could be of this log.
fn following_batch(
    file: &dyn DiskFile,
    from: u64,
    size: u64,
    expected: Offset,
) -> io::Result<Option<u64>> {
    // Bytes that pretend to be batches must not make a start take for ever: when so many were looked at in vain, a human looks.
    let mut budget = (size - from).saturating_mul(8);
    let mut buffer = Vec::new();
    let mut at = from + 1;
    while at + HEADER_BYTES as u64 <= size {
        let length = usize::try_from(size - at).map_or(SEARCH_BYTES, |left| left.min(SEARCH_BYTES));
        buffer.resize(length, 0);
        file.read_exact_at(&mut buffer, at)?;
        for (i, bytes) in buffer.windows(HEADER_BYTES).enumerate() {
            let Some(header) = candidate(bytes, expected) else {
                continue;
            };
            let position = at + i as u64;
            if header.bytes > size - position {
                continue;
            }
            if header.bytes > budget || check_crc(file, position, &header)? {
                return Ok(Some(position));
            }
            budget -= header.bytes;
        }
        at += (length - (HEADER_BYTES - 1)) as u64;
    }
    Ok(None)
}

fn candidate(bytes: &[u8], expected: Offset) -> Option<BatchHeader> {
    let base_offset = i64::from_be_bytes(*bytes.first_chunk()?);
    let is_near = base_offset >= expected.get() && base_offset - expected.get() < OFFSETS_AHEAD_MAX;
    is_near.then(|| BatchHeader::decode(bytes)).flatten()
}

/// Whether between the two positions there is a sector that was never written as far as it lies behind `from`: what a crash leaves
/// of bytes that were not synced, and what a flipped bit does not. Such a sector may reach into the batch at `to`: the first bytes of
/// its base offset are zeros, and the batch looks whole without them.
fn has_hole(file: &dyn DiskFile, from: u64, to: u64) -> io::Result<bool> {
    let mut sector = [0; SECTOR_BYTES as usize];
    let size = file.len()?;
    let mut at = from;
    while at < to {
        let end = (at / SECTOR_BYTES + 1) * SECTOR_BYTES;
        if end > to + BASE_OFFSET_ZEROS_MAX {
            break;
        }
        // The segment may end within the sector.
        let end = end.min(size).max(at);
        let length = usize::try_from(end - at).expect("a part of a sector is short");
        if length == 0 {
            break;
        }
        let bytes = &mut sector[..length];
        file.read_exact_at(bytes, at)?;
        if bytes.iter().all(|byte| *byte == 0) {
            return Ok(true);
        }
        at = end;
    }
    Ok(false)
}

/// Whether the last sector of a file was never written, as far as it lies behind `from`.
fn ends_in_zeros(file: &dyn DiskFile, from: u64, size: u64) -> io::Result<bool> {
    let at = from.max(size.saturating_sub(1) / SECTOR_BYTES * SECTOR_BYTES);
    let mut bytes = vec![0; usize::try_from(size - at).unwrap_or_default()];
    file.read_exact_at(&mut bytes, at)?;
    Ok(bytes.iter().all(|byte| *byte == 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fanlog_environment::simulated::SimulatedDisk;
    use fanlog_environment::{Disk, OpenMode};
    use std::path::Path;

    #[test]
    fn a_file_that_ends_just_before_its_last_sector_does_is_read_no_further() {
        for missing in 0..10 {
            let disk = SimulatedDisk::new(1);
            let file = disk
                .open(Path::new("segment.log"), OpenMode::CreateNew)
                .unwrap();
            let size = 2 * SECTOR_BYTES - missing;
            let bytes = vec![1; usize::try_from(size).unwrap()];
            file.write_all_at(&bytes, 0).unwrap();
            assert!(!has_hole(&*file, 0, size).unwrap(), "{missing} bytes");
        }
    }
}
