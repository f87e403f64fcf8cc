//! ShareGroupDescribe, version 1: state and members of share groups (KIP-932).

use crate::authorized_operations;
use crate::context::ConnectionContext;
use crate::errors;
use fanlog_broker::{GroupRequestError, TopicsView};
use fanlog_coordinators::group::share::{ASSIGNOR, DescribedShareGroup, DescribedShareMember};
use fanlog_model::GroupId;
use fanlog_protocol::messages::share_group_describe_response::{
    Assignment, DescribedGroup, Member, TopicPartitions,
};
use fanlog_protocol::messages::{
    RequestHeader, ShareGroupDescribeRequest, ShareGroupDescribeResponse,
};
use std::borrow::Cow;

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: ShareGroupDescribeRequest<'_>,
    _version: i16,
) -> ShareGroupDescribeResponse<'static> {
    let mut groups = Vec::with_capacity(request.group_ids.len());
    for id in &request.group_ids {
        let groups_of_broker = context.broker().groups();
        let described = groups_of_broker.describe_share(GroupId::from(id.as_ref()));
        let mut group = match described.await {
            Ok(described) => found(&context.broker().topics(), described),
            Err(failure) => missing(id, &failure),
        };
        let is_asked = request.include_authorized_operations && group.error_code == 0;
        group.authorized_operations =
            authorized_operations::if_asked(is_asked, authorized_operations::GROUP);
        groups.push(group);
    }
    ShareGroupDescribeResponse {
        groups,
        ..Default::default()
    }
}

fn found(topics: &TopicsView, described: DescribedShareGroup) -> DescribedGroup<'static> {
    let members = described.members.into_iter();
    DescribedGroup {
        group_id: Cow::Owned(described.group.to_string()),
        group_state: Cow::Borrowed(described.state.name()),
        group_epoch: described.epoch,
        assignment_epoch: described.assignment_epoch,
        assignor_name: Cow::Borrowed(ASSIGNOR),
        members: members.map(|each| member(topics, &each)).collect(),
        ..Default::default()
    }
}

fn member(topics: &TopicsView, of: &DescribedShareMember) -> Member<'static> {
    let assigned = of.current.assigned.iter().filter_map(|(id, partitions)| {
        let topic = topics.by_id(*id)?;
        Some(TopicPartitions {
            topic_id: id.0,
            topic_name: Cow::Owned(topic.name.to_string()),
            partitions: partitions.iter().map(|index| index.0).collect(),
        })
    });
    let names = of.member.topics.iter();
    Member {
        member_id: Cow::Owned(of.member_id.to_string()),
        rack_id: of
            .member
            .rack_id
            .as_ref()
            .map(|rack| Cow::Owned(rack.to_string())),
        member_epoch: of.current.epoch,
        client_id: Cow::Owned(of.member.client_id.to_string()),
        client_host: Cow::Owned(of.member.client_host.to_string()),
        subscribed_topic_names: names.map(|name| Cow::Owned(name.to_string())).collect(),
        assignment: Assignment {
            topic_partitions: assigned.collect(),
        },
    }
}

fn missing(id: &str, failure: &GroupRequestError) -> DescribedGroup<'static> {
    DescribedGroup {
        error_code: errors::of_group_failure(failure).code(),
        error_message: Some(Cow::Owned(failure.to_string())),
        group_id: Cow::Owned(id.to_owned()),
        ..Default::default()
    }
}
