//! One file's bytes: as a reader sees them, as the disk has them, and the changes between the two.
//!
//! ```text
//! durable --- pending changes, oldest first ---> live
//! ```
//!
//! After a failed sync whose pages were dropped the changes are gone and live still shows them: then `drop_page_cache`
//! or a crash brings out what the disk has. A later write to a sector whose change was dropped takes what live shows of that sector
//! with it: memory is written sector by sector at least, never in part.

use super::SECTOR_BYTES;
use crate::entropy::SplitMix;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

#[derive(Clone, Debug)]
enum Change {
    Write { at: usize, bytes: Vec<u8> },
    SetLen(usize),
}

#[derive(Clone, Debug, Default)]
pub(super) struct Content {
    live: Vec<u8>,
    durable: Vec<u8>,
    pending: Vec<Change>,
    allocated: usize,
    /// Sectors that live shows otherwise than the disk has them, and that no sync will write.
    dropped: BTreeSet<usize>,
    pub(super) fails_reads: bool,
}

impl Content {
    pub(super) fn live(&self) -> &[u8] {
        &self.live
    }

    pub(super) fn durable(&self) -> &[u8] {
        &self.durable
    }

    /// The space that the file takes: its bytes, or what was reserved for it.
    pub(super) fn occupied(&self) -> usize {
        self.live.len().max(self.allocated)
    }

    pub(super) fn allocate(&mut self, len: usize) {
        self.allocated = self.allocated.max(len);
    }

    pub(super) fn write(&mut self, at: usize, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        put(&mut self.live, at, bytes);
        let range = self.dirtied(at..at + bytes.len());
        self.pending.push(Change::Write {
            at: range.start,
            bytes: self.live[range].to_vec(),
        });
    }

    /// What a write to a range makes dirty: the range, and the rest of a sector at its ends that was dropped.
    fn dirtied(&mut self, written: Range<usize>) -> Range<usize> {
        let (first, last) = (
            written.start / SECTOR_BYTES,
            (written.end - 1) / SECTOR_BYTES,
        );
        let mut range = written;
        if self.dropped.contains(&first) {
            range.start = first * SECTOR_BYTES;
        }
        if self.dropped.contains(&last) {
            range.end = ((last + 1) * SECTOR_BYTES).min(self.live.len());
        }
        self.dropped
            .retain(|sector| !(first..=last).contains(sector));
        range
    }

    pub(super) fn set_len(&mut self, len: usize) {
        // A cut gives back what was reserved beyond it.
        self.allocated = if len < self.live.len() {
            len
        } else {
            self.allocated
        };
        self.live.resize(len, 0);
        self.pending.push(Change::SetLen(len));
    }

    pub(super) fn sync(&mut self) {
        for change in self.pending.drain(..) {
            match change {
                Change::Write { at, bytes } => put(&mut self.durable, at, &bytes),
                Change::SetLen(len) => self.durable.resize(len, 0),
            }
        }
    }

    /// What the kernel does with pages whose writing failed: takes them for clean.
    pub(super) fn forget_pending(&mut self) {
        for change in self.pending.drain(..) {
            if let Change::Write { at, bytes } = change {
                let end = at + bytes.len();
                self.dropped
                    .extend(at / SECTOR_BYTES..end.div_ceil(SECTOR_BYTES));
            }
        }
    }

    /// Reads come from the disk again. The length is the file system's own and stays, as zeros where bytes are missing.
    pub(super) fn drop_page_cache(&mut self) {
        self.sync();
        let len = self.live.len();
        self.live.clone_from(&self.durable);
        self.dropped.clear();
        if len != self.live.len() {
            self.set_len(len);
        }
    }

    pub(super) fn corrupt(&mut self, at: usize, mask: &[u8]) {
        for side in [&mut self.live, &mut self.durable] {
            for (byte, mask) in side.iter_mut().skip(at).zip(mask) {
                *byte ^= mask;
            }
        }
    }

    /// Leaves what a power cut leaves: all that is durable and, per sector, any version since.
    pub(super) fn crash(&mut self, chance: &mut SplitMix) {
        self.durable = self.survivor(chance);
        self.live.clone_from(&self.durable);
        self.pending.clear();
        self.dropped.clear();
        self.allocated = 0;
    }

    fn survivor(&self, chance: &mut SplitMix) -> Vec<u8> {
        let changes = self.pending.len();
        if changes == 0 {
            return self.durable.clone();
        }
        // The plain outcomes are tried often: a sector-by-sector draw hardly ever gives them.
        match chance.below(5) {
            0 => self.after(0, |_| 0),
            1 => self.after(changes, |_| changes),
            2 => {
                let prefix = chance.below(changes + 1);
                self.after(prefix, |_| prefix)
            }
            _ => {
                let len_version = chance.below(changes + 1);
                let mut versions = BTreeMap::new();
                self.after(len_version, |sector| {
                    *versions
                        .entry(sector)
                        .or_insert_with(|| chance.below(changes + 1))
                })
            }
        }
    }

    /// The durable bytes with the first `len_version` changes to the length, and in each sector the first
    /// `version(sector)` changes to its bytes.
    fn after(&self, len_version: usize, mut version: impl FnMut(usize) -> usize) -> Vec<u8> {
        let mut bytes = self.durable.clone();
        let mut len = bytes.len();
        for (index, change) in self.pending.iter().enumerate() {
            let (from, to) = match change {
                Change::Write { at, bytes } => (*at, at + bytes.len()),
                // A cut empties everything behind it, also in the sectors that a later write brings back.
                Change::SetLen(to) => (*to, bytes.len().max(*to)),
            };
            let mut position = from;
            while position < to {
                let sector = position / SECTOR_BYTES;
                let end = ((sector + 1) * SECTOR_BYTES).min(to);
                if index < version(sector) {
                    match change {
                        Change::Write { at, bytes: written } => {
                            put(&mut bytes, position, &written[position - at..end - at]);
                        }
                        Change::SetLen(_) => zero(&mut bytes, position, end),
                    }
                }
                position = end;
            }
            if index < len_version {
                len = match change {
                    Change::Write { .. } => len.max(to),
                    Change::SetLen(to) => *to,
                };
            }
        }
        bytes.resize(len, 0);
        bytes
    }
}

fn put(into: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    let end = at + bytes.len();
    if into.len() < end {
        into.resize(end, 0);
    }
    into[at..end].copy_from_slice(bytes);
}

fn zero(bytes: &mut [u8], from: usize, to: usize) {
    let end = to.min(bytes.len());
    if from < end {
        bytes[from..end].fill(0);
    }
}
