//! Kafka's `simple` assignor: which partitions each member of a share group reads.
//!
//! Rules: every partition is read by somebody who subscribes to its topic, every member reads something if it can, and
//! nobody reads much more than others. With more members than partitions, several share one. What can stay, stays.

use crate::group::{MemberId, PartitionSets};
use fanlog_model::{PartitionIndex, TopicId};
use std::collections::{BTreeMap, BTreeSet};

/// The name that operators see.
pub const ASSIGNOR: &str = "simple";

type Place = (TopicId, PartitionIndex);

/// A member: what it may read, and what it was to read before.
pub(super) struct Candidate<'a> {
    pub(super) topics: BTreeMap<TopicId, i32>,
    pub(super) before: Option<&'a PartitionSets>,
}

struct Balance<'a> {
    candidates: &'a BTreeMap<MemberId, Candidate<'a>>,
    of_member: BTreeMap<&'a MemberId, BTreeSet<Place>>,
    of_place: BTreeMap<Place, BTreeSet<&'a MemberId>>,
}

/// What each member shall read.
pub(super) fn assign(
    candidates: &BTreeMap<MemberId, Candidate<'_>>,
) -> BTreeMap<MemberId, PartitionSets> {
    let mut balance = Balance::new(candidates);
    balance.drop_needless();
    loop {
        balance.give_to_somebody();
        balance.even_out();
        if !balance.drop_needless() {
            break;
        }
    }
    balance.give_something();
    let sets = balance.of_member.into_iter().map(|(id, places)| {
        let mut sets = PartitionSets::new();
        for (topic, index) in places {
            sets.entry(topic).or_default().insert(index);
        }
        (id.clone(), sets)
    });
    sets.collect()
}

impl<'a> Balance<'a> {
    /// What was before, as far as it may stay.
    fn new(candidates: &'a BTreeMap<MemberId, Candidate<'a>>) -> Self {
        let mut balance = Self {
            candidates,
            of_member: BTreeMap::new(),
            of_place: BTreeMap::new(),
        };
        for (id, candidate) in candidates {
            balance.of_member.insert(id, BTreeSet::new());
            for (topic, partitions) in &candidate.topics {
                for index in 0..*partitions {
                    let place = (*topic, PartitionIndex(index));
                    balance.of_place.entry(place).or_default();
                }
            }
        }
        for (id, candidate) in candidates {
            for (topic, indexes) in candidate.before.into_iter().flatten() {
                for index in indexes {
                    if may_read(candidate, (*topic, *index)) {
                        balance.add(id, (*topic, *index));
                    }
                }
            }
        }
        balance
    }

    fn add(&mut self, id: &'a MemberId, place: Place) {
        self.of_member.entry(id).or_default().insert(place);
        self.of_place.entry(place).or_default().insert(id);
    }

    fn remove(&mut self, id: &MemberId, place: Place) {
        if let Some(places) = self.of_member.get_mut(id) {
            places.remove(&place);
        }
        if let Some(members) = self.of_place.get_mut(&place) {
            members.remove(id);
        }
    }

    fn load(&self, id: &MemberId) -> usize {
        self.of_member.get(id).map_or(0, BTreeSet::len)
    }

    /// A partition is shared only where somebody would have nothing else. Whether any was shared beyond that.
    fn drop_needless(&mut self) -> bool {
        let mut has_dropped = false;
        let shared: Vec<Place> = {
            let places = self.of_place.iter();
            let shared = places.filter(|(_, members)| members.len() > 1);
            shared.map(|(place, _)| *place).collect()
        };
        for place in shared {
            let sharers: Vec<_> = self.of_place[&place].iter().copied().collect();
            for id in sharers {
                if self.of_place[&place].len() > 1 && self.load(id) > 1 {
                    self.remove(id, place);
                    has_dropped = true;
                }
            }
        }
        has_dropped
    }

    /// Partitions that nobody reads go to whoever reads least.
    fn give_to_somebody(&mut self) {
        let places = self.of_place.iter();
        let free: Vec<Place> = places
            .filter(|(_, members)| members.is_empty())
            .map(|(place, _)| *place)
            .collect();
        for place in free {
            let able = self.candidates.iter().filter(|(_, c)| may_read(c, place));
            if let Some((id, _)) = able.min_by_key(|(id, _)| self.load(id)) {
                self.add(id, place);
            }
        }
    }

    /// Who reads two more than another gives one away, while there is such a one; and who shares a partition moves to one
    /// that two fewer share.
    fn even_out(&mut self) {
        while let Some((from, to, place)) = self.uneven_members() {
            self.remove(from, place);
            self.add(to, place);
        }
        while let Some((id, from, to)) = self.uneven_places() {
            self.remove(id, from);
            self.add(id, to);
        }
    }

