//! ShareGroupHeartbeat: members come, say that they live, and go; each answer says what the member reads.
//!
//! Why it exists: the broker assigns, and the assignment takes effect at once: members of a share group may read the same
//! partition, so nobody waits for anybody to let go.
//! In -> out: [`ShareHeartbeat`] -> records and an answer at once.
//! Invariants: GRP-2.   Read next: `assignment.rs`.

use super::assignment::epoch_of;
use super::{ShareAssignment, ShareGroup, ShareMember, ShareRecord};
use crate::CallId;
use crate::group::deadlines::Purpose;
use crate::group::decide::Deciding;
use crate::group::memory::{self, Growth};
use crate::group::{
    Answer, GroupError, GroupKind, GroupRecord, MEMBERS_PER_GROUP_MAX, MemberId, PartitionSets,
};
use fanlog_model::GroupId;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// A member that comes.
const JOINING: i32 = 0;
/// A member that goes.
const LEAVING: i32 = -1;
/// The most topics that one member may name.
const TOPICS_PER_MEMBER_MAX: usize = 10_000;

/// ShareGroupHeartbeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareHeartbeat {
    /// Who asks.
    pub call: CallId,
    /// The share group.
    pub group: GroupId,
    /// The id that the member chose itself.
    pub member_id: MemberId,
    /// The member's epoch; 0 to come, -1 to go.
    pub member_epoch: i32,
    /// `client.rack`, where it is new.
    pub rack_id: Option<Arc<str>>,
    /// The topics that it subscribes to, where they are new.
    pub topics: Option<Vec<Arc<str>>>,
    /// The client id of the request's header.
    pub client_id: Arc<str>,
    /// The client's address, as shown to operators.
    pub client_host: Arc<str>,
    /// What the group's settings say.
    pub rules: ShareRules,
}

/// What the settings say of a share group's members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShareRules {
    /// `share.heartbeat.interval.ms`.
    pub heartbeat_interval_ms: i32,
    /// `share.session.timeout.ms`.
    pub session_timeout: Duration,
    /// `group.share.max.size`.
    pub members_max: usize,
}

/// The answer to a member that lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareHeartbeatAnswer {
    /// The member.
    pub member_id: MemberId,
    /// Its epoch from now on; -1 where it has gone.
    pub member_epoch: i32,
    /// When it shall report again; 0 where it has gone.
    pub heartbeat_interval_ms: i32,
    /// What it reads, where that is new to it.
    pub assignment: Option<PartitionSets>,
    /// Partitions that the group reads and has no state of.
    pub without_state: PartitionSets,
    /// The group's epoch, under which such states begin.
    pub group_epoch: i32,
}

impl ShareHeartbeat {
    /// Whether it makes sense, whatever the group; in the words that Kafka's clients know.
    ///
    /// # Errors
    /// It does not.
    pub fn check(&self) -> Result<(), GroupError> {
        let refused = |reason| Err(GroupError::InvalidRequest { reason });
        if self.group.as_str().is_empty() {
            return refused("GroupId can't be empty.");
        }
        if self.member_id.is_none() {
            return refused("MemberId can't be empty.");
        }
        if self.rack_id.as_deref() == Some("") {
            return refused("RackId can't be empty.");
        }
        if self.member_epoch < LEAVING {
            return refused("MemberEpoch is invalid.");
        }
        let topics = self.topics.as_ref();
        if self.member_epoch == JOINING && topics.is_none_or(Vec::is_empty) {
            return refused("SubscribedTopicNames must be set in first request.");
        }
        if topics.is_some_and(|topics| topics.len() > TOPICS_PER_MEMBER_MAX) {
            return refused("SubscribedTopicNames are too many.");
        }
        GroupError::check_names(&[
            ("group id", self.group.as_str()),
            ("member id", self.member_id.as_str()),
            ("client id", &self.client_id),
            ("client host", &self.client_host),
            ("rack", self.rack_id.as_deref().unwrap_or("")),
        ])?;
        let names = topics.into_iter().flatten();
        let names: Vec<_> = names.map(|name| ("topic name", &**name)).collect();
        GroupError::check_names(&names)
    }

    /// Whether it bears the member's epoch: one ahead of it is another's; the one before it may be an answer that was lost.
    ///
    /// # Errors
    /// It does not.
    pub fn check_epoch(&self, current: &ShareAssignment) -> Result<(), GroupError> {
        let given = self.member_epoch;
        if given == current.epoch || given == current.previous_epoch {
            return Ok(());
        }
        Err(GroupError::FencedMemberEpoch {
            group: self.group.clone(),
            member: self.member_id.clone(),
            given,
            current: current.epoch,
        })
    }
}

