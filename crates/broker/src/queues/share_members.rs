//! The members of a queue that are Kafka share consumers: who they are and what they read.
//!
//! Why it exists: a share consumer subscribes and reports to a group; a queue has no group, and its name is in the catalog already. Each
//! member reads all partitions of the topics that it names: records are handed out one by one, so nobody is in another's way.
//! Owns: the members, in memory alone: after a restart they come again, as the protocol has it.   Never: what they hold (the machine).
//! In -> out: heartbeats -> the partitions of the queue's own topic, and of the one by which dead letters come back.

use super::Queues;
use super::live::{Live, SourceKind};
use crate::broker::Broker;
use crate::topics_view::TopicsView;
use fanlog_coordinators::group::share::{
    DescribedShareGroup, DescribedShareMember, ShareAssignment, ShareHeartbeat,
    ShareHeartbeatAnswer, ShareMember, SharePartitions,
};
use fanlog_coordinators::group::{
    GroupError, GroupKind, GroupState, ListedGroup, MEMBERS_PER_GROUP_MAX, MemberId, PartitionSets,
};
use fanlog_model::GroupId;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// A member that comes.
const JOINING: i32 = 0;
/// A member that goes.
const LEAVING: i32 = -1;

/// The members of all queues.
#[derive(Debug, Default)]
pub(super) struct ShareMembers(HashMap<GroupId, OfQueue>);

#[derive(Debug, Default)]
struct OfQueue {
    /// The queue's id: a later one of its name has other members.
    incarnation: Uuid,
    members: BTreeMap<MemberId, Known>,
}

#[derive(Clone, Debug)]
struct Known {
    member: Arc<ShareMember>,
    current: Arc<ShareAssignment>,
    /// When it is gone, unless it reports before.
    until: Duration,
}

impl ShareMembers {
    /// The members of a queue that were heard of in time.
    fn of(&mut self, live: &Live, now: Duration) -> &mut BTreeMap<MemberId, Known> {
        let of = self.0.entry(live.name().clone()).or_default();
        if of.incarnation != live.queue.id {
            *of = OfQueue {
                incarnation: live.queue.id,
                ..OfQueue::default()
            };
        }
        of.members.retain(|_, known| known.until > now);
        &mut of.members
    }

    pub(super) fn retain(&mut self, is_queue: impl Fn(&GroupId) -> bool) {
        self.0.retain(|name, _| is_queue(name));
    }
}

impl Queues {
    /// Whether there is a queue of that name: its share consumers are members of the queue, and of no group.
    pub(crate) fn is_queue(&self, name: &GroupId) -> bool {
        let broker = self.broker();
        broker.is_ok_and(|broker| broker.catalog_view().queue(name).is_some())
    }

    /// ShareGroupHeartbeat of a member of a queue.
    pub(crate) fn share_heartbeat(
        &self,
        heartbeat: &ShareHeartbeat,
    ) -> Result<ShareHeartbeatAnswer, GroupError> {
        heartbeat.check()?;
        let (broker, live) = self.live_of(&heartbeat.group)?;
        let now = self.clock.monotonic();
        let mut members = self.share_members.lock();
        let members = members.of(&live, now);
        let id = &heartbeat.member_id;
        let known = members.get(id).cloned();
        let unknown = || GroupError::UnknownMember {
            group: heartbeat.group.clone(),
            member: id.clone(),
        };
        if heartbeat.member_epoch == LEAVING {
            members.remove(id).ok_or_else(unknown)?;
            return Ok(answer(heartbeat, LEAVING, None));
        }
        match &known {
            Some(known) if heartbeat.member_epoch != JOINING => {
                heartbeat.check_epoch(&known.current)?;
            }
            None if heartbeat.member_epoch != JOINING => return Err(unknown()),
            None => check_room(heartbeat, members.len())?,
            Some(_) => {}
        }
        let before = known.as_ref().map(|known| known.current.clone());
        let topics = broker.topics();
        let member = described(&live, &topics, heartbeat, known.as_ref())?;
        let current = current(before.as_deref(), assigned(&live, &topics, &member));
        let is_news = heartbeat.member_epoch == JOINING
            || heartbeat.topics.is_some()
            || before.as_deref() != Some(&current);
        let assigned = is_news.then(|| current.assigned.clone());
        let epoch = current.epoch;
        let known = Known {
            member: Arc::new(member),
            current: Arc::new(current),
            until: now + heartbeat.rules.session_timeout,
        };
        members.insert(id.clone(), known);
        Ok(answer(heartbeat, epoch, assigned))
    }

    /// All queues, as ListGroups lists them: as what ShareGroupDescribe describes.
    pub(crate) fn as_listed(&self) -> Vec<ListedGroup> {
        let Ok(broker) = self.broker() else {
            return Vec::new();
        };
        let (catalog, now) = (broker.catalog_view(), self.clock.monotonic());
        let members = self.share_members.lock();
        let listed = catalog.queues().map(|queue| {
            let of = members.0.get(&queue.name);
            let of = of.filter(|of| of.incarnation == queue.id);
            let has_members = of.is_some_and(|of| of.members.values().any(|m| m.until > now));
            ListedGroup {
                group: queue.name.clone(),
                protocol_type: GroupKind::Share.name().into(),
                state: match has_members {
                    true => GroupState::Stable,
                    false => GroupState::Empty,
                },
                group_type: GroupKind::Share.name(),
            }
        });
        listed.collect()
    }

