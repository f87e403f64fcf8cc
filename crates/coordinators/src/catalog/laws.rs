//! The laws of every machine: replay equals live, every prefix is legal, same inputs give the same bytes.

use super::testing::Catalog;
use super::*;
use fanlog_model::{ProducerId, TopicId};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A request in small numbers, so that requests meet: eight names, few counts.
#[derive(Clone, Debug)]
enum Step {
    Create(Vec<(u8, i32, i16)>),
    Delete(Vec<u8>),
    Grow(u8, i32),
    Alter(u8, ChangeKind, u8),
    Replace(u8, u8),
    AlterBroker(bool, ChangeKind, u8),
    ProducerIds,
    OffsetsTopic,
    Made(u8, i32),
    CreateQueue(u8, u8),
    AlterQueue(u8, bool),
    DeleteQueue(u8),
    PutDocument(u8, bool),
    DeleteDocument(u8),
}

const NAMES: [&str; 8] = [
    "a",
    "a.b",
    "a_b",
    "c",
    "",
    "x/y",
    "__consumer_offsets",
    "long-name",
];

fn step() -> impl Strategy<Value = Step> {
    let kind = || {
        prop_oneof![
            Just(ChangeKind::Set),
            Just(ChangeKind::Delete),
            Just(ChangeKind::Append),
            Just(ChangeKind::Subtract),
        ]
    };
    let name = || 0..8_u8;
    prop_oneof![
        3 => vec((name(), -1..6_i32, -1..3_i16), 1..4).prop_map(Step::Create),
        1 => vec(name(), 1..3).prop_map(Step::Delete),
        1 => (name(), 0..9_i32).prop_map(|(n, c)| Step::Grow(n, c)),
        2 => (name(), kind(), 0..4_u8).prop_map(|(n, k, v)| Step::Alter(n, k, v)),
        1 => (name(), 0..4_u8).prop_map(|(n, v)| Step::Replace(n, v)),
        1 => (any::<bool>(), kind(), 0..4_u8).prop_map(|(a, k, v)| Step::AlterBroker(a, k, v)),
        1 => Just(Step::ProducerIds),
        1 => Just(Step::OffsetsTopic),
        1 => (name(), 0..9_i32).prop_map(|(n, c)| Step::Made(n, c)),
        2 => (name(), name()).prop_map(|(n, t)| Step::CreateQueue(n, t)),
        1 => (name(), any::<bool>()).prop_map(|(n, p)| Step::AlterQueue(n, p)),
        1 => name().prop_map(Step::DeleteQueue),
        2 => (name(), any::<bool>()).prop_map(|(n, knows)| Step::PutDocument(n, knows)),
        1 => name().prop_map(Step::DeleteDocument),
    ]
}

fn name(index: u8) -> String {
    NAMES[usize::from(index)].to_owned()
}

fn change(is_topic: bool, kind: ChangeKind, value: u8) -> ConfigChange {
    let (list, number) = match is_topic {
        true => ("cleanup.policy", "retention.ms"),
        false => ("log.cleanup.policy", "log.retention.ms"),
    };
    let (name, value) = match value {
        0 => (list, "compact"),
        1 => (list, "delete,compact"),
        2 => (number, "1000"),
        _ => (number, "wrong"),
    };
    ConfigChange {
        name: name.to_owned(),
        kind,
        value: Some(value.to_owned()),
    }
}

