//! Records of the internal topics: any log, read in any order, gives a machine that runs.

use crate::parts;
use fanlog_coordinators::group::{self, FewTopics, GroupSettings, Input, Waiting, check_invariants, decide};
use fanlog_coordinators::{Now, catalog};
use fanlog_model::TimestampMs;
use std::time::Duration;

/// How long a replayed machine is watched.
const WATCHED: Duration = Duration::from_secs(600);
const TICKS_MAX: usize = 10_000;

/// A log of `__consumer_offsets`: keys and values in turn, an empty value being none.
pub(crate) fn group_records(bytes: &[u8]) {
    let mut ledger = group::Ledger::default();
    for (key, value) in pairs(bytes) {
        let Ok(record) = group::record_format::decode(Some(key), value) else {
            continue;
        };
        // Another program's record need not fit in ours; if it does, ours says the same.
        if let Ok(written) = group::record_format::encode(&record) {
            let again = group::record_format::decode(Some(&written.key), written.value.as_deref());
            assert_eq!(again.expect("what we wrote can be read"), record);
        }
        group::apply(&mut ledger, &record);
    }
    comes_to_rest(ledger);
}

/// Lets time pass over what was loaded.
fn comes_to_rest(mut ledger: group::Ledger) {
    let settings = GroupSettings::default();
    let mut now = Now {
        wall: TimestampMs(1_700_000_000_000),
        monotonic: Duration::ZERO,
    };
    let mut waiting = Waiting::after_loading(&settings, &ledger, now);
    check_invariants(&ledger, &waiting);
    for _ in 0..TICKS_MAX {
        let Some(at) = group::next_deadline(&waiting).filter(|at| *at < WATCHED) else {
            return;
        };
        assert!(
            at >= now.monotonic,
            "a deadline that has passed was not met"
        );
        now.monotonic = at;
        let decision = decide(
            &settings,
            &FewTopics::default(),
            &ledger,
            &mut waiting,
            now,
            Input::Tick,
        );
        assert!(decision.replies.is_empty(), "nobody has asked anything");
        for record in &decision.records {
            group::apply(&mut ledger, record);
        }
        check_invariants(&ledger, &waiting);
    }
    panic!("deadlines without end");
}

/// A log of the catalog: keys and values in turn, an empty value being none.
pub(crate) fn catalog_records(bytes: &[u8]) {
    let mut ledger = catalog::Ledger::default();
    for (key, value) in pairs(bytes) {
        let Ok(record) = catalog::Record::decode(key, value) else {
            continue;
        };
        let written = record.encode_value();
        let again = catalog::Record::decode(&record.encode_key(), written.as_deref());
        assert_eq!(again.expect("what we wrote can be read"), record);
        catalog::apply(&mut ledger, &record);
    }
}

fn pairs(bytes: &[u8]) -> impl Iterator<Item = (&[u8], Option<&[u8]>)> {
    let mut parts = parts(bytes);
    std::iter::from_fn(move || {
        let key = parts.next()?;
        let value = parts.next().filter(|value| !value.is_empty());
        Some((key, value))
    })
}
