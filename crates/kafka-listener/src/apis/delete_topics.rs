//! DeleteTopics, versions 1-6: deletes topics, each on its own, and answers once that is durable.
//!
//! Behaviour: whoever waits for a deleted topic is answered at once, and its groups' offsets go with it. An answer
//! names the topic also where the request gave its id. Internal topics are refused.
//! Versions: 3 TOPIC_DELETION_DISABLED (before: INVALID_REQUEST); 4 flexible; 5 error messages; 6 topics by id.

use crate::context::ConnectionContext;
use crate::errors;
use fanlog_coordinators::catalog::{DeleteTopicError, DeletedTopic, TopicRef};
use fanlog_model::TopicId;
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::delete_topics_response::DeletableTopicResult;
use fanlog_protocol::messages::{DeleteTopicsRequest, DeleteTopicsResponse, RequestHeader};
use std::borrow::Cow;
use std::collections::HashSet;
use uuid::Uuid;

const DISABLED_HAS_A_CODE_SINCE: i16 = 3;
const TOPIC_IDS_SINCE: i16 = 6;

/// What a request said of a topic.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Wanted {
    name: Option<String>,
    id: Uuid,
}

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: DeleteTopicsRequest<'_>,
    version: i16,
) -> DeleteTopicsResponse<'static> {
    let wanted = wanted(&request, version);
    let references: Vec<_> = wanted.iter().map(reference).collect();
    let legal = references.iter().flatten().cloned().collect();
    let mut outcomes = match context.broker().delete_topics(legal).await {
        Ok(outcomes) => outcomes.into_iter(),
        Err(error) => {
            let code = errors::of_catalog(&error);
            let responses = wanted
                .iter()
                .map(|topic| refused(topic, code, error.to_string()));
            return DeleteTopicsResponse {
                responses: responses.collect(),
                ..Default::default()
            };
        }
    };
    let mut refused_twice = HashSet::new();
    let mut responses = Vec::with_capacity(wanted.len());
    for (topic, reference) in wanted.iter().zip(references) {
        let outcome = match reference {
            Err(message) => {
                responses.push(refused(
                    topic,
                    ErrorCode::InvalidRequest,
                    message.to_owned(),
                ));
                continue;
            }
            Ok(_) => outcomes
                .next()
                .expect("the catalog answers every topic that it was given"),
        };
        match outcome {
            Ok(deleted) => responses.push(accepted(&deleted)),
            Err(DeleteTopicError::Repeated { .. }) if !refused_twice.insert(topic.clone()) => {}
            Err(error) => {
                responses.push(refused(topic, code_of(&error, version), error.to_string()))
            }
        }
    }
    DeleteTopicsResponse {
        responses,
        ..Default::default()
    }
}

fn wanted(request: &DeleteTopicsRequest<'_>, version: i16) -> Vec<Wanted> {
    if version >= TOPIC_IDS_SINCE {
        let by_state = request.topics.iter().map(|topic| Wanted {
            name: topic.name.as_ref().map(ToString::to_string),
            id: topic.topic_id,
        });
        return by_state.collect();
    }
    let by_name = request.topic_names.iter().map(|name| Wanted {
        name: Some(name.to_string()),
        id: Uuid::nil(),
    });
    by_name.collect()
}

fn reference(wanted: &Wanted) -> Result<TopicRef, &'static str> {
    match (&wanted.name, wanted.id.is_nil()) {
        (Some(name), true) => Ok(TopicRef::Name(name.clone())),
        (None, false) => Ok(TopicRef::Id(TopicId(wanted.id))),
        (Some(_), false) => Err("give the topic's name or its id, not both"),
        (None, true) => Err("give the topic's name or its id"),
    }
}

fn code_of(error: &DeleteTopicError, version: i16) -> ErrorCode {
    match errors::of_delete_topic(error) {
        ErrorCode::TopicDeletionDisabled if version < DISABLED_HAS_A_CODE_SINCE => {
            ErrorCode::InvalidRequest
        }
        code => code,
    }
}

fn accepted(deleted: &DeletedTopic) -> DeletableTopicResult<'static> {
    DeletableTopicResult {
        name: Some(Cow::Owned(deleted.name.to_string())),
        topic_id: deleted.id.0,
        ..Default::default()
    }
}

fn refused(topic: &Wanted, code: ErrorCode, message: String) -> DeletableTopicResult<'static> {
    DeletableTopicResult {
        name: topic.name.clone().map(Cow::Owned),
        topic_id: topic.id,
        error_code: code.code(),
        error_message: Some(Cow::Owned(message)),
    }
}
