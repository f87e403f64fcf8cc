//! Faults on purpose, for the simulator to find: proof that it would find it. Only with the feature `planted-faults`.

use crate::queue::{QueueRecord, To, Why};
use std::cell::Cell;

thread_local! {
    static SKIPS_GENERATION_CHECK: Cell<bool> = const { Cell::new(false) };
    static GIVES_WHAT_IS_OWNED: Cell<bool> = const { Cell::new(false) };
    static FORGETS_ACKNOWLEDGEMENTS: Cell<bool> = const { Cell::new(false) };
    static FORGETS_RESTS: Cell<bool> = const { Cell::new(false) };
    static SHARES_KEYS: Cell<bool> = const { Cell::new(false) };
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

/// Whether a replay forgets the acknowledgements of queues, on this thread.
pub fn forget_acknowledgements(are_forgotten: bool) {
    FORGETS_ACKNOWLEDGEMENTS.set(are_forgotten);
}

pub(crate) fn replayed(mut record: QueueRecord) -> QueueRecord {
    if let QueueRecord::Update(update) = &mut record
        && FORGETS_ACKNOWLEDGEMENTS.get()
    {
        let is_kept = |to: &To| !matches!(to, To::Done(Why::Acknowledged));
        update.changes.retain(|change| is_kept(&change.to));
    }
    record
}

/// Whether a restart lets go at once what rests until a time, on this thread.
pub fn forget_rests(are_forgotten: bool) {
    FORGETS_RESTS.set(are_forgotten);
}

pub(crate) fn forgets_rests() -> bool {
    FORGETS_RESTS.get()
}

/// Whether a key that somebody holds is given to others too, on this thread.
pub fn share_keys(are_shared: bool) {
    SHARES_KEYS.set(are_shared);
}

pub(crate) fn shares_keys() -> bool {
    SHARES_KEYS.get()
}
