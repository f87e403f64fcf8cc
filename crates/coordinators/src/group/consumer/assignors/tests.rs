//! What assignors promise, for any members, topics and assignments before.

use super::*;
use fanlog_model::PartitionIndex;
use proptest::prelude::*;
use std::collections::BTreeSet;
use uuid::Uuid;

type CaseMember = (String, Option<String>, Vec<TopicId>, PartitionSets);

/// Members (some static) with their topics and what they had, and the partitions of each topic.
#[derive(Clone, Debug)]
struct Case {
    members: Vec<CaseMember>,
    counts: PartitionCounts,
}

fn topic(number: u8) -> TopicId {
    TopicId(Uuid::from_u128(number.into()))
}

impl Case {
    fn assign(&self, assignor: Assignor) -> Vec<PartitionSets> {
        assignor.assign(&self.subscribers(), &self.counts)
    }

    fn subscribers(&self) -> Vec<Subscriber<'_>> {
        let members = self.members.iter();
        members
            .map(|(id, instance, topics, before)| Subscriber {
                instance_id: instance.as_deref(),
                member_id: id,
                topics: topics.as_slice().into(),
                before,
            })
            .collect()
    }

    /// The same case after the assignment was made.
    fn after(&self, assigned: Vec<PartitionSets>) -> Self {
        let mut next = self.clone();
        for (member, assigned) in next.members.iter_mut().zip(assigned) {
            member.3 = assigned;
        }
        next
    }

    fn check_complete(&self, assigned: &[PartitionSets]) {
        assert_eq!(assigned.len(), self.members.len());
        let mut seen = BTreeSet::new();
        for (member, sets) in self.members.iter().zip(assigned) {
            for (topic, partitions) in sets {
                assert!(
                    member.2.contains(topic),
                    "{} does not read {topic}",
                    member.0
                );
                assert!(!partitions.is_empty(), "a topic without partitions");
                for partition in partitions {
                    assert!(
                        (0..self.counts[topic]).contains(&partition.0),
                        "no such partition"
                    );
                    assert!(seen.insert((*topic, *partition)), "assigned twice");
                }
            }
        }
        let read: BTreeSet<_> = self
            .members
            .iter()
            .flat_map(|m| m.2.iter().copied())
            .collect();
        let all = read
            .iter()
            .map(|topic| self.counts[topic] as usize)
            .sum::<usize>();
        assert_eq!(seen.len(), all, "a partition has no owner");
    }
}

fn load(sets: &PartitionSets) -> usize {
    sets.values().map(BTreeSet::len).sum()
}

fn kept(case: &Case, assigned: &[PartitionSets]) -> usize {
    let of_member = |(member, sets): (&CaseMember, &PartitionSets)| {
        let before = member.3.iter();
        before
            .map(|(topic, partitions)| {
                let now = sets.get(topic);
                partitions
                    .iter()
                    .filter(|p| now.is_some_and(|now| now.contains(p)))
                    .count()
            })
            .sum::<usize>()
    };
    case.members.iter().zip(assigned).map(of_member).sum()
}

fn sets() -> impl Strategy<Value = PartitionSets> {
    let partition = (0..6u8, 0..8i32);
    proptest::collection::vec(partition, 0..12).prop_map(|all| {
        let mut sets = PartitionSets::new();
        for (number, partition) in all {
            sets.entry(topic(number))
                .or_default()
                .insert(PartitionIndex(partition));
        }
        sets
    })
}

fn cases(is_homogeneous: bool) -> impl Strategy<Value = Case> {
    let topics = || proptest::collection::btree_set(0..5u8, 0..5);
    let member = (topics(), any::<bool>(), sets());
    let counts = proptest::collection::vec(0..7i32, 6);
    (proptest::collection::vec(member, 1..7), counts, topics()).prop_map(
        move |(members, counts, shared)| {
            let members = members.into_iter().enumerate();
            let members = members.map(|(place, (own, is_static, before))| {
                let topics = if is_homogeneous { &shared } else { &own };
                let topics = topics.iter().map(|number| topic(*number)).collect();
                let instance = is_static.then(|| format!("i{place}"));
                (format!("m{place}"), instance, topics, before)
            });
            let counts = counts.into_iter().enumerate();
            Case {
                members: members.collect(),
                counts: counts
                    .map(|(number, count)| (topic(number as u8), count))
                    .collect(),
            }
        },
    )
}

