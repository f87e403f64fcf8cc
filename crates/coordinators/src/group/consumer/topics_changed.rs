//! Topics came, went or grew, and expressions stand for other topics than before: groups that read them need another assignment.

use super::draft::Draft;
use crate::group::decide::Deciding;
use fanlog_model::GroupId;
use std::sync::Arc;

/// What an expression of a group stands for now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegexResolved {
    /// The group.
    pub group: GroupId,
    /// The expression.
    pub pattern: Arc<str>,
    /// The topics, in order.
    pub topics: Arc<[Arc<str>]>,
}

impl Deciding<'_> {
    /// Raises the epoch of every group whose topics are not what they were.
    pub(in crate::group) fn topics_changed(&mut self) {
        for (id, known) in self.ledger.groups() {
            let Some(group) = &known.consumer else {
                continue;
            };
            if group.state().members.is_empty() {
                continue;
            }
            let hash = group.state().metadata_hash(self.topics);
            if group
                .state()
                .epoch
                .is_some_and(|epoch| epoch.metadata_hash != hash)
            {
                let mut draft = Draft::of(id, group);
                draft.raise_epoch(hash);
                self.keep(draft);
            }
        }
    }

    /// Takes over what an expression stands for, if a member still uses it.
    pub(in crate::group) fn regex_resolved(&mut self, resolved: &RegexResolved) {
        let Ok(mut draft) = self.existing_draft(&resolved.group) else {
            return;
        };
        let is_used = draft.state().regexes.contains_key(&resolved.pattern);
        if is_used && self.resolve(&mut draft, &resolved.pattern, Some(&resolved.topics)) {
            let hash = draft.state().metadata_hash(self.topics);
            draft.raise_epoch(hash);
            self.keep(draft);
        }
    }
}
