//! What was read of a log, as a share-partition wants to know it: ranges of records and gaps between them.
//!
//! Why it exists: the machine reads no batches.
//! In -> out: bytes of whole batches -> ranges, and the bytes of each batch.

use crate::aborted::Aborted;
use crate::fetch_types::FetchedRecords;
use bytes::Bytes;
use fanlog_coordinators::share::{Acquired, Found};
use fanlog_model::Offset;
use fanlog_protocol::records::{BatchError, BatchView};

/// What was found from an offset on.
#[derive(Debug, Default)]
pub(super) struct Scan {
    pub(super) found: Vec<Found>,
    batches: Vec<(Offset, Offset, Bytes)>,
    /// Nothing below this offset is found again.
    floor: Offset,
    /// The offset behind it.
    pub(super) end: Offset,
}

impl Scan {
    /// What lies from `from` on, up to the end of what was read; or up to `below`, if nothing was. The batch at `from` is found from
    /// its beginning, as far as that is not below `floor`: what lies there was found before, and so were the bytes of the batch.
    pub(super) fn of(
        read: &FetchedRecords,
        (floor, from): (Offset, Offset),
        below: Offset,
    ) -> Result<Self, BatchError> {
        let mut scan = Self {
            floor,
            end: from,
            ..Self::default()
        };
        let mut aborted = Aborted::new(&read.aborted_transactions);
        for piece in &read.records {
            let mut at = 0;
            while at < piece.len() {
                let batch = BatchView::parse(&piece[at..])?;
                let bytes = piece.slice(at..at + batch.total_len());
                at += batch.total_len();
                scan.add(&batch, aborted.takes(&batch), bytes);
            }
        }
        if scan.end == from {
            // Compaction has left nothing there.
            scan.pass(below);
        }
        Ok(scan)
    }

    fn add(&mut self, batch: &BatchView<'_>, is_gap: bool, bytes: Bytes) {
        let (base, last) = (batch.base_offset(), batch.last_offset());
        if last < self.end {
            return;
        }
        self.pass(base);
        // The first one may begin earlier: what is available of it may be given as well.
        let first = base.max(self.floor);
        self.found.push(match is_gap {
            true => Found::gap(first, last),
            false => Found::records(first, last),
        });
        self.end = last.plus(1);
        if base >= self.floor {
            self.batches.push((base, last, bytes));
        }
    }

    /// There is nothing below `to` that was not found yet.
    fn pass(&mut self, to: Offset) {
        if self.end < to {
            self.found.push(Found::gap(self.end, Offset(to.0 - 1)));
            self.end = to;
        }
    }

    /// The whole batches that hold what was acquired.
    pub(super) fn batches_of(&self, acquired: &[Acquired]) -> Vec<Bytes> {
        let (Some(first), Some(last)) = (acquired.first(), acquired.last()) else {
            return Vec::new();
        };
        let has_any =
            |(base, end, _): &&(Offset, Offset, Bytes)| *base <= last.last && *end >= first.first;
        let batches = self.batches.iter().filter(has_any);
        batches.map(|(_, _, bytes)| bytes.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fanlog_protocol::records::{BatchBuilder, Compression, NewRecord};

    /// Batches of ten records each, from offset 0 on.
    fn read(batches: usize) -> FetchedRecords {
        let build = |base: usize| {
            let mut builder = BatchBuilder::new(Compression::None).base_offset(Offset(base as i64));
            for _ in 0..10 {
                builder
                    .push(&NewRecord::default())
                    .expect("ten records fit a batch");
            }
            Bytes::from(builder.build().expect("it is not empty"))
        };
        FetchedRecords {
            records: (0..batches).map(|at| build(at * 10)).collect(),
            ..FetchedRecords::default()
        }
    }

    fn acquired(first: i64, last: i64) -> Acquired {
        Acquired {
            first: Offset(first),
            last: Offset(last),
            delivery_count: 1,
        }
    }

    #[test]
    fn a_second_look_at_a_batch_finds_only_what_lies_behind_the_first() {
        let read = read(2);
        let scan = |floor, from| {
            let scan = Scan::of(&read, (Offset(floor), Offset(from)), Offset(20));
            scan.expect("the batches are sound")
        };
        let all = [
            Found::records(Offset(0), Offset(9)),
            Found::records(Offset(10), Offset(19)),
        ];
        let first = scan(0, 3);
        assert_eq!(first.found, all);
        assert_eq!(first.batches_of(&[acquired(3, 4)]).len(), 1);
        let second = scan(5, 7);
        assert_eq!(second.found, [Found::records(Offset(5), Offset(9)), all[1]]);
        let ranges = [acquired(7, 9), acquired(10, 12)];
        // The first batch is in the answer already.
        assert_eq!(second.batches_of(&ranges), [read.records[1].clone()]);
    }
}
