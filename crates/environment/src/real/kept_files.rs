//! The files that are kept open, in the order in which they are offered to be closed.
//!
//! A file that was used since it was last offered is passed over once (a clock, which costs nothing when a file is used, where
//! an exact order would cost a lock).

use crate::KeptFile;
use crate::kept_file::Offer;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::{Arc, Weak};

/// How many files are offered before a search is given up: most are pinned then.
const OFFERS_MAX: usize = 1024;

/// How many files are tried to be synced before a search is given up: the others are in use then.
const SYNCS_MAX: usize = 64;

#[derive(Debug, Default)]
pub(super) struct KeptFiles(Mutex<VecDeque<Weak<KeptFile>>>);

impl KeptFiles {
    pub(super) fn add(&self, file: &Arc<KeptFile>) {
        self.0.lock().push_back(Arc::downgrade(file));
    }

    /// Closes one file; whether there was one to close. Where all have bytes that are not synced, one is synced for it.
    pub(super) fn close_one(&self) -> bool {
        self.close_unused() || self.close_pinned()
    }

    fn close_unused(&self) -> bool {
        let mut files = self.0.lock();
        let offers = (2 * files.len()).min(OFFERS_MAX);
        for _ in 0..offers {
            let Some(oldest) = files.pop_front() else {
                return false;
            };
            let Some(file) = oldest.upgrade() else {
                continue;
            };
            match file.offer() {
                Offer::Closed => return true,
                Offer::WasClosed => {}
                Offer::Kept | Offer::Pinned => files.push_back(oldest),
            }
        }
        false
    }

    /// The sync takes its time: the others can be used meanwhile.
    fn close_pinned(&self) -> bool {
        let offers = self.0.lock().len().min(SYNCS_MAX);
        for _ in 0..offers {
            let Some(oldest) = self.0.lock().pop_front() else {
                return false;
            };
            let Some(file) = oldest.upgrade() else {
                continue;
            };
            if file.sync_and_close() {
                return true;
            }
            self.0.lock().push_back(oldest);
        }
        false
    }
}
