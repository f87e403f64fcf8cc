//! Random histories against a model that keeps a state for each record.

use super::world::{World, found};
use crate::share::*;
use fanlog_model::Offset;
use proptest::prelude::*;
use std::time::Duration;

const RECORDS: i64 = 48;
const MEMBERS: [&str; 3] = ["a", "b", "c"];
const LOCK_MS: u64 = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct One {
    is: RecordState,
    /// Who holds it, for which delivery, until when.
    held: Option<(usize, i16, u64)>,
}

#[derive(Clone, Debug)]
enum Op {
    Acquire {
        member: usize,
        records_max: i64,
        is_strict: bool,
        cuts: Vec<u8>,
        from: u8,
    },
    Acknowledge {
        member: usize,
        ranges: Vec<(u8, u8, Vec<u8>)>,
    },
    Release(usize),
    LogStart(u8),
    Wait(u64),
    Crash,
}

fn op() -> impl Strategy<Value = Op> {
    let member = || 0..MEMBERS.len();
    let acquire = (
        member(),
        1..20_i64,
        any::<bool>(),
        proptest::collection::vec(any::<u8>(), 1..8),
        0..4_u8,
    );
    let range = (
        0..RECORDS as u8,
        0..6_u8,
        proptest::collection::vec(0..5_u8, 1..7),
    );
    prop_oneof![
        4 => acquire.prop_map(|(member, records_max, is_strict, cuts, from)| Op::Acquire {
            member, records_max, is_strict, cuts, from,
        }),
        5 => (member(), proptest::collection::vec(range, 0..4))
            .prop_map(|(member, ranges)| Op::Acknowledge { member, ranges }),
        1 => member().prop_map(Op::Release),
        1 => (0..RECORDS as u8).prop_map(Op::LogStart),
        2 => (1..80_u64).prop_map(Op::Wait),
        1 => Just(Op::Crash),
    ]
}

struct Model {
    records: Vec<One>,
    start: i64,
    limit: i16,
}

impl Model {
    fn at(&self, offset: i64) -> One {
        self.records[offset as usize]
    }

    fn fail(&mut self, offset: i64, delivery_count: i16) {
        let state = match delivery_count >= self.limit {
            true => DeliveryState::Archived,
            false => DeliveryState::Available,
        };
        self.records[offset as usize] = One {
            is: RecordState {
                state,
                delivery_count,
            },
            held: None,
        };
    }

    fn settle(&mut self) {
        while self.start < RECORDS && self.at(self.start).is.state.is_terminal() {
            self.start += 1;
        }
    }

    fn tick(&mut self, now: u64) {
        for offset in 0..RECORDS {
            if let Some((_, count, deadline)) = self.at(offset).held
                && deadline <= now
            {
                self.fail(offset, count);
            }
        }
        self.settle();
    }

    /// None if the acknowledgement is to be refused.
    fn acknowledge(&self, member: usize, ranges: &[AckRange], now: u64) -> Option<Vec<(i64, One)>> {
        let mut after = Vec::new();
        let mut before = -1;
        for range in ranges {
            if range.first.0 <= before {
                return None;
            }
            before = range.last.0;
            for offset in range.first.0..=range.last.0 {
                let kind = match range.types.len() {
                    1 => range.types[0],
                    _ => range.types[(offset - range.first.0) as usize],
                };
                if offset < self.start {
                    continue;
                }
                let one = (offset < RECORDS).then(|| self.at(offset))?;
                let (_, count, _) = one.held.filter(|(holder, ..)| *holder == member)?;
                let state = match kind {
                    AckType::Renew => {
                        let held = Some((member, count, now + LOCK_MS));
                        after.push((offset, One { held, ..one }));
                        continue;
                    }
                    AckType::Accept => DeliveryState::Acknowledged,
                    AckType::Reject | AckType::Gap => DeliveryState::Archived,
                    AckType::Release if count >= self.limit => DeliveryState::Archived,
                    AckType::Release => DeliveryState::Available,
                };
                let is = RecordState {
                    state,
                    delivery_count: count,
                };
                after.push((offset, One { is, held: None }));
            }
        }
        Some(after)
    }

    fn check(&self, world: &World) {
        assert_eq!(world.ledger.start(), Some(Offset(self.start)));
        for offset in self.start..RECORDS {
            let one = self.at(offset);
            assert_eq!(world.ledger.at(Offset(offset)).0, one.is, "{offset}");
            let held = world.waiting.held.at(Offset(offset)).ok();
            let held = held.map(|(_, hold)| {
                let member = MEMBERS.iter().position(|m| **m == *hold.member).unwrap();
                let deadline = hold.deadline.as_millis() as u64;
                (member, hold.delivery_count, deadline)
            });
            assert_eq!(held, one.held, "{offset}");
        }
        let behind = &self.records[self.start as usize..];
        let done = behind.iter().filter(|one| one.is.state.is_terminal());
        assert_eq!(world.ledger.delivery_complete_count(), done.count() as i64);
    }
}

/// Batches of the log from an offset on, some of them gaps.
fn batches(from: i64, cuts: &[u8]) -> Vec<Found> {
    let mut batches = Vec::new();
    let mut first = from;
    for cut in cuts {
        let last = (first + i64::from(cut % 9)).min(RECORDS - 1);
        if first > last {
            break;
        }
        batches.push(Found {
            is_gap: cut % 7 == 6,
            ..found(first, last)
        });
        first = last + 1;
    }
    batches
}