/// Carries out a step; the block if it was for producer ids.
fn run(catalog: &mut Catalog, step: &Step) -> Option<ProducerIdBlock> {
    match step {
        Step::Create(topics) => {
            let request: Vec<NewTopic> = topics
                .iter()
                .map(|(n, partitions, copies)| NewTopic {
                    replication_factor: *copies,
                    ..catalog.new_topic(&name(*n), *partitions)
                })
                .collect();
            let decision = create_topics(&catalog.ledger, &catalog.rules, &request, false);
            catalog.carry_out(decision);
        }
        Step::Delete(names) => {
            let request: Vec<_> = names.iter().map(|n| TopicRef::Name(name(*n))).collect();
            let decision = delete_topics(&catalog.ledger, &catalog.rules, &request);
            catalog.carry_out(decision);
        }
        Step::Grow(n, count) => {
            let request = [PartitionGrowth {
                topic: name(*n),
                count: *count,
                assignments: None,
            }];
            let decision = create_partitions(&catalog.ledger, &catalog.rules, &request, false);
            catalog.carry_out(decision);
        }
        Step::Alter(..) | Step::AlterBroker(..) => alter(catalog, step),
        Step::Replace(n, value) => {
            let change = change(true, ChangeKind::Set, *value);
            let request = [Replacement {
                resource: ConfigResource {
                    kind: ResourceKind::Topic,
                    name: name(*n),
                },
                entries: vec![(change.name, change.value)],
            }];
            let decision = alter_configs(&catalog.ledger, &catalog.rules, &request, false);
            catalog.carry_out(decision);
        }
        Step::ProducerIds => {
            let decision = allocate_producer_ids(&catalog.ledger);
            return catalog.carry_out(decision).ok();
        }
        Step::OffsetsTopic => {
            catalog.ensure_offsets_topic();
        }
        Step::CreateQueue(..) | Step::AlterQueue(..) | Step::DeleteQueue(_) => {
            run_queue(catalog, step)
        }
        Step::PutDocument(..) | Step::DeleteDocument(_) => run_document(catalog, step),
        Step::Made(n, count) => {
            let id = catalog.topic(&name(*n)).map_or(TopicId::ZERO, |t| t.id);
            let decision = note_made(&catalog.ledger, &[(id, *count)]);
            catalog.carry_out(decision);
        }
    }
    None
}

fn run_document(catalog: &mut Catalog, step: &Step) {
    let version = |catalog: &Catalog, n: &u8| {
        let found = catalog.ledger.view().document("space", &name(*n));
        found.map(|document| document.version)
    };
    match step {
        Step::PutDocument(n, knows_version) => {
            let put = PutDocument {
                space: "space".to_owned(),
                name: name(*n),
                expected: version(catalog, n).filter(|_| *knows_version),
                drawn: catalog.draw_id().0.as_u128() as u64,
                bytes: vec![*n; usize::from(*n)].into(),
            };
            let decision = put_document(&catalog.ledger, &put);
            catalog.carry_out(decision).ok();
        }
        Step::DeleteDocument(n) => {
            let expected = version(catalog, n).unwrap_or_default();
            let decision = delete_document(&catalog.ledger, ("space", &name(*n)), expected);
            catalog.carry_out(decision).ok();
        }
        _ => unreachable!("only documents come here"),
    }
}

fn run_queue(catalog: &mut Catalog, step: &Step) {
    let named = |n: &u8| GroupId::from(name(*n).as_str());
    match step {
        Step::CreateQueue(n, topic) => {
            let new = NewQueue {
                id: catalog.draw_id().0,
                name: named(n),
                topic: name(*topic),
                start: QueueStart::Latest,
                overrides: Overrides::new(),
                taken_by: None,
                begun: None,
            };
            let decision = create_queue(&catalog.ledger, &catalog.rules, &new);
            catalog.carry_out(decision).ok();
        }
        Step::AlterQueue(n, is_paused) => {
            let changes = [("paused".to_owned(), Some(is_paused.to_string()))].into();
            let decision = alter_queue(&catalog.ledger, &catalog.rules, &named(n), &changes);
            catalog.carry_out(decision).ok();
        }
        Step::DeleteQueue(n) => {
            let decision = delete_queue(&catalog.ledger, &catalog.rules, &named(n));
            catalog.carry_out(decision).ok();
        }
        _ => unreachable!("only queues come here"),
    }
    let view = catalog.ledger.view();
    let has_topic = |queue: &Arc<Queue>| view.topic_by_id(queue.topic).is_some();
    assert!(
        view.queues().all(has_topic),
        "no queue is without its topic"
    );
}

