//! Consumer groups: list, describe, lag, offsets, delete.

use super::Admin;
use crate::cluster::Lane;
use crate::offsets::OffsetSpec;
use crate::{ClientError, Cluster};
use fanlog_model::{LeaderEpoch, Offset, TimestampMs, TopicName, TopicPartition};
use fanlog_protocol::messages::consumer_protocol_assignment::ConsumerProtocolAssignment;
use fanlog_protocol::messages::delete_groups_request::DeleteGroupsRequest;
use fanlog_protocol::messages::describe_groups_request::DescribeGroupsRequest;
use fanlog_protocol::messages::describe_groups_response::DescribedGroupMember;
use fanlog_protocol::messages::list_groups_request::ListGroupsRequest;
use fanlog_protocol::messages::offset_delete_request::{
    OffsetDeleteRequest, OffsetDeleteRequestPartition, OffsetDeleteRequestTopic,
};
use fanlog_protocol::{ApiKey, ErrorCode};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A group in a list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListedGroup {
    /// Its name.
    pub id: String,
    /// What its members are: `consumer`, `connect`, ...
    pub protocol_type: String,
    /// `Stable`, `Empty`, ...; empty where the broker does not tell.
    pub state: String,
    /// `classic`, `consumer`, ...; empty where the broker does not tell.
    pub kind: String,
}

/// A group with its members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupView {
    /// Its name.
    pub id: String,
    /// `classic` or `consumer`.
    pub kind: String,
    /// `Stable`, `Empty`, ...
    pub state: String,
    /// What its members are: `consumer`, `connect`, ...
    pub protocol_type: String,
    /// The assignor in use.
    pub protocol: String,
    /// The group's epoch, where it is of the new protocol.
    pub epoch: Option<i32>,
    /// The epoch of its target assignment.
    pub target_epoch: Option<i32>,
    /// Its members.
    pub members: Vec<GroupMember>,
}

/// A member of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupMember {
    /// The id that the coordinator gave it.
    pub member_id: String,
    /// Its own, lasting id, if it is a static member.
    pub instance_id: Option<String>,
    /// What it calls itself.
    pub client_id: String,
    /// Where it connects from.
    pub host: String,
    /// Its epoch, in a group of the new protocol.
    pub epoch: Option<i32>,
    /// Whether it speaks the classic protocol.
    pub is_classic: bool,
    /// What it owns; empty where the group's protocol is not a consumer's.
    pub partitions: Vec<TopicPartition>,
    /// What it shall own; in a classic group what it owns.
    pub target: Vec<TopicPartition>,
}

/// A committed offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The offset of the next record to read.
    pub offset: Offset,
    /// The epoch of the record before it.
    pub leader_epoch: LeaderEpoch,
    /// What the committer added.
    pub metadata: String,
}

/// How far a group is behind in one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionLag {
    /// The partition.
    pub partition: TopicPartition,
    /// The next offset to read; none was committed otherwise.
    pub committed: Option<Offset>,
    /// The offset of the first record that is kept.
    pub log_start: Offset,
    /// The offset after the last record.
    pub log_end: Offset,
    /// The time of the first record that is still to be read, where there is one.
    pub oldest_unread: Option<TimestampMs>,
}

impl PartitionLag {
    /// How many offsets are still to be read, of those that are kept. Without a commit it depends on the consumer where it would start.
    pub fn records(&self) -> Option<i64> {
        let committed = self.committed?.max(self.log_start);
        Some((self.log_end.get() - committed.get()).max(0))
    }
}

impl Admin {
    /// The groups of all brokers.
    ///
    /// # Errors
    /// When a broker does not answer.
    pub async fn list_groups(&self) -> Result<Vec<ListedGroup>, ClientError> {
        let request = &ListGroupsRequest::default();
        let mut groups = Vec::new();
        for broker in self.cluster.view().brokers.keys() {
            let of_broker = self.cluster.retrying(|| async {
                let connection = self.cluster.broker(*broker, Lane::Calls).await?;
                let reply = connection.call(request).await?;
                let answer = reply.read()?;
                connection.check(ApiKey::ListGroups, "groups", answer.error_code, None)?;
                let groups = answer.groups.iter().map(|group| ListedGroup {
                    id: group.group_id.to_string(),
                    protocol_type: group.protocol_type.to_string(),
                    state: group.group_state.to_string(),
                    kind: group.group_type.to_string(),
                });
                Ok(groups.collect::<Vec<_>>())
            });
            groups.extend(of_broker.await?);
        }
        groups.sort();
        groups.dedup();
        Ok(groups)
    }

