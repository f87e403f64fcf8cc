//! What must hold of a machine after every step, checked in tests.

use super::deadlines::Purpose;
use super::live_group::{LiveGroup, Phase};
use super::share::without_state;
use super::{GroupKind, GroupMetadata, Ledger, LedgerGroup, MemberId, Waiting};
use fanlog_model::GroupId;
use fanlog_model::invariants::{GRP_1, GRP_2, GRP_3, OPS_1};
use std::collections::BTreeSet;

/// Checks a machine whose decisions have all been applied.
///
/// # Panics
/// If an invariant is broken; the message begins with its name.
pub fn check_invariants(ledger: &Ledger, waiting: &Waiting) {
    for (id, known) in ledger.groups() {
        let something = known.metadata.is_some()
            || known.consumer.is_some()
            || known.share.is_some()
            || !known.offsets.is_empty();
        assert!(something, "{GRP_3}: group {id} is kept for nothing");
        let has_members = known
            .metadata
            .as_ref()
            .is_some_and(|m| !m.members.is_empty());
        let is_live = waiting.groups.contains_key(id);
        assert!(
            !has_members || is_live || known.kind() != GroupKind::Classic,
            "{GRP_1}: members of {id} unwatched"
        );
    }
    let live = waiting.groups.values().map(LiveGroup::counted_bytes);
    let (ledger_bytes, live_bytes) = (ledger.counted_bytes(), live.sum::<usize>());
    assert_eq!(ledger.bytes(), ledger_bytes, "{OPS_1}: bytes of the ledger");
    assert_eq!(waiting.bytes, live_bytes, "{OPS_1}: bytes of live groups");
    for (id, settled) in &waiting.settled_shares {
        let share = ledger.group(id).and_then(|known| known.share.as_deref());
        assert_eq!(
            share.map(without_state).as_ref(),
            Some(&*settled.without_state),
            "{GRP_2}: what is kept of {id} is old"
        );
    }
    for (id, group) in &waiting.groups {
        assert_eq!(id, &group.id, "{GRP_1}: a group is found under its name");
        check_members(group);
        check_phase(group);
        check_against_ledger(group, ledger.group(id));
        check_deadlines(group, waiting);
    }
    for purpose in waiting.deadlines.purposes() {
        let is_known = match purpose {
            Purpose::OffsetExpiry => true,
            Purpose::Join(id) | Purpose::Sync(id) => waiting.groups.contains_key(id),
            Purpose::Session(id, member) => {
                let kind = ledger.group(id).map(LedgerGroup::kind);
                waiting.groups.contains_key(id)
                    || kind == Some(GroupKind::Share)
                    || is_consumer(ledger, id, member)
            }
            Purpose::Revocation(id, member) | Purpose::Rejoin(id, member) => {
                is_consumer(ledger, id, member)
            }
        };
        assert!(is_known, "{OPS_1}: {purpose:?} outlives what it is for");
    }
    for (id, known) in ledger.groups() {
        let members = known
            .consumer
            .iter()
            .flat_map(|group| group.state().members.keys());
        for member in members {
            let session = Purpose::Session(id.clone(), member.clone());
            let is_watched = waiting.deadlines.has(&session);
            assert!(is_watched, "{OPS_1}: {member} of {id} never expires");
        }
    }
}

/// Whether somebody is a member of a consumer group of the new protocol.
fn is_consumer(ledger: &Ledger, group: &GroupId, member: &MemberId) -> bool {
    let known = ledger
        .group(group)
        .and_then(|known| known.consumer.as_ref());
    known.is_some_and(|group| group.state().members.contains_key(member))
}

fn check_members(group: &LiveGroup) {
    let id = &group.id;
    let members = &group.members;
    let awaiting = members
        .values()
        .filter(|m| m.awaiting_join.is_some())
        .count();
    assert_eq!(awaiting, group.awaiting_join, "{GRP_1}: parked in {id}");
    assert_eq!(
        group.leader.is_some(),
        !members.is_empty(),
        "{GRP_1}: leader of {id}"
    );
    let leader_is_member = group
        .leader
        .iter()
        .all(|leader| members.contains_key(leader));
    assert!(leader_is_member, "{GRP_1}: {id} is led by a stranger");
    let instances = members
        .iter()
        .filter_map(|(id, m)| Some((m.instance_id.as_ref()?, id)));
    let instances: Vec<_> = instances.collect();
    assert_eq!(
        instances.len(),
        group.static_members.len(),
        "{GRP_2}: static members of {id}"
    );
    for (instance, member_id) in instances {
        let holder = group.static_members.get(instance);
        assert_eq!(
            holder,
            Some(member_id),
            "{GRP_2}: holder of {instance} in {id}"
        );
    }
    for pending in &group.pending_join {
        assert!(
            !members.contains_key(pending),
            "{GRP_2}: {pending} is pending and a member"
        );
    }
    for pending in &group.pending_sync {
        assert!(
            members.contains_key(pending),
            "{GRP_1}: {pending} must sync but is no member"
        );
    }
    if !members.is_empty() {
        assert!(
            group.select_protocol().is_some(),
            "{GRP_1}: no common protocol in {id}"
        );
    }
}

