//! Settings of topics and brokers: read, set, take back.

use super::Admin;
use crate::ClientError;
use fanlog_protocol::ApiKey;
use fanlog_protocol::messages::describe_configs_request::{
    DescribeConfigsRequest, DescribeConfigsResource,
};
use fanlog_protocol::messages::describe_configs_response::DescribeConfigsResourceResult;
use fanlog_protocol::messages::incremental_alter_configs_request::{
    AlterConfigsResource, AlterableConfig, IncrementalAlterConfigsRequest,
};
use std::borrow::Cow;

/// Kafka's number for "a topic" where settings are concerned.
const TOPIC_RESOURCE: i8 = 2;
/// And for "a group".
pub(super) const GROUP_RESOURCE: i8 = 32;

/// Where a setting's value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigSource {
    /// Set on the topic.
    Topic,
    /// Set on the broker while it runs.
    Broker,
    /// Set for all brokers while they run.
    AllBrokers,
    /// Set in the broker's file.
    File,
    /// The default.
    Default,
    /// Another source, by Kafka's number.
    Other(i8),
}

impl ConfigSource {
    const fn from_number(number: i8) -> Self {
        match number {
            1 => Self::Topic,
            2 => Self::Broker,
            3 => Self::AllBrokers,
            4 => Self::File,
            5 => Self::Default,
            other => Self::Other(other),
        }
    }

    /// Kafka's name for the source.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Topic => "DYNAMIC_TOPIC_CONFIG",
            Self::Broker => "DYNAMIC_BROKER_CONFIG",
            Self::AllBrokers => "DYNAMIC_DEFAULT_BROKER_CONFIG",
            Self::File => "STATIC_BROKER_CONFIG",
            Self::Default => "DEFAULT_CONFIG",
            Self::Other(_) => "OTHER",
        }
    }
}

/// A setting as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigEntry {
    /// Its name.
    pub name: String,
    /// Its value; none where it is secret or has none.
    pub value: Option<String>,
    /// Where the value comes from.
    pub source: ConfigSource,
    /// Whether it can be changed.
    pub is_read_only: bool,
}

/// A change of one setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigChange {
    /// Gives it this value.
    Set(String, String),
    /// Gives it back its default.
    Delete(String),
}

impl Admin {
    /// All settings of a topic.
    ///
    /// # Errors
    /// When it does not exist.
    pub async fn topic_configs(&self, topic: &str) -> Result<Vec<ConfigEntry>, ClientError> {
        let about = format!("topic '{topic}'");
        self.configs_of(TOPIC_RESOURCE, topic, &about).await
    }

    pub(super) async fn configs_of(
        &self,
        resource_type: i8,
        name: &str,
        about: &str,
    ) -> Result<Vec<ConfigEntry>, ClientError> {
        let resource = DescribeConfigsResource {
            resource_type,
            resource_name: Cow::Borrowed(name),
            configuration_keys: None,
        };
        let request = &DescribeConfigsRequest {
            resources: vec![resource],
            ..DescribeConfigsRequest::default()
        };
        self.at_controller(|connection| async move {
            let reply = connection.call(request).await?;
            let answer = reply.read()?;
            let mut entries = Vec::new();
            for one in &answer.results {
                let message = one.error_message.as_deref();
                connection.check(ApiKey::DescribeConfigs, about, one.error_code, message)?;
                entries.extend(one.configs.iter().map(entry));
            }
            Ok(entries)
        })
        .await
    }

    /// Changes settings of a topic, leaving the others as they are. With `validate_only`, only says whether it could.
    ///
    /// # Errors
    /// When the topic does not exist or a value is not allowed; nothing is changed then.
    pub async fn alter_topic_configs(
        &self,
        topic: &str,
        changes: &[ConfigChange],
        validate_only: bool,
    ) -> Result<(), ClientError> {
        let about = format!("topic '{topic}'");
        self.alter_configs_of(TOPIC_RESOURCE, topic, &about, changes, validate_only)
            .await
    }

    pub(super) async fn alter_configs_of(
        &self,
        resource_type: i8,
        name: &str,
        about: &str,
        changes: &[ConfigChange],
        validate_only: bool,
    ) -> Result<(), ClientError> {
        let configs = changes.iter().map(|change| match change {
            ConfigChange::Set(name, value) => AlterableConfig {
                name: Cow::Borrowed(name),
                config_operation: 0,
                value: Some(Cow::Borrowed(value)),
            },
            ConfigChange::Delete(name) => AlterableConfig {
                name: Cow::Borrowed(name),
                config_operation: 1,
                value: None,
            },
        });
        let resource = AlterConfigsResource {
            resource_type,
            resource_name: Cow::Borrowed(name),
            configs: configs.collect(),
        };
        let request = &IncrementalAlterConfigsRequest {
            resources: vec![resource],
            validate_only,
        };
        self.at_controller(|connection| async move {
            let reply = connection.call(request).await?;
            let answer = reply.read()?;
            for one in &answer.responses {
                let api = ApiKey::IncrementalAlterConfigs;
                connection.check(api, about, one.error_code, one.error_message.as_deref())?;
            }
            Ok(())
        })
        .await
    }
}

fn entry(config: &DescribeConfigsResourceResult<'_>) -> ConfigEntry {
    ConfigEntry {
        name: config.name.to_string(),
        value: config.value.as_deref().map(str::to_owned),
        source: ConfigSource::from_number(config.config_source),
        is_read_only: config.read_only,
    }
}
