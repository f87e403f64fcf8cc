//! A client of the classic protocol in the same group: it stops reading before it joins, and a leader shares out what all read.

use super::world::{Client, GROUP, World};
use crate::CallId;
use crate::group::*;
use fanlog_model::{PartitionIndex, TopicId};
use fanlog_protocol::messages::consumer_protocol_assignment::TopicPartition;
use fanlog_protocol::messages::{ConsumerProtocolAssignment, ConsumerProtocolSubscription};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use uuid::Uuid;

const SESSION_MS: i32 = 10_000;
const REBALANCE_MS: i32 = 20_000;

/// What a classic client does next.
#[derive(Clone, Debug, Default)]
pub(super) enum Phase {
    #[default]
    Joining,
    /// It has joined; a leader knows all members.
    Syncing(Vec<JoinedMember>),
    Reading,
}

impl World {
    pub(super) fn classic_beat(&mut self, place: usize, phase: Phase) {
        let call = self.call(place);
        let client = self.clients[place].clone();
        let input = match phase {
            Phase::Joining => {
                self.clients[place].owned.clear();
                self.clients[place].must_say_all = false;
                self.drawn += 1;
                Input::Join(self.joining(call, &client))
            }
            Phase::Syncing(members) => Input::Sync(Sync {
                call,
                group: GROUP.into(),
                member_id: client.id.as_str().into(),
                instance_id: client.instance.as_deref().map(InstanceId::from),
                generation: client.epoch,
                protocol_type: None,
                protocol: None,
                assignments: self.shares(&members),
            }),
            Phase::Reading => Input::Heartbeat(Heartbeat {
                call,
                group: GROUP.into(),
                member_id: client.id.as_str().into(),
                instance_id: client.instance.as_deref().map(InstanceId::from),
                generation: client.epoch,
            }),
        };
        self.step(input);
    }

    fn joining(&self, call: CallId, client: &Client) -> Join {
        let subscription = ConsumerProtocolSubscription {
            topics: client
                .topics
                .iter()
                .map(|name| Cow::Borrowed(&**name))
                .collect(),
            ..Default::default()
        };
        let metadata = subscription.encode_with_version_prefix(1).unwrap();
        Join {
            call,
            group: GROUP.into(),
            member_id: client.id.as_str().into(),
            fresh_id: Uuid::from_u128(self.drawn),
            instance_id: client.instance.as_deref().map(InstanceId::from),
            client_id: "c".into(),
            client_host: "/h".into(),
            session_timeout_ms: SESSION_MS,
            rebalance_timeout_ms: REBALANCE_MS,
            protocol_type: "consumer".into(),
            protocols: vec![Protocol {
                name: "range".into(),
                metadata: metadata.into(),
            }],
            requires_member_id: true,
            supports_skip_assignment: true,
        }
    }

    /// A leader's assignment: all partitions of what each reads, one after the other.
    fn shares(&self, members: &[JoinedMember]) -> Vec<(MemberId, bytes::Bytes)> {
        let read = |member: &JoinedMember| -> BTreeSet<String> {
            let read = ConsumerProtocolSubscription::decode_with_version_prefix(&member.metadata);
            read.unwrap()
                .topics
                .iter()
                .map(|name| name.to_string())
                .collect()
        };
        let reads: Vec<_> = members.iter().map(read).collect();
        let mut shares = vec![BTreeMap::<Arc<str>, Vec<i32>>::new(); members.len()];
        for (name, (_, partitions)) in &self.topics.0 {
            let readers: Vec<_> = (0..members.len())
                .filter(|m| reads[*m].contains(&**name))
                .collect();
            for (partition, reader) in (0..*partitions).zip(readers.iter().cycle()) {
                shares[*reader]
                    .entry(name.clone())
                    .or_default()
                    .push(partition);
            }
        }
        let encode = |share: BTreeMap<Arc<str>, Vec<i32>>| {
            let assignment = ConsumerProtocolAssignment {
                assigned_partitions: share
                    .iter()
                    .map(|(name, partitions)| TopicPartition {
                        topic: Cow::Borrowed(&**name),
                        partitions: partitions.clone(),
                    })
                    .collect(),
                user_data: None,
            };
            assignment.encode_with_version_prefix(1).unwrap().into()
        };
        let shares = shares.into_iter().map(encode);
        members
            .iter()
            .map(|member| member.member_id.clone())
            .zip(shares)
            .collect()
    }

    pub(super) fn classic_leave(&mut self, client: &Client) {
        self.step(Input::Leave(Leave {
            call: CallId(0),
            group: GROUP.into(),
            members: vec![LeavingMember {
                member_id: client.id.as_str().into(),
                instance_id: client.instance.as_deref().map(InstanceId::from),
            }],
        }));
    }

    /// A classic client hears an answer; whether it was one.
    pub(super) fn classic_answer(&mut self, place: usize, answer: Answer) {
        let assigned = match &answer {
            Answer::Sync(Ok(synced)) => self.owned_of(&synced.assignment),
            _ => BTreeSet::new(),
        };
        let client = &mut self.clients[place];
        let error = match answer {
            Answer::Join(Ok(joined)) => {
                client.id = joined.member_id.to_string();
                client.epoch = joined.generation;
                client.classic = Some(Phase::Syncing(match joined.skip_assignment {
                    true => Vec::new(),
                    false => joined.members,
                }));
                return;
            }
            Answer::Sync(Ok(_)) => {
                client.owned = assigned;
                // It may have chosen other topics meanwhile.
                client.classic = Some(match client.must_say_all {
                    true => Phase::Joining,
                    false => Phase::Reading,
                });
                return;
            }
            Answer::Heartbeat(Ok(())) => return,
            Answer::Join(Err(error)) | Answer::Sync(Err(error)) | Answer::Heartbeat(Err(error)) => {
                error
            }
            other => unreachable!("{other:?}"),
        };
        match error {
            GroupError::MemberIdRequired { member } => client.id = member.to_string(),
            // It gives up what it has before it joins again.
            GroupError::RebalanceInProgress { .. } | GroupError::IllegalGeneration { .. } => {}
            GroupError::UnknownMember { .. } | GroupError::FencedInstance { .. } => {
                client.id.clear();
                client.owned.clear();
            }
            other => panic!("a classic client that behaves is refused: {other}"),
        }
        client.classic = Some(Phase::Joining);
    }

    fn owned_of(&self, assignment: &[u8]) -> BTreeSet<(TopicId, PartitionIndex)> {
        if assignment.is_empty() {
            return BTreeSet::new();
        }
        let read = ConsumerProtocolAssignment::decode_with_version_prefix(assignment).unwrap();
        let topics = read.assigned_partitions.iter();
        let known = topics.filter_map(|topic| Some((self.topics.0.get(&*topic.topic)?.0, topic)));
        known
            .flat_map(|(id, topic)| {
                topic
                    .partitions
                    .iter()
                    .map(move |p| (id, PartitionIndex(*p)))
            })
            .collect()
    }
}
