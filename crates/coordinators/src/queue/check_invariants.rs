//! What must hold of a partition of a queue at any time.

use super::index::{Index, first_to_last};
use super::waiting::Ready;
use super::{Ledger, Order, State, Waiting};
use crate::runs::RunState;
use fanlog_model::Offset;
use fanlog_model::invariants::{QUE_1, QUE_2, QUE_3};
use std::collections::{BTreeMap, BTreeSet};

/// Records below the cursor are looked at one by one up to so many.
const LOOKED_AT_MAX: i64 = 100_000;

/// Panics if a promise is broken. Run after every step in tests and simulation.
///
/// # Panics
/// With the invariant's name.
pub fn check_invariants(ledger: &Ledger, waiting: &Waiting) {
    check_states(ledger);
    check_consumers(ledger);
    if waiting.is_loaded {
        check_waiting(ledger, waiting);
    }
    if waiting.is_loaded && waiting.order == Order::Key {
        check_held_keys(ledger, waiting);
        check_first_of_keys(ledger, waiting);
    }
}

fn check_states(ledger: &Ledger) {
    let mut index = Index::default();
    let mut grants = BTreeMap::new();
    for (first, last, state) in ledger.states.iter() {
        assert!(
            ledger.head.start <= first,
            "{QUE_2}: {first} has a state below the start"
        );
        state.note(first, last, &mut index, true);
        if let State::Held(held) = state {
            grants.insert(held.grant, held.grant + first_to_last(first, last));
        }
    }
    assert_eq!(&index, ledger.index(), "the index tells of other records");
    assert!(
        ledger.states.at(ledger.head.start).0 != State::Done,
        "the start stands at a record that is done with"
    );
    let mut used_to = 0;
    for (first, end) in grants {
        assert!(
            used_to <= first,
            "{QUE_1}: two hand-overs have number {first}"
        );
        used_to = end;
    }
    assert!(
        used_to <= ledger.head.next_grant,
        "{QUE_1}: the number of a hand-over is given again"
    );
    let row = ledger.head.row;
    let last_move = index.row.last_key_value().map(|(last, _)| *last);
    assert!(
        last_move.is_none_or(|last| last < row.next) && ledger.head.moved_below <= row.next,
        "{QUE_2}: the number of a move is given again"
    );
    assert!(
        index.moving == 0 || row.target.is_some(),
        "{QUE_2}: records are moved to nowhere"
    );
}

fn check_consumers(ledger: &Ledger) {
    let named: Vec<_> = ledger.consumers.keys().collect();
    let holding: Vec<_> = ledger.index().consumers.keys().collect();
    assert_eq!(named, holding, "{QUE_1}: records are held by nobody");
    assert_eq!(
        ledger.by_name.len(),
        named.len(),
        "two consumers have one name"
    );
}

fn check_waiting(ledger: &Ledger, waiting: &Waiting) {
    let cursor = waiting.cursor(ledger);
    let is_open = |offset: Offset| {
        let state = ledger.state(offset).0;
        offset < cursor && matches!(state, State::Fresh | State::Resting { .. })
    };
    let mut keyless = 0;
    for (first, last, ready) in waiting.ready.iter() {
        assert_eq!(ready, Ready::Yes);
        for offset in (first.0..=last.0).map(Offset) {
            assert!(is_open(offset), "{QUE_1}: {offset} is ready, and not open");
            keyless += u64::from(!waiting.parked.contains_key(&offset));
        }
    }
    for (offset, parked) in &waiting.parked {
        assert!(
            is_open(*offset),
            "{QUE_1}: {offset} is parked, and not open"
        );
        keyless += u64::from(parked.key.is_none());
        let is_timed = waiting.timers.contains(&(parked.due, *offset));
        assert!(
            !is_timed || !waiting.is_ready(*offset),
            "{offset} is ready and waits"
        );
        match parked.key {
            None => assert!(is_timed, "{QUE_2}: {offset} is never looked at again"),
            Some(key) => assert!(
                waiting.keys.contains(&(key, *offset)),
                "{offset} has no key"
            ),
        }
    }
    assert_eq!(
        keyless, waiting.keyless,
        "records without a key are counted"
    );
    for (due, offset) in &waiting.timers {
        let parked = waiting.parked.get(offset).map(|parked| parked.due);
        assert_eq!(parked, Some(*due), "{offset} has a timer, and no time");
    }
    let start = ledger.head.start;
    if cursor.0 - start.0 > LOOKED_AT_MAX {
        return;
    }
    let keyed: BTreeSet<_> = waiting.keys.iter().map(|(_, offset)| *offset).collect();
    for offset in (start.0..cursor.0).map(Offset).filter(|o| is_open(*o)) {
        let is_found = waiting.is_ready(offset)
            || waiting.parked.contains_key(&offset)
            || keyed.contains(&offset);
        assert!(is_found, "{QUE_2}: {offset} is open, and nothing tracks it");
    }
}

fn check_held_keys(ledger: &Ledger, waiting: &Waiting) {
    let mut held_keys = BTreeSet::new();
    let mut holders = BTreeMap::new();
    for (first, last, state) in ledger.states.iter() {
        let State::Held(held) = state else {
            continue;
        };
        let Some(key) = held.key else {
            continue;
        };
        let holder = *holders.entry(key).or_insert(held.consumer);
        assert_eq!(
            holder, held.consumer,
            "{QUE_3}: two hold the key of {first}"
        );
        held_keys.extend((first.0..=last.0).map(|offset| (key, Offset(offset))));
    }
    assert_eq!(held_keys, waiting.held_keys, "{QUE_3}: keys are held");
}

fn check_first_of_keys(ledger: &Ledger, waiting: &Waiting) {
    let mut is_first_found = BTreeSet::new();
    for (key, offset) in &waiting.keys {
        let state = ledger.state(*offset).0;
        let is_open = matches!(state, State::Fresh | State::Resting { .. });
        let due = waiting.parked.get(offset).map(|parked| parked.due);
        let is_timed = due.is_some_and(|due| waiting.timers.contains(&(due, *offset)));
        let is_shown = waiting.is_ready(*offset) || is_timed;
        let lowest = (*key, Offset(i64::MIN))..=(*key, Offset(i64::MAX));
        let is_held = waiting.held_keys.range(lowest).next().is_some();
        let behind = (*key, *offset)..=(*key, Offset(i64::MAX));
        assert!(
            !is_open || waiting.held_keys.range(behind).next().is_none(),
            "{QUE_3}: a record behind {offset} and of its key is held"
        );
        let is_first = is_open && !is_held && is_first_found.insert(*key);
        assert_eq!(
            is_shown, is_first,
            "{QUE_3}: {offset} is shown and not the first of its key, or the other way round"
        );
    }
}
