//! Panics on this thread: the broker catches its own and goes on, so that a broken invariant would pass unseen.

use std::cell::RefCell;
use std::sync::Once;

thread_local! {
    static SEEN: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// From here on panics of this thread are kept, and printed no more.
pub(crate) fn watch() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let is_watched = SEEN.with_borrow_mut(|seen| match seen {
                Some(seen) => {
                    seen.push(panic.to_string());
                    true
                }
                None => false,
            });
            if !is_watched {
                before(panic);
            }
        }));
    });
    SEEN.with_borrow_mut(|seen| *seen = Some(Vec::new()));
}

/// The first panic since `watch`.
pub(crate) fn first() -> Option<String> {
    SEEN.with_borrow(|seen| seen.as_ref()?.first().cloned())
}

/// Panics are printed again.
pub(crate) fn unwatch() {
    SEEN.with_borrow_mut(|seen| *seen = None);
}
