//! Thirty members of one group of the new protocol: most of them join, leave, die and freeze at random, some stay and must not notice;
//! and the broker may end in the middle of it.

use super::Consumer;
use super::consumer::{GROUP, SESSION};
use crate::promises::catalog::Creation;
use crate::promises::churn::{Churn, Described, Seen};
use crate::promises::consumers::Owned;
use crate::promises::records::Place;
use crate::promises::{Verdict, broken};
use crate::world::{GROUPS, World};
use fanlog_coordinators::group::consumer::{DescribedConsumer, NamedPartitions};
use fanlog_model::TopicId;
use fanlog_model::invariants::GRP_1;
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

const TOPIC: &str = "churned";
const PARTITIONS: i32 = 36;
const MEMBERS: usize = 30;
/// Of them, those that only read.
const STABLE: usize = 8;
const ROUNDS: u64 = 40;
/// How often everybody is heard of.
const BEAT: Duration = Duration::from_secs(1);

impl World {
    pub(crate) async fn churn(&mut self) -> Verdict {
        self.create(Creation {
            name: TOPIC.to_owned(),
            partitions: PARTITIONS,
            kind: 1,
        });
        self.finish_calls().await?;
        let Some((topic, _)) = self.catalog.live().find(|(_, life)| life.name == TOPIC) else {
            return Err(broken(
                GRP_1,
                "a topic is not created on a disk without faults",
            ));
        };
        let first = self.consumers.len();
        for number in first..first + MEMBERS {
            let mut member =
                Consumer::new(number, number >= first + STABLE && self.chance.percent(20));
            member.subscription.topics = vec![TOPIC.into()];
            self.consumers.push(member);
        }
        let end = self.chance.percent(30).then(|| self.chance.below(ROUNDS));
        let mut churn = Churn::default();
        for round in 0..ROUNDS {
            for _ in 0..self.chance.below(4) {
                self.disturb(first + STABLE);
            }
            if end == Some(round) {
                self.end_process()?;
                self.disk.crash(self.chance.next());
                self.start_well().await?;
                churn.restarted();
            }
            self.churn_round(&mut churn, topic, first..first + STABLE)
                .await?;
        }
        self.reached.handovers += churn.handovers;
        Ok(())
    }

    /// Something happens to one who does not stay.
    fn disturb(&mut self, first: usize) {
        let member = first + self.chance.index(MEMBERS - STABLE);
        match self.chance.weighted(&[(3, 0), (3, 1), (5, 2), (3, 3)]) {
            0 => {
                self.say_goodbye(member);
                self.consumers[member].is_frozen = self.chance.percent(50);
            }
            1 => {
                self.consumer_dies(member);
                self.consumers[member].is_frozen = self.chance.percent(50);
            }
            2 => {
                self.consumers[member].is_frozen ^= true;
                self.trace
                    .line(&format!("consumer {member} freezes or thaws"));
            }
            _ => self.commit_as_consumer(member),
        }
    }

    async fn churn_round(
        &mut self,
        churn: &mut Churn,
        topic: TopicId,
        stable: std::ops::Range<usize>,
    ) -> Verdict {
        for member in 0..self.consumers.len() {
            if !self.consumers[member].is_frozen {
                self.beat(member);
            }
        }
        self.finish_calls().await?;
        let seen: Vec<Seen> = self
            .consumers
            .iter()
            .enumerate()
            .map(|(number, member)| Seen {
                id: member.id.clone(),
                epoch: member.epoch,
                owned: member.owned.clone(),
                is_there: !member.is_frozen && member.epoch > 0,
                is_stable: stable.contains(&number),
            })
            .collect();
        for (topic, partition) in churn.round(&seen)? {
            // Who gets a partition asks where to go on.
            if self.chance.percent(20) {
                self.fetch_committed_of(GROUPS, Place { topic, partition });
            }
        }
        let described = self.describe_consumers().await?;
        let all: Vec<Owned> = (0..PARTITIONS)
            .map(|partition| (topic, partition))
            .collect();
        churn.check_owned(self.now(), SESSION, &all, &seen, &described)?;
        let member = self.chance.index(self.consumers.len());
        self.commit_as_consumer(member);
        self.clock.advance(BEAT);
        self.broker().groups().tick();
        self.finish_calls().await
    }

    async fn describe_consumers(&mut self) -> Result<Vec<Described>, crate::promises::Violation> {
        let groups = self.broker().groups().clone();
        let describe = async move { groups.describe_consumer(GROUP.into()).await };
        let found = Arc::new(Mutex::new(Vec::new()));
        let told = found.clone();
        self.call(
            "describe the group".to_owned(),
            describe,
            move |_, answer| {
                let Some(Ok(group)) = answer else {
                    return Err(broken(GRP_1, format!("the group is not there: {answer:?}")));
                };
                *told.lock() = group.members.iter().map(described).collect();
                Ok(())
            },
        );
        self.finish_calls().await?;
        let members = std::mem::take(&mut *found.lock());
        Ok(members)
    }
}

fn described(member: &DescribedConsumer) -> Described {
    Described {
        id: member.member_id.to_string(),
        assigned: owned(&member.assigned),
        target: owned(&member.target),
    }
}

fn owned(topics: &[NamedPartitions]) -> BTreeSet<Owned> {
    let all = topics.iter();
    all.flat_map(|topic| topic.partitions.iter().map(|p| (topic.id, *p)))
        .collect()
}
