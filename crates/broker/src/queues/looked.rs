//! What one decision of a machine looks at: parts of several pieces of the log, in the order of their offsets.
//!
//! Why it exists: records that come again lie far apart; a decision for each of them, logged by itself, would cost more than the records.
//! In -> out: pieces -> what was found in them, and each record on demand.

use super::piece::Piece;
use fanlog_coordinators::queue::Found;
use fanlog_model::{Offset, TimestampMs};
use fanlog_protocol::records::RecordView;
use std::sync::Arc;

/// No further piece is looked at once these take so much.
const PIECES_BYTES_MAX: usize = 1024 * 1024;

/// How much is looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Places of each piece.
    pub(super) places: usize,
    /// Bytes of records of all of them.
    pub(super) bytes: usize,
    /// Below this offset: a piece may have more than a queue that ends is to get.
    pub(super) below: Offset,
    /// Whether the first record may be larger than that.
    pub(super) is_first: bool,
}

/// Parts of pieces.
#[derive(Debug, Default)]
pub(super) struct Looked {
    pieces: Vec<Arc<Piece>>,
    found: Vec<Found>,
    /// Beside `found`: the bytes of each record.
    lengths: Vec<usize>,
    bytes: usize,
}

impl Looked {
    pub(super) fn found(&self) -> &[Found] {
        &self.found
    }

    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// The offset behind what is looked at.
    pub(super) fn end(&self) -> Offset {
        self.found
            .last()
            .map_or(Offset::ZERO, |last| last.last.plus(1))
    }

    /// Looks at a piece as well, from an offset on: at as many records as fit into the answer, and at one at least. Says whether there is
    /// room for more.
    pub(super) fn add(&mut self, piece: Arc<Piece>, from: Offset, limits: Limits) -> bool {
        let mut has_room = true;
        let places = piece.places_from(from).take(limits.places);
        for (found, length) in places.take_while(|(found, _)| found.first < limits.below) {
            if !found.is_gap && found.is_wanted {
                let may_exceed = limits.is_first && self.found.is_empty();
                has_room = self.bytes + length <= limits.bytes || may_exceed;
                if !has_room && !self.found.is_empty() {
                    break;
                }
                self.bytes += length;
            }
            self.found.push(found);
            self.lengths.push(length);
            if !has_room {
                break;
            }
        }
        self.pieces.push(piece);
        let bytes: usize = self.pieces.iter().map(|piece| piece.bytes()).sum();
        has_room && bytes < PIECES_BYTES_MAX
    }

    /// The most that so many records can have.
    pub(super) fn bytes_at_most(&self, records: usize) -> usize {
        let places = self.found.iter().zip(&self.lengths);
        let wanted = places.filter(|(found, _)| !found.is_gap && found.is_wanted);
        let mut each: Vec<_> = wanted.map(|(_, length)| *length).collect();
        if each.len() > records {
            each.select_nth_unstable_by(records, |one, other| other.cmp(one));
            each.truncate(records);
        }
        each.iter().sum()
    }

    /// The record at an offset and its time, if there is one.
    pub(super) fn record(&self, offset: Offset) -> Option<(RecordView<'_>, TimestampMs)> {
        let piece = self.pieces.iter().find(|piece| piece.covers(offset));
        piece.and_then(|piece| piece.record(offset))
    }

    /// How many bytes the record at an offset has.
    pub(super) fn record_bytes(&self, offset: Offset) -> usize {
        let at = self.found.partition_point(|found| found.last < offset);
        self.lengths.get(at).copied().unwrap_or_default()
    }
}