    fn uneven_members(&self) -> Option<(&'a MemberId, &'a MemberId, Place)> {
        let mut by_load: Vec<&'a MemberId> = self.candidates.keys().collect();
        by_load.sort_by_key(|id| self.load(id));
        for from in by_load.iter().rev() {
            for to in &by_load {
                if self.load(from) < self.load(to) + 2 {
                    break;
                }
                let able = &self.candidates[*to];
                let mut places = self.of_member[from].iter();
                let movable = places
                    .find(|place| may_read(able, **place) && !self.of_member[to].contains(place));
                if let Some(place) = movable {
                    return Some((from, to, *place));
                }
            }
        }
        None
    }

    fn uneven_places(&self) -> Option<(&'a MemberId, Place, Place)> {
        let mut by_members: Vec<Place> = self.of_place.keys().copied().collect();
        by_members.sort_by_key(|place| self.of_place[place].len());
        for from in by_members.iter().rev() {
            for to in &by_members {
                if self.of_place[from].len() < self.of_place[to].len() + 2 {
                    break;
                }
                let mut sharers = self.of_place[from].iter();
                let movable = sharers.find(|id| may_read(&self.candidates[**id], *to));
                if let Some(id) = movable {
                    return Some((id, *from, *to));
                }
            }
        }
        None
    }

    /// Who would read nothing shares the partition that is shared least.
    fn give_something(&mut self) {
        let idle = self.candidates.iter().filter(|(id, _)| self.load(id) == 0);
        let idle: Vec<_> = idle.collect();
        for (id, candidate) in idle {
            let places = self.of_place.iter();
            let able = places.filter(|(place, _)| may_read(candidate, **place));
            let least = able.min_by_key(|(_, members)| members.len());
            if let Some(place) = least.map(|(place, _)| *place) {
                self.add(id, place);
            }
        }
    }
}

fn may_read(candidate: &Candidate<'_>, (topic, index): Place) -> bool {
    let partitions = candidate.topics.get(&topic);
    partitions.is_some_and(|count| (0..*count).contains(&index.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use uuid::Uuid;

    fn topic(number: u128) -> TopicId {
        TopicId(Uuid::from_u128(number))
    }

    fn member(number: usize) -> MemberId {
        MemberId::from(format!("m{number}").as_str())
    }

    fn run(
        topics: &BTreeMap<TopicId, i32>,
        members: usize,
        before: &BTreeMap<MemberId, PartitionSets>,
    ) -> BTreeMap<MemberId, PartitionSets> {
        let candidates = (0..members).map(|number| {
            let id = member(number);
            let before = before.get(&id);
            let topics = topics.clone();
            (id, Candidate { topics, before })
        });
        assign(&candidates.collect())
    }

    fn loads(assigned: &BTreeMap<MemberId, PartitionSets>) -> Vec<usize> {
        let count = |sets: &PartitionSets| sets.values().map(BTreeSet::len).sum();
        assigned.values().map(count).collect()
    }

    proptest! {
        #[test]
        fn everything_is_read_and_everybody_reads(partitions in 1..30_i32, first in 1..20_usize, second in 1..20_usize) {
            let topics = BTreeMap::from([(topic(1), partitions), (topic(2), 1)]);
            let one = run(&topics, first, &BTreeMap::new());
            let two = run(&topics, second, &one);
            for assigned in [&one, &two] {
                let all: BTreeSet<_> = assigned.values().flatten().flat_map(|(t, p)| p.iter().map(move |p| (*t, *p))).collect();
                prop_assert_eq!(all.len() as i32, partitions + 1);
                let loads = loads(assigned);
                let (least, most) = (loads.iter().min().unwrap(), loads.iter().max().unwrap());
                prop_assert!(*least >= 1 && most - least <= 1, "{:?}", loads);
            }
            let again = run(&topics, second, &two);
            prop_assert_eq!(again, two);
        }
    }

    #[test]
    fn members_share_partitions_evenly_where_there_are_too_few() {
        let topics = BTreeMap::from([(topic(1), 3)]);
        let assigned = run(&topics, 8, &BTreeMap::new());
        let mut sharers = BTreeMap::<PartitionIndex, usize>::new();
        for sets in assigned.values() {
            for index in &sets[&topic(1)] {
                *sharers.entry(*index).or_default() += 1;
            }
        }
        let counts: Vec<_> = sharers.values().copied().collect();
        assert_eq!(counts, [3, 3, 2]);
    }
}
