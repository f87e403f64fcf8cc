//! Faults on purpose, for the simulator to find: proof that it would find it. Only with the feature `planted-faults`.

use std::cell::Cell;

thread_local! {
    static SKIPS_GENERATION_CHECK: Cell<bool> = const { Cell::new(false) };
    static GIVES_WHAT_IS_OWNED: Cell<bool> = const { Cell::new(false) };
}

/// Whether commits are taken from any generation, on this thread.
pub fn skip_generation_check(is_skipped: bool) {
    SKIPS_GENERATION_CHECK.set(is_skipped);
}

pub(crate) fn skips_generation_check() -> bool {
    SKIPS_GENERATION_CHECK.get()
}

/// Whether members of the new protocol get partitions that others have not given up, on this thread.
pub fn give_what_is_owned(is_given: bool) {
    GIVES_WHAT_IS_OWNED.set(is_given);
}

pub(crate) fn gives_what_is_owned() -> bool {
    GIVES_WHAT_IS_OWNED.get()
}
