//! What must hold of a group and of what its clients see, after every step and at rest.

use super::super::classic_client::Phase;
use super::super::machine::check_targets_reached;
use super::{GROUP, World};
use crate::group::*;
use fanlog_model::invariants::{GRP_1, GRP_2};
use fanlog_model::{GroupId, PartitionIndex, TopicId};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

impl World {
    /// A member is interrupted only in what it shall no longer own.
    pub(super) fn check_interruption(&self, place: usize, lost: &[(TopicId, PartitionIndex)]) {
        let state = self.state();
        let client = &self.clients[place];
        let id = MemberId::from(client.id.as_str());
        let Some(current) = state.currents.get(&id).filter(|c| c.epoch == client.epoch) else {
            return;
        };
        for (topic, partition) in lost {
            let is_still_its = current.assigned.epoch(*topic, *partition).is_some();
            assert!(!is_still_its, "{id} was interrupted in {topic}-{partition}");
        }
    }

    /// GRP-1, as clients see it. Who was fenced and has not heard of it yet may read on; what it reads it can't commit.
    pub(super) fn check_owners(&self) {
        let state = self.state();
        let known = self.ledger.group(&GroupId::from(GROUP));
        let classic = known.and_then(|known| known.metadata.as_ref());
        let mut owners = BTreeMap::new();
        for client in &self.clients {
            let id = MemberId::from(client.id.as_str());
            let is_classic = classic.is_some_and(|m| m.members.iter().any(|m| m.member_id == id));
            if !state.members.contains_key(&id) && !is_classic {
                continue;
            }
            for owned in &client.owned {
                let before = owners.insert(*owned, &client.id);
                assert!(
                    before.is_none(),
                    "{GRP_1}: {owned:?} has {before:?} and {}",
                    client.id
                );
            }
        }
    }

    /// Replay equals live; asked before every crash and at the end, because it takes long.
    pub(super) fn check_replay(&self) {
        let mut replayed = Ledger::default();
        for record in self.log.iter().flatten() {
            apply(&mut replayed, record);
        }
        assert_eq!(replayed, self.ledger, "replay equals live");
    }

    /// What must hold after every step.
    pub(super) fn check(&self) {
        check_invariants(&self.ledger, &self.waiting);
        let state = self.state();
        let mut held = BTreeSet::new();
        for (id, current) in state.currents.iter() {
            assert!(
                state.members.contains_key(id),
                "{GRP_1}: {id} owns and is no member"
            );
            for (topic, partitions) in current.held() {
                for partition in partitions {
                    assert!(
                        held.insert((topic, partition)),
                        "{GRP_1}: {topic}-{partition} is owned twice"
                    );
                }
            }
            let target = state.target_epoch.map_or(0, |target| target.epoch);
            assert!(
                current.epoch <= target,
                "{GRP_2}: {id} is ahead of the target"
            );
        }
        for id in state.targets.keys() {
            assert!(
                state.members.contains_key(id),
                "{GRP_1}: {id} has a target and is no member"
            );
        }
        let epoch = state.epoch.map_or(0, |epoch| epoch.epoch);
        let target = state.target_epoch.map_or(0, |target| target.epoch);
        assert!(target <= epoch, "{GRP_2}: the target is ahead of the group");
        check_targets_reached(&state, &self.topics);
        self.check_owners();
    }

    /// Lets everybody be heard for a while: the group must come to rest, with every partition that somebody reads owned.
    pub(in super::super) fn settle(&mut self) {
        self.check_replay();
        self.tell_topics();
        for client in &mut self.clients {
            client.is_frozen = false;
            // A real leader sees that topics have changed; these don't look.
            if client.classic.is_some() {
                client.classic = Some(Phase::Joining);
                client.must_say_all = true;
            }
        }
        for _ in 0..80 {
            for place in 0..self.clients.len() {
                self.beat(place, false);
                self.sync();
            }
            self.pass(Duration::from_secs(3));
            self.check();
        }
        let state = self.state();
        if self.clients.iter().any(|client| client.classic.is_none()) {
            assert_eq!(state.group_state(), GroupState::Stable, "{state:#?}");
        }
        let mut wanted = BTreeSet::new();
        for client in &self.clients {
            let regex = client.regex.as_deref().filter(|_| client.classic.is_none());
            let by_regex = regex.map(|regex| self.matching(regex));
            let by_regex = by_regex.iter().flat_map(|names| names.iter());
            for name in client.topics.iter().chain(by_regex) {
                if let Some((id, partitions)) = self.topics.0.get(name) {
                    wanted.extend((0..*partitions).map(|p| (*id, PartitionIndex(p))));
                }
            }
        }
        let owned = self
            .clients
            .iter()
            .flat_map(|client| client.owned.iter().copied());
        assert_eq!(
            owned.collect::<BTreeSet<_>>(),
            wanted,
            "every partition has an owner: {:#?} {:#?}",
            self.clients,
            self.ledger
        );
    }
}
