//! Offsets nobody needs any more go, and groups of which nothing is left.
//!
//! An offset lasts `offsets.retention.minutes` from the moment that its group became Empty; in a group that only commits, from
//! its commit; in a stable consumer group, from its commit once nobody subscribes to its topic. A retention that an old client
//! asked for goes first.

use super::consumer::{ConsumerState, tombstones};
use super::deadlines::Purpose;
use super::decide::Deciding;
use super::live_group::{LiveGroup, Phase};
use super::{CommittedOffset, GroupKind, GroupMetadata, GroupRecord, LedgerGroup};
use fanlog_model::{GroupId, TimestampMs};

/// From when an offset's retention counts.
#[derive(Clone, Copy)]
enum Since {
    Time(TimestampMs),
    Commit,
}

impl Deciding<'_> {
    pub(super) fn expire_offsets(&mut self) {
        for (id, known) in self.ledger.groups() {
            self.expire_group(id, known);
        }
        let interval = self.settings.offsets_retention_check_interval;
        self.set_deadline(Purpose::OffsetExpiry, interval);
    }

    fn expire_group(&mut self, id: &GroupId, known: &LedgerGroup) {
        if known.kind() == GroupKind::Share {
            return;
        }
        let live = self.waiting.groups.get(id);
        let consumer = known.consumer.as_ref().map(|group| group.state());
        let topics = consumer.map(ConsumerState::topics).unwrap_or_default();
        let is_empty = live.is_none();
        let since = retention_since(known.metadata.as_ref(), live);
        let mut expired = Vec::new();
        for (partition, committed) in &known.offsets {
            let topic = partition.topic.as_str();
            let is_read = topics.contains(topic) || live.is_some_and(|g| g.is_subscribed_to(topic));
            let is_pending = self.ledger.pending().has(id, partition);
            if !is_read
                && !is_pending
                && since.is_some_and(|since| self.is_expired(committed, since))
            {
                expired.push(partition);
            }
        }
        let nothing_left =
            expired.len() == known.offsets.len() && !self.ledger.pending().has_any(id);
        for partition in expired {
            self.record_offset_deleted(id, partition);
        }
        if is_empty && nothing_left && known.metadata.is_some() {
            self.record(GroupRecord::GroupDeleted { group: id.clone() });
        }
        if nothing_left
            && let Some(group) = &known.consumer
            && group.state().members.is_empty()
        {
            for record in tombstones(id, group) {
                self.record(record);
            }
        }
    }

    fn is_expired(&self, committed: &CommittedOffset, since: Since) -> bool {
        let now = self.now.wall.get();
        if let Some(at) = committed.expires_at {
            return now >= at.get();
        }
        let since = match since {
            Since::Time(time) => time,
            Since::Commit => committed.committed_at,
        };
        let retention = self.settings.offsets_retention.as_millis();
        let retention = i64::try_from(retention).unwrap_or(i64::MAX);
        now.saturating_sub(since.get()) >= retention
    }
}

/// From when the offsets of a group may go; `None` while they may not.
fn retention_since(metadata: Option<&GroupMetadata>, live: Option<&LiveGroup>) -> Option<Since> {
    let Some(live) = live else {
        let had_members = metadata.filter(|m| m.protocol_type.is_some());
        let empty_since = had_members.and_then(|m| m.state_since);
        return Some(empty_since.map_or(Since::Commit, Since::Time));
    };
    let knows_its_topics = live.phase == Phase::Stable && live.subscribed_topics.is_some();
    knows_its_topics.then_some(Since::Commit)
}