fn run(ops: Vec<Op>, policy: Policy) {
    let window = policy.window;
    let mut model = Model {
        records: vec![
            One {
                is: RecordState::FRESH,
                held: None
            };
            RECORDS as usize
        ],
        start: 0,
        limit: policy.delivery_count_max,
    };
    let mut world = World::begun(policy);
    for op in ops {
        match op {
            Op::Acquire {
                member,
                records_max,
                is_strict,
                cuts,
                from,
            } => {
                let policy = world.policy.clone();
                let next = world.waiting.next_available(&world.ledger, &policy);
                let from = next.map_or(0, |next| (next.0 - i64::from(from)).max(0));
                let batches = batches(from, &cuts);
                let mode = match is_strict {
                    true => AcquireMode::RecordLimit,
                    false => AcquireMode::WholeRanges,
                };
                let in_flight = |model: &Model| {
                    let behind = model.records[model.start as usize..].iter();
                    let open = behind.filter(|one| !one.is.state.is_terminal());
                    open.filter(|one| one.held.is_some() || one.is.delivery_count > 0)
                        .count() as i64
                };
                let room_before = window - in_flight(&model);
                let acquired = world.acquire(MEMBERS[member], records_max, mode, &batches);
                let deadline = world.now_ms + LOCK_MS;
                let mut total = 0;
                for range in &acquired {
                    for offset in range.first.0..=range.last.0 {
                        let one = model.at(offset);
                        assert!(offset >= model.start && !one.is.state.is_terminal());
                        assert_eq!(one.held, None, "QUE-1");
                        assert_eq!(range.delivery_count, one.is.delivery_count + 1);
                        let within =
                            |b: &Found| !b.is_gap && b.first.0 <= offset && offset <= b.last.0;
                        assert!(batches.iter().any(within));
                        assert!(one.is.delivery_count > 0 || room_before > 0);
                        model.records[offset as usize].held =
                            Some((member, range.delivery_count, deadline));
                        total += 1;
                    }
                }
                assert!(!is_strict || total <= records_max);
                let may_give = |b: &Found, offset: i64| {
                    let one = model.at(offset);
                    !b.is_gap
                        && offset >= model.start
                        && !one.is.state.is_terminal()
                        && one.held.is_none()
                        && (one.is.delivery_count > 0 || room_before > 0)
                };
                if total == 0 {
                    let missed = batches
                        .iter()
                        .any(|b| (b.first.0..=b.last.0).any(|offset| may_give(b, offset)));
                    assert!(!missed, "records were there: {batches:?}");
                }
                // Gaps are done with, as far as they were passed.
                for batch in batches.iter().filter(|b| b.is_gap) {
                    for offset in batch.first.0..=batch.last.0 {
                        let one = &mut model.records[offset as usize];
                        let is = world.ledger.at(Offset(offset)).0;
                        let is_newly_done = offset >= model.start
                            && one.held.is_none()
                            && !one.is.state.is_terminal()
                            && (is.state.is_terminal()
                                || Some(Offset(offset)) < world.ledger.start());
                        if is_newly_done {
                            one.is.state = DeliveryState::Archived;
                        }
                    }
                }
                model.settle();
            }
            Op::Acknowledge { member, ranges } => {
                let types = |codes: &[u8], count: usize| -> Vec<AckType> {
                    let all = [
                        AckType::Gap,
                        AckType::Accept,
                        AckType::Release,
                        AckType::Reject,
                        AckType::Renew,
                    ];
                    let given: Vec<_> = codes.iter().map(|code| all[*code as usize]).collect();
                    match given.len() >= count {
                        true => given[..count].to_vec(),
                        false => vec![given[0]],
                    }
                };
                let mut ranges: Vec<_> = ranges
                    .into_iter()
                    .map(|(first, length, codes)| AckRange {
                        first: Offset(first.into()),
                        last: Offset(i64::from(first) + i64::from(length)),
                        types: types(&codes, usize::from(length) + 1),
                    })
                    .collect();
                ranges.sort_by_key(|range| range.first);
                let expected = model.acknowledge(member, &ranges, world.now_ms);
                let outcome = world.acknowledge(MEMBERS[member], &ranges);
                assert_eq!(outcome.is_ok(), expected.is_some(), "{outcome:?}");
                for (offset, one) in expected.into_iter().flatten() {
                    model.records[offset as usize] = one;
                }
                model.settle();
            }
            Op::Release(member) => {
                world.step(Input::Release {
                    member: MEMBERS[member],
                });
                for offset in 0..RECORDS {
                    if let Some((holder, count, _)) = model.at(offset).held
                        && holder == member
                    {
                        model.fail(offset, count);
                    }
                }
                model.settle();
            }
            Op::LogStart(start) => {
                world.step(Input::LogStart(Offset(start.into())));
                model.start = model.start.max(start.into());
                model.settle();
            }
            Op::Wait(ms) => {
                world.now_ms += ms;
                world.step(Input::Tick);
                model.tick(world.now_ms);
            }
            Op::Crash => {
                world.crash();
                for one in &mut model.records {
                    one.held = None;
                }
            }
        }
        for offset in 0..model.start {
            model.records[offset as usize].held = None;
        }
        model.check(&world);
        assert_eq!(world.replayed(), world.ledger, "replay equals live");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_record_stands_where_the_model_says(
        ops in proptest::collection::vec(op(), 0..60),
        limit in 2..6_i16,
        window in prop_oneof![Just(8_i64), Just(2000)],
        isolates_poison in any::<bool>(),
        updates_per_snapshot in 1..20_u32,
    ) {
        run(ops, Policy {
            delivery_count_max: limit,
            lock: Duration::from_millis(LOCK_MS),
            window,
            isolates_poison,
            updates_per_snapshot,
            ..Policy::default()
        });
    }
}
