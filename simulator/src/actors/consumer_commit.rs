//! Commits of members of the new protocol: by who there is, and by who there was.

use super::consumer::GROUP;
use crate::promises::holds;
use crate::promises::records::Place;
use crate::world::{GROUPS, World};
use fanlog_broker::GroupRequestError;
use fanlog_coordinators::CallId;
use fanlog_coordinators::group::{CommitOffsets, MemberId, OffsetToCommit};
use fanlog_model::invariants::GRP_2;
use fanlog_model::{GroupId, LeaderEpoch, Offset, PartitionIndex};

impl World {
    /// A commit, by the member that there is or by one that there was.
    pub(super) fn commit_as_consumer(&mut self, member: usize) {
        let consumer = &self.consumers[member];
        let (Some(last), owned) = (consumer.past.last().cloned(), consumer.owned.clone()) else {
            return;
        };
        let (id, epoch) = match self.chance.percent(50) {
            true => last,
            false => self.chance.pick(&consumer.past.clone()),
        };
        let owned: Vec<_> = owned.into_iter().collect();
        let place = match !owned.is_empty() && self.chance.percent(70) {
            true => {
                let (topic, partition) = self.chance.pick(&owned);
                Some(Place { topic, partition })
            }
            false => self.some_place(),
        };
        if let Some(place) = place {
            self.commit_as(member, &id, epoch, place);
        }
    }

    fn commit_as(&mut self, member: usize, id: &str, epoch: i32, place: Place) {
        let Some(topic) = self.topic_name(place.topic) else {
            return;
        };
        let token = self.token();
        let request = CommitOffsets {
            call: CallId(0),
            group: GroupId::from(GROUP),
            member_id: MemberId::from(id),
            instance_id: None,
            generation: epoch,
            names_missing_group: true,
            retention_ms: None,
            offsets: vec![OffsetToCommit {
                topic,
                topic_id: place.topic,
                partition: PartitionIndex(place.partition),
                offset: Offset(self.records.high_watermark(place)),
                leader_epoch: LeaderEpoch::UNKNOWN,
                metadata: token.to_string().into(),
            }],
        };
        let refusal = self.why_refused(member, id, epoch, place);
        let at = (place.topic, place.partition);
        let position = self.groups[GROUPS].committing(at, token);
        let groups = self.broker().groups().clone();
        let commit = async move { groups.commit_offsets(request).await };
        let what = format!("commit {token} for {place:?} by {id} in epoch {epoch}");
        self.call(what.clone(), commit, move |world, answer| match answer {
            Some(Ok(outcomes)) if outcomes.iter().all(|outcome| outcome.result.is_ok()) => {
                world.reached.consumers_committed += 1;
                world.groups[GROUPS].committed(at, position);
                let why = refusal.unwrap_or_default();
                holds(why.is_empty(), GRP_2, || {
                    format!("{what} was accepted, although {why}")
                })
            }
            Some(Err(GroupRequestError::Refused(refused))) => {
                world.trace.line(&refused.to_string());
                world.reached.consumers_refused += 1;
                world.groups[GROUPS].not_committed(at, position);
                Ok(())
            }
            _ => Ok(()),
        });
    }

    /// Why the coordinator must refuse a commit that is sent now, by what it has told the member.
    fn why_refused(&self, member: usize, id: &str, epoch: i32, place: Place) -> Option<String> {
        let consumer = &self.consumers[member];
        if self.consumer_group.has_left(id) {
            return Some("it had left, or another process had its place".to_owned());
        }
        if id != consumer.id {
            return None;
        }
        if consumer.is_out {
            return Some("it had been told that nobody knows it".to_owned());
        }
        let since = consumer.since.get(&(place.topic, place.partition));
        let is_late = epoch < consumer.epoch && since.is_none_or(|since| *since > epoch);
        is_late.then(|| {
            format!(
                "it was in epoch {} by then, and owns the partition since {since:?}",
                consumer.epoch
            )
        })
    }
}
