//! Topics for a run.

use crate::connection::Connection;
use anyhow::{bail, ensure};
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::create_topics_request::{CreatableTopic, CreatableTopicConfig};
use fanlog_protocol::messages::incremental_alter_configs_request::{
    AlterConfigsResource, AlterableConfig,
};
use fanlog_protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use fanlog_protocol::messages::{
    CreateTopicsRequest, DeleteTopicsRequest, IncrementalAlterConfigsRequest, ListOffsetsRequest,
};
use std::borrow::Cow;
use std::time::{Duration, Instant};

const CREATE_TOPICS_VERSION: i16 = 4;
const DELETE_TOPICS_VERSION: i16 = 3;
const LIST_OFFSETS_VERSION: i16 = 5;
const ALTER_CONFIGS_VERSION: i16 = 0;
/// Kafka's numbers for a topic's settings, and for setting one.
const TOPIC: i8 = 2;
const SET: i8 = 0;
/// The timestamp that stands for the end of a log.
const LATEST: i64 = -1;
/// How long a new topic may take until all its partitions have a leader.
const LEADER_TIMEOUT: Duration = Duration::from_secs(60);
/// How often a topic is looked at until then.
const LOOK_INTERVAL: Duration = Duration::from_millis(5);
/// How long a deletion may take until it is decided.
const TIMEOUT_MS: i32 = 30_000;

/// Creates a topic and waits until all its partitions have a leader.
///
/// # Errors
/// The broker refuses, or takes too long.
pub fn create(
    broker: &str,
    name: &str,
    partitions: i32,
    settings: &[(String, String)],
) -> anyhow::Result<()> {
    let mut connection = Connection::open(broker)?;
    let configs = settings.iter().map(|(name, value)| CreatableTopicConfig {
        name: Cow::Borrowed(name.as_str()),
        value: Some(Cow::Borrowed(value.as_str())),
    });
    let request = CreateTopicsRequest {
        topics: vec![CreatableTopic {
            name: Cow::Borrowed(name),
            num_partitions: partitions,
            replication_factor: 1,
            assignments: Vec::new(),
            configs: configs.collect(),
        }],
        ..CreateTopicsRequest::default()
    };
    let answer = connection.call(&request, CREATE_TOPICS_VERSION)?;
    for topic in &answer.topics {
        let error = topic.error_code;
        let said = topic.error_message.as_deref().unwrap_or_default();
        ensure!(error == 0, "topic {name} was refused: error {error} {said}");
    }
    wait_until_led(broker, name, partitions)
}

/// Waits until every partition of a topic answers.
///
/// # Errors
/// That takes too long, or nobody listens there.
pub fn wait_until_led(broker: &str, name: &str, partitions: i32) -> anyhow::Result<()> {
    let mut connection = Connection::open(broker)?;
    let deadline = Instant::now() + LEADER_TIMEOUT;
    while !is_led(&mut connection, name, partitions)? {
        if Instant::now() > deadline {
            bail!("topic {name} has partitions without a leader after {LEADER_TIMEOUT:?}");
        }
        std::thread::sleep(LOOK_INTERVAL);
    }
    Ok(())
}

/// Changes settings of a topic.
///
/// # Errors
/// The broker refuses.
pub fn alter(broker: &str, name: &str, settings: &[(&str, &str)]) -> anyhow::Result<()> {
    let configs = settings.iter().map(|(name, value)| AlterableConfig {
        name: Cow::Borrowed(name),
        config_operation: SET,
        value: Some(Cow::Borrowed(value)),
    });
    let request = IncrementalAlterConfigsRequest {
        resources: vec![AlterConfigsResource {
            resource_type: TOPIC,
            resource_name: Cow::Borrowed(name),
            configs: configs.collect(),
        }],
        validate_only: false,
    };
    let mut connection = Connection::open(broker)?;
    let answer = connection.call(&request, ALTER_CONFIGS_VERSION)?;
    for resource in &answer.responses {
        let error = resource.error_code;
        ensure!(error == 0, "settings of {name} were refused: error {error}");
    }
    Ok(())
}

/// Deletes a topic. Its files may go later.
///
/// # Errors
/// The broker refuses.
pub fn delete(broker: &str, name: &str) -> anyhow::Result<()> {
    let mut connection = Connection::open(broker)?;
    let request = DeleteTopicsRequest {
        topic_names: vec![Cow::Borrowed(name)],
        timeout_ms: TIMEOUT_MS,
        ..DeleteTopicsRequest::default()
    };
    let answer = connection.call(&request, DELETE_TOPICS_VERSION)?;
    for topic in &answer.responses {
        let error = topic.error_code;
        ensure!(error == 0, "topic {name} was not deleted: error {error}");
    }
    Ok(())
}

/// Whether the broker answers for every partition; metadata may name a leader that does not know it yet.
fn is_led(connection: &mut Connection, name: &str, partitions: i32) -> anyhow::Result<bool> {
    let wanted = (0..partitions).map(|partition| ListOffsetsPartition {
        partition_index: partition,
        timestamp: LATEST,
        ..ListOffsetsPartition::default()
    });
    let request = ListOffsetsRequest {
        replica_id: -1,
        topics: vec![ListOffsetsTopic {
            name: Cow::Borrowed(name),
            partitions: wanted.collect(),
        }],
        ..ListOffsetsRequest::default()
    };
    let answer = connection.call(&request, LIST_OFFSETS_VERSION)?;
    let mut found = answer.topics.iter().flat_map(|topic| &topic.partitions);
    Ok(found.all(|partition| partition.error_code == ErrorCode::None.code()))
}
