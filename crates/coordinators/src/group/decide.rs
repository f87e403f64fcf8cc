//! The one door: an input comes in, records and replies come out.
//!
//! Why it exists: every rule of the protocol is one function of ledger, waiting, time and input.
//! Owns: the order in which an input is looked at.   Never: changes the ledger; the runtime applies the records.
//! In -> out: [`Input`] -> [`Decision`].
//! Invariants: GRP-2, GRP-3.   Read next: `join.rs`.

use super::deadlines::Purpose;
use super::live_group::{LiveGroup, Phase};
use super::{
    Answer, EndOffsets, GroupError, GroupKind, GroupRecord, GroupSettings, Input, Ledger,
    LedgerGroup, MemberId, OffsetsProducer, Reply, TopicsSnapshot, Waiting,
};
use crate::{CallId, Now};
use fanlog_model::GroupId;
use std::time::Duration;

/// What one input leads to: records to append (and apply at once), replies to release when they are durable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// To append in this order, and to apply to the ledger right after. Every prefix of the log is legal, so many may be
    /// cut into several batches.
    pub records: Vec<GroupRecord>,
    /// To release when these records, and all decided before, are durable. If the append fails, drop the machine.
    pub replies: Vec<Reply>,
    /// Whether the records are a transaction's, or how one ends.
    pub transaction: Option<TransactionalWrite>,
    /// How many new groups, members or offsets were refused for want of memory.
    pub refused_for_memory: u64,
}

/// What a decision has to do with a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionalWrite {
    /// The records are written in a producer's name, and applied by [`apply_pending`](super::apply_pending).
    Offsets(OffsetsProducer),
    /// Its marker is written, and applied by [`apply_end`](super::apply_end).
    End(EndOffsets),
}

/// Decides on one input. The ledger must hold every record decided so far.
pub fn decide(
    settings: &GroupSettings,
    topics: &dyn TopicsSnapshot,
    ledger: &Ledger,
    waiting: &mut Waiting,
    now: Now,
    input: Input,
) -> Decision {
    let mut deciding = Deciding::new(settings, topics, ledger, waiting, now);
    match input {
        Input::Join(join) => deciding.join(join),
        Input::Sync(sync) => deciding.sync(sync),
        Input::Heartbeat(heartbeat) => deciding.heartbeat(heartbeat),
        Input::ConsumerHeartbeat(heartbeat) => deciding.consumer_heartbeat(heartbeat),
        Input::DescribeConsumer { call, group } => deciding.describe_consumer(call, group),
        Input::ShareHeartbeat(heartbeat) => deciding.share_heartbeat(heartbeat),
        Input::DescribeShare { call, group } => deciding.describe_share(call, group),
        Input::ShareStatesChanged(changed) => deciding.share_states_changed(&changed),
        Input::TopicsChanged => {
            deciding.topics_changed();
            deciding.unsettle_share_groups();
        }
        Input::RegexResolved(resolved) => deciding.regex_resolved(&resolved),
        Input::Leave(leave) => deciding.leave(leave),
        Input::CommitOffsets(commit) => deciding.commit_offsets(commit),
        Input::CommitInTransaction(commit) => deciding.commit_in_transaction(commit),
        Input::EndOffsets(end) => deciding.end_offsets(end),
        Input::FetchOffsets(fetch) => deciding.fetch_offsets(fetch),
        Input::DeleteOffsets(delete) => deciding.delete_offsets(delete),
        Input::DeleteGroup { call, group } => deciding.delete_group(call, group),
        Input::Describe { call, group } => deciding.describe(call, group),
        Input::List(list) => deciding.list(&list),
        Input::TopicDeleted(topic) => {
            deciding.topic_deleted(&topic);
            deciding.share_topic_deleted(|of| *of.name == *topic.as_str());
        }
        Input::ShareTopicsDeleted(ids) => deciding.share_topic_deleted(|of| ids.contains(&of.id)),
        Input::PartitionsDeleted(partitions) => deciding.partitions_deleted(&partitions),
        Input::Tick => deciding.tick(),
    }
    deciding.decision
}

/// Of which kind a group is, be it that only offsets of a transaction under way make it one; `None` if there is no such group.
pub fn kind_of(ledger: &Ledger, waiting: &Waiting, id: &GroupId) -> Option<GroupKind> {
    let logged = ledger.group(id).map(super::LedgerGroup::kind);
    let is_known = waiting.groups.contains_key(id) || ledger.pending().has_any(id);
    logged.or(is_known.then_some(GroupKind::Classic))
}

/// One decision in the making. Its methods stand in the files of the requests.
pub(super) struct Deciding<'a> {
    pub(super) settings: &'a GroupSettings,
    pub(super) topics: &'a dyn TopicsSnapshot,
    pub(super) ledger: &'a Ledger,
    pub(super) waiting: &'a mut Waiting,
    pub(super) now: Now,
    pub(super) decision: Decision,
    /// What the records decided so far add to the ledger's memory.
    pub(super) added: usize,
}

impl<'a> Deciding<'a> {
    pub(super) fn new(
        settings: &'a GroupSettings,
        topics: &'a dyn TopicsSnapshot,
        ledger: &'a Ledger,
        waiting: &'a mut Waiting,
        now: Now,
    ) -> Self {
        Self {
            settings,
            topics,
            ledger,
            waiting,
            now,
            decision: Decision::default(),
            added: 0,
        }
    }

