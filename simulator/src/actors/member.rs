//! Members of groups: they join, share partitions, commit, fall silent, come back late, and are replaced.

use crate::chance::Chance;
use crate::promises::Verdict;
use crate::promises::groups::{Fate, Identity};
use crate::promises::records::Place;
use crate::world::{GROUPS, World};
use bytes::Bytes;
use fanlog_broker::GroupRequestError;
use fanlog_coordinators::CallId;
use fanlog_coordinators::group::{
    CommitOffsets, FetchOffsets, GroupError, Heartbeat, Join, Joined, JoinedMember, Leave,
    LeavingMember, MemberId, OffsetToCommit, Protocol, Sync,
};
use fanlog_model::{GroupId, LeaderEpoch, Offset, PartitionIndex, TopicPartition};
use std::sync::Arc;
use std::time::Duration;

/// What the members of a group share, by number.
const SHARED: u8 = 5;
const SESSION: Duration = Duration::from_secs(8);
const REBALANCE: Duration = Duration::from_secs(8);

/// How far a member has come.
#[derive(Clone, Debug)]
enum Phase {
    Outside,
    /// It has joined a generation; a leader knows the members.
    Joined(Vec<JoinedMember>),
    Owning,
}

/// A client process in a group.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    group: usize,
    instance: Option<String>,
    /// Which process this is: answers for an earlier one come to nobody.
    process: u64,
    is_waiting: bool,
    who: Identity,
    phase: Phase,
    /// What it once was: for requests that come late.
    past: Vec<Identity>,
}

impl Member {
    pub(crate) fn cast(chance: &mut Chance) -> Vec<Self> {
        (0..5_u64)
            .map(|number| {
                let instance = chance.percent(30).then(|| format!("instance-{number}"));
                Self {
                    group: usize::try_from(number).unwrap_or_default() % GROUPS,
                    who: outside(instance.as_deref()),
                    instance,
                    process: 0,
                    is_waiting: false,
                    phase: Phase::Outside,
                    past: Vec::new(),
                }
            })
            .collect()
    }

    fn forget(&mut self) {
        self.who = outside(self.instance.as_deref());
        self.phase = Phase::Outside;
    }
}

fn outside(instance: Option<&str>) -> Identity {
    Identity {
        member: String::new(),
        instance: instance.map(str::to_owned),
        generation: -1,
    }
}

pub(crate) fn group_id(group: usize) -> GroupId {
    match group {
        GROUPS => GroupId::from(super::consumer::GROUP),
        _ => GroupId::from(format!("group-{group}").as_str()),
    }
}

fn instance(who: &Identity) -> Option<Arc<str>> {
    who.instance.as_deref().map(Arc::from)
}

impl World {
    /// A member does what comes next, or something else.
    pub(crate) fn take_part(&mut self) -> Verdict {
        let member = self.chance.index(self.members.len());
        if self.chance.percent(3) {
            let gone = &mut self.members[member];
            gone.process += 1;
            gone.is_waiting = false;
            gone.forget();
            self.trace.line(&format!("member {member} dies"));
            return Ok(());
        }
        if self.chance.percent(8) {
            self.commit_late(member);
            return Ok(());
        }
        if self.members[member].is_waiting {
            return Ok(());
        }
        match self.members[member].phase.clone() {
            Phase::Outside => self.join(member),
            Phase::Joined(members) => self.sync(member, &members),
            Phase::Owning => match self.chance.weighted(&[(8, 0), (6, 1), (3, 2), (1, 3)]) {
                0 => self.heartbeat(member),
                1 => {
                    let who = self.members[member].who.clone();
                    self.commit(self.members[member].group, who, false);
                }
                2 => self.fetch_committed(self.members[member].group),
                _ => self.leave(member),
            },
        }
        Ok(())
    }

