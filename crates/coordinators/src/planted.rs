//! A fault on purpose, for the simulator to find: proof that it would find it. Only with the feature `planted-faults`.

use std::cell::Cell;

thread_local! {
    static SKIPS_GENERATION_CHECK: Cell<bool> = const { Cell::new(false) };
}

/// Whether commits are taken from any generation, on this thread.
pub fn skip_generation_check(is_skipped: bool) {
    SKIPS_GENERATION_CHECK.set(is_skipped);
}

pub(crate) fn skips_generation_check() -> bool {
    SKIPS_GENERATION_CHECK.get()
}
