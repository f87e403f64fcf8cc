//! What a group of the new protocol owes its members while others come and go: nobody who stays is interrupted, and what somebody gave
//! up, or was taken from who went, is soon read again: GRP-1.

use super::consumers::Owned;
use super::{Verdict, Violation, broken, holds};
use fanlog_model::invariants::GRP_1;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A partition changes hands within so many heartbeats of everybody: who has it hears of it and gives it up, says so, and the next one
/// gets it; and once more where the target changes meanwhile.
const HANDOVER_BEATS: u32 = 4;

/// One member, as it sees itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) id: String,
    pub(crate) epoch: i32,
    pub(crate) owned: BTreeSet<Owned>,
    /// Whether it was heard of in this round.
    pub(crate) is_there: bool,
    pub(crate) is_stable: bool,
}

/// One member, as the broker describes it.
#[derive(Clone, Debug)]
pub(crate) struct Described {
    pub(crate) id: String,
    pub(crate) assigned: BTreeSet<Owned>,
    pub(crate) target: BTreeSet<Owned>,
}

/// What was seen so far.
#[derive(Debug, Default)]
pub(crate) struct Churn {
    before: BTreeMap<String, Seen>,
    /// In which epoch a stable member gave a partition up that nobody else has got since.
    given_up: BTreeMap<(String, Owned), i32>,
    /// For how many rounds nobody has read a partition, nor did the broker wait for somebody who is silent.
    idle: BTreeMap<Owned, u32>,
    last_heard: BTreeMap<String, Duration>,
    /// Partitions that somebody got.
    pub(crate) handovers: u64,
}

impl Churn {
    /// Everybody who is there has been heard and answered.
    /// Returns what somebody got.
    pub(crate) fn round(&mut self, seen: &[Seen]) -> Result<Vec<Owned>, Violation> {
        let mut handed_over = Vec::new();
        for member in seen {
            let before = self.before.get(&member.id);
            let got: Vec<Owned> = match before {
                Some(before) => member.owned.difference(&before.owned).copied().collect(),
                None => member.owned.iter().copied().collect(),
            };
            self.handovers += got.len() as u64;
            for partition in &got {
                self.gets(member, *partition)?;
            }
            handed_over.extend(got);
        }
        for member in seen.iter().filter(|member| member.is_stable) {
            let Some(before) = self.before.get(&member.id) else {
                continue;
            };
            for partition in before.owned.difference(&member.owned) {
                let key = (member.id.clone(), *partition);
                self.given_up.insert(key, member.epoch);
            }
        }
        self.before = seen.iter().map(|m| (m.id.clone(), m.clone())).collect();
        Ok(handed_over)
    }

    /// A broker that has just started waits for everybody anew.
    pub(crate) fn restarted(&mut self) {
        self.last_heard.clear();
    }

    /// A target that takes a partition away has one epoch, and one that gives it back has a later one: two later than the epoch in
    /// which it was given up.
    fn gets(&mut self, member: &Seen, partition: Owned) -> Verdict {
        let key = (member.id.clone(), partition);
        let given_up = self.given_up.get(&key).copied();
        holds(
            given_up.is_none_or(|epoch| member.epoch >= epoch + 2),
            GRP_1,
            || {
                format!(
                    "{} gave {partition:?} up in epoch {given_up:?} and has it again in {}",
                    member.id, member.epoch
                )
            },
        )?;
        self.given_up.retain(|(_, given), _| *given != partition);
        Ok(())
    }