fn alter(catalog: &mut Catalog, step: &Step) {
    let (kind, name, change) = match step {
        Step::Alter(n, kind, value) => (ResourceKind::Topic, name(*n), change(true, *kind, *value)),
        Step::AlterBroker(is_for_all, kind, value) => {
            let name = if *is_for_all { "" } else { "1" }.to_owned();
            (ResourceKind::Broker, name, change(false, *kind, *value))
        }
        _ => unreachable!("only alterations come here"),
    };
    let request = [IncrementalAlteration {
        resource: ConfigResource { kind, name },
        changes: vec![change],
    }];
    let decision = incremental_alter_configs(&catalog.ledger, &catalog.rules, &request, false);
    catalog.carry_out(decision);
}

type Bytes = (Vec<u8>, Option<Vec<u8>>);

fn bytes_of(log: &[Record]) -> Vec<Bytes> {
    log.iter()
        .map(|r| (r.encode_key(), r.encode_value()))
        .collect()
}

fn replay(log: &[Bytes]) -> Ledger {
    let mut ledger = Ledger::new();
    for (key, value) in log {
        let record = Record::decode(key, value.as_deref()).expect("what was written is readable");
        apply(&mut ledger, &record);
        ledger.check_invariants();
    }
    ledger
}

/// The last record of each key, where it stood; what a compacted log would hold.
fn compacted(log: &[Bytes]) -> Vec<Bytes> {
    let mut seen = BTreeSet::new();
    let mut kept: Vec<Bytes> = log
        .iter()
        .rev()
        .filter(|(key, _)| seen.insert(key.clone()))
        .filter(|(_, value)| value.is_some())
        .cloned()
        .collect();
    kept.reverse();
    kept
}

proptest! {
    #[test]
    fn replaying_the_log_or_what_compaction_leaves_of_it_equals_the_live_state(steps in vec(step(), 0..40)) {
        let mut catalog = Catalog::started(&[]);
        for step in &steps {
            run(&mut catalog, step);
        }
        let log = bytes_of(&catalog.log);
        prop_assert_eq!(&replay(&log), &catalog.ledger);
        prop_assert_eq!(&replay(&compacted(&log)), &catalog.ledger);
    }

    #[test]
    fn every_prefix_of_the_log_is_a_catalog_that_goes_on(steps in vec(step(), 0..25), cut in any::<prop::sample::Index>(), more in vec(step(), 0..5)) {
        let mut catalog = Catalog::started(&[]);
        for step in &steps {
            run(&mut catalog, step);
        }
        let log = bytes_of(&catalog.log);
        let at = cut.index(log.len() + 1);
        catalog.ledger = replay(&log[..at]);
        catalog.log.truncate(at);
        for step in &more {
            run(&mut catalog, step);
        }
        prop_assert_eq!(&replay(&bytes_of(&catalog.log)), &catalog.ledger);
    }

    #[test]
    fn the_same_requests_give_the_same_bytes(steps in vec(step(), 0..40)) {
        let log = || {
            let mut catalog = Catalog::started(&[]);
            for step in &steps {
                run(&mut catalog, step);
            }
            bytes_of(&catalog.log)
        };
        prop_assert_eq!(log(), log());
    }

    #[test]
    fn no_producer_id_is_given_out_twice_even_across_a_restart(steps in vec(step(), 0..40), restart in 0..40_usize) {
        let mut catalog = Catalog::started(&[]);
        let mut next = ProducerId(0);
        for (at, step) in steps.iter().enumerate() {
            if at == restart {
                catalog.ledger = replay(&bytes_of(&catalog.log));
            }
            if let Some(block) = run(&mut catalog, step) {
                prop_assert!(block.first >= next);
                next = ProducerId(block.first.get() + block.length);
            }
        }
    }

    #[test]
    fn any_records_apply_in_any_order(records in vec(super::record::tests::record(), 0..30)) {
        let mut ledger = Ledger::new();
        for record in &records {
            apply(&mut ledger, record);
            ledger.check_invariants();
        }
    }
}

#[test]
fn a_snapshot_stays_as_it_was_while_the_catalog_moves_on() {
    let mut catalog = Catalog::started(&[]);
    catalog.create("a", 1);
    let before = catalog.ledger.view().clone();
    catalog.create("b", 1);
    assert_eq!(before.topic_count(), 1);
    assert_eq!(catalog.ledger.view().topic_count(), 2);
    assert!(before.topic_by_id(TopicId::ZERO).is_none());
}
