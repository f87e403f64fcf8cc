//! "Why is this stuck?" for groups: how far behind, how fast in and out, and when retention takes what was not read.
//!
//! Why it exists: a lag of a million records is nothing where a million come in a second, and the end of the world where retention reaches
//! them in an hour.
//! Owns: what was seen of committed offsets, for rates.   Never: guesses; what is not known is none.
//! In -> out: a group's name -> `GroupStatus`.
//! Read next: `overtaking.rs`, `rates.rs`.

mod overtaking;
mod partition;
mod rates;

pub use overtaking::Overtaken;
pub use partition::GroupPartitionStatus;
pub(crate) use rates::Positions;

use crate::broker::Broker;
use crate::groups::GroupRequestError;
use crate::shares::SharePartitionRef;
use fanlog_coordinators::CallId;
use fanlog_coordinators::group::{FetchOffsets, GroupError};
use fanlog_model::{GroupId, Offset, PartitionIndex, TopicName, TopicPartition};
use fanlog_protocol::messages::ConsumerProtocolAssignment;
use partition::Position;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// How a group stands.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupStatus {
    /// Its name.
    pub group: GroupId,
    /// `classic`, `consumer` or `share`.
    pub kind: &'static str,
    /// Its state, as Kafka calls it.
    pub state: &'static str,
    /// Its members.
    pub members: Vec<MemberStatus>,
    /// Each partition that it has a position in.
    pub partitions: Vec<GroupPartitionStatus>,
    /// Partitions that its members read, and of which it has committed nothing: how far behind it is there is not known.
    pub without_position: Vec<TopicPartition>,
}

/// One member of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberStatus {
    /// Its id.
    pub member: String,
    /// Its client id.
    pub client: Arc<str>,
    /// Its address.
    pub host: Arc<str>,
    /// What it reads; none if it does not say.
    pub partitions: Option<Vec<TopicPartition>>,
}

impl GroupStatus {
    /// How many records it has not read in all; none where it has no position at all.
    pub fn lag(&self) -> Option<i64> {
        let lags = self.partitions.iter().map(|one| one.lag);
        (!self.partitions.is_empty()).then(|| lags.sum())
    }

    /// The sum of a rate over all partitions; none if one of them is not known.
    fn rate(&self, of: impl Fn(&GroupPartitionStatus) -> Option<f64>) -> Option<f64> {
        match self.partitions.is_empty() {
            true => None,
            false => self.partitions.iter().map(of).sum(),
        }
    }

    /// How many records a second come into its partitions.
    pub fn rate_in(&self) -> Option<f64> {
        self.rate(|one| one.rate_in)
    }

    /// How many records a second it reads.
    pub fn rate_out(&self) -> Option<f64> {
        self.rate(|one| one.rate_out)
    }

    /// The partition whose unread records retention reaches first.
    pub fn most_threatened(&self) -> Option<&GroupPartitionStatus> {
        let at_risk = |one: &&GroupPartitionStatus| matches!(one.overtaken, Overtaken::In(_));
        let partitions = self.partitions.iter().filter(at_risk);
        partitions.min_by_key(|one| match one.overtaken {
            Overtaken::In(left) => Some(left),
            Overtaken::NothingUnread | Overtaken::Never | Overtaken::Unknown => None,
        })
    }
}

impl Broker {
    /// How a group stands. Looks into logs for times.
    ///
    /// # Errors
    /// There is no such group, or its coordinator cannot answer.
    pub async fn group_status(
        self: &Arc<Self>,
        group: &GroupId,
    ) -> Result<GroupStatus, GroupRequestError> {
        let listed = self.groups.list(Vec::new(), Vec::new()).await?;
        let found = listed.into_iter().find(|one| one.group == *group);
        let Some(found) = found else {
            let group = group.clone();
            return Err(GroupError::GroupNotFound { group }.into());
        };
        let (members, positions) = match found.group_type {
            "share" => (
                self.share_members(group).await?,
                self.share_positions(group)?,
            ),
            kind => {
                let members = match kind {
                    "consumer" => self.consumer_members(group).await?,
                    _ => self.classic_members(group).await?,
                };
                (members, self.committed_positions(group).await?)
            }
        };
        let broker = self.clone();
        let name = group.clone();
        let look = self
            .opener
            .blocking
            .run(move || broker.look_at(&name, positions));
        let partitions = look
            .await
            .unwrap_or_else(|panicked| std::panic::resume_unwind(panicked.into_panic()));
        let read = members
            .iter()
            .filter_map(|member| member.partitions.as_ref());
        let read: BTreeSet<_> = read.flatten().collect();
        let known: BTreeSet<_> = partitions.iter().map(|one| &one.partition).collect();
        let without_position = read.difference(&known).map(|one| (*one).clone()).collect();
        Ok(GroupStatus {
            group: group.clone(),
            kind: found.group_type,
            state: found.state.name(),
            members,
            partitions,
            without_position,
        })
    }

