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

#[derive(Debug, Default)]
pub(super) struct KeptFiles(Mutex<VecDeque<Weak<KeptFile>>>);

impl KeptFiles {
    pub(super) fn add(&self, file: &Arc<KeptFile>) {
        self.0.lock().push_back(Arc::downgrade(file));
    }

    /// Closes one file; whether there was one to close.
    pub(super) fn close_one(&self) -> bool {
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
                Offer::Kept => files.push_back(oldest),
            }
        }
        false
    }
}
