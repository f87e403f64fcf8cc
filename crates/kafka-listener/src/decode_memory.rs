//! How much memory requests may take once they are decoded.
//!
//! Why it exists: an element of an array takes two or three bytes in a frame, and twenty times as much as a value. The frame counts
//! against the listener's memory budget, and so does nothing else of it; small frames of many connections could become gigabytes.
//! Rule: decoded, a request may take as much as its frame and a little more. One of the few that need more waits for one of four slots,
//! so that pressure goes back through the socket. Requests that wait long for something else (Fetch, ShareFetch, JoinGroup, SyncGroup) or follow each
//! other without waiting (Produce) would hold a slot for long: they may take three times their frame, and no more.
//! Invariants: OPS-1.

use fanlog_model::limits::DECODED_BYTES_MAX;
use fanlog_protocol::ApiKey;
use fanlog_protocol::wire::DecodeError;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What any request may take beyond its share: thousands of elements in a small frame are nothing unusual.
const FLOOR_BYTES: usize = 64 * 1024;
/// How many times its frame a request may take that gets no slot. A fetch of topics of one partition each needs two and a half.
const LONG_WAIT_FACTOR: usize = 3;
/// How many requests at once may take more than their share: each up to `DECODED_BYTES_MAX`.
const SLOTS: usize = 4;

/// The slots of a listener. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct DecodeSlots(Arc<Semaphore>);

impl Default for DecodeSlots {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(SLOTS)))
    }
}

impl DecodeSlots {
    /// Waits for a slot, where that would help: the request takes more than its share and may.
    pub(crate) async fn slot_after<T>(
        &self,
        api: ApiKey,
        decoded: &Result<T, DecodeError>,
    ) -> Option<OwnedSemaphorePermit> {
        let is_too_large = matches!(decoded, Err(DecodeError::TooLarge { .. }));
        if !is_too_large || waits_long(api) {
            return None;
        }
        let permit = Arc::clone(&self.0).acquire_owned().await;
        Some(permit.expect("the slots' semaphore is never closed"))
    }
}

/// How many bytes a request may take decoded, without a slot.
pub(crate) fn share(api: ApiKey, frame_bytes: usize) -> usize {
    let factor = match waits_long(api) {
        true => LONG_WAIT_FACTOR,
        false => 1,
    };
    (FLOOR_BYTES + factor * frame_bytes).min(DECODED_BYTES_MAX)
}

fn waits_long(api: ApiKey) -> bool {
    matches!(
        api,
        ApiKey::Produce
            | ApiKey::Fetch
            | ApiKey::JoinGroup
            | ApiKey::SyncGroup
            | ApiKey::ShareFetch
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    const TOO_LARGE: Result<(), DecodeError> = Err(DecodeError::TooLarge { limit: 1 });

    #[test]
    fn large_requests_wait_for_each_other_and_those_that_wait_long_get_no_slot() {
        let slots = DecodeSlots::default();
        let mut poll = Context::from_waker(Waker::noop());
        let mut held: Vec<_> = (0..SLOTS)
            .map(|_| {
                let slot = pin!(slots.slot_after(ApiKey::Metadata, &TOO_LARGE));
                match slot.poll(&mut poll) {
                    Poll::Ready(Some(slot)) => slot,
                    _ => panic!("a slot is free"),
                }
            })
            .collect();
        let mut next = pin!(slots.slot_after(ApiKey::CreateTopics, &TOO_LARGE));
        assert!(next.as_mut().poll(&mut poll).is_pending());
        for (api, decoded) in [(ApiKey::Fetch, TOO_LARGE), (ApiKey::Metadata, Ok(()))] {
            let none = pin!(slots.slot_after(api, &decoded)).poll(&mut poll);
            assert!(matches!(none, Poll::Ready(None)));
        }
        held.pop();
        assert!(matches!(next.poll(&mut poll), Poll::Ready(Some(_))));
    }

    #[test]
    fn all_requests_together_are_bounded_by_their_frames() {
        for frame_bytes in [0, 1_000, 1_000_000, 100_000_000] {
            assert!(share(ApiKey::Metadata, frame_bytes) <= FLOOR_BYTES + frame_bytes);
            assert!(share(ApiKey::Fetch, frame_bytes) <= FLOOR_BYTES + 3 * frame_bytes);
            assert!(share(ApiKey::Fetch, frame_bytes) <= DECODED_BYTES_MAX);
        }
    }
}
