//! What only this process remembers of its groups: members' full protocols, parked callers, deadlines, the next generation.
//!
//! Why it exists: a rebalance in the making is worth nothing after a crash, so it is not logged; members join again.
//! Owns: live groups and deadlines.   Never: anything that a client was promised; that is in the ledger.
//! In -> out: ledger after loading -> live groups with fresh session timers.
//! Read next: `live_group.rs`.

use super::deadlines::{Deadlines, Purpose};
use super::decide::Deciding;
use super::live_group::LiveGroup;
use super::share::SettledShareGroup;
use super::{FewTopics, GroupKind, GroupSettings, Ledger};
use crate::Now;
use fanlog_model::GroupId;
use std::collections::BTreeMap;
use std::time::Duration;

/// What is lost with the process, without breaking a promise.
///
/// A group is here while it has members or pending member ids; any other group is Empty and wholly in the ledger.
#[derive(Clone, Debug, Default)]
pub struct Waiting {
    pub(super) groups: BTreeMap<GroupId, LiveGroup>,
    pub(super) deadlines: Deadlines,
    pub(super) bytes: usize,
    /// Where the search for expired offsets goes on; `None` for the first group.
    pub(super) expiry_from: Option<GroupId>,
    /// Share groups that were looked at since they, or the topics, changed last.
    pub(super) settled_shares: BTreeMap<GroupId, SettledShareGroup>,
}

impl Waiting {
    /// The state after the log was replayed: members of stable groups are kept, with fresh session timers.
    pub fn after_loading(settings: &GroupSettings, ledger: &Ledger, now: Now) -> Self {
        let mut waiting = Self::default();
        let check_at = now.monotonic + settings.offsets_retention_check_interval;
        waiting.deadlines.set(Purpose::OffsetExpiry, check_at);
        let with_members = |id: &GroupId| {
            let known = ledger.group(id)?;
            if known.kind() != GroupKind::Classic {
                return None;
            }
            let live = LiveGroup::from_ledger(id, known);
            let has_no_generation = known.metadata.as_ref()?.leader.is_none();
            (!live.members.is_empty()).then_some((live, has_no_generation))
        };
        let no_topics = FewTopics::default();
        let mut deciding = Deciding::new(settings, &no_topics, ledger, &mut waiting, now);
        for (mut group, has_no_generation) in ledger.groups().filter_map(|(id, _)| with_members(id))
        {
            deciding.restart_sessions(&group);
            if has_no_generation || group.members.len() > settings.members_max() {
                deciding.prepare_rebalance(&mut group);
            }
            deciding.put_group(group);
        }
        for (id, known) in ledger.groups() {
            if let Some(group) = &known.share {
                deciding.watch_share_members(id, group, settings.share_session_timeout);
            }
            if let Some(group) = &known.consumer {
                deciding.watch_members(id, group);
            }
        }
        assert!(
            deciding.decision.records.is_empty() && deciding.decision.replies.is_empty(),
            "loading only reads"
        );
        waiting
    }
}

impl Waiting {
    /// How much memory it takes, about.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// When to hand in the next [`Input::Tick`](super::Input::Tick), on the monotonic clock.
pub fn next_deadline(waiting: &Waiting) -> Option<Duration> {
    waiting.deadlines.next()
}