proptest! {
    #[test]
    fn every_partition_that_is_read_has_one_owner_who_reads_it(
        case in prop_oneof![cases(true), cases(false)],
    ) {
        for assignor in Assignor::ALL {
            case.check_complete(&case.assign(assignor));
        }
    }

    #[test]
    fn an_assignment_that_stands_is_left_alone(case in prop_oneof![cases(true), cases(false)]) {
        for assignor in Assignor::ALL {
            let assigned = case.assign(assignor);
            let again = case.after(assigned.clone()).assign(assignor);
            prop_assert_eq!(again, assigned);
        }
    }

    #[test]
    fn uniform_is_even_and_moves_no_more_than_that_takes(case in cases(true)) {
        let assigned = case.assign(Assignor::Uniform);
        let loads: Vec<_> = assigned.iter().map(load).collect();
        let (least, most) = (*loads.iter().min().unwrap(), *loads.iter().max().unwrap());
        prop_assert!(most - least <= 1, "{loads:?}");
        // Of what members had and may have, each could keep `least`, and as many as have more `most`.
        let mut had = had_and_may_have(&case);
        let total: usize = loads.iter().sum();
        let with_more = total - least * loads.len();
        had.sort_unstable_by(|a, b| b.cmp(a));
        let could = had.iter().enumerate().map(|(rank, had)| (*had).min(least + usize::from(rank < with_more)));
        prop_assert_eq!(kept_of_legal(&case, &assigned), could.sum::<usize>());
    }

    #[test]
    fn no_single_move_makes_an_uneven_uniform_assignment_more_even(case in cases(false)) {
        let assigned = case.assign(Assignor::Uniform);
        for (from, sets) in assigned.iter().enumerate() {
            for topic in sets.keys() {
                for (to, member) in case.members.iter().enumerate() {
                    if to != from && member.2.contains(topic) {
                        prop_assert!(load(sets) <= load(&assigned[to]) + 1, "{from} -> {to}: {assigned:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn range_cuts_topics_alike(case in cases(true), count in 1..7i32) {
        let mut case = case;
        case.counts.values_mut().for_each(|of| *of = count);
        for sets in case.assign(Assignor::Range) {
            let mut cuts = sets.values();
            let first = cuts.next();
            prop_assert!(cuts.all(|cut| Some(cut) == first), "{sets:?}");
            if let Some(cut) = first {
                let length = cut.last().unwrap().0 - cut.first().unwrap().0 + 1;
                prop_assert_eq!(length as usize, cut.len(), "not a range");
            }
        }
    }
}

/// What members had and may have, of what nobody before them has.
fn had_and_may_have(case: &Case) -> Vec<usize> {
    let mut taken = BTreeSet::new();
    let of_member = |member: &CaseMember| {
        let mut count = 0;
        for (topic, partitions) in &member.3 {
            for partition in partitions {
                let is_legal = member.2.contains(topic) && partition.0 < case.counts[topic];
                count += usize::from(is_legal && taken.insert((*topic, *partition)));
            }
        }
        count
    };
    case.members.iter().map(of_member).collect()
}

/// What is kept, counting a partition that several members had for the first of them only.
fn kept_of_legal(case: &Case, assigned: &[PartitionSets]) -> usize {
    let mut taken = BTreeSet::new();
    let mut first = case.clone();
    for member in &mut first.members {
        for (topic, partitions) in &mut member.3 {
            partitions.retain(|partition| {
                let is_legal = member.2.contains(topic) && partition.0 < case.counts[topic];
                is_legal && taken.insert((*topic, *partition))
            });
        }
    }
    kept(&first, assigned)
}

#[test]
fn ten_thousand_partitions_and_a_thousand_members_take_no_time_to_speak_of() {
    // What is bounded is the number of steps; that it ends at all within a test's patience is the point.
    let counts: PartitionCounts = (0..100).map(|number| (topic(number), 100)).collect();
    let all: Arc<[TopicId]> = counts.keys().copied().collect();
    let nothing = PartitionSets::new();
    for assignor in Assignor::ALL {
        for is_homogeneous in [true, false] {
            let members: Vec<_> = (0..1_000).map(|number| format!("m{number:04}")).collect();
            let subscribers = members.iter().enumerate().map(|(place, id)| Subscriber {
                instance_id: None,
                member_id: id,
                topics: match is_homogeneous {
                    true => all.clone(),
                    false => all
                        .iter()
                        .skip(place % 50)
                        .step_by(1 + place % 3)
                        .copied()
                        .collect(),
                },
                before: &nothing,
            });
            let assigned = assignor.assign(&subscribers.collect::<Vec<_>>(), &counts);
            assert_eq!(assigned.iter().map(load).sum::<usize>(), 10_000);
        }
    }
}
