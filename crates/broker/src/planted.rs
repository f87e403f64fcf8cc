//! Faults on purpose, for the simulator to find: proof that it would find them. Only with the feature `planted-faults`.

use std::cell::Cell;

thread_local! {
    static ANSWERS_EARLY: Cell<bool> = const { Cell::new(false) };
    static MOVES_AGAIN: Cell<bool> = const { Cell::new(false) };
}

/// Whether queues answer before what they decided is durable, on this thread.
pub fn answer_early(is_early: bool) {
    ANSWERS_EARLY.set(is_early);
}

pub(crate) fn answers_early() -> bool {
    ANSWERS_EARLY.get()
}

/// Whether a move that a crash interrupted begins anew, whatever has arrived, on this thread.
pub fn move_again(is_moved: bool) {
    MOVES_AGAIN.set(is_moved);
}

pub(crate) fn moves_again() -> bool {
    MOVES_AGAIN.get()
}
