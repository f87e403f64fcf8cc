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
use std::time::Duration;

/// From when an offset's retention counts.
#[derive(Clone, Copy)]
enum Since {
    Time(TimestampMs),
    Commit,
}

/// How many groups and offsets are looked at in one step; how many records it may lead to, and how many bytes of names these may
/// have: a step holds up everybody else, and is one batch of the log. A group is looked at as a whole.
const SEEN_AT_ONCE: usize = 10_000;
const EXPIRED_AT_ONCE: usize = 1_000;
const EXPIRED_BYTES_AT_ONCE: usize = 256 * 1024;

/// What is left of these for one step.
struct Room {
    seen: usize,
    records: usize,
    bytes: usize,
}

impl Room {
    fn is_used_up(&self) -> bool {
        self.seen == 0 || self.records == 0 || self.bytes == 0
    }

    /// One more record with names of so many bytes; whether there was room. One record always has: names are far shorter.
    fn take(&mut self, bytes: usize) -> bool {
        if self.records == 0 || bytes > self.bytes {
            return false;
        }
        self.records -= 1;
        self.bytes -= bytes;
        true
    }
}

impl Deciding<'_> {
    /// Looks at some groups, from where the step before stopped. Until all were looked at, the next step is due at once.
    pub(super) fn expire_offsets(&mut self) {
        let from = self.waiting.expiry_from.take();
        let mut room = Room {
            seen: SEEN_AT_ONCE,
            records: EXPIRED_AT_ONCE,
            bytes: EXPIRED_BYTES_AT_ONCE,
        };
        for (id, known) in self.ledger.groups_from(from.as_ref()) {
            if room.is_used_up() || !self.expire_group(id, known, &mut room) {
                self.waiting.expiry_from = Some(id.clone());
                return self.set_deadline(Purpose::OffsetExpiry, Duration::ZERO);
            }
        }
        let interval = self.settings.offsets_retention_check_interval;
        self.set_deadline(Purpose::OffsetExpiry, interval);
    }

    /// Whether there was room for all that goes.
    fn expire_group(&mut self, id: &GroupId, known: &LedgerGroup, room: &mut Room) -> bool {
        room.seen = room.seen.saturating_sub(1 + known.offsets.len());
        if matches!(known.kind(), GroupKind::Share) {
            return true;
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
            if !room.take(id.as_str().len() + partition.topic.as_str().len()) {
                return false;
            }
            self.record_offset_deleted(id, partition);
        }
        if is_empty && nothing_left && known.metadata.is_some() {
            if !room.take(id.as_str().len()) {
                return false;
            }
            self.record(GroupRecord::GroupDeleted { group: id.clone() });
        }
        if nothing_left
            && let Some(group) = &known.consumer
            && group.state().members.is_empty()
        {
            // Without members there are few: the group's epochs, and expressions.
            for record in tombstones(id, group) {
                room.take(id.as_str().len());
                self.record(record);
            }
        }
        true
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
