//! Topics for a run.

use crate::connection::Connection;
use anyhow::{bail, ensure};
use fanlog_protocol::ErrorCode;
use fanlog_protocol::messages::create_topics_request::{CreatableTopic, CreatableTopicConfig};
use fanlog_protocol::messages::metadata_request::MetadataRequestTopic;
use fanlog_protocol::messages::{CreateTopicsRequest, MetadataRequest};
use std::borrow::Cow;
use std::time::{Duration, Instant};

const CREATE_TOPICS_VERSION: i16 = 4;
const METADATA_VERSION: i16 = 7;
/// How long a new topic may take until all its partitions have a leader.
const LEADER_TIMEOUT: Duration = Duration::from_secs(60);

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
    let deadline = Instant::now() + LEADER_TIMEOUT;
    while !is_led(&mut connection, name, partitions)? {
        if Instant::now() > deadline {
            bail!("topic {name} has partitions without a leader after {LEADER_TIMEOUT:?}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

fn is_led(connection: &mut Connection, name: &str, partitions: i32) -> anyhow::Result<bool> {
    let request = MetadataRequest {
        topics: Some(vec![MetadataRequestTopic {
            name: Some(Cow::Borrowed(name)),
            ..MetadataRequestTopic::default()
        }]),
        ..MetadataRequest::default()
    };
    let answer = connection.call(&request, METADATA_VERSION)?;
    let none = ErrorCode::None.code();
    let led = answer.topics.iter().flat_map(|topic| &topic.partitions);
    let led = led.filter(|partition| partition.error_code == none && partition.leader_id >= 0);
    Ok(led.count() == partitions as usize)
}
