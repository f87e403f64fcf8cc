//! From one generation to the next: join phase, sync phase, and what their deadlines do.
//!
//! ```text
//! Empty --member--> Preparing --all joined, or time is up--> Completing --leader's assignment--> Stable
//!   ^                  ^  |                                      |                                  |
//!   +---no member left-|--+                                      |                                  |
//!                      +----- a member joins, changes, leaves or goes silent -----------------------+
//! ```
//!
//! Why it exists: a group must always come out of a rebalance, whoever vanishes in it.
//! Owns: the transitions between phases.   Never: who may ask for one; that is in `join.rs`, `sync.rs`, `leave.rs`.
//! Invariants: GRP-1, GRP-2.   Read next: `sync.rs`.

use super::deadlines::Purpose;
use super::decide::Deciding;
use super::live_group::{InitialRebalance, LiveGroup, Phase};
use super::{Answer, GroupError, GroupRecord, Joined, JoinedMember, MemberId, Synced};
use bytes::Bytes;
use fanlog_model::invariants::GRP_1;
use std::time::Duration;

/// How long a join phase goes on at least where only absent static members are left: a client may give no rebalance timeout
/// at all, and the phase would end and begin again without a pause until their sessions are over.
const ABSENT_MEMBERS_WAIT_MIN: Duration = Duration::from_secs(1);

impl Deciding<'_> {
    /// Starts a rebalance, or goes on with the one under way.
    pub(super) fn rebalance(&mut self, group: &mut LiveGroup) {
        match group.phase {
            Phase::Empty | Phase::Completing | Phase::Stable => self.prepare_rebalance(group),
            Phase::Preparing { .. } => self.complete_join_if_all_joined(group),
        }
    }

    /// Enters the join phase.
    pub(super) fn prepare_rebalance(&mut self, group: &mut LiveGroup) {
        if group.phase == Phase::Completing {
            let error = GroupError::RebalanceInProgress {
                group: group.id.clone(),
            };
            self.refuse_syncs(group, &error);
        }
        group.pending_sync.clear();
        self.waiting
            .deadlines
            .cancel(Purpose::Sync(group.id.clone()));
        if group.phase == Phase::Empty {
            self.prepare_initial_rebalance(group);
            return;
        }
        group.enter(Phase::Preparing { initial: None }, self.now.wall);
        if group.has_all_joined() {
            self.complete_join(group);
        } else {
            self.set_deadline(Purpose::Join(group.id.clone()), group.rebalance_timeout());
        }
    }

    /// The group is new: gives other members time to come, so that they don't each cause a rebalance.
    fn prepare_initial_rebalance(&mut self, group: &mut LiveGroup) {
        let delay = self.settings.initial_rebalance_delay;
        let initial = InitialRebalance {
            delay,
            remaining: group.rebalance_timeout().saturating_sub(delay),
            member_added: false,
        };
        let phase = Phase::Preparing {
            initial: Some(initial),
        };
        group.enter(phase, self.now.wall);
        self.set_deadline(Purpose::Join(group.id.clone()), delay);
    }

    /// Ends the join phase early once everybody is there; the first generation always waits for its delay.
    pub(super) fn complete_join_if_all_joined(&mut self, group: &mut LiveGroup) {
        if group.phase == (Phase::Preparing { initial: None }) && group.has_all_joined() {
            self.complete_join(group);
        }
    }

    /// The deadline of the join phase: prolongs a first rebalance that still attracts members, else ends the phase.
    pub(super) fn join_phase_over(&mut self, group: &mut LiveGroup) {
        let Phase::Preparing { initial } = group.phase else {
            return;
        };
        match initial {
            Some(wait) if wait.member_added && wait.remaining > Duration::ZERO => {
                let delay = self.settings.initial_rebalance_delay.min(wait.remaining);
                let initial = InitialRebalance {
                    delay,
                    remaining: wait.remaining.saturating_sub(wait.delay),
                    member_added: false,
                };
                group.phase = Phase::Preparing {
                    initial: Some(initial),
                };
                self.set_deadline(Purpose::Join(group.id.clone()), delay);
            }
            _ => self.complete_join(group),
        }
    }

    /// Ends the join phase: dynamic members that did not rejoin are out, and the next generation begins.
    pub(super) fn complete_join(&mut self, group: &mut LiveGroup) {
        let join_deadline = Purpose::Join(group.id.clone());
        self.waiting.deadlines.cancel(join_deadline.clone());
        let absent: Vec<MemberId> = group
            .members
            .iter()
            .filter(|(_, m)| m.awaiting_join.is_none() && m.instance_id.is_none())
            .map(|(id, _)| id.clone())
            .collect();
        for member_id in absent {
            self.drop_member(group, &member_id);
        }
        if group.members.is_empty() {
            self.become_empty(group);
        } else if group.elect_joined_leader() {
            self.begin_generation(group);
        } else {
            // Only static members are left and none has come back: their session time-outs will decide.
            let wait = group.rebalance_timeout().max(ABSENT_MEMBERS_WAIT_MIN);
            self.set_deadline(join_deadline, wait);
        }
    }

    fn become_empty(&mut self, group: &mut LiveGroup) {
        group.generation = next_generation(group.generation);
        group.protocol = None;
        group.leader = None;
        group.subscribed_topics = group.compute_subscribed_topics();
        group.enter(Phase::Empty, self.now.wall);
        self.record_group(group);
    }

    fn begin_generation(&mut self, group: &mut LiveGroup) {
        group.generation = next_generation(group.generation);
        group.protocol = group.select_protocol();
        assert!(
            group.protocol.is_some(),
            "{GRP_1}: members of one group have a protocol in common"
        );
        group.subscribed_topics = group.compute_subscribed_topics();
        group.enter(Phase::Completing, self.now.wall);
        let member_ids: Vec<MemberId> = group.members.keys().cloned().collect();
        for member_id in member_ids {
            if let Some(call) = group.take_join_call(&member_id) {
                let joined = joined(group, &member_id);
                self.reply(call, Answer::Join(Ok(joined)));
            }
            if let Some(member) = group.members.get_mut(&member_id) {
                member.is_new = false;
            }
            self.restart_session(group, &member_id);
            group.pending_sync.insert(member_id);
        }
        self.set_deadline(Purpose::Sync(group.id.clone()), group.rebalance_timeout());
    }

    /// The deadline of the sync phase: members that joined and never asked for their assignment are out.
    pub(super) fn sync_phase_over(&mut self, group: &mut LiveGroup) {
        let is_due = matches!(group.phase, Phase::Completing | Phase::Stable);
        if !is_due || group.pending_sync.is_empty() {
            return;
        }
        for member_id in group.pending_sync.clone() {
            self.drop_member(group, &member_id);
        }
        self.prepare_rebalance(group);
    }

    /// The deadline of a session. Members that are parked satisfy it, unless they are new.
    pub(super) fn session_over(&mut self, group: &mut LiveGroup, member_id: &MemberId) {
        match group.members.get(member_id) {
            Some(m) if !m.is_new && (m.awaiting_join.is_some() || m.awaiting_sync.is_some()) => {}
            Some(_) => {
                self.drop_member(group, member_id);
                self.after_member_left(group);
            }
            None => {
                self.drop_member(group, member_id);
                self.complete_join_if_nobody_missing(group);
            }
        }
    }

    /// What follows when a member is gone.
    fn after_member_left(&mut self, group: &mut LiveGroup) {
        match group.phase {
            Phase::Stable | Phase::Completing => self.prepare_rebalance(group),
            Phase::Preparing { .. } | Phase::Empty => self.complete_join_if_nobody_missing(group),
        }
    }

    /// As [`complete_join_if_all_joined`](Self::complete_join_if_all_joined), but a first rebalance ends as well: whoever was
    /// waited for is gone.
    fn complete_join_if_nobody_missing(&mut self, group: &mut LiveGroup) {
        if matches!(group.phase, Phase::Preparing { .. }) && group.has_all_joined() {
            self.complete_join(group);
        }
    }

    /// The leader has spoken: the generation is logged, and whoever is parked gets its part.
    pub(super) fn become_stable(&mut self, group: &mut LiveGroup) {
        group.enter(Phase::Stable, self.now.wall);
        self.record_group(group);
        let member_ids: Vec<MemberId> = group.members.keys().cloned().collect();
        for member_id in member_ids {
            let member = group.members.get_mut(&member_id);
            if let Some(call) = member.and_then(|m| m.awaiting_sync.take()) {
                let synced = synced(group, &member_id);
                self.reply(call, Answer::Sync(Ok(synced)));
                self.restart_session(group, &member_id);
            }
        }
    }

    /// Sends away those parked in Sync and forgets assignments: they must join again.
    pub(super) fn refuse_syncs(&mut self, group: &mut LiveGroup, error: &GroupError) {
        let member_ids: Vec<MemberId> = group.members.keys().cloned().collect();
        for member_id in member_ids {
            let Some(member) = group.members.get_mut(&member_id) else {
                continue;
            };
            member.assignment = Bytes::new();
            if let Some(call) = member.awaiting_sync.take() {
                self.reply(call, Answer::Sync(Err(error.clone())));
                self.restart_session(group, &member_id);
            }
        }
    }

    /// Logs a group as it now is.
    pub(super) fn record_group(&mut self, group: &LiveGroup) {
        let is_logged_phase = matches!(group.phase, Phase::Empty | Phase::Stable);
        assert!(
            is_logged_phase,
            "{GRP_1}: only completed rebalances are logged"
        );
        self.record(GroupRecord::Group {
            group: group.id.clone(),
            metadata: group.to_metadata(),
        });
    }
}

