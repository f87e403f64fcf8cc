//! CreatePartitions, versions 0-3: adds partitions to topics, each on its own, and answers once they are durable.
//!
//! Behaviour: every topic of the request is answered; `validate_only` decides and changes nothing.
//! Versions: 2 flexible; 3 quotas, of which there are none.

use crate::context::ConnectionContext;
use crate::errors;
use fanlog_coordinators::catalog::{CreatePartitionsError, PartitionGrowth};
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::create_partitions_request::CreatePartitionsTopic;
use fanlog_protocol::messages::create_partitions_response::CreatePartitionsTopicResult;
use fanlog_protocol::messages::{CreatePartitionsRequest, CreatePartitionsResponse, RequestHeader};
use std::borrow::Cow;
use std::collections::HashSet;

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: CreatePartitionsRequest<'_>,
    _version: i16,
) -> CreatePartitionsResponse<'static> {
    let names = request.topics.iter().map(|topic| topic.name.to_string());
    let growth = request.topics.iter().map(growth).collect();
    let outcomes = match context
        .broker()
        .create_partitions(growth, request.validate_only)
        .await
    {
        Ok(outcomes) => outcomes,
        Err(error) => {
            let code = errors::of_catalog(&error);
            let results = names.map(|name| result(name, code, Some(error.to_string())));
            return CreatePartitionsResponse {
                results: results.collect(),
                ..Default::default()
            };
        }
    };
    let mut refused_twice = HashSet::new();
    let mut results = Vec::with_capacity(outcomes.len());
    for (name, outcome) in names.zip(outcomes) {
        match outcome {
            Ok(_) => results.push(result(name, ErrorCode::None, None)),
            Err(CreatePartitionsError::Repeated { .. }) if !refused_twice.insert(name.clone()) => {}
            Err(error) => {
                results.push(result(
                    name,
                    errors::of_create_partitions(&error),
                    Some(error.to_string()),
                ));
            }
        }
    }
    CreatePartitionsResponse {
        results,
        ..Default::default()
    }
}

fn growth(topic: &CreatePartitionsTopic<'_>) -> PartitionGrowth {
    let assignments = topic.assignments.as_ref();
    PartitionGrowth {
        topic: topic.name.to_string(),
        count: topic.count,
        assignments: assignments.map(|all| all.iter().map(|one| one.broker_ids.clone()).collect()),
    }
}

fn result(
    name: String,
    code: ErrorCode,
    message: Option<String>,
) -> CreatePartitionsTopicResult<'static> {
    CreatePartitionsTopicResult {
        name: Cow::Owned(name),
        error_code: code.code(),
        error_message: message.map(Cow::Owned),
    }
}