    pub(super) fn reply(&mut self, call: CallId, answer: Answer) {
        self.decision.replies.push(Reply { call, answer });
    }

    pub(super) fn record(&mut self, record: GroupRecord) {
        self.unsettle_share_group(&record);
        self.decision.records.push(record);
    }

    /// Of which kind a group is; `None` if there is no such group and the name is free.
    pub(super) fn kind(&self, id: &GroupId) -> Option<GroupKind> {
        let logged = self.ledger.group(id).map(LedgerGroup::kind);
        let live = self.waiting.groups.contains_key(id);
        let is_classic = live || self.ledger.pending().has_any(id);
        let is_queue = || self.topics.is_queue(id).then_some(GroupKind::Queue);
        logged
            .or(is_classic.then_some(GroupKind::Classic))
            .or_else(is_queue)
    }

    /// Whether a group is a consumer group of the new protocol.
    pub(super) fn is_consumer(&self, id: &GroupId) -> bool {
        self.kind(id) == Some(GroupKind::Consumer)
    }

    /// Takes a group of the classic protocol out to work on it, if it exists; [`put_group`](Self::put_group) puts it back.
    pub(super) fn take_group(&mut self, id: &GroupId) -> Option<LiveGroup> {
        if let Some(group) = self.waiting.groups.remove(id) {
            self.waiting.bytes -= group.bytes;
            return Some(group);
        }
        let Some(known) = self.ledger.group(id) else {
            // There by what a transaction under way commits, as by what is committed.
            let is_pending = self.ledger.pending().has_any(id);
            return is_pending.then(|| LiveGroup::from_ledger(id, &LedgerGroup::default()));
        };
        if known.kind() != GroupKind::Classic {
            return None;
        }
        Some(LiveGroup::from_ledger(id, known))
    }

    /// Puts a group back, unless the ledger now says all there is to say about it.
    pub(super) fn put_group(&mut self, group: LiveGroup) {
        if group.phase != Phase::Empty || !group.pending_join.is_empty() {
            self.waiting.bytes += group.bytes;
            let before = self.waiting.groups.insert(group.id.clone(), group);
            debug_assert!(
                before.is_none(),
                "a group is taken out before it is put back"
            );
        }
    }

    /// Runs `work` on a group that exists and puts it back.
    pub(super) fn with_group<T>(
        &mut self,
        id: &GroupId,
        work: impl FnOnce(&mut Self, &mut LiveGroup) -> T,
    ) -> Option<T> {
        let mut group = self.take_group(id)?;
        let result = work(self, &mut group);
        self.put_group(group);
        Some(result)
    }

    /// The deadline `after` from now.
    pub(super) fn set_deadline(&mut self, purpose: Purpose, after: Duration) {
        self.waiting
            .deadlines
            .set(purpose, self.now.monotonic + after);
    }

    /// A member was heard of: its session starts anew.
    pub(super) fn restart_session(&mut self, group: &LiveGroup, member_id: &MemberId) {
        if let Some(member) = group.members.get(member_id) {
            let purpose = Purpose::Session(group.id.clone(), member_id.clone());
            self.set_deadline(purpose, ms(member.session_timeout_ms));
        }
    }

    /// All members' sessions start anew.
    pub(super) fn restart_sessions(&mut self, group: &LiveGroup) {
        for member_id in group.members.keys() {
            self.restart_session(group, member_id);
        }
    }

    /// Takes a member (or a pending member id) out of its group and tells those it left waiting.
    pub(super) fn drop_member(&mut self, group: &mut LiveGroup, member_id: &MemberId) {
        let purpose = Purpose::Session(group.id.clone(), member_id.clone());
        self.waiting.deadlines.cancel(purpose);
        let Some(member) = group.remove(member_id) else {
            return;
        };
        let error = GroupError::UnknownMember {
            group: group.id.clone(),
            member: member_id.clone(),
        };
        if let Some(call) = member.awaiting_join {
            self.reply(call, Answer::Join(Err(error.clone())));
        }
        if let Some(call) = member.awaiting_sync {
            self.reply(call, Answer::Sync(Err(error)));
        }
    }

    /// Fires the earliest deadline, if it has passed.
    fn tick(&mut self) {
        match self.waiting.deadlines.take_due(self.now.monotonic) {
            None => {}
            Some(Purpose::Join(id)) => {
                self.with_group(&id, Self::join_phase_over);
            }
            Some(Purpose::Sync(id)) => {
                self.with_group(&id, Self::sync_phase_over);
            }
            Some(Purpose::Session(id, member_id)) if self.kind(&id) == Some(GroupKind::Share) => {
                self.share_member_over(&id, &member_id);
            }
            Some(Purpose::Session(id, member_id)) if self.is_consumer(&id) => {
                self.consumer_member_over(&id, &member_id);
            }
            Some(Purpose::Revocation(id, member_id) | Purpose::Rejoin(id, member_id)) => {
                self.consumer_member_over(&id, &member_id);
            }
            Some(Purpose::Session(id, member_id)) => {
                self.with_group(&id, |deciding, group| {
                    deciding.session_over(group, &member_id)
                });
            }
            Some(Purpose::OffsetExpiry) => self.expire_offsets(),
        }
    }
}

/// Milliseconds from the wire as a duration; negative ones count as none.
pub(super) fn ms(millis: i32) -> Duration {
    Duration::from_millis(u64::try_from(millis).unwrap_or(0))
}
