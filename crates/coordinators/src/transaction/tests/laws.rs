//! Random producers, of both generations, with crashes between any two steps: an outcome that was decided is never another one, and
//! every prefix of the log is a machine.

use super::world::*;
use crate::transaction::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
enum Step {
    Init(usize, bool),
    Add(usize),
    End(usize, bool),
    /// A request with the producer before the present one: late, or a zombie's.
    LateEnd(usize, bool),
    LateAdd(usize),
    Markers(usize),
    Pass(i64),
    Crash,
}

fn step() -> impl Strategy<Value = Step> {
    let id = 0usize..3;
    prop_oneof![
        2 => (id.clone(), any::<bool>()).prop_map(|(id, says)| Step::Init(id, says)),
        6 => id.clone().prop_map(Step::Add),
        6 => (id.clone(), any::<bool>()).prop_map(|(id, commit)| Step::End(id, commit)),
        2 => (id.clone(), any::<bool>()).prop_map(|(id, commit)| Step::LateEnd(id, commit)),
        1 => id.prop_map(Step::LateAdd),
        6 => (0usize..4).prop_map(Step::Markers),
        2 => (1i64..40_000).prop_map(Step::Pass),
        2 => Just(Step::Crash),
    ]
}

const IDS: [&str; 3] = ["a", "b", "c"];

/// What the world outside knows.
#[derive(Default)]
struct Clients {
    present: BTreeMap<usize, Producer>,
    before: BTreeMap<usize, Producer>,
    /// What a transaction under way became, by producer id and the epoch of its markers.
    outcomes: BTreeMap<(i64, i16), bool>,
}

fn run(version: ClientVersion, steps: Vec<Step>) {
    let mut world = World::new();
    let mut clients = Clients::default();
    for step in steps {
        take(&mut world, &mut clients, version, step);
        for markers in &world.markers {
            let of = (markers.producer.id.get(), markers.producer.epoch.get());
            if version == ClientVersion::Second {
                let first = *clients.outcomes.entry(of).or_insert(markers.is_commit);
                assert_eq!(first, markers.is_commit, "TXN-1: two outcomes of {of:?}");
            }
        }
    }
    for kept in 0..world.log.len() {
        let ledger = replayed(&world.log[..kept]);
        let settings = TransactionSettings::default();
        let now = crate::Now::default();
        let (waiting, markers) = Waiting::after_loading(&settings, &ledger, 0, now);
        check_invariants(&ledger, &waiting);
        let ending = ledger.all().filter(|(_, known)| known.state.is_ending());
        assert_eq!(
            markers.len(),
            ending.count(),
            "what was prepared is completed"
        );
    }
}

fn take(world: &mut World, clients: &mut Clients, version: ClientVersion, step: Step) {
    match step {
        Step::Init(who, says) => {
            let expected = clients.present.get(&who).copied().filter(|_| says);
            if let Ok(given) = world.try_init(IDS[who], 30_000, expected)
                && let Some(before) = clients.present.insert(who, given)
            {
                clients.before.insert(who, before);
            }
        }
        Step::Add(who) => {
            if let Some(producer) = clients.present.get(&who) {
                let _ = world.add(IDS[who], *producer, version, false);
            }
        }
        Step::LateAdd(who) => {
            if let Some(producer) = clients.before.get(&who).copied() {
                let is_present = clients.present.get(&who) == Some(&producer);
                let added = world.add(IDS[who], producer, version, false);
                assert!(
                    added.is_err() || is_present,
                    "TXN-2: a zombie added a partition"
                );
            }
        }
        Step::End(who, commit) => {
            if let Some(producer) = clients.present.get(&who).copied()
                && let (_, Some(Ok(next))) = world.ask_end(IDS[who], producer, commit, version)
                && next != producer
            {
                clients.before.insert(who, producer);
                clients.present.insert(who, next);
            }
        }
        Step::LateEnd(who, commit) => {
            if let Some(producer) = clients.before.get(&who).copied() {
                let before = world.log.len();
                let _ = world.ask_end(IDS[who], producer, commit, version);
                let is_present = clients.present.get(&who) == Some(&producer);
                assert!(
                    world.log.len() == before || is_present,
                    "TXN-2: a zombie ended a transaction"
                );
            }
        }
        Step::Markers(which) => {
            if which < world.markers.len() {
                let markers = world.markers.remove(which);
                world.written(&markers);
                // Told twice, as after a reload.
                world.written(&markers);
            }
        }
        Step::Pass(ms) => world.pass(ms),
        // What nobody was told of may be lost; then the log is as it was before.
        Step::Crash => world.crash(usize::MAX),
    }
    // Who was told of the end later.
    let told = std::mem::take(&mut world.answers);
    for (_, answer) in told {
        if let Answer::End(Ok(next)) = answer {
            for (who, id) in IDS.iter().enumerate() {
                let known = world.ledger.get(&(*id).into());
                let is_of = known.is_some_and(|known| known.producer_id == next.id);
                if let Some(present) = clients.present.get(&who).copied()
                    && is_of
                    && (present.id != next.id || present.epoch < next.epoch)
                {
                    clients.before.insert(who, present);
                    clients.present.insert(who, next);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn the_first_generation_keeps_its_laws(steps in prop::collection::vec(step(), 1..60)) {
        run(ClientVersion::First, steps);
    }

    #[test]
    fn the_second_generation_keeps_its_laws(steps in prop::collection::vec(step(), 1..60)) {
        run(ClientVersion::Second, steps);
    }
}

#[test]
fn records_have_fixed_bytes() {
    let mut world = World::new();
    let producer = world.init("x");
    world
        .add("x", producer, ClientVersion::Second, false)
        .unwrap();
    let encoded: Vec<_> = world
        .log
        .iter()
        .map(|record| record_format::encode(record).unwrap())
        .collect();
    assert_eq!(encoded[0].key, b"\0\0\0\x01x");
    let value = encoded[1].value.as_ref().unwrap();
    let hex: String = value.iter().map(|byte| format!("{byte:02x}")).collect();
    // version, producer id, epoch, time-out, state, one topic with partition 0, two times, client version 2 as tag 2.
    let expected = "0001\
        00000000000003e9\
        0000\
        0000ea60\
        01\
        02\
        0274\
        02\
        00000000\
        00\
        000001a3185c5000\
        000001a3185c5000\
        01\
        02020002";
    assert_eq!(hex, expected);
}
