//! Share groups: describe, offsets, settings.

use super::Admin;
use super::configs::{ConfigChange, ConfigEntry};
use crate::ClientError;
use fanlog_model::{Offset, PartitionIndex, TopicName, TopicPartition};
use fanlog_protocol::ApiKey;
use fanlog_protocol::messages::alter_share_group_offsets_request::{
    AlterShareGroupOffsetsRequest, AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
};
use fanlog_protocol::messages::delete_share_group_offsets_request::{
    DeleteShareGroupOffsetsRequest, DeleteShareGroupOffsetsRequestTopic,
};
use fanlog_protocol::messages::describe_share_group_offsets_request::{
    DescribeShareGroupOffsetsRequest, DescribeShareGroupOffsetsRequestGroup,
};
use fanlog_protocol::messages::share_group_describe_request::ShareGroupDescribeRequest;
use fanlog_protocol::messages::share_group_describe_response::Member;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A share group with its members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareGroupView {
    /// Its name.
    pub id: String,
    /// `Stable` or `Empty`.
    pub state: String,
    /// Its epoch.
    pub epoch: i32,
    /// Its members.
    pub members: Vec<ShareGroupMember>,
}

/// A member of a share group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareGroupMember {
    /// The id that it chose.
    pub member_id: String,
    /// What it calls itself.
    pub client_id: String,
    /// Where it connects from.
    pub host: String,
    /// What it reads; others may read the same.
    pub partitions: Vec<TopicPartition>,
}

/// Where a share group stands in a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareOffset {
    /// The partition.
    pub partition: TopicPartition,
    /// The first offset that it is not done with; none before it has read.
    pub start: Option<Offset>,
    /// How many records it is not done with; none where the broker does not tell.
    pub lag: Option<i64>,
}

fn about(group: &str) -> String {
    format!("share group '{group}'")
}

impl Admin {
    /// A share group and its members.
    ///
    /// # Errors
    /// When there is no such share group.
    pub async fn describe_share_group(&self, group: &str) -> Result<ShareGroupView, ClientError> {
        let request = &ShareGroupDescribeRequest {
            group_ids: vec![Cow::Borrowed(group)],
            ..ShareGroupDescribeRequest::default()
        };
        let about = &about(group);
        self.at_coordinator(group, |connection| async move {
            let reply = connection.call(request).await?;
            let answer = reply.read()?;
            let api = ApiKey::ShareGroupDescribe;
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
            Ok(ShareGroupView {
                id: described.group_id.to_string(),
                state: described.group_state.to_string(),
                epoch: described.group_epoch,
                members: described.members.iter().map(member).collect(),
            })
        })
        .await
    }

    /// Where a share group stands in every partition that it reads.
    ///
    /// # Errors
    /// When its coordinator does not answer.
    pub async fn share_offsets(&self, group: &str) -> Result<Vec<ShareOffset>, ClientError> {
        let request = &DescribeShareGroupOffsetsRequest {
            groups: vec![DescribeShareGroupOffsetsRequestGroup {
                group_id: Cow::Borrowed(group),
                topics: None,
            }],
        };
        let about = &about(group);
        self.at_coordinator(group, |connection| async move {
            let reply = connection.call(request).await?;
            let answer = reply.read()?;
            let api = ApiKey::DescribeShareGroupOffsets;
            let mut offsets = Vec::new();
            for group in &answer.groups {
                connection.check(api, about, group.error_code, group.error_message.as_deref())?;
                for topic in &group.topics {
                    // Another program's topic may have a name that is none here.
                    let Ok(name) = TopicName::new(topic.topic_name.as_ref()) else {
                        continue;
                    };
                    offsets.extend(topic.partitions.iter().map(|one| ShareOffset {
                        partition: TopicPartition {
                            topic: name.clone(),
                            partition: PartitionIndex(one.partition_index),
                        },
                        start: (one.start_offset >= 0).then_some(Offset(one.start_offset)),
                        lag: (one.start_offset >= 0).then_some(one.lag),
                    }));
                }
            }
            offsets.sort_by(|a, b| a.partition.cmp(&b.partition));
            Ok(offsets)
        })
        .await
    }