    /// A group and its members, whichever protocol it speaks.
    ///
    /// # Errors
    /// When it does not exist.
    pub async fn describe_group(&self, group: &str) -> Result<GroupView, ClientError> {
        match self.describe_consumer_group(group).await? {
            Some(described) => Ok(described),
            None => self.describe_classic_group(group).await,
        }
    }

    async fn describe_classic_group(&self, group: &str) -> Result<GroupView, ClientError> {
        let request = &DescribeGroupsRequest {
            groups: vec![Cow::Borrowed(group)],
            ..DescribeGroupsRequest::default()
        };
        let about = &about(group);
        self.at_coordinator(group, |connection| async move {
            let reply = connection.call(request).await?;
            let answer = reply.read()?;
            let api = ApiKey::DescribeGroups;
            let described = answer
                .groups
                .first()
                .ok_or_else(|| ClientError::Incomplete {
                    broker: connection.broker().to_owned(),
                    api,
                    about: about.clone(),
                })?;
            let message = described.error_message.as_deref();
            connection.check(api, about, described.error_code, message)?;
            // Before version 6 a group that does not exist is described as dead.
            if described.group_state == "Dead" {
                connection.check(api, about, ErrorCode::GroupIdNotFound.code(), None)?;
            }
            let members = described.members.iter().map(member);
            Ok(GroupView {
                id: described.group_id.to_string(),
                kind: "classic".to_owned(),
                epoch: None,
                target_epoch: None,
                state: described.group_state.to_string(),
                protocol_type: described.protocol_type.to_string(),
                protocol: described.protocol_data.to_string(),
                members: members.collect::<Result<_, _>>()?,
            })
        })
        .await
    }

    /// Every offset that the group has committed.
    ///
    /// # Errors
    /// When its coordinator does not answer.
    pub async fn committed_offsets(
        &self,
        group: &str,
    ) -> Result<BTreeMap<TopicPartition, Committed>, ClientError> {
        self.at_coordinator(group, |connection| async move {
            crate::group::fetch_committed(&connection, group, None).await
        })
        .await
    }

    /// Commits offsets from outside the group, which must have no members.
    ///
    /// # Errors
    /// When it has members.
    pub async fn commit_offsets(
        &self,
        group: &str,
        offsets: &BTreeMap<TopicPartition, Offset>,
    ) -> Result<(), ClientError> {
        self.at_coordinator(group, |connection| async move {
            crate::group::commit(&connection, group, None, offsets).await
        })
        .await
    }

    /// Forgets the offsets that the group committed for these partitions.
    ///
    /// # Errors
    /// When a member of the group subscribes to the topic.
    pub async fn delete_offsets(
        &self,
        group: &str,
        partitions: &[TopicPartition],
    ) -> Result<(), ClientError> {
        let mut topics = BTreeMap::<&TopicName, Vec<_>>::new();
        for one in partitions {
            let partition_index = one.partition.get();
            let partition = OffsetDeleteRequestPartition { partition_index };
            topics.entry(&one.topic).or_default().push(partition);
        }
        let topics = topics
            .into_iter()
            .map(|(topic, partitions)| OffsetDeleteRequestTopic {
                name: Cow::Borrowed(topic.as_str()),
                partitions,
            });
        let request = &OffsetDeleteRequest {
            group_id: Cow::Borrowed(group),
            topics: topics.collect(),
        };
        self.at_coordinator(group, |connection| async move {
            let reply = connection.call(request).await?;
            let answer = reply.read()?;
            let api = ApiKey::OffsetDelete;
            connection.check(api, &about(group), answer.error_code, None)?;
            for topic in &answer.topics {
                for one in &topic.partitions {
                    let about = format!("{}-{}", topic.name, one.partition_index);
                    connection.check(api, &about, one.error_code, None)?;
                }
            }
            Ok(())
        })
        .await
    }

