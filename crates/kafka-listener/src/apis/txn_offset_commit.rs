//! TxnOffsetCommit, versions 0-6: a group's offsets are committed together with what a producer's transaction writes.
//!
//! Behaviour: answers when the offsets are durable; they are in force once the transaction is committed, and gone where it is aborted.
//! Versions: 2 leader epochs; 3 flexible, generation and member (a member of another generation is refused); 4 errors of the second
//! generation of transactions; 5 that generation: the offsets become part of the transaction by this request; 6 topic ids.

use super::add_partitions_to_txn::producer;
use crate::context::ConnectionContext;
use crate::errors;
use fanlog_broker::{TopicRef, TopicsView, TransactionalCommitError};
use fanlog_coordinators::CallId;
use fanlog_coordinators::group::{
    CommitOffsets, InstanceId, MemberId, OffsetOutcome, OffsetToCommit,
};
use fanlog_coordinators::transaction::{ClientVersion, TransactionalId};
use fanlog_model::{GroupId, LeaderEpoch, Offset, PartitionIndex, TopicId, TopicName};
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::txn_offset_commit_request::TxnOffsetCommitRequestTopic;
use fanlog_protocol::messages::txn_offset_commit_response::{
    TxnOffsetCommitResponsePartition, TxnOffsetCommitResponseTopic,
};
use fanlog_protocol::messages::{RequestHeader, TxnOffsetCommitRequest, TxnOffsetCommitResponse};
use std::borrow::Cow;

const SECOND_GENERATION_SINCE: i16 = 5;
const TOPIC_IDS_SINCE: i16 = 6;

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: TxnOffsetCommitRequest<'_>,
    version: i16,
) -> TxnOffsetCommitResponse<'static> {
    let topics = context.broker().topics();
    let mut offsets = Vec::new();
    let mut response: Vec<_> = request
        .topics
        .iter()
        .map(|topic| sort_out(&topics, topic, version, &mut offsets))
        .collect();
    if !offsets.is_empty() {
        let commit = commit(&request, version, offsets);
        let generation = match version >= SECOND_GENERATION_SINCE {
            true => ClientVersion::Second,
            false => ClientVersion::First,
        };
        let id = TransactionalId::from(&*request.transactional_id);
        let producer = producer(request.producer_id, request.producer_epoch);
        let transactions = context.broker().transactions();
        let outcome = transactions
            .commit_offsets(&id, producer, commit, generation)
            .await;
        fill_in(&mut response, outcome, version);
    }
    TxnOffsetCommitResponse {
        topics: response,
        ..Default::default()
    }
}

fn commit(
    request: &TxnOffsetCommitRequest<'_>,
    version: i16,
    offsets: Vec<OffsetToCommit>,
) -> CommitOffsets {
    CommitOffsets {
        call: CallId(0),
        group: GroupId::from(&*request.group_id),
        member_id: MemberId::from(&*request.member_id),
        instance_id: request.group_instance_id.as_deref().map(InstanceId::from),
        generation: request.generation_id_or_member_epoch,
        names_missing_group: version >= TOPIC_IDS_SINCE,
        retention_ms: None,
        offsets,
    }
}

/// What may be committed goes to `offsets`; the entry of the answer marks the rest with its error.
fn sort_out(
    topics: &TopicsView,
    topic: &TxnOffsetCommitRequestTopic<'_>,
    version: i16,
    offsets: &mut Vec<OffsetToCommit>,
) -> TxnOffsetCommitResponseTopic<'static> {
    let found = match version >= TOPIC_IDS_SINCE {
        true => topics
            .topic(&TopicRef::Id(TopicId(topic.topic_id)))
            .map_err(|error| errors::of_lookup(&error)),
        false => TopicName::new(&topic.name)
            .ok()
            .and_then(|name| topics.by_name(&name))
            .ok_or(ErrorCode::UnknownTopicOrPartition),
    };
    let mut partitions = Vec::with_capacity(topic.partitions.len());
    for partition in &topic.partitions {
        let index = PartitionIndex(partition.partition_index);
        let known = found.and_then(|topic| {
            let known = topic.partition(index).map(|_| topic);
            known.ok_or(ErrorCode::UnknownTopicOrPartition)
        });
        if let Ok(topic) = known {
            offsets.push(OffsetToCommit {
                topic: topic.name.clone(),
                topic_id: topic.id,
                partition: index,
                offset: Offset(partition.committed_offset),
                leader_epoch: LeaderEpoch(partition.committed_leader_epoch),
                metadata: partition
                    .committed_metadata
                    .as_deref()
                    .unwrap_or_default()
                    .into(),
            });
        }
        partitions.push(TxnOffsetCommitResponsePartition {
            partition_index: partition.partition_index,
            error_code: known.err().unwrap_or(ErrorCode::None).code(),
        });
    }
    TxnOffsetCommitResponseTopic {
        name: Cow::Owned(topic.name.to_string()),
        topic_id: topic.topic_id,
        partitions,
    }
}

/// Puts the outcomes where no error stands yet; they come in the order of the request.
fn fill_in(
    response: &mut [TxnOffsetCommitResponseTopic<'static>],
    outcome: Result<Vec<OffsetOutcome>, TransactionalCommitError>,
    version: i16,
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
        Err(error) => {
            let code = errors::of_transactional_commit(&error, version).code();
            open.for_each(|partition| partition.error_code = code);
        }
    }
}