impl<'a> Deciding<'a> {
    fn share_group(&self, id: &GroupId) -> Result<Option<&'a ShareGroup>, GroupError> {
        match self.kind(id) {
            None => Ok(None),
            Some(GroupKind::Share) => {
                let known = self.ledger.group(id);
                Ok(known.and_then(|known| known.share.as_deref()))
            }
            // To the protocol of share groups, a group of another kind is none.
            Some(_) => Err(GroupError::GroupNotFound { group: id.clone() }),
        }
    }
}

impl Deciding<'_> {
    pub(in crate::group) fn share_heartbeat(&mut self, heartbeat: ShareHeartbeat) {
        let call = heartbeat.call;
        let result = heartbeat
            .check()
            .and_then(|()| match heartbeat.member_epoch {
                LEAVING => self.share_leave(&heartbeat),
                _ => self.share_report(&heartbeat),
            });
        self.reply(call, Answer::ShareHeartbeat(result));
    }

    fn share_report(
        &mut self,
        heartbeat: &ShareHeartbeat,
    ) -> Result<ShareHeartbeatAnswer, GroupError> {
        let (id, member_id) = (&heartbeat.group, &heartbeat.member_id);
        let known = self.share_group(id)?;
        let is_joining = heartbeat.member_epoch == JOINING;
        if known.is_none() && !is_joining {
            return Err(GroupError::GroupNotFound { group: id.clone() });
        }
        let member = self.admit_share(heartbeat, known)?;
        let current = known.and_then(|group| group.currents.get(member_id));
        let before = current.cloned().unwrap_or_default();
        if !is_joining {
            heartbeat.check_epoch(&before)?;
        }
        let is_as_known = known.is_some_and(|g| g.members.get(member_id) == Some(&member));
        let settled = self.settled_share_group(id).filter(|_| is_as_known);
        let reassigned;
        let (group, settled) = match known.zip(settled) {
            // As nearly always: nobody else is looked at.
            Some(settled) => settled,
            None => {
                reassigned = self.with_share_member(id, known, member_id, member);
                (&reassigned, self.settle_share_group(id, &reassigned))
            }
        };
        let current = self.settle_share_member(group, id, member_id);
        let is_news = is_joining || *current != *before || heartbeat.topics.is_some();
        let session = Purpose::Session(id.clone(), member_id.clone());
        self.set_deadline(session, heartbeat.rules.session_timeout);
        Ok(ShareHeartbeatAnswer {
            member_id: member_id.clone(),
            member_epoch: current.epoch,
            heartbeat_interval_ms: heartbeat.rules.heartbeat_interval_ms,
            assignment: is_news.then(|| current.assigned.clone()),
            without_state: (*settled.without_state).clone(),
            group_epoch: epoch_of(group).epoch,
        })
    }

    /// The group with what a member says of itself, assigned anew where that changes anything.
    fn with_share_member(
        &mut self,
        id: &GroupId,
        known: Option<&ShareGroup>,
        member_id: &MemberId,
        member: Arc<ShareMember>,
    ) -> ShareGroup {
        let mut has_changed = known.is_none();
        let mut group = known.cloned().unwrap_or_default();
        if group.members.get(member_id) != Some(&member) {
            let topics_before = group.members.get(member_id).map(|m| m.topics.clone());
            has_changed |= topics_before.as_ref() != Some(&member.topics);
            let record = ShareRecord::Member(member_id.clone(), Some(member));
            self.share_record(&mut group, id, record);
        }
        self.assign_share_group(&mut group, id, has_changed);
        group
    }

    /// The member as it describes itself now, if it may be in.
    fn admit_share(
        &mut self,
        heartbeat: &ShareHeartbeat,
        group: Option<&ShareGroup>,
    ) -> Result<Arc<ShareMember>, GroupError> {
        let (id, member_id) = (&heartbeat.group, &heartbeat.member_id);
        let known = group.and_then(|group| group.members.get(member_id));
        if known.is_none() {
            if heartbeat.member_epoch != JOINING {
                return Err(GroupError::UnknownMember {
                    group: id.clone(),
                    member: member_id.clone(),
                });
            }
            let max = heartbeat.rules.members_max.min(MEMBERS_PER_GROUP_MAX);
            if group.is_some_and(|group| group.members.len() >= max) {
                return Err(GroupError::GroupFull {
                    group: id.clone(),
                    max,
                });
            }
        }
        let before = known.map(|member| (**member).clone()).unwrap_or_default();
        let topics = heartbeat.topics.as_ref().map(|names| {
            let names: BTreeSet<_> = names.iter().cloned().collect();
            names.into_iter().collect()
        });
        let member = ShareMember {
            rack_id: heartbeat.rack_id.clone().or(before.rack_id),
            client_id: heartbeat.client_id.clone(),
            client_host: heartbeat.client_host.clone(),
            topics: topics.unwrap_or(before.topics),
        };
        let bytes = memory::of_share_member(member_id, &member);
        let more = match known {
            Some(known) => bytes.saturating_sub(memory::of_share_member(member_id, known)),
            None => bytes,
        };
        let growth = match group {
            None => Growth::New,
            Some(_) => Growth::Known,
        };
        self.check_memory(growth, more, None)
            .map_err(|max| GroupError::MemoryFull {
                group: id.clone(),
                max,
            })?;
        Ok(Arc::new(member))
    }

    /// The member reads what it shall, from now on.
    fn settle_share_member(
        &mut self,
        group: &ShareGroup,
        id: &GroupId,
        member_id: &MemberId,
    ) -> Arc<ShareAssignment> {
        let before = group.currents.get(member_id).cloned();
        let target = group.targets.get(member_id).cloned().unwrap_or_default();
        let epoch = group.target_epoch.map_or(0, |target| target.epoch);
        if let Some(before) = &before
            && before.epoch == epoch
            && before.assigned == *target
        {
            return before.clone();
        }
        let current = Arc::new(ShareAssignment {
            epoch,
            previous_epoch: before.map_or(0, |before| before.epoch),
            state: 0,
            assigned: (*target).clone(),
        });
        self.record(GroupRecord::Share {
            group: id.clone(),
            record: ShareRecord::Current(member_id.clone(), Some(current.clone())),
        });
        current
    }

    fn share_leave(
        &mut self,
        heartbeat: &ShareHeartbeat,
    ) -> Result<ShareHeartbeatAnswer, GroupError> {
        let (id, member_id) = (&heartbeat.group, &heartbeat.member_id);
        let known = self.share_group(id)?;
        let known = known.ok_or_else(|| GroupError::GroupNotFound { group: id.clone() })?;
        if !known.members.contains_key(member_id) {
            return Err(GroupError::UnknownMember {
                group: id.clone(),
                member: member_id.clone(),
            });
        }
        self.share_member_over(id, member_id);
        Ok(ShareHeartbeatAnswer {
            member_id: member_id.clone(),
            member_epoch: LEAVING,
            heartbeat_interval_ms: 0,
            assignment: None,
            without_state: PartitionSets::new(),
            group_epoch: 0,
        })
    }

    /// A member has gone, or was not heard of for too long.
    pub(in crate::group) fn share_member_over(&mut self, id: &GroupId, member_id: &MemberId) {
        self.waiting
            .deadlines
            .cancel(Purpose::Session(id.clone(), member_id.clone()));
        let known = self
            .ledger
            .group(id)
            .and_then(|known| known.share.as_deref());
        let Some(mut group) = known.filter(|g| g.members.contains_key(member_id)).cloned() else {
            return;
        };
        for record in [
            ShareRecord::Current(member_id.clone(), None),
            ShareRecord::Target(member_id.clone(), None),
            ShareRecord::Member(member_id.clone(), None),
        ] {
            self.share_record(&mut group, id, record);
        }
        self.assign_share_group(&mut group, id, true);
    }

    /// Records a fact, and lets it take effect on the copy that is worked on.
    pub(super) fn share_record(
        &mut self,
        group: &mut ShareGroup,
        id: &GroupId,
        record: ShareRecord,
    ) {
        group.apply(&record);
        let group = id.clone();
        self.record(GroupRecord::Share { group, record });
    }

    /// Members that the log knows have this long to report.
    pub(in crate::group) fn watch_share_members(
        &mut self,
        id: &GroupId,
        group: &ShareGroup,
        session_timeout: Duration,
    ) {
        for member_id in group.members.keys() {
            let session = Purpose::Session(id.clone(), member_id.clone());
            self.set_deadline(session, session_timeout);
        }
    }
}