    /// Nobody waits for a partition whose owner, the present one or the next, isn't silent; and who is silent is out in time.
    pub(crate) fn check_owned(
        &mut self,
        now: Duration,
        session: Duration,
        partitions: &[Owned],
        seen: &[Seen],
        described: &[Described],
    ) -> Verdict {
        let there: BTreeSet<&str> = seen
            .iter()
            .filter(|member| member.is_there)
            .map(|member| member.id.as_str())
            .collect();
        for id in &there {
            self.last_heard.insert((*id).to_owned(), now);
        }
        let silent: Vec<_> = described
            .iter()
            .filter(|member| !there.contains(member.id.as_str()))
            .collect();
        for member in &silent {
            let heard = self.last_heard.entry(member.id.clone()).or_insert(now);
            holds(now <= *heard + session, GRP_1, || {
                format!(
                    "{} was last heard at {heard:?} and is in the group at {now:?}",
                    member.id
                )
            })?;
        }
        let read = seen.iter().filter(|member| member.is_there);
        let read: BTreeSet<Owned> = read
            .flat_map(|member| member.owned.iter().copied())
            .collect();
        let held = silent
            .iter()
            .flat_map(|member| member.assigned.union(&member.target).copied());
        let held: BTreeSet<Owned> = held.collect();
        for partition in partitions {
            if read.contains(partition) || held.contains(partition) {
                self.idle.remove(partition);
                continue;
            }
            let rounds = self.idle.entry(*partition).or_default();
            *rounds += 1;
            if *rounds > HANDOVER_BEATS {
                let what =
                    format!("nobody has read {partition:?} for {rounds} heartbeats: {described:?}");
                return Err(broken(GRP_1, what));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Churn, Described, HANDOVER_BEATS, Seen};
    use crate::promises::consumers::Owned;
    use fanlog_model::TopicId;
    use std::collections::BTreeSet;
    use std::time::Duration;

    const SESSION: Duration = Duration::from_secs(8);

    fn places(partitions: &[i32]) -> BTreeSet<Owned> {
        let all = partitions.iter();
        all.map(|partition| (TopicId::ZERO, *partition)).collect()
    }

    fn seen(id: &str, epoch: i32, owned: &[i32]) -> Seen {
        Seen {
            id: id.to_owned(),
            epoch,
            owned: places(owned),
            is_there: true,
            is_stable: true,
        }
    }

    fn check(churn: &mut Churn, second: u64, seen: &[Seen], silent: &[i32]) -> bool {
        let described = Described {
            id: "silent".to_owned(),
            assigned: places(silent),
            target: BTreeSet::new(),
        };
        let (now, all) = (Duration::from_secs(second), [(TopicId::ZERO, 0)]);
        churn
            .check_owned(now, SESSION, &all, seen, &[described])
            .is_ok()
    }

    #[test]
    fn what_is_taken_and_given_back_at_once_is_an_interruption() {
        for (epoch, is_right) in [(4, false), (5, false), (6, true)] {
            let mut churn = Churn::default();
            assert!(churn.round(&[seen("a", 4, &[1, 2])]).is_ok());
            assert!(churn.round(&[seen("a", 4, &[1])]).is_ok());
            assert_eq!(churn.round(&[seen("a", epoch, &[1, 2])]).is_ok(), is_right);
        }
    }

    #[test]
    fn what_somebody_else_had_meanwhile_may_come_back() {
        let mut churn = Churn::default();
        assert!(
            churn
                .round(&[seen("a", 4, &[1, 2]), seen("b", 4, &[])])
                .is_ok()
        );
        assert!(
            churn
                .round(&[seen("a", 4, &[1]), seen("b", 4, &[])])
                .is_ok()
        );
        assert!(
            churn
                .round(&[seen("a", 5, &[1]), seen("b", 5, &[2])])
                .is_ok()
        );
        assert!(
            churn
                .round(&[seen("a", 5, &[1]), seen("b", 5, &[])])
                .is_ok()
        );
        assert_eq!(
            churn.round(&[seen("a", 6, &[1, 2])]),
            Ok(vec![(TopicId::ZERO, 2)])
        );
    }

    #[test]
    fn a_partition_that_nobody_takes_is_missed() {
        let mut churn = Churn::default();
        let there = [seen("a", 4, &[1])];
        assert!((0..u64::from(HANDOVER_BEATS)).all(|second| check(
            &mut churn,
            second,
            &there,
            &[]
        )));
        assert!(!check(&mut churn, 4, &there, &[]));
        // While the broker waits for somebody silent, it may.
        let mut churn = Churn::default();
        assert!((0..8).all(|second| check(&mut churn, second, &there, &[0])));
    }

    #[test]
    fn who_is_silent_for_longer_than_a_session_must_be_out() {
        let mut churn = Churn::default();
        let there = [seen("a", 4, &[0])];
        assert!((0..=8).all(|second| check(&mut churn, second, &there, &[])));
        assert!(!check(&mut churn, 9, &there, &[]));
    }
}
