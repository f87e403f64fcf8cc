//! CreateTopics, versions 2-7: creates topics, each on its own, and answers once they are durable.
//!
//! Behaviour: -1 stands for the broker's default number of partitions and replication factor, in every version;
//! a topic named twice is refused once; `validate_only` decides and changes nothing. Nothing takes long enough
//! for `timeout_ms` to matter.
//! Versions: 5 flexible, and the answer has partitions, replication factor and all settings; 7 topic id.
//! Not implemented: replication factors above 1, unless `fanlog.replication.factor.clamp` lowers them.

use crate::config_entries;
use crate::context::ConnectionContext;
use crate::errors;
use fanlog_coordinators::catalog::{CreateTopicError, CreatedTopic, NewTopic};
use fanlog_model::TopicId;
use fanlog_protocol::messages::create_topics_request::CreatableTopic;
use fanlog_protocol::messages::create_topics_response::{
    CreatableTopicConfigs, CreatableTopicResult,
};
use fanlog_protocol::messages::{CreateTopicsRequest, CreateTopicsResponse, RequestHeader};
use std::borrow::Cow;
use std::collections::HashSet;

pub(crate) async fn handle(
    context: &ConnectionContext,
    _header: &RequestHeader<'_>,
    request: CreateTopicsRequest<'_>,
    _version: i16,
) -> CreateTopicsResponse<'static> {
    let names: Vec<String> = request
        .topics
        .iter()
        .map(|topic| topic.name.to_string())
        .collect();
    let wanted = request.topics.iter().map(new_topic).collect();
    let outcomes = context
        .broker()
        .create_topics(wanted, request.validate_only)
        .await;
    let outcomes = match outcomes {
        Ok(outcomes) => outcomes,
        Err(error) => {
            let code = errors::of_catalog(&error).code();
            let topics = names
                .into_iter()
                .map(|name| refused(name, code, error.to_string()));
            return CreateTopicsResponse {
                topics: topics.collect(),
                ..Default::default()
            };
        }
    };
    let mut refused_twice = HashSet::new();
    let mut topics = Vec::with_capacity(names.len());
    for (name, outcome) in names.into_iter().zip(outcomes) {
        match outcome {
            Ok(created) => topics.push(accepted(context, &created)),
            Err(CreateTopicError::Repeated { .. }) if !refused_twice.insert(name.clone()) => {}
            Err(error) => {
                topics.push(refused(
                    name,
                    errors::of_create_topic(&error).code(),
                    error.to_string(),
                ));
            }
        }
    }
    CreateTopicsResponse {
        topics,
        ..Default::default()
    }
}

fn new_topic(topic: &CreatableTopic<'_>) -> NewTopic {
    let text = |value: &Option<Cow<'_, str>>| value.as_deref().map(str::to_owned);
    NewTopic {
        // The broker draws it.
        id: TopicId::ZERO,
        name: topic.name.to_string(),
        partitions: topic.num_partitions,
        replication_factor: topic.replication_factor,
        assignments: topic
            .assignments
            .iter()
            .map(|assignment| (assignment.partition_index, assignment.broker_ids.clone()))
            .collect(),
        overrides: topic
            .configs
            .iter()
            .map(|config| (config.name.to_string(), text(&config.value)))
            .collect(),
    }
}

fn accepted(context: &ConnectionContext, created: &CreatedTopic) -> CreatableTopicResult<'static> {
    let settings = context
        .broker()
        .describe_topic_overrides(&created.topic.overrides);
    let config = |described: &fanlog_model::settings::Described| CreatableTopicConfigs {
        name: Cow::Borrowed(described.setting.name),
        value: described.value.clone().map(Cow::Owned),
        read_only: config_entries::is_read_only(described),
        config_source: described.source.code(),
        is_sensitive: described.setting.is_sensitive(),
    };
    CreatableTopicResult {
        name: Cow::Owned(created.topic.name.to_string()),
        topic_id: created.topic.id.0,
        error_message: None,
        num_partitions: created.topic.partitions,
        replication_factor: created.replication_factor,
        configs: Some(settings.iter().map(config).collect()),
        ..Default::default()
    }
}

fn refused(name: String, code: i16, message: String) -> CreatableTopicResult<'static> {
    CreatableTopicResult {
        name: Cow::Owned(name),
        error_code: code,
        error_message: Some(Cow::Owned(message)),
        ..Default::default()
    }
}
