//! ConsumerGroupDescribe, versions 0-1: state, members and assignments of consumer groups of the new protocol.
//!
//! Behaviour: a group of another kind is GROUP_ID_NOT_FOUND, by which tools turn to DescribeGroups.
//! Versions: 1 whether a member speaks the classic protocol.

use crate::authorized_operations;
use crate::context::ConnectionContext;
use crate::errors;
use fanlog_broker::GroupRequestError;
use fanlog_coordinators::group::GroupError;
use fanlog_coordinators::group::consumer::{
    DescribedConsumer, DescribedConsumerGroup, NamedPartitions,
};
use fanlog_model::GroupId;
use fanlog_protocol::messages::consumer_group_describe_response::{
    Assignment, DescribedGroup, Member, TopicPartitions,
};
use fanlog_protocol::messages::{
    ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse, RequestHeader,
};
use std::borrow::Cow;

const CLASSIC: i8 = 0;
const CONSUMER: i8 = 1;

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: ConsumerGroupDescribeRequest<'_>,
    _version: i16,
) -> ConsumerGroupDescribeResponse<'static> {
    let mut groups = Vec::with_capacity(request.group_ids.len());
    for id in &request.group_ids {
        let described = match id.is_empty() {
            true => Err(GroupRequestError::Refused(GroupError::InvalidGroupId)),
            false => {
                let groups = context.broker().groups();
                groups.describe_consumer(GroupId::from(&**id)).await
            }
        };
        let mut group = match described {
            Ok(group) => found(group),
            Err(failure) => missing(id, &failure),
        };
        let is_asked = request.include_authorized_operations && group.error_code == 0;
        group.authorized_operations =
            authorized_operations::if_asked(is_asked, authorized_operations::GROUP);
        groups.push(group);
    }
    ConsumerGroupDescribeResponse {
        groups,
        ..Default::default()
    }
}

fn found(group: DescribedConsumerGroup) -> DescribedGroup<'static> {
    DescribedGroup {
        group_id: owned(group.group.as_str()),
        group_state: Cow::Borrowed(group.state.name()),
        group_epoch: group.epoch,
        assignment_epoch: group.target_epoch,
        assignor_name: Cow::Borrowed(group.assignor),
        members: group.members.into_iter().map(member).collect(),
        ..Default::default()
    }
}

fn member(member: DescribedConsumer) -> Member<'static> {
    let names = member.topics.iter();
    Member {
        member_id: owned(member.member_id.as_str()),
        instance_id: member.instance_id.map(|id| owned(id.as_str())),
        rack_id: member.rack_id.map(|rack| owned(&rack)),
        member_epoch: member.epoch,
        client_id: owned(&member.client_id),
        client_host: owned(&member.client_host),
        subscribed_topic_names: names.map(|name| owned(name)).collect(),
        // No expression is an empty one here, as in Kafka.
        subscribed_topic_regex: Some(owned(member.regex.as_deref().unwrap_or_default())),
        assignment: assignment(member.assigned),
        target_assignment: assignment(member.target),
        member_type: if member.is_classic { CLASSIC } else { CONSUMER },
    }
}

fn assignment(topics: Vec<NamedPartitions>) -> Assignment<'static> {
    let topics = topics.into_iter().map(|topic| TopicPartitions {
        topic_id: topic.id.0,
        topic_name: owned(&topic.name),
        partitions: topic.partitions,
    });
    Assignment {
        topic_partitions: topics.collect(),
    }
}

fn missing(id: &str, failure: &GroupRequestError) -> DescribedGroup<'static> {
    DescribedGroup {
        error_code: errors::of_group_failure(failure).code(),
        error_message: Some(Cow::Owned(failure.to_string())),
        group_id: owned(id),
        ..Default::default()
    }
}

fn owned(text: &str) -> Cow<'static, str> {
    Cow::Owned(text.to_owned())
}
