//! DescribeGroups and ListGroups.

use super::decide::Deciding;
use super::live_group::LiveGroup;
use super::{
    Answer, DescribedGroup, DescribedMember, GroupError, GroupKind, GroupState, List, ListedGroup,
};
use crate::CallId;
use bytes::Bytes;
use fanlog_model::GroupId;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Deciding<'_> {
    pub(super) fn describe(&mut self, call: CallId, id: GroupId) {
        let described = self.with_group(&id, |_, group| described(group));
        let result = described.ok_or(GroupError::GroupNotFound { group: id });
        self.reply(call, Answer::Describe(result));
    }

    pub(super) fn list(&mut self, list: &List) {
        // What is there by offsets of transactions under way alone comes first, and gives way to what is known of it.
        let pending = self.ledger.pending().groups();
        let of_pending = |id| (id, (None, GroupState::Empty, GroupKind::Classic));
        let mut all: BTreeMap<_, _> = pending.map(of_pending).collect();
        for (id, known) in self.ledger.groups() {
            let metadata = known.metadata.as_ref();
            let protocol_type = metadata.and_then(|m| m.protocol_type.clone());
            let kind = known.kind();
            let consumer = known.consumer.as_ref();
            let share = known.share.as_ref().map(|group| group.state());
            let state = consumer.map_or(share.unwrap_or(GroupState::Empty), |group| {
                group.state().group_state()
            });
            let protocol_type = match kind {
                GroupKind::Classic => protocol_type,
                GroupKind::Consumer | GroupKind::Share | GroupKind::Queue => {
                    Some(kind.name().into())
                }
            };
            all.insert(id, (protocol_type, state, kind));
        }
        for (id, group) in &self.waiting.groups {
            all.insert(
                id,
                (
                    group.protocol_type.clone(),
                    group.state(),
                    GroupKind::Classic,
                ),
            );
        }
        let listed = all
            .into_iter()
            .map(|(id, (protocol_type, state, kind))| ListedGroup {
                group: id.clone(),
                protocol_type: protocol_type.unwrap_or_default(),
                state,
                group_type: kind.name(),
            });
        let wanted = listed.filter(|group| {
            passes(&list.states, group.state.name()) && passes(&list.types, group.group_type)
        });
        let answer = Answer::List(wanted.collect());
        self.reply(list.call, answer);
    }
}

/// Whether a filter of ListGroups, which wants everything if it says nothing, wants a state's or a type's name.
pub fn passes(filter: &[Arc<str>], word: &str) -> bool {
    filter.is_empty() || filter.iter().any(|f| f.eq_ignore_ascii_case(word))
}

/// Protocol and metadata are shown once a generation is complete: before that they are in dispute.
fn described(group: &LiveGroup) -> DescribedGroup {
    let is_stable = group.state() == GroupState::Stable;
    let protocol = group.protocol.clone().filter(|_| is_stable);
    let members = group.members.iter().map(|(id, member)| DescribedMember {
        member_id: id.clone(),
        instance_id: member.instance_id.clone(),
        client_id: member.client_id.clone(),
        client_host: member.client_host.clone(),
        metadata: match is_stable {
            true => member.metadata(group.protocol.as_deref()),
            false => Bytes::new(),
        },
        assignment: member.assignment.clone(),
    });
    DescribedGroup {
        group: group.id.clone(),
        state: group.state(),
        protocol_type: group.protocol_type.clone().unwrap_or_default(),
        protocol: protocol.unwrap_or_default(),
        members: members.collect(),
    }
}