/// The number after `generation`; it starts over rather than turn negative, which would mean "outside any group".
fn next_generation(generation: i32) -> i32 {
    generation.wrapping_add(1).max(0)
}

/// What a member learns of the present generation; the leader learns of all members.
pub(super) fn joined(group: &LiveGroup, member_id: &MemberId) -> Joined {
    let members = match group.is_leader(member_id) {
        true => joined_members(group),
        false => Vec::new(),
    };
    Joined {
        member_id: member_id.clone(),
        generation: group.generation,
        protocol_type: group.protocol_type.clone(),
        protocol: group.protocol.clone(),
        leader: group
            .leader
            .clone()
            .expect("a group with members has a leader"),
        skip_assignment: false,
        members,
    }
}

fn joined_members(group: &LiveGroup) -> Vec<JoinedMember> {
    let protocol = group.protocol.as_deref();
    let members = group.members.iter();
    let joined = members.map(|(id, member)| JoinedMember {
        member_id: id.clone(),
        instance_id: member.instance_id.clone(),
        metadata: member.metadata(protocol),
    });
    joined.collect()
}

/// A member's part of the present generation.
pub(super) fn synced(group: &LiveGroup, member_id: &MemberId) -> Synced {
    let member = group.members.get(member_id);
    Synced {
        protocol_type: group.protocol_type.clone(),
        protocol: group.protocol.clone(),
        assignment: member.map(|m| m.assignment.clone()).unwrap_or_default(),
    }
}