    /// Deletes a group that has no members, with its offsets.
    ///
    /// # Errors
    /// When it has members or does not exist.
    pub async fn delete_group(&self, group: &str) -> Result<(), ClientError> {
        let request = &DeleteGroupsRequest {
            groups_names: vec![Cow::Borrowed(group)],
        };
        self.at_coordinator(group, |connection| async move {
            let reply = connection.call(request).await?;
            let answer = reply.read()?;
            for one in &answer.results {
                let message = one.error_message.as_deref();
                connection.check(ApiKey::DeleteGroups, &about(group), one.error_code, message)?;
            }
            Ok(())
        })
        .await
    }

    /// How far the group is behind, for every partition of the topics that it has committed offsets of or owns partitions of.
    ///
    /// # Errors
    /// When a topic's leaders do not answer. Topics that were deleted are left out.
    pub async fn group_lag(&self, group: &GroupView) -> Result<Vec<PartitionLag>, ClientError> {
        let committed = self.committed_offsets(&group.id).await?;
        let owned = group.members.iter().flat_map(|member| &member.partitions);
        let mut topics: Vec<_> = owned
            .chain(committed.keys())
            .map(|one| &one.topic)
            .collect();
        topics.sort();
        topics.dedup();
        let mut lags = Vec::new();
        for topic in topics {
            lags.extend(self.topic_lag(topic, &committed).await?);
        }
        Ok(lags)
    }

    async fn topic_lag(
        &self,
        topic: &TopicName,
        committed: &BTreeMap<TopicPartition, Committed>,
    ) -> Result<Vec<PartitionLag>, ClientError> {
        let partitions = match self.cluster.partitions(topic).await {
            Err(error) if error.code() == Some(ErrorCode::UnknownTopicOrPartition) => vec![],
            partitions => partitions?,
        };
        let starts = self
            .cluster
            .list_offsets(&partitions, OffsetSpec::Earliest)
            .await?;
        let ends = self
            .cluster
            .list_offsets(&partitions, OffsetSpec::Latest)
            .await?;
        let mut lags = Vec::with_capacity(partitions.len());
        for partition in partitions {
            let offset = |listed: &BTreeMap<_, crate::ListedOffset>| {
                listed
                    .get(&partition)
                    .and_then(|one| one.offset)
                    .unwrap_or_default()
            };
            let (log_start, log_end) = (offset(&starts), offset(&ends));
            let committed = committed.get(&partition).map(|one| one.offset);
            let next = committed.unwrap_or(log_start).max(log_start);
            let oldest_unread = oldest_unread(&self.cluster, &partition, next, log_end).await?;
            lags.push(PartitionLag {
                partition,
                committed,
                log_start,
                log_end,
                oldest_unread,
            });
        }
        Ok(lags)
    }
}

/// The time of the first record from `next` on, where there is one before `end`.
async fn oldest_unread(
    cluster: &Cluster,
    partition: &TopicPartition,
    next: Offset,
    end: Offset,
) -> Result<Option<TimestampMs>, ClientError> {
    if next >= end {
        return Ok(None);
    }
    match cluster.timestamp_at(partition, next).await {
        // Retention may have taken the record since we asked where the log starts.
        Err(error) if error.code() == Some(ErrorCode::OffsetOutOfRange) => Ok(None),
        timestamp => timestamp,
    }
}

fn about(group: &str) -> String {
    format!("group '{group}'")
}

fn member(member: &DescribedGroupMember<'_>) -> Result<GroupMember, ClientError> {
    // What other kinds of groups carry there is not for us to read.
    let assignment =
        ConsumerProtocolAssignment::decode_with_version_prefix(&member.member_assignment);
    let partitions = match assignment {
        Ok(assignment) => crate::group::assigned_partitions(&assignment)?,
        Err(_) => Vec::new(),
    };
    Ok(GroupMember {
        member_id: member.member_id.to_string(),
        instance_id: member.group_instance_id.as_deref().map(str::to_owned),
        client_id: member.client_id.to_string(),
        host: member.client_host.to_string(),
        epoch: None,
        is_classic: true,
        target: partitions.clone(),
        partitions,
    })
}