fn check_phase(group: &LiveGroup) {
    let id = &group.id;
    let parked_in_sync = group.members.values().filter(|m| m.awaiting_sync.is_some());
    let parked_in_sync = parked_in_sync.count();
    match group.phase {
        Phase::Empty => {
            assert!(
                group.members.is_empty(),
                "{GRP_1}: {id} is Empty with members"
            );
            assert!(
                !group.pending_join.is_empty(),
                "{OPS_1}: {id} is kept for nothing"
            );
        }
        Phase::Preparing { .. } => {
            assert!(
                group.pending_sync.is_empty(),
                "{GRP_1}: {id} prepares and awaits syncs"
            );
        }
        Phase::Completing | Phase::Stable => {
            assert!(!group.members.is_empty(), "{GRP_1}: {id} has no members");
            assert_eq!(group.awaiting_join, 0, "{GRP_1}: {id} left members in Join");
        }
    }
    let may_park = group.phase == Phase::Completing;
    assert!(
        may_park || parked_in_sync == 0,
        "{GRP_1}: {id} left members in Sync"
    );
}

/// What is Stable or Empty is logged; what is between is ahead of the log.
fn check_against_ledger(group: &LiveGroup, known: Option<&LedgerGroup>) {
    let id = &group.id;
    let metadata = known.and_then(|known| known.metadata.as_ref());
    match group.phase {
        Phase::Stable => {
            assert_eq!(
                Some(&group.to_metadata()),
                metadata,
                "{GRP_1}: {id} is not as logged"
            );
        }
        Phase::Empty => {
            let logged = metadata.map_or(0, |m| m.generation);
            assert_eq!(group.generation, logged, "{GRP_2}: generation of {id}");
            assert!(
                metadata.is_none_or(has_no_members),
                "{GRP_1}: {id} is logged with members"
            );
        }
        Phase::Preparing { .. } | Phase::Completing => {
            let logged = metadata.map_or(0, |m| m.generation);
            let is_ahead = group.generation >= logged || group.generation == 0;
            assert!(is_ahead, "{GRP_2}: {id} fell behind its log");
        }
    }
}

fn has_no_members(metadata: &GroupMetadata) -> bool {
    metadata.members.is_empty()
}

/// Nobody waits without a deadline: whoever vanishes, the group goes on.
fn check_deadlines(group: &LiveGroup, waiting: &Waiting) {
    let id = &group.id;
    let has = |purpose| waiting.deadlines.has(&purpose);
    let is_preparing = matches!(group.phase, Phase::Preparing { .. });
    assert_eq!(
        has(Purpose::Join(id.clone())),
        is_preparing,
        "{GRP_1}: join deadline of {id}"
    );
    let awaits_sync = !group.pending_sync.is_empty();
    assert_eq!(
        has(Purpose::Sync(id.clone())),
        awaits_sync,
        "{GRP_1}: sync deadline of {id}"
    );
    for member_id in &group.pending_join {
        let session = Purpose::Session(id.clone(), member_id.clone());
        assert!(
            has(session),
            "{OPS_1}: pending {member_id} of {id} never expires"
        );
    }
    for (member_id, member) in &group.members {
        let is_parked = member.awaiting_join.is_some() || member.awaiting_sync.is_some();
        let session = Purpose::Session(id.clone(), member_id.clone());
        let is_watched = has(session) || (is_parked && !member.is_new);
        assert!(is_watched, "{OPS_1}: {member_id} of {id} never expires");
    }
    let known: BTreeSet<_> = group.members.keys().chain(&group.pending_join).collect();
    for purpose in waiting.deadlines.purposes() {
        if let Purpose::Session(group_id, member_id) = purpose {
            let is_ours = group_id != id || known.contains(member_id);
            assert!(is_ours, "{OPS_1}: session of {member_id}, who left {id}");
        }
    }
}
