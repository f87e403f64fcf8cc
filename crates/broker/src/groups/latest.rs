//! Work that is due again whenever something has changed, and must not be overtaken by what was found before the change.
//!
//! Why it exists: it takes long and runs beside what asks for it; two that run at once may tell what they found in the wrong order.
//! Owns: that one runs at a time, and one at most waits.   Never: what the work is.

use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether work is due, and the right to do it.
#[derive(Debug, Default)]
pub(super) struct Latest {
    is_due: AtomicBool,
    working: Mutex<()>,
}

impl Latest {
    /// Something has changed: whether the caller must have the work done. If not, somebody will who has not begun.
    pub(super) fn ask(&self) -> bool {
        !self.is_due.swap(true, Ordering::AcqRel)
    }

    /// Does the work once all that was begun before is done. It must look at what has changed in here, not before.
    pub(super) fn run(&self, work: impl FnOnce()) {
        let _only_one = self.working.lock();
        // What was changed before it was asked for is seen from here on.
        self.is_due.swap(false, Ordering::AcqRel);
        work();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    /// A change comes while the work before it is under way, which has looked at the old state and is slow to tell.
    #[test]
    fn what_is_told_last_is_the_newest() {
        let (latest, state) = (Latest::default(), AtomicU32::new(1));
        let told = Mutex::new(Vec::new());
        let tell = |found| told.lock().push(found);
        assert!(latest.ask());
        std::thread::scope(|scope| {
            latest.run(|| {
                let found = state.load(Ordering::Acquire);
                state.store(2, Ordering::Release);
                assert!(latest.ask(), "the work under way has looked before");
                assert!(!latest.ask(), "one that waits is enough");
                scope.spawn(|| latest.run(|| tell(state.load(Ordering::Acquire))));
                // The other one has every chance to be first.
                for _ in 0..20_000 {
                    if !told.lock().is_empty() {
                        break;
                    }
                    std::thread::yield_now();
                }
                tell(found);
            });
        });
        assert_eq!(told.into_inner(), [1, 2]);
    }
}
