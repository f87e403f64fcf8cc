//! The verdict, computed from what the publisher was promised and what the consumers wrote.
//!
//! In -> out: acknowledged events and effects -> lost, repeated, misplaced, charges; and which promise was broken.

use super::effects::Effect;
use super::order::Kind;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;

/// An event that the broker acknowledged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acknowledged {
    pub(crate) partition: i32,
    pub(crate) offset: i64,
    pub(crate) order: u64,
    pub(crate) kind: Kind,
}

/// What a group got.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct GroupVerdict {
    /// Acknowledged events that it never got.
    pub(crate) lost: usize,
    /// Deliveries beyond the first of each event.
    pub(crate) repeated: usize,
    /// Orders that it saw settled before placed, or in two partitions.
    pub(crate) misplaced: usize,
    /// Deliveries whose content is not what was acknowledged at that offset.
    pub(crate) altered: usize,
}

/// What the whole sale came to.
#[derive(Debug)]
pub(crate) struct Summary {
    pub(crate) acknowledged: usize,
    pub(crate) groups: BTreeMap<String, GroupVerdict>,
    /// Orders paid.
    pub(crate) paid: usize,
    /// Paid orders by how often they were charged.
    pub(crate) charges: BTreeMap<usize, usize>,
    /// Charges of orders that were not paid.
    pub(crate) unfounded: usize,
}

impl Summary {
    /// Computes the verdict of every group; the one called `payer` charges customers.
    pub(crate) fn compute(
        acknowledged: &[Acknowledged],
        effects: &BTreeMap<String, Vec<Effect>>,
        payer: &str,
    ) -> Self {
        let promised: HashMap<(i32, i64), (u64, Kind)> = acknowledged
            .iter()
            .map(|a| ((a.partition, a.offset), (a.order, a.kind)))
            .collect();
        let groups = effects
            .iter()
            .map(|(group, effects)| (group.clone(), verdict(&promised, effects)));
        let paid: HashSet<u64> = acknowledged
            .iter()
            .filter(|a| a.kind == Kind::Paid)
            .map(|a| a.order)
            .collect();
        let mut charged: HashMap<u64, usize> = HashMap::new();
        for effect in effects
            .get(payer)
            .into_iter()
            .flatten()
            .filter(|effect| effect.is_charge)
        {
            *charged.entry(effect.order).or_default() += 1;
        }
        let mut charges: BTreeMap<usize, usize> = BTreeMap::new();
        for order in &paid {
            *charges
                .entry(charged.get(order).copied().unwrap_or(0))
                .or_default() += 1;
        }
        Self {
            acknowledged: promised.len(),
            groups: groups.collect(),
            paid: paid.len(),
            charges,
            unfounded: charged.keys().filter(|order| !paid.contains(order)).count(),
        }
    }

    /// The promises that were broken, in words; none in a good run.
    pub(crate) fn broken_promises(&self) -> Vec<String> {
        let mut broken = Vec::new();
        for (group, verdict) in &self.groups {
            let counts = [
                (verdict.lost, "events lost"),
                (verdict.misplaced, "orders out of order"),
                (verdict.altered, "events altered"),
            ];
            let bad = counts.iter().filter(|(count, _)| *count > 0);
            broken.extend(bad.map(|(count, what)| format!("{group}: {count} {what}")));
        }
        if self.charges.keys().any(|times| *times != 1) || self.unfounded > 0 {
            broken.push("some orders were not charged exactly once".to_owned());
        }
        if self.groups.values().all(|verdict| verdict.repeated == 0) {
            broken.push(
                "nothing was delivered again, though a consumer was killed in mid-batch".to_owned(),
            );
        }
        broken
    }
}