    /// ShareGroupDescribe of a queue.
    pub(crate) fn describe_share(&self, name: &GroupId) -> Result<DescribedShareGroup, GroupError> {
        let (_, live) = self.live_of(name)?;
        let now = self.clock.monotonic();
        let mut members = self.share_members.lock();
        let members = members.of(&live, now);
        let epochs = members.values().map(|known| known.current.epoch);
        let epoch = epochs.max().unwrap_or(1);
        let each = members.iter().map(|(id, known)| DescribedShareMember {
            member_id: id.clone(),
            member: known.member.clone(),
            current: known.current.clone(),
        });
        let each: Vec<_> = each.collect();
        Ok(DescribedShareGroup {
            group: name.clone(),
            state: match each.is_empty() {
                true => GroupState::Empty,
                false => GroupState::Stable,
            },
            epoch,
            assignment_epoch: epoch,
            members: each,
            partitions: Arc::new(SharePartitions::default()),
        })
    }

    fn live_of(&self, name: &GroupId) -> Result<(Arc<Broker>, Arc<Live>), GroupError> {
        // It went, or the broker is about to.
        let gone = || GroupError::GroupNotFound {
            group: name.clone(),
        };
        let broker = self.broker().map_err(|_| gone())?;
        let live = self.live(&broker, name).map_err(|_| gone())?;
        Ok((broker, live))
    }
}

fn check_room(heartbeat: &ShareHeartbeat, members: usize) -> Result<(), GroupError> {
    let max = heartbeat.rules.members_max.min(MEMBERS_PER_GROUP_MAX);
    match members < max {
        true => Ok(()),
        false => Err(GroupError::GroupFull {
            group: heartbeat.group.clone(),
            max,
        }),
    }
}

/// The member as it describes itself now.
fn described(
    live: &Live,
    topics: &TopicsView,
    heartbeat: &ShareHeartbeat,
    known: Option<&Known>,
) -> Result<ShareMember, GroupError> {
    let names = match &heartbeat.topics {
        Some(names) => {
            check_topics(live, topics, names)?;
            let names: BTreeSet<_> = names.iter().cloned().collect();
            names.into_iter().collect()
        }
        None => known.map_or_else(Arc::default, |known| known.member.topics.clone()),
    };
    let rack_before = || known.and_then(|known| known.member.rack_id.clone());
    Ok(ShareMember {
        rack_id: heartbeat.rack_id.clone().or_else(rack_before),
        client_id: heartbeat.client_id.clone(),
        client_host: heartbeat.client_host.clone(),
        topics: names,
    })
}

/// The queue hands out records of two topics; of another one the member would wait in vain.
fn check_topics(live: &Live, topics: &TopicsView, names: &[Arc<str>]) -> Result<(), GroupError> {
    let own = topics.by_id(live.queue.topic);
    let own = own.map_or("", |topic| topic.name.as_str());
    let redrive = live.redrive.as_ref().map(|name| name.as_str());
    match names
        .iter()
        .find(|name| &***name != own && Some(&***name) != redrive)
    {
        None => Ok(()),
        Some(other) => Err(GroupError::NotOfQueue {
            group: live.name().clone(),
            topic: other.clone(),
            own: own.into(),
        }),
    }
}

/// All partitions of the topics that it names.
fn assigned(live: &Live, topics: &TopicsView, member: &ShareMember) -> PartitionSets {
    let sources = live.sources(topics).into_iter();
    let named = sources.filter(|(kind, topic)| {
        let name = topic.name.as_str();
        *kind != SourceKind::Dead && member.topics.iter().any(|of| &**of == name)
    });
    let sets = named.map(|(_, topic)| {
        let partitions = topic.partitions.iter();
        (topic.id, partitions.map(|of| of.index()).collect())
    });
    sets.collect()
}

/// What the member reads from now on; its epoch rises when that changes.
fn current(before: Option<&ShareAssignment>, assigned: PartitionSets) -> ShareAssignment {
    match before {
        Some(before) if before.assigned == assigned => before.clone(),
        _ => {
            let previous_epoch = before.map_or(0, |before| before.epoch);
            ShareAssignment {
                epoch: previous_epoch.saturating_add(1),
                previous_epoch,
                state: 0,
                assigned,
            }
        }
    }
}

fn answer(
    heartbeat: &ShareHeartbeat,
    member_epoch: i32,
    assignment: Option<PartitionSets>,
) -> ShareHeartbeatAnswer {
    ShareHeartbeatAnswer {
        member_id: heartbeat.member_id.clone(),
        member_epoch,
        heartbeat_interval_ms: match member_epoch {
            LEAVING => 0,
            _ => heartbeat.rules.heartbeat_interval_ms,
        },
        assignment,
        without_state: PartitionSets::new(),
        group_epoch: member_epoch.max(0),
    }
}
