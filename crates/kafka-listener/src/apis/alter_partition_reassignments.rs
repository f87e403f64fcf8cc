//! AlterPartitionReassignments, versions 0-1: every partition is on this broker, and stays here.
//!
//! Behaviour: to where it is already succeeds, as there is nothing to move; any other set of brokers is INVALID_REPLICA_ASSIGNMENT, and
//! nothing to cancel is NO_REASSIGNMENT_IN_PROGRESS.
//! Versions: 1 whether the number of replicas may change: only the broker's own set is ever taken, so it never does.

use crate::context::ConnectionContext;
use fanlog_model::{PartitionIndex, TopicName};
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::alter_partition_reassignments_request::ReassignablePartition;
use fanlog_protocol::messages::alter_partition_reassignments_response::{
    ReassignablePartitionResponse, ReassignableTopicResponse,
};
use fanlog_protocol::messages::{
    AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse, RequestHeader,
};
use std::borrow::Cow;

type Refused = (ErrorCode, String);

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: AlterPartitionReassignmentsRequest<'_>,
    _version: i16,
) -> AlterPartitionReassignmentsResponse<'static> {
    let topics = context.broker().topics();
    let node_id = context.broker().node_id().0;
    let responses = request.topics.iter().map(|topic| {
        let known = TopicName::new(&topic.name)
            .ok()
            .and_then(|name| topics.by_name(&name));
        let response = |partition: &ReassignablePartition| {
            let index = partition.partition_index;
            let checked = match known.map(|topic| topic.partition(PartitionIndex(index))) {
                None => Err(unknown(format!("there is no topic '{}'", topic.name))),
                Some(None) => Err(unknown(format!(
                    "topic '{}' has no partition {index}",
                    topic.name
                ))),
                Some(Some(_)) => check(partition.replicas.as_deref(), node_id),
            };
            let (error_code, message) = match checked {
                Ok(()) => (ErrorCode::None.code(), None),
                Err((error, message)) => (error.code(), Some(Cow::Owned(message))),
            };
            ReassignablePartitionResponse {
                partition_index: index,
                error_code,
                error_message: message,
            }
        };
        ReassignableTopicResponse {
            name: Cow::Owned(topic.name.to_string()),
            partitions: topic.partitions.iter().map(response).collect(),
        }
    });
    AlterPartitionReassignmentsResponse {
        allow_replication_factor_change: request.allow_replication_factor_change,
        error_message: None,
        responses: responses.collect(),
        ..Default::default()
    }
}

fn unknown(message: String) -> Refused {
    (ErrorCode::UnknownTopicOrPartition, message)
}

fn check(replicas: Option<&[i32]>, node_id: i32) -> Result<(), Refused> {
    let Some(replicas) = replicas else {
        let message = "the partition is not being reassigned, so there is nothing to cancel";
        return Err((ErrorCode::NoReassignmentInProgress, message.to_owned()));
    };
    let message = match replicas {
        [] => "the list of replicas is empty".to_owned(),
        [only] if *only == node_id => return Ok(()),
        _ => match replicas.iter().find(|id| **id != node_id) {
            Some(stranger) => {
                format!("there is no broker {stranger}; this is broker {node_id}, and the only one")
            }
            None => format!("broker {node_id} is named more than once"),
        },
    };
    Err((ErrorCode::InvalidReplicaAssignment, message))
}
