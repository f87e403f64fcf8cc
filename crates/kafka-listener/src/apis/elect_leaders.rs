//! ElectLeaders, versions 0-2: every partition is led by its only replica already.
//!
//! Behaviour: ELECTION_NOT_NEEDED for each partition named; nothing where all are meant (null), as Kafka leaves out
//! partitions that need no election.
//! Versions: 1 kinds of election, error on top; 2 flexible.

use crate::context::ConnectionContext;
use fanlog_model::{PartitionIndex, TopicName};
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::elect_leaders_response::{PartitionResult, ReplicaElectionResult};
use fanlog_protocol::messages::{ElectLeadersRequest, ElectLeadersResponse, RequestHeader};
use std::borrow::Cow;

const ELECTION_PREFERRED: i8 = 0;
const ELECTION_UNCLEAN: i8 = 1;

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: ElectLeadersRequest<'_>,
    _version: i16,
) -> ElectLeadersResponse<'static> {
    let is_known = matches!(request.election_type, ELECTION_PREFERRED | ELECTION_UNCLEAN);
    if !is_known {
        return refused(&request);
    }
    let topics = context.broker().topics();
    let results = request.topic_partitions.iter().flatten().map(|topic| {
        let known = TopicName::new(&topic.topic)
            .ok()
            .and_then(|name| topics.by_name(&name));
        let result = |index: &i32| {
            let (error, message) = match known.map(|topic| topic.partition(PartitionIndex(*index)))
            {
                None => (
                    ErrorCode::UnknownTopicOrPartition,
                    format!("there is no topic '{}'", topic.topic),
                ),
                Some(None) => {
                    let message = format!("topic '{}' has no partition {index}", topic.topic);
                    (ErrorCode::UnknownTopicOrPartition, message)
                }
                Some(Some(_)) => {
                    let message = "the partition's only replica leads it already";
                    (ErrorCode::ElectionNotNeeded, message.to_owned())
                }
            };
            PartitionResult {
                partition_id: *index,
                error_code: error.code(),
                error_message: Some(Cow::Owned(message)),
            }
        };
        ReplicaElectionResult {
            topic: Cow::Owned(topic.topic.to_string()),
            partition_result: topic.partitions.iter().map(result).collect(),
        }
    });
    ElectLeadersResponse {
        replica_election_results: results.collect(),
        ..Default::default()
    }
}

/// Said of the request and of each partition, as some clients look only there.
fn refused(request: &ElectLeadersRequest<'_>) -> ElectLeadersResponse<'static> {
    let error_code = ErrorCode::InvalidRequest.code();
    let message = format!("there is no election type {}", request.election_type);
    let result = |index: &i32| PartitionResult {
        partition_id: *index,
        error_code,
        error_message: Some(Cow::Owned(message.clone())),
    };
    let topics = request.topic_partitions.iter().flatten();
    let results = topics.map(|topic| ReplicaElectionResult {
        topic: Cow::Owned(topic.topic.to_string()),
        partition_result: topic.partitions.iter().map(result).collect(),
    });
    ElectLeadersResponse {
        error_code,
        replica_election_results: results.collect(),
        ..Default::default()
    }
}
