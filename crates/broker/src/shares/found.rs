//! What was read of a log, as a share-partition wants to know it: ranges of records and gaps between them.
//!
//! Why it exists: the machine reads no batches.
//! In -> out: bytes of whole batches -> ranges, and the bytes of each batch.

use crate::fetch_types::{AbortedTransaction, FetchedRecords};
use bytes::Bytes;
use fanlog_coordinators::share::{Acquired, Found};
use fanlog_model::{Offset, ProducerId};
use fanlog_protocol::records::{BatchError, BatchView};
use std::collections::HashSet;

/// What was found from an offset on.
#[derive(Debug, Default)]
pub(super) struct Scan {
    pub(super) found: Vec<Found>,
    batches: Vec<(Offset, Offset, Bytes)>,
    /// The offset behind it.
    pub(super) end: Offset,
}

/// The transactions that were aborted, while batches are passed in order.
struct Aborted<'a> {
    ahead: &'a [AbortedTransaction],
    open: HashSet<ProducerId>,
}

impl Aborted<'_> {
    /// Whether a batch has nothing for a consumer that sees what is committed.
    fn takes(&mut self, batch: &BatchView<'_>) -> bool {
        while let Some((next, rest)) = self.ahead.split_first()
            && next.first_offset <= batch.last_offset()
        {
            self.open.insert(next.producer_id);
            self.ahead = rest;
        }
        if batch.is_control() {
            // A marker ends its producer's transaction.
            self.open.remove(&batch.producer_id());
            return true;
        }
        batch.is_transactional() && self.open.contains(&batch.producer_id())
    }
}

impl Scan {
    /// What lies from `from` on, up to the end of what was read; or up to `below`, if nothing was.
    pub(super) fn of(
        read: &FetchedRecords,
        from: Offset,
        below: Offset,
    ) -> Result<Self, BatchError> {
        let mut scan = Self {
            end: from,
            ..Self::default()
        };
        let mut aborted = Aborted {
            ahead: &read.aborted_transactions,
            open: HashSet::new(),
        };
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
        self.found.push(match is_gap {
            true => Found::gap(base, last),
            false => Found::records(base, last),
        });
        self.end = last.plus(1);
        self.batches.push((base, last, bytes));
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
