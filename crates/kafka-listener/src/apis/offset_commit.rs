//! OffsetCommit, versions 2-10: a group stores where it will read on.
//!
//! Behaviour: answers when the offsets are durable. A commit of another generation is refused (GRP-2).
//! Versions: 5 no retention time of its own; 6 leader epochs; 7 static members; 8 flexible; 9 GROUP_ID_NOT_FOUND
//! and STALE_MEMBER_EPOCH; 10 topic ids.

use crate::context::ConnectionContext;
use crate::errors;
use fanlog_broker::{TopicRef, TopicsView};
use fanlog_coordinators::CallId;
use fanlog_coordinators::group::{CommitOffsets, InstanceId, MemberId, OffsetToCommit};
use fanlog_model::{GroupId, LeaderEpoch, Offset, PartitionIndex, TopicId, TopicName};
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::offset_commit_request::OffsetCommitRequestTopic;
use fanlog_protocol::messages::offset_commit_response::{
    OffsetCommitResponsePartition, OffsetCommitResponseTopic,
};
use fanlog_protocol::messages::{OffsetCommitRequest, OffsetCommitResponse, RequestHeader};
use std::borrow::Cow;

const MISSING_GROUP_SINCE: i16 = 9;
const TOPIC_IDS_SINCE: i16 = 10;

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: OffsetCommitRequest<'_>,
    version: i16,
) -> OffsetCommitResponse<'static> {
    let topics = context.broker().topics();
    let mut offsets = Vec::new();
    let mut response: Vec<OffsetCommitResponseTopic<'static>> = request
        .topics
        .iter()
        .map(|topic| sort_out(&topics, topic, version, &mut offsets))
        .collect();
    let commit = commit(&request, version, offsets);
    if !commit.offsets.is_empty() || is_from_member(&request) {
        let outcome = context.broker().groups().commit_offsets(commit).await;
        fill_in(&mut response, outcome);
    }
    OffsetCommitResponse {
        topics: response,
        ..Default::default()
    }
}

/// A commit without offsets is still a sign of life, and is checked as one.
fn is_from_member(request: &OffsetCommitRequest<'_>) -> bool {
    !request.member_id.is_empty()
}

fn commit(
    request: &OffsetCommitRequest<'_>,
    version: i16,
    offsets: Vec<OffsetToCommit>,
) -> CommitOffsets {
    CommitOffsets {
        call: CallId(0),
        group: GroupId::from(request.group_id.as_ref()),
        member_id: MemberId::from(request.member_id.as_ref()),
        instance_id: request.group_instance_id.as_deref().map(InstanceId::from),
        generation: request.generation_id_or_member_epoch,
        names_missing_group: version >= MISSING_GROUP_SINCE,
        retention_ms: Some(request.retention_time_ms).filter(|ms| *ms >= 0),
        offsets,
    }
}

/// What may be committed goes to `offsets`; the entry of the answer marks the rest with its error.
fn sort_out(
    topics: &TopicsView,
    topic: &OffsetCommitRequestTopic<'_>,
    version: i16,
    offsets: &mut Vec<OffsetToCommit>,
) -> OffsetCommitResponseTopic<'static> {
    let found = match version >= TOPIC_IDS_SINCE {
        true => topics
            .topic(&TopicRef::Id(TopicId(topic.topic_id)))
            .map_err(|error| errors::of_lookup(&error)),
        false => TopicName::new(&topic.name)
            .ok()
            .and_then(|name| topics.by_name(&name))
            .ok_or(ErrorCode::UnknownTopicOrPartition),
    };
    let mut check = |partition: &fanlog_protocol::messages::offset_commit_request::OffsetCommitRequestPartition<'_>| {
        let index = PartitionIndex(partition.partition_index);
        let topic = found?;
        if topic.partition(index).is_none() {
            return Err(ErrorCode::UnknownTopicOrPartition);
        }
        offsets.push(OffsetToCommit {
            topic: topic.name.clone(),
            topic_id: topic.id,
            partition: index,
            offset: Offset(partition.committed_offset),
            leader_epoch: LeaderEpoch(partition.committed_leader_epoch),
            metadata: partition.committed_metadata.as_deref().unwrap_or_default().into(),
        });
        Ok(())
    };
    let partitions = topic
        .partitions
        .iter()
        .map(|partition| OffsetCommitResponsePartition {
            partition_index: partition.partition_index,
            error_code: check(partition).err().unwrap_or(ErrorCode::None).code(),
        });
    let partitions = partitions.collect();
    OffsetCommitResponseTopic {
        name: Cow::Owned(topic.name.to_string()),
        topic_id: topic.topic_id,
        partitions,
    }
}

/// Puts the machine's outcomes where no error stands yet; they come in the order of the request.
fn fill_in(
    response: &mut [OffsetCommitResponseTopic<'static>],
    outcome: Result<
        Vec<fanlog_coordinators::group::OffsetOutcome>,
        fanlog_broker::GroupRequestError,
    >,
) {
    let open = response
        .iter_mut()
        .flat_map(|topic| &mut topic.partitions)
        .filter(|partition| partition.error_code == 0);
    match outcome {
        Ok(outcomes) => {
            for (partition, outcome) in open.zip(outcomes) {
                let error = outcome.result.as_ref().err();
                partition.error_code = error.map_or(0, |error| errors::of_offset(error).code());
            }
        }
        Err(failure) => {
            let code = errors::of_group_failure(&failure).code();
            open.for_each(|partition| partition.error_code = code);
        }
    }
}
