//! Uniform: every member as many partitions as any other, as far as subscriptions allow; what a member had stays where that is even.
//!
//! Where all members read the same topics, the result is even to within one, and no more moves than that takes. Where they don't, a
//! partition moves from one member to another only while that brings them nearer to each other, and the search ends after a bounded
//! number of steps: an assignment that is less even is better than a coordinator that stands still.

use super::{PartitionCounts, Subscriber, by_topic, count_of};
use crate::group::PartitionSets;
use fanlog_model::{PartitionIndex, TopicId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// How many looks at a member the levelling of uneven subscriptions may take.
const LEVELLING_STEPS_MAX: usize = 200_000;

type Partition = (TopicId, PartitionIndex);

pub(super) fn assign(
    subscribers: &[Subscriber<'_>],
    counts: &PartitionCounts,
) -> Vec<PartitionSets> {
    let Some(first) = subscribers.first() else {
        return Vec::new();
    };
    let is_same =
        |s: &Subscriber<'_>| Arc::ptr_eq(&s.topics, &first.topics) || s.topics == first.topics;
    let mut table = Table::keep(subscribers, counts);
    if subscribers.iter().all(is_same) {
        table.fill_evenly(first, counts);
    } else {
        table.fill(subscribers, counts);
        table.level(subscribers);
    }
    table.assigned
}

/// An assignment in the making.
struct Table {
    assigned: Vec<PartitionSets>,
    loads: Vec<usize>,
    taken: BTreeMap<TopicId, BTreeSet<PartitionIndex>>,
}

impl Table {
    /// Everybody keeps what it had, may have still, and nobody before it has.
    fn keep(subscribers: &[Subscriber<'_>], counts: &PartitionCounts) -> Self {
        let mut table = Self {
            assigned: vec![PartitionSets::new(); subscribers.len()],
            loads: vec![0; subscribers.len()],
            taken: BTreeMap::new(),
        };
        for (position, subscriber) in subscribers.iter().enumerate() {
            for (topic, partitions) in subscriber.before {
                if subscriber.topics.binary_search(topic).is_err() {
                    continue;
                }
                let count = count_of(counts, *topic);
                for partition in partitions {
                    if (0..count).contains(&partition.0) {
                        table.give(position, (*topic, *partition));
                    }
                }
            }
        }
        table
    }

    fn give(&mut self, position: usize, (topic, partition): Partition) {
        if self.taken.entry(topic).or_default().insert(partition) {
            let of_member = &mut self.assigned[position];
            of_member.entry(topic).or_default().insert(partition);
            self.loads[position] += 1;
        }
    }

    fn take(&mut self, position: usize, (topic, partition): Partition) {
        let of_member = &mut self.assigned[position];
        if let Some(of_topic) = of_member.get_mut(&topic) {
            of_topic.remove(&partition);
            if of_topic.is_empty() {
                of_member.remove(&topic);
            }
        }
        if let Some(taken) = self.taken.get_mut(&topic) {
            taken.remove(&partition);
        }
        self.loads[position] -= 1;
    }

    /// The last partition of a member.
    fn last_of(&self, position: usize) -> Option<Partition> {
        let (topic, partitions) = self.assigned[position].last_key_value()?;
        Some((*topic, *partitions.last()?))
    }

    fn is_taken(&self, (topic, partition): &Partition) -> bool {
        let taken = self.taken.get(topic);
        taken.is_some_and(|taken| taken.contains(partition))
    }

    /// All read the same: whoever has too much gives up, then whoever has too little is filled up.
    fn fill_evenly(&mut self, any: &Subscriber<'_>, counts: &PartitionCounts) {
        let all = any.topics.iter().flat_map(|topic| {
            let count = count_of(counts, *topic);
            (0..count).map(|index| (*topic, PartitionIndex(index)))
        });
        let all: Vec<Partition> = all.collect();
        let least = all.len() / self.loads.len();
        let mut may_have_one_more = all.len() % self.loads.len();
        let mut limits = vec![least; self.loads.len()];
        for (position, limit) in limits.iter_mut().enumerate() {
            if self.loads[position] > least && may_have_one_more > 0 {
                *limit += 1;
                may_have_one_more -= 1;
            }
        }
        for limit in limits.iter_mut().filter(|limit| **limit == least) {
            if may_have_one_more > 0 {
                *limit += 1;
                may_have_one_more -= 1;
            }
        }
        for (position, limit) in limits.iter().enumerate() {
            while self.loads[position] > *limit
                && let Some(last) = self.last_of(position)
            {
                self.take(position, last);
            }
        }
        let free = all
            .into_iter()
            .filter(|partition| !self.is_taken(partition));
        let mut free = free.collect::<Vec<_>>().into_iter();
        for (position, limit) in limits.iter().enumerate() {
            let missing = limit - self.loads[position];
            for partition in free.by_ref().take(missing) {
                self.give(position, partition);
            }
        }
    }

    /// What nobody has goes to the reader that has least; topics with few readers first, because they have no choice.
    fn fill(&mut self, subscribers: &[Subscriber<'_>], counts: &PartitionCounts) {
        let mut topics: Vec<_> = by_topic(subscribers).into_iter().collect();
        topics.sort_by_key(|(topic, readers)| (readers.len(), *topic));
        let mut steps = 0;
        for (topic, readers) in topics {
            let indexes = (0..count_of(counts, topic)).map(PartitionIndex);
            let free = indexes.filter(|index| !self.is_taken(&(topic, *index)));
            let free: Vec<_> = free.collect();
            if free.is_empty() {
                continue;
            }
            steps += readers.len();
            if steps > LEVELLING_STEPS_MAX {
                for (partition, reader) in free.into_iter().zip(readers.iter().cycle()) {
                    self.give(*reader, (topic, partition));
                }
                continue;
            }
            let mut by_load: BTreeSet<_> = readers.iter().map(|r| (self.loads[*r], *r)).collect();
            for partition in free {
                let Some((_, reader)) = by_load.pop_first() else {
                    break;
                };
                self.give(reader, (topic, partition));
                by_load.insert((self.loads[reader], reader));
            }
        }
    }

    /// Moves partitions from readers that have more to readers of the same topic that have less, until no move brings two members
    /// nearer to each other. Every move makes the sum of the squares of the loads smaller, so this ends.
    fn level(&mut self, subscribers: &[Subscriber<'_>]) {
        let topics = by_topic(subscribers);
        let mut steps = 0;
        loop {
            let mut has_moved = false;
            for (topic, readers) in &topics {
                steps += readers.len();
                if steps > LEVELLING_STEPS_MAX {
                    return;
                }
                has_moved |= self.level_topic(*topic, readers, &mut steps);
            }
            if !has_moved {
                return;
            }
        }
    }

    fn level_topic(&mut self, topic: TopicId, readers: &[usize], steps: &mut usize) -> bool {
        let has_any = |table: &Self, reader: usize| table.assigned[reader].contains_key(&topic);
        let mut by_load: BTreeSet<_> = readers.iter().map(|r| (self.loads[*r], *r)).collect();
        let mut owners: BTreeSet<_> = by_load
            .iter()
            .filter(|(_, reader)| has_any(self, *reader))
            .copied()
            .collect();
        let mut has_moved = false;
        while let (Some((least, to)), Some((most, from))) =
            (by_load.first().copied(), owners.last().copied())
        {
            *steps += 1;
            let of_topic = self.assigned[from].get(&topic);
            let partition = of_topic.and_then(|partitions| partitions.last().copied());
            let (true, Some(partition)) = (most > least + 1, partition) else {
                break;
            };
            self.take(from, (topic, partition));
            self.give(to, (topic, partition));
            has_moved = true;
            for (reader, before) in [(from, most), (to, least)] {
                by_load.remove(&(before, reader));
                owners.remove(&(before, reader));
                by_load.insert((self.loads[reader], reader));
                if has_any(self, reader) {
                    owners.insert((self.loads[reader], reader));
                }
            }
        }
        has_moved
    }
}