    /// A share group without members begins anew at these offsets.
    ///
    /// # Errors
    /// When it has members, or a partition does not exist.
    pub async fn alter_share_offsets(
        &self,
        group: &str,
        offsets: &BTreeMap<TopicPartition, Offset>,
    ) -> Result<(), ClientError> {
        let mut topics = BTreeMap::<&TopicName, Vec<_>>::new();
        for (partition, offset) in offsets {
            let one = AlterShareGroupOffsetsRequestPartition {
                partition_index: partition.partition.get(),
                start_offset: offset.get(),
            };
            topics.entry(&partition.topic).or_default().push(one);
        }
        let topics = topics.into_iter();
        let request = &AlterShareGroupOffsetsRequest {
            group_id: Cow::Borrowed(group),
            topics: topics
                .map(|(name, partitions)| AlterShareGroupOffsetsRequestTopic {
                    topic_name: Cow::Borrowed(name.as_str()),
                    partitions,
                })
                .collect(),
        };
        let about = &about(group);
        self.at_coordinator(group, |connection| async move {
            let reply = connection.call(request).await?;
            let answer = reply.read()?;
            let api = ApiKey::AlterShareGroupOffsets;
            connection.check(
                api,
                about,
                answer.error_code,
                answer.error_message.as_deref(),
            )?;
            for topic in &answer.responses {
                for one in &topic.partitions {
                    let about = format!("{}-{}", topic.topic_name, one.partition_index);
                    connection.check(api, &about, one.error_code, one.error_message.as_deref())?;
                }
            }
            Ok(())
        })
        .await
    }

    /// A share group without members forgets what it knows of these topics.
    ///
    /// # Errors
    /// When it has members, or knows nothing of a topic.
    pub async fn delete_share_offsets(
        &self,
        group: &str,
        topics: &[TopicName],
    ) -> Result<(), ClientError> {
        let named = topics
            .iter()
            .map(|topic| DeleteShareGroupOffsetsRequestTopic {
                topic_name: Cow::Borrowed(topic.as_str()),
            });
        let request = &DeleteShareGroupOffsetsRequest {
            group_id: Cow::Borrowed(group),
            topics: named.collect(),
        };
        let about = &about(group);
        self.at_coordinator(group, |connection| async move {
            let reply = connection.call(request).await?;
            let answer = reply.read()?;
            let api = ApiKey::DeleteShareGroupOffsets;
            connection.check(
                api,
                about,
                answer.error_code,
                answer.error_message.as_deref(),
            )?;
            for topic in &answer.responses {
                let about = format!("topic '{}'", topic.topic_name);
                connection.check(
                    api,
                    &about,
                    topic.error_code,
                    topic.error_message.as_deref(),
                )?;
            }
            Ok(())
        })
        .await
    }

    /// All settings of a group, which need not exist.
    ///
    /// # Errors
    /// When the broker does not answer.
    pub async fn group_configs(&self, group: &str) -> Result<Vec<ConfigEntry>, ClientError> {
        self.configs_of(super::configs::GROUP_RESOURCE, group, &about(group))
            .await
    }

    /// Changes settings of a group, leaving the others as they are.
    ///
    /// # Errors
    /// When a value is not allowed; nothing is changed then.
    pub async fn alter_group_configs(
        &self,
        group: &str,
        changes: &[ConfigChange],
    ) -> Result<(), ClientError> {
        let about = about(group);
        self.alter_configs_of(
            super::configs::GROUP_RESOURCE,
            group,
            &about,
            changes,
            false,
        )
        .await
    }
}

fn member(member: &Member<'_>) -> ShareGroupMember {
    let topics = member.assignment.topic_partitions.iter();
    let partitions = topics.flat_map(|topic| {
        let name = TopicName::new(topic.topic_name.as_ref()).ok();
        topic.partitions.iter().filter_map(move |index| {
            Some(TopicPartition {
                topic: name.clone()?,
                partition: PartitionIndex(*index),
            })
        })
    });
    ShareGroupMember {
        member_id: member.member_id.to_string(),
        client_id: member.client_id.to_string(),
        host: member.client_host.to_string(),
        partitions: partitions.collect(),
    }
}