    /// Calls, and takes the answer in unless the member's process has been replaced.
    fn call_as<R: Send + 'static>(
        &mut self,
        member: usize,
        what: &str,
        call: impl Future<Output = Result<R, GroupRequestError>> + Send + 'static,
        then: impl FnOnce(&mut World, R) -> Verdict + 'static,
    ) {
        let process = self.members[member].process;
        self.members[member].is_waiting = true;
        let what = format!("member {member} {what}");
        self.call(what, call, move |world, answer| {
            if world.members[member].process != process {
                return Ok(());
            }
            world.members[member].is_waiting = false;
            match answer {
                Some(Ok(answer)) => then(world, answer),
                Some(Err(error)) => {
                    world.trace.line(&error.to_string());
                    world.refused(member, &error);
                    Ok(())
                }
                None => Ok(()),
            }
        });
    }

    fn refused(&mut self, member: usize, error: &GroupRequestError) {
        let member = &mut self.members[member];
        let GroupRequestError::Refused(refused) = error else {
            return;
        };
        match refused {
            GroupError::MemberIdRequired { member: given } => {
                member.who.member = given.to_string();
            }
            GroupError::UnknownMember { .. } | GroupError::FencedInstance { .. } => {
                member.forget();
            }
            _ => member.phase = Phase::Outside,
        }
    }

    fn join(&mut self, member: usize) {
        let Member { group, who, .. } = self.members[member].clone();
        let request = Join {
            call: CallId(0),
            group: group_id(group),
            member_id: MemberId::from(who.member.as_str()),
            fresh_id: Default::default(),
            instance_id: instance(&who).map(|name| (&*name).into()),
            client_id: "simulated".into(),
            client_host: "/127.0.0.1".into(),
            session_timeout_ms: i32::try_from(SESSION.as_millis()).unwrap_or(i32::MAX),
            rebalance_timeout_ms: i32::try_from(REBALANCE.as_millis()).unwrap_or(i32::MAX),
            protocol_type: "consumer".into(),
            protocols: vec![Protocol {
                name: "range".into(),
                metadata: Bytes::copy_from_slice(&[self.chance.next() as u8 & 1]),
            }],
            requires_member_id: self.chance.percent(50),
            supports_skip_assignment: self.chance.percent(50),
        };
        let groups = self.broker().groups().clone();
        let join = async move { groups.join(request).await };
        self.call_as(member, "joins", join, move |world, joined| {
            world.has_joined(member, joined)
        });
    }

    fn has_joined(&mut self, member: usize, joined: Joined) -> Verdict {
        let at = self.moment();
        let known = &mut self.members[member];
        known.who.member = joined.member_id.to_string();
        known.who.generation = joined.generation;
        known.past.push(known.who.clone());
        // One that is told to keep the assignment sends none.
        known.phase = Phase::Joined(match joined.skip_assignment {
            true => Vec::new(),
            false => joined.members,
        });
        let (group, who) = (known.group, known.who.clone());
        self.trace.line(&format!("{who:?} in group {group}"));
        self.groups[group].joined(at, &who);
        Ok(())
    }

    fn sync(&mut self, member: usize, members: &[JoinedMember]) {
        let Member { group, who, .. } = self.members[member].clone();
        let share = |position: usize| -> Bytes {
            let is_mine = |partition: &u8| usize::from(*partition) % members.len() == position;
            (0..SHARED).filter(is_mine).collect::<Vec<_>>().into()
        };
        let assignments = members.iter().enumerate();
        let request = Sync {
            call: CallId(0),
            group: group_id(group),
            member_id: MemberId::from(who.member.as_str()),
            instance_id: instance(&who).map(|name| (&*name).into()),
            generation: who.generation,
            protocol_type: None,
            protocol: None,
            assignments: assignments
                .map(|(position, member)| (member.member_id.clone(), share(position)))
                .collect(),
        };
        let sent = self.now();
        let groups = self.broker().groups().clone();
        let sync = async move { groups.sync(request).await };
        self.call_as(member, "syncs", sync, move |world, synced| {
            let at = world.moment();
            world.members[member].phase = Phase::Owning;
            world.reached.assigned += u64::from(!synced.assignment.is_empty());
            world.trace.line(&format!("owns {:?}", synced.assignment));
            world.groups[group].present_until(&who, sent + SESSION.min(REBALANCE));
            world.groups[group].synced(at, &who, &synced.assignment)
        });
    }

    fn heartbeat(&mut self, member: usize) {
        let Member { group, who, .. } = self.members[member].clone();
        let request = Heartbeat {
            call: CallId(0),
            group: group_id(group),
            member_id: MemberId::from(who.member.as_str()),
            instance_id: instance(&who).map(|name| (&*name).into()),
            generation: who.generation,
        };
        let sent = self.now();
        let groups = self.broker().groups().clone();
        let beat = async move { groups.heartbeat(request).await };
        self.call_as(member, "heartbeats", beat, move |world, ()| {
            world.groups[group].present_until(&who, sent + SESSION.min(REBALANCE));
            Ok(())
        });
    }

    fn leave(&mut self, member: usize) {
        let Member { group, who, .. } = self.members[member].clone();
        let request = Leave {
            call: CallId(0),
            group: group_id(group),
            members: vec![LeavingMember {
                member_id: MemberId::from(who.member.as_str()),
                instance_id: instance(&who).map(|name| (&*name).into()),
            }],
        };
        self.groups[group].leaving(&who.member);
        let groups = self.broker().groups().clone();
        let leave = async move { groups.leave(request).await };
        self.call_as(member, "leaves", leave, move |world, _| {
            world.members[member].forget();
            Ok(())
        });
    }

    /// A request under an identity that once was valid, or from outside.
    fn commit_late(&mut self, member: usize) {
        let Member { group, past, .. } = self.members[member].clone();
        let who = match past.is_empty() || self.chance.percent(30) {
            true => outside(None),
            false => self.chance.pick(&past),
        };
        self.commit(group, who, true);
    }

    fn commit(&mut self, group: usize, who: Identity, is_late: bool) {
        let Some(place) = self.some_place() else {
            return;
        };
        let Some(name) = self.topic_name(place.topic) else {
            return;
        };
        let token = self.token();
        let request = CommitOffsets {
            call: CallId(0),
            group: group_id(group),
            member_id: MemberId::from(who.member.as_str()),
            instance_id: instance(&who).map(|name| (&*name).into()),
            generation: who.generation,
            names_missing_group: true,
            retention_ms: None,
            offsets: vec![OffsetToCommit {
                topic: name,
                topic_id: place.topic,
                partition: PartitionIndex(place.partition),
                offset: Offset(self.records.high_watermark(place)),
                leader_epoch: LeaderEpoch::UNKNOWN,
                metadata: token.to_string().into(),
            }],
        };
        let (sent, now) = (self.moment(), self.now());
        let at = (place.topic, place.partition);
        let position = self.groups[group].committing(at, token);
        let groups = self.broker().groups().clone();
        let commit = async move { groups.commit_offsets(request).await };
        let what = format!("commit {token} for {place:?} by {who:?} in group {group}");
        self.call(what, commit, move |world, answer| match answer {
            Some(Ok(outcomes)) if outcomes.iter().all(|outcome| outcome.result.is_ok()) => {
                world.reached.committed += 1;
                world.groups[group].committed(at, position);
                world.groups[group].check_accepted(sent, now, &who)
            }
            Some(Err(GroupRequestError::Refused(refused))) => {
                world.trace.line(&refused.to_string());
                world.reached.late_refused += u64::from(is_late);
                world.groups[group].not_committed(at, position);
                Ok(())
            }
            _ => Ok(()),
        });
    }

    pub(crate) fn fetch_committed(&mut self, group: usize) {
        if let Some(place) = self.some_place() {
            self.fetch_committed_of(group, place);
        }
    }

    pub(crate) fn fetch_committed_of(&mut self, group: usize, place: Place) {
        let Some(topic) = self.topic_name(place.topic) else {
            return;
        };
        let partition = PartitionIndex(place.partition);
        let request = FetchOffsets {
            call: CallId(0),
            group: group_id(group),
            member: None,
            partitions: Some(vec![TopicPartition { topic, partition }]),
            require_stable: false,
        };
        let at = (place.topic, place.partition);
        let read = self.groups[group].reading(at);
        let groups = self.broker().groups().clone();
        let fetch = async move { groups.fetch_offsets(request).await };
        let what = format!("read the offset of group {group} in {place:?}");
        self.call(what, fetch, move |world, answer| {
            let Some(Ok(found)) = answer else {
                return Ok(());
            };
            // A topic that goes takes its offsets with it.
            if !world.is_live(place.topic) {
                return Ok(());
            }
            let committed = found.first().and_then(|found| found.committed.as_ref());
            let token = committed.and_then(|committed| committed.metadata.parse().ok());
            world.trace.line(&format!("found {token:?}"));
            world.reached.read += 1;
            world.groups[group].read(at, read, token)
        });
    }

    /// An operator deletes a group, which is refused while it has members.
    pub(crate) fn delete_group(&mut self) -> Verdict {
        let group = self.chance.index(GROUPS);
        let deletion = self.groups[group].deleting();
        let groups = self.broker().groups().clone();
        let delete = async move { groups.delete_group(group_id(group)).await };
        self.call(
            format!("delete group {group}"),
            delete,
            move |world, answer| {
                let fate = match answer {
                    Some(Ok(())) => Fate::Done,
                    Some(Err(GroupRequestError::Refused(_))) => Fate::Refused,
                    _ => Fate::Open,
                };
                world.groups[group].deletion_over(&deletion, fate);
                Ok(())
            },
        );
        Ok(())
    }
}