    async fn committed_positions(
        &self,
        group: &GroupId,
    ) -> Result<Vec<Position>, GroupRequestError> {
        let fetch = FetchOffsets {
            call: CallId(0),
            group: group.clone(),
            member: None,
            partitions: None,
            require_stable: false,
        };
        let fetched = self.groups.fetch_offsets(fetch).await?;
        let position = |one: fanlog_coordinators::group::FetchedOffset| {
            Some(Position {
                partition: one.partition,
                at: one.committed?.offset,
                lag: None,
            })
        };
        Ok(fetched.into_iter().filter_map(position).collect())
    }

    fn share_positions(&self, group: &GroupId) -> Result<Vec<Position>, GroupRequestError> {
        let topics = self.topics();
        let mut positions = Vec::new();
        for of in self.shares.partitions_of(group)? {
            let SharePartitionRef { topic, partition } = of;
            let (Some(topic), Some(offset)) = (topics.by_id(topic), self.shares.offset(group, of)?)
            else {
                continue;
            };
            let Some(start) = offset.start else { continue };
            positions.push(Position {
                partition: TopicPartition {
                    topic: topic.name.clone(),
                    partition,
                },
                at: start,
                lag: offset.lag,
            });
        }
        Ok(positions)
    }

    async fn classic_members(
        &self,
        group: &GroupId,
    ) -> Result<Vec<MemberStatus>, GroupRequestError> {
        let described = self.groups.describe(group.clone()).await?;
        let member = |member: fanlog_coordinators::group::DescribedMember| MemberStatus {
            member: member.member_id.to_string(),
            client: member.client_id,
            host: member.client_host,
            partitions: assigned(&member.assignment),
        };
        Ok(described.members.into_iter().map(member).collect())
    }

    async fn consumer_members(
        &self,
        group: &GroupId,
    ) -> Result<Vec<MemberStatus>, GroupRequestError> {
        let described = self.groups.describe_consumer(group.clone()).await?;
        let member = |member: fanlog_coordinators::group::consumer::DescribedConsumer| {
            let partitions = member.assigned.iter();
            let partitions = partitions.flat_map(|one| named(&one.name, &one.partitions));
            MemberStatus {
                member: member.member_id.to_string(),
                client: member.client_id,
                host: member.client_host,
                partitions: Some(partitions.collect()),
            }
        };
        Ok(described.members.into_iter().map(member).collect())
    }

    async fn share_members(&self, group: &GroupId) -> Result<Vec<MemberStatus>, GroupRequestError> {
        let described = self.groups.describe_share(group.clone()).await?;
        let topics = self.topics();
        let member = |member: fanlog_coordinators::group::share::DescribedShareMember| {
            let assigned = member.current.assigned.iter();
            let partitions = assigned.flat_map(|(topic, partitions)| {
                let topic = topics.by_id(*topic).cloned();
                partitions.iter().filter_map(move |partition| {
                    Some(TopicPartition {
                        topic: topic.as_ref()?.name.clone(),
                        partition: *partition,
                    })
                })
            });
            MemberStatus {
                member: member.member_id.to_string(),
                client: member.member.client_id.clone(),
                host: member.member.client_host.clone(),
                partitions: Some(partitions.collect()),
            }
        };
        Ok(described.members.into_iter().map(member).collect())
    }

    /// Notes where all groups stand, so that their rates are known when somebody asks.
    pub(crate) fn note_positions(&self) {
        let now = self.environment().clock.monotonic();
        let mut seen: BTreeMap<(GroupId, TopicPartition), Offset> = BTreeMap::new();
        for one in self.groups.positions() {
            seen.insert((one.group, one.partition), one.committed);
        }
        self.group_positions.lock().note_all(now, seen);
    }
}

/// What a consumer of the classic protocol was assigned, if the bytes are its protocol's.
fn assigned(assignment: &[u8]) -> Option<Vec<TopicPartition>> {
    let assignment = ConsumerProtocolAssignment::decode_with_version_prefix(assignment).ok()?;
    let topics = assignment.assigned_partitions.iter();
    Some(
        topics
            .flat_map(|one| named(&one.topic, &one.partitions))
            .collect(),
    )
}

fn named(topic: &str, partitions: &[i32]) -> Vec<TopicPartition> {
    let Ok(topic) = TopicName::new(topic) else {
        return Vec::new();
    };
    let partition = |index: &i32| TopicPartition {
        topic: topic.clone(),
        partition: PartitionIndex(*index),
    };
    partitions.iter().map(partition).collect()
}