fn verdict(promised: &HashMap<(i32, i64), (u64, Kind)>, effects: &[Effect]) -> GroupVerdict {
    let mut seen: HashSet<(i32, i64)> = HashSet::new();
    // Of each order: when, where and in which place of the files its first `placed` and its first end were seen.
    let mut placed: HashMap<u64, (i64, i32, usize)> = HashMap::new();
    let mut settled: HashMap<u64, (i64, i32, usize)> = HashMap::new();
    let mut verdict = GroupVerdict::default();
    for (line, effect) in effects.iter().enumerate() {
        let place = (effect.partition, effect.offset);
        if !seen.insert(place) {
            verdict.repeated += 1;
        }
        if promised
            .get(&place)
            .is_some_and(|p| *p != (effect.order, effect.kind))
        {
            verdict.altered += 1;
        }
        let first = match effect.kind {
            Kind::Placed => &mut placed,
            Kind::Paid | Kind::Cancelled => &mut settled,
        };
        let at = (effect.at_ms, effect.partition, line);
        let earliest = first.entry(effect.order).or_insert(at);
        *earliest = (*earliest).min(at);
    }
    verdict.lost = promised
        .keys()
        .filter(|place| !seen.contains(place))
        .count();
    let is_misplaced = |(order, end): (&u64, &(i64, i32, usize))| {
        placed
            .get(order)
            .is_none_or(|start| start.1 != end.1 || (start.0, start.2) > (end.0, end.2))
    };
    verdict.misplaced = settled.iter().filter(|entry| is_misplaced(*entry)).count();
    verdict
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} events acknowledged, {} orders paid",
            self.acknowledged, self.paid
        )?;
        writeln!(
            f,
            "{:<12} {:>8} {:>10} {:>18} {:>9}",
            "group", "lost", "repeated", "order violations", "altered"
        )?;
        for (group, v) in &self.groups {
            writeln!(
                f,
                "{group:<12} {:>8} {:>10} {:>18} {:>9}",
                v.lost, v.repeated, v.misplaced, v.altered
            )?;
        }
        let times = self
            .charges
            .iter()
            .map(|(times, orders)| format!("{orders} orders {times} time(s)"));
        write!(f, "charged: {}", times.collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn promised() -> Vec<Acknowledged> {
        let event = |offset, order, kind| Acknowledged {
            partition: 0,
            offset,
            order,
            kind,
        };
        vec![
            event(0, 1, Kind::Placed),
            event(1, 2, Kind::Placed),
            event(2, 1, Kind::Paid),
            event(3, 2, Kind::Cancelled),
        ]
    }

    fn delivered(offsets: &[i64]) -> Vec<Effect> {
        let all = promised();
        let effect = |(line, offset): (usize, &i64)| {
            let event = all[usize::try_from(*offset).unwrap()];
            Effect {
                at_ms: i64::try_from(line).unwrap(),
                partition: event.partition,
                offset: *offset,
                order: event.order,
                kind: event.kind,
                is_charge: event.kind == Kind::Paid,
            }
        };
        offsets.iter().enumerate().map(effect).collect()
    }

    fn summary_of(effects: Vec<Effect>) -> Summary {
        Summary::compute(
            &promised(),
            &BTreeMap::from([("payments".to_owned(), effects)]),
            "payments",
        )
    }

    #[test]
    fn repeats_are_expected_and_everything_else_is_clean() {
        let mut effects = delivered(&[0, 1, 0, 1, 2, 3]);
        assert!(summary_of(effects.clone()).broken_promises().is_empty());
        effects.truncate(2);
        assert_eq!(summary_of(effects).groups["payments"].lost, 2);
    }

    #[test]
    fn every_broken_promise_is_found() {
        let check = |effects: Vec<Effect>, expected: &str| {
            let broken = summary_of(effects).broken_promises().join("; ");
            assert!(
                broken.contains(expected),
                "'{broken}' should say '{expected}'"
            );
        };
        check(delivered(&[0, 0, 1, 2]), "1 events lost");
        check(delivered(&[2, 0, 0, 1, 3]), "1 orders out of order");
        check(delivered(&[0, 1, 2, 2, 3]), "not charged exactly once");
        check(delivered(&[0, 1, 2, 3]), "nothing was delivered again");
        let mut altered = delivered(&[0, 0, 1, 2, 3]);
        altered[2].order = 9;
        check(altered, "1 events altered");
    }
}
