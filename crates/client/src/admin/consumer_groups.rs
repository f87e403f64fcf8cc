//! Describing consumer groups of the new protocol (KIP-848), which have epochs where classic ones have a generation.

use super::{Admin, GroupMember, GroupView};
use crate::ClientError;
use fanlog_model::{PartitionIndex, TopicName, TopicPartition};
use fanlog_protocol::messages::ConsumerGroupDescribeRequest;
use fanlog_protocol::messages::consumer_group_describe_response::{
    Assignment, DescribedGroup, Member,
};
use fanlog_protocol::{ApiKey, ErrorCode};
use std::borrow::Cow;

const CLASSIC_MEMBER: i8 = 0;

impl Admin {
    /// The group, if it is a consumer group of the new protocol and the broker knows of such.
    pub(super) async fn describe_consumer_group(
        &self,
        group: &str,
    ) -> Result<Option<GroupView>, ClientError> {
        let request = &ConsumerGroupDescribeRequest {
            group_ids: vec![Cow::Borrowed(group)],
            include_authorized_operations: false,
        };
        let described = self
            .at_coordinator(group, |connection| async move {
                let reply = connection.call(request).await?;
                let answer = reply.read()?;
                let Some(described) = answer.groups.first() else {
                    return Ok(None);
                };
                let message = described.error_message.as_deref();
                let api = ApiKey::ConsumerGroupDescribe;
                let about = format!("group '{group}'");
                connection.check(api, &about, described.error_code, message)?;
                Ok(Some(view(described)))
            })
            .await;
        match described {
            // Of another kind, or unknown; or an older broker.
            Err(error) if error.code() == Some(ErrorCode::GroupIdNotFound) => Ok(None),
            Err(ClientError::UnsupportedApi { .. }) => Ok(None),
            other => other,
        }
    }
}

fn view(group: &DescribedGroup<'_>) -> GroupView {
    GroupView {
        id: group.group_id.to_string(),
        kind: "consumer".to_owned(),
        state: group.group_state.to_string(),
        protocol_type: "consumer".to_owned(),
        protocol: group.assignor_name.to_string(),
        epoch: Some(group.group_epoch),
        target_epoch: Some(group.assignment_epoch),
        members: group.members.iter().map(member).collect(),
    }
}

fn member(member: &Member<'_>) -> GroupMember {
    GroupMember {
        member_id: member.member_id.to_string(),
        instance_id: member.instance_id.as_deref().map(str::to_owned),
        client_id: member.client_id.to_string(),
        host: member.client_host.to_string(),
        epoch: Some(member.member_epoch),
        is_classic: member.member_type == CLASSIC_MEMBER,
        partitions: partitions(&member.assignment),
        target: partitions(&member.target_assignment),
    }
}

fn partitions(assignment: &Assignment<'_>) -> Vec<TopicPartition> {
    let topics = assignment.topic_partitions.iter();
    let named = topics.filter_map(|topic| Some((TopicName::new(&topic.topic_name).ok()?, topic)));
    let mut all: Vec<_> = named
        .flat_map(|(name, topic)| {
            topic.partitions.iter().map(move |index| TopicPartition {
                topic: name.clone(),
                partition: PartitionIndex(*index),
            })
        })
        .collect();
    all.sort();
    all
}
